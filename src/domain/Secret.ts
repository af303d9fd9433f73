import { Schema } from "effect"

/**
 * The name of a secret version: `projects/{number or id}/secrets/{id}/versions/{n or latest}`, also with a
 * `locations/{l}` segment. The only form in which a secret may appear in a pipeline or a request
 * (platform-api section 5 rule 7).
 */
export const secretVersionPattern =
  /^projects\/[a-z0-9][a-z0-9.:-]*(?:\/locations\/[a-z0-9-]+)?\/secrets\/[A-Za-z0-9_-]{1,255}\/versions\/(?:latest|[1-9][0-9]*|[A-Za-z][A-Za-z0-9_-]{0,62})$/

export const SecretVersion = Schema.String.check(
  Schema.isPattern(secretVersionPattern, {
    message: "expected a secret version name: projects/{project}/secrets/{secret}/versions/{number or latest}"
  })
).pipe(Schema.brand("SecretVersion"))
export type SecretVersion = typeof SecretVersion.Type
