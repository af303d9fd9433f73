import { Effect, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Caller } from "../../src/net/Call.ts"
import { GoogleAuth, make as makeGoogleAuth } from "../../src/net/GoogleAuth.ts"
import { processHttp, publicProcessHttp } from "../../src/net/ProcessHttp.ts"
import { emulatorOf, gcsClient } from "../../src/net/gcs/GcsClient.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { type Address, parseAddress } from "./Address.ts"
import { fileBackend } from "./Files.ts"
import { type Backend, listing } from "./Listing.ts"
import { gcsApi, objectBackend } from "./Objects.ts"
import { s3Api } from "./S3.ts"
import { webBackend } from "./Web.ts"

/** Dependencies of the connector. Everything has a default. */
export interface StorageContext {
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  /**
   * The addresses come from someone who must not gain this machine's access: `file://` is refused, and `https://` goes to public addresses
   * only, also after redirects. Default false.
   */
  readonly untrusted?: boolean
  /** Fetches `https://` for `untrusted`. Default: a client of `layer({ publicOnly: {} })`. */
  readonly publicHttp?: HttpClient.HttpClient
  /** Google credentials. Default: Application Default Credentials; none when `STORAGE_EMULATOR_HOST` is set. */
  readonly google?: GoogleAuth["Service"]
  /** Environment variables. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly retry?: RetryOptions
  /** The data directory, which is never listed as documents. */
  readonly dataDir?: string
}

/** The implementation of `storage`, loaded when it is first connected. */
export const open = (config: SettingsOf<"storage">, context: StorageContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    const addresses = yield* Effect.forEach(config.uris, (uri) => Effect.fromResult(parseAddress(uri)))
    if (addresses.length === 0) return yield* ServiceError.invalid("uris", "needs at least one address")
    if (context.untrusted === true) yield* Effect.forEach(addresses, trustworthy, { discard: true })
    return { addresses, backends: yield* backendsOf(config, context, addresses) }
  })))
  return {
    check: Effect.flatMap(
      prepared,
      ({ addresses, backends }) =>
        Effect.forEach(onePerPlace(addresses), (address) => backends[address.scheme].check(address), { discard: true })
    ),
    list: (cursor) =>
      Stream.unwrap(Effect.map(prepared, ({ addresses, backends }) => listing(addresses, (address) => backends[address.scheme], cursor))),
    read: (item, maxBytes) =>
      Stream.unwrap(Effect.flatMap(prepared, ({ backends }) => {
        const scheme = item.uri.slice(0, item.uri.indexOf("://")).replace(/^http$/, "https")
        const backend = Object.entries(backends).find(([name]) => name === scheme)?.[1]
        return backend === undefined
          ? Effect.fail(ServiceError.invalid("uri", `${item.uri} does not belong to this source`))
          : Effect.succeed(backend.read(item, maxBytes))
      }))
  }
}

const backendsOf = Effect.fnUntraced(function*(
  config: SettingsOf<"storage">,
  context: StorageContext,
  addresses: ReadonlyArray<Address>
): Effect.fn.Return<Record<Address["scheme"], Backend>> {
  const { dataDir, environment = process.env } = context
  const { maxFileSize } = config
  const http = context.http ?? (yield* processHttp)
  const web = context.untrusted === true ? context.publicHttp ?? (yield* publicProcessHttp) : http
  const caller: Caller = { http, ...(context.retry === undefined ? {} : { retry: context.retry }) }
  const emulator = emulatorOf(environment)
  const gcs = gcsClient(
    { ...caller, auth: context.google ?? (emulator === undefined ? makeGoogleAuth() : GoogleAuth.anonymous) },
    {
      ...(emulator === undefined ? {} : { endpoint: emulator }),
      ...(config.userProject === undefined ? {} : { userProject: config.userProject })
    }
  )
  return {
    gs: objectBackend(gcsApi(gcs), maxFileSize),
    s3: objectBackend(s3Api(caller, config.s3 ?? {}, environment), maxFileSize),
    https: webBackend({ ...caller, http: web }, addresses, maxFileSize),
    file: context.untrusted === true ? refused : fileBackend(maxFileSize, dataDir)
  }
})

const trustworthy = (address: Address): Effect.Effect<void, ServiceError> =>
  address.scheme === "file" || (address.scheme === "https" && address.url.protocol !== "https:")
    ? Effect.fail(notHere(address.text))
    : Effect.void

const notHere = (what: string): ServiceError =>
  new ServiceError({
    code: "PERMISSION_DENIED",
    message: `${what} is not fetched here`,
    fix: "give gs://, s3:// or https:// addresses"
  })

const refused: Backend = {
  check: ({ text }) => Effect.fail(notHere(text)),
  one: ({ text }) => Effect.fail(notHere(text)),
  page: ({ text }) => Effect.fail(notHere(text)),
  read: ({ path }) => Stream.fail(notHere(path))
}

/** The first address in each bucket, and each file and page. */
const onePerPlace = (addresses: ReadonlyArray<Address>): ReadonlyArray<Address> => [
  ...new Map(
    addresses.toReversed().map((address) => ["bucket" in address ? `${address.scheme}://${address.bucket}` : address.text, address])
  ).values()
]
