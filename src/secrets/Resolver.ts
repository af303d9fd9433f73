import { Effect, type Redacted } from "effect"
import { SecretError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import type { Secrets } from "../ports/Secrets.ts"

/** One place where secrets may be kept. */
export interface SecretResolver {
  /**
   * Looks a secret up: returns its value, if this place has it, and the names of the places searched (never their
   * content). Fails only where searching further would be wrong: the secret is there and must not be read.
   */
  readonly look: (version: SecretVersion) => Effect.Effect<{
    readonly value?: Redacted.Redacted<string>
    readonly places: ReadonlyArray<string>
  }, SecretError>
}

/** Asks the resolvers in order; the first one that has the secret wins. */
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
      fix: places.length === 0 ? "set up a secret resolver" : "put it in one of them, or name another secret"
    })
  })
})
