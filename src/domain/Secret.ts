import { Schema } from "effect"
import type { Form } from "./rag/Forms.ts"

/**
 * The name of a secret version: `projects/{number or id}/secrets/{id}/versions/{n or latest}`, also with a
 * `locations/{l}` segment. The only form in which a secret may appear in a pipeline or a request.
 */
export const secretVersionPattern =
  /^projects\/[a-z0-9][a-z0-9.:-]*(?:\/locations\/[a-z0-9-]+)?\/secrets\/[A-Za-z0-9_-]{1,255}\/versions\/(?:latest|[1-9][0-9]*|[A-Za-z][A-Za-z0-9_-]{0,62})$/

/** The rule in words. The refused value may be the secret itself, so it is never repeated. */
export const secretForm: Form = {
  pattern: secretVersionPattern,
  rule: "must be the name of a secret version, never the secret itself",
  fix: "store the secret and write projects/{project}/secrets/{secret}/versions/{number or latest}"
}

/** The name of a secret version, never the secret. It is resolved when needed, and neither stored nor logged. */
export const SecretVersion = Schema.String.check(
  Schema.isPattern(secretVersionPattern, {
    message: secretForm.rule
  })
).pipe(Schema.brand("SecretVersion"))
export type SecretVersion = typeof SecretVersion.Type
