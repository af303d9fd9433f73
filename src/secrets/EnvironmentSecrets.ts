import { Effect, Layer, Redacted } from "effect"
import { Secrets } from "../ports/Secrets.ts"
import { chain, type SecretResolver } from "./Resolver.ts"
import { partsOf } from "./SecretName.ts"

/**
 * Reads secrets from environment variables. The secret `my-key` of any project is `SLUICE_SECRET_MY_KEY`: upper case,
 * with an underscore for whatever is not a letter or digit. For one version, `SLUICE_SECRET_MY_KEY_V3` (of
 * `…/my-key/versions/3`; also for an alias) takes precedence. Empty variables count as absent.
 */
export const environmentResolver = (environment: Readonly<Record<string, string | undefined>> = process.env): SecretResolver => ({
  look: (version) =>
    Effect.sync(() => {
      const { secret, number } = partsOf(version)
      const name = variableOf(secret)
      const names = number === "latest" ? [name] : [`${name}_V${constantCase(number)}`, name]
      const value = names.map((each) => environment[each]).find((each) => each !== undefined && each !== "")
      return {
        places: names.map((each) => `environment variable ${each}`),
        value: value === undefined ? undefined : Redacted.make(value, { label: secret })
      }
    })
})

const constantCase = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, "_")
const variableOf = (secret: string): string => `SLUICE_SECRET_${constantCase(secret)}`

export const layer = (environment?: Readonly<Record<string, string | undefined>>): Layer.Layer<Secrets> =>
  Layer.succeed(Secrets, chain([environmentResolver(environment)]))
