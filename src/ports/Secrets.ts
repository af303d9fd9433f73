import { Context, type Effect, type Redacted } from "effect"
import type { SecretError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"

/** Resolves a secret version to its value, which stays `Redacted` until it is sent. */
export class Secrets extends Context.Service<Secrets, {
  readonly resolve: (version: SecretVersion) => Effect.Effect<Redacted.Redacted<string>, SecretError>
}>()("sluice/ports/Secrets") {}
