import { Context, type Effect, type Redacted } from "effect"
import type { SecretError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"

/** Resolves a secret version to its value. The value is Redacted and stays so until the wire. */
export class Secrets extends Context.Service<Secrets, {
  readonly resolve: (version: SecretVersion) => Effect.Effect<Redacted.Redacted<string>, SecretError>
}>()("sluice/ports/Secrets") {}
