import { Effect, Redacted } from "effect"
import type { SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"

/** A token that may be rotated while it is in use. */
export interface RotatingToken {
  readonly token: Effect.Effect<Redacted.Redacted<string>, SecretError>
  /** Uses it; one that was refused is resolved again, and a new one gets one more try. */
  readonly use: <A>(
    call: (token: Redacted.Redacted<string>) => Effect.Effect<A, ServiceError>
  ) => Effect.Effect<A, ServiceError | SecretError>
}

/** How long a resolved token is kept, so that a rotated one is taken up. */
const ttl = "5 minutes"

export const rotatingToken = (secrets: Secrets["Service"], version: SecretVersion): Effect.Effect<RotatingToken> =>
  Effect.map(Effect.cachedInvalidateWithTTL(secrets.resolve(version), ttl), ([resolved, forget]) => {
    const token = Effect.tapError(resolved, () => forget)
    return {
      token,
      use: (call) =>
        Effect.flatMap(token, (first) =>
          Effect.catchIf(call(first), (error) => error.code === "UNAUTHENTICATED", (error) =>
            Effect.andThen(forget, token).pipe(Effect.flatMap((second) =>
              Redacted.value(second) === Redacted.value(first) ? Effect.fail(error) : call(second)))))
    }
  })
