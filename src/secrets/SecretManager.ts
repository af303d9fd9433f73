import { Cache, Duration, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { SecretError, type ServiceError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import { callJson } from "../net/Call.ts"
import { crc32c } from "../net/Crc32c.ts"
import { GoogleAuth } from "../net/GoogleAuth.ts"
import { deniedFix, loginFix, noCredentials } from "../net/GoogleErrors.ts"
import type { RetryOptions } from "../net/Retry.ts"
import { Secrets } from "../ports/Secrets.ts"
import { environmentResolver } from "./EnvironmentSecrets.ts"
import { fileResolver } from "./FileSecrets.ts"
import { chain, type SecretResolver } from "./Resolver.ts"
import { partsOf } from "./SecretName.ts"

export interface SecretManagerOptions {
  /** Name of the directory of files in messages. Default: its path. */
  readonly shown?: string
  /** Base address. Default: `https://secretmanager.googleapis.com`, and the location's own host for regional secrets. */
  readonly baseUrl?: string
  /** Milliseconds until an answer of one call starts. Default 10,000. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
}

/** The answer of `versions/{v}:access`: base64, and a CRC-32C that is an int64 and so a string. */
const Accessed = Schema.Struct({
  payload: Schema.Struct({ data: Schema.String, dataCrc32c: Schema.optional(Schema.String) })
})

/** How long values are cached: a run reads each version once; a server notices a new `latest` within this time. */
const keepFor = Duration.minutes(5)

type Found = { readonly value: Redacted.Redacted<string> } | { readonly place: string }

/**
 * Reads secrets from Secret Manager over REST. Values are cached for five minutes, failures not at all, and concurrent
 * requests for one version cost one call. Without Google credentials, or without the secret, the next resolver is asked;
 * a secret that exists but may not be read is an error.
 */
export const secretManagerResolver = Effect.fnUntraced(function*(
  options: SecretManagerOptions = {}
): Effect.fn.Return<SecretResolver, never, HttpClient.HttpClient | GoogleAuth> {
  const caller = {
    http: yield* HttpClient.HttpClient,
    auth: yield* GoogleAuth,
    timeoutMs: options.timeoutMs ?? 10_000,
    retry: options.retry
  }

  const access = (version: SecretVersion): Effect.Effect<Found, SecretError> => {
    const { secret } = partsOf(version)
    const url = `${(options.baseUrl ?? hostOf(version)).replace(/\/+$/, "")}/v1/${version}:access`
    return callJson(caller, `Secret Manager for ${version}`, HttpClientRequest.get(url), Accessed).pipe(
      Effect.map(({ payload }) => valueOf(payload, secret)),
      Effect.flatMap((value): Effect.Effect<Found, SecretError> =>
        value !== undefined ? Effect.succeed({ value }) : Effect.fail(
          new SecretError({
            version,
            message: `Secret Manager gave ${version} damaged: its checksum or its text is wrong`,
            fix: "try again; if it stays so, add the secret's version again, as UTF-8 text"
          })
        )
      ),
      Effect.catchTag("ServiceError", (error): Effect.Effect<Found, SecretError> => {
        if (error.code === "NOT_FOUND") return Effect.succeed({ place: `${version} in Secret Manager` })
        if (error.reason === noCredentials) {
          return Effect.succeed({ place: "Secret Manager (not asked, as there are no Google credentials)" })
        }
        return Effect.fail(refusal(version, error))
      })
    )
  }

  const known = yield* Cache.makeWith(access, {
    capacity: 256,
    timeToLive: (exit) => Exit.isSuccess(exit) && "value" in exit.value ? keepFor : Duration.zero
  })

  return {
    look: (version) =>
      Effect.map(Cache.get(known, version), (found) => "value" in found ? { value: found.value, places: [] } : { places: [found.place] })
  }
})

/** The environment, then the files of `directory`, then Secret Manager. */
export const layer = (
  directory: string,
  options?: SecretManagerOptions
): Layer.Layer<Secrets, never, HttpClient.HttpClient | GoogleAuth> =>
  Layer.effect(
    Secrets,
    Effect.map(
      secretManagerResolver(options),
      (manager) => chain([environmentResolver(), fileResolver(directory, options?.shown), manager])
    )
  )

/** Regional secrets have their location's own host. */
const hostOf = (version: SecretVersion): string => {
  const location = /\/locations\/([a-z0-9-]+)\//.exec(version)?.[1]
  return location === undefined ? "https://secretmanager.googleapis.com" : `https://secretmanager.${location}.rep.googleapis.com`
}

const valueOf = (
  payload: { readonly data: string; readonly dataCrc32c?: string },
  label: string
): Redacted.Redacted<string> | undefined => {
  const bytes = Buffer.from(payload.data, "base64")
  if (payload.dataCrc32c !== undefined && payload.dataCrc32c !== String(crc32c(bytes))) return undefined
  try {
    return Redacted.make(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), { label })
  } catch {
    return undefined
  }
}

const refusal = (version: SecretVersion, error: ServiceError): SecretError => {
  const secret = version.slice(0, version.lastIndexOf("/versions/"))
  switch (error.code) {
    case "PERMISSION_DENIED":
      return new SecretError({
        version,
        message: `${version} may not be read: ${error.message}`,
        fix: deniedFix(
          error.reason,
          "secretmanager.googleapis.com",
          `give the account roles/secretmanager.secretAccessor on ${secret}`
        )
      })
    case "FAILED_PRECONDITION":
      return new SecretError({
        version,
        message: `${version} is disabled or destroyed`,
        fix: "enable the version, or name one that is enabled (versions/latest takes the newest)"
      })
    default:
      return new SecretError({
        version,
        message: `${version} could not be read: ${error.message}`,
        fix: error.status === 401 ? loginFix : error.fix ?? "try again"
      })
  }
}
