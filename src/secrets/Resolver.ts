import { Effect, type Redacted } from "effect"
import { SecretError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import type { Secrets } from "../ports/Secrets.ts"

/** One place where secrets may be kept. */
export interface SecretResolver {
  /**
   * The value, if this place has it, and the names of where it looked (never what it found there). Fails only where
   * looking on would be wrong: a secret that is there and must not be read.
   */
  readonly look: (version: SecretVersion) => Effect.Effect<{
    readonly value?: Redacted.Redacted<string>
    readonly places: ReadonlyArray<string>
  }, SecretError>
}

/** Asks the resolvers in order; the first that has the secret wins. */
export const chain = (resolvers: ReadonlyArray<SecretResolver>): Secrets["Service"] => ({
  resolve: Effect.fn("Secrets.resolve")(function*(version: SecretVersion) {
    const places: Array<string> = []
    for (const resolver of resolvers) {
      const found = yield* resolver.look(version)
      if (found.value !== undefined) return found.value
      places.push(...found.places)
    }
    return yield* new SecretError({
      version,
      message: `the secret ${version} was not found; looked in: ${places.join(", ") || "nowhere, no resolver is set up"}`,
      fix: places.length === 0 ? "Set up a secret resolver." : "Put it in one of them, or name another secret."
    })
  })
})
