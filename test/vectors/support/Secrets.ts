import { Effect, Redacted } from "effect"
import { SecretError } from "../../../src/domain/Errors.ts"
import { SecretVersion } from "../../../src/domain/Secret.ts"
import type { Secrets } from "../../../src/ports/Secrets.ts"

export const secretVersion = (name: string): SecretVersion => SecretVersion.make(`projects/p/secrets/${name}/versions/latest`)

/** Secrets by their ids; changed by whoever holds the map. */
export const secretsOf = (values: ReadonlyMap<string, string>): Secrets["Service"] => ({
  resolve: (version) => {
    const value = values.get(/secrets\/([^/]+)/.exec(version)?.[1] ?? "")
    return value === undefined
      ? Effect.fail(new SecretError({ version, message: "is not there", fix: "put it there" }))
      : Effect.succeed(Redacted.make(value))
  }
})
