import { Clock, Context, Effect, Layer, Redacted, Semaphore } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientError, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { discard } from "./Download.ts"
import { authErrorOf } from "./GoogleErrors.ts"

/** The part of a client of google-auth-library that is used, of whichever version the program has. */
export interface GoogleAuthClient {
  readonly credentials: { readonly expiry_date?: number | null }
  readonly quotaProjectId?: string
  readonly projectId?: string | null
  getAccessToken(): Promise<{ readonly token?: string | null }>
  setCredentials(credentials: { readonly expiry_date: number }): void
}

export interface GoogleAuthOptions {
  /** A client of google-auth-library. Default: Application Default Credentials, looked up when the first token is needed. */
  readonly client?: GoogleAuthClient
  /** Project for quota and billing. Default: that of the credentials, or `GOOGLE_CLOUD_QUOTA_PROJECT`. */
  readonly quotaProject?: string
  /** Most milliseconds for finding credentials, or for one refresh. Default 20,000. */
  readonly timeoutMs?: number
}

/** Credentials for Google Cloud, and the project that pays. */
export class GoogleAuth extends Context.Service<GoogleAuth, {
  /**
   * An access token of scope cloud-platform; undefined where no credentials are needed (emulators). Cached; refreshed
   * once for all waiting callers, and before it expires, while the old one still serves the others.
   */
  readonly token: Effect.Effect<Redacted.Redacted<string> | undefined, ServiceError>
  /** Reports that a service refused this token: the next {@link token} is another one. Several reports of one token count once. */
  readonly reject: (token: Redacted.Redacted<string>) => Effect.Effect<void>
  /** The value of `x-goog-user-project`; known once there is a token. */
  readonly quotaProject: Effect.Effect<string | undefined, ServiceError>
  /** The project that the credentials or the environment name. */
  readonly project: Effect.Effect<string | undefined, ServiceError>
}>()("sluice/net/GoogleAuth") {
  /** Sends no credentials: for emulators and public objects. */
  static readonly anonymous: GoogleAuth["Service"] = {
    token: Effect.undefined,
    reject: () => Effect.void,
    quotaProject: Effect.undefined,
    project: Effect.undefined
  }

  static readonly layerAnonymous: Layer.Layer<GoogleAuth> = Layer.succeed(GoogleAuth, GoogleAuth.anonymous)

  static readonly layer = (options: GoogleAuthOptions = {}): Layer.Layer<GoogleAuth> => Layer.sync(GoogleAuth, () => make(options))

  /** Always returns this token, and cannot get another. */
  static readonly layerTest = (token: string, quotaProject?: string): Layer.Layer<GoogleAuth> =>
    Layer.succeed(GoogleAuth, {
      ...GoogleAuth.anonymous,
      token: Effect.succeed(Redacted.make(token)),
      quotaProject: Effect.succeed(quotaProject)
    })
}

const scope = "https://www.googleapis.com/auth/cloud-platform"
/** The library itself refreshes tokens with less than five minutes left, so asking it earlier would change nothing. */
const aheadMs = 4 * 60_000
/** A token with less time left than this may have expired when it arrives. */
const spareMs = 20_000
/** How long a token without an expiry time is used. */
const unknownLifeMs = aheadMs + 60_000

interface Held {
  readonly token: Redacted.Redacted<string> | undefined
  readonly until: number
}

/** Makes the service of {@link GoogleAuth.layer}. Reads and loads nothing before the first token is needed. */
export const make = (options: GoogleAuthOptions = {}): GoogleAuth["Service"] => {
  const timeout = options.timeoutMs ?? 20_000
  const one = Semaphore.makeUnsafe(1)
  let client: GoogleAuthClient | undefined = options.client
  let held: Held | undefined
  let rejected = false

  const attempt = <A>(ask: () => Promise<A>): Effect.Effect<A, ServiceError> =>
    Effect.tryPromise({ try: ask, catch: authErrorOf }).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new ServiceError({
              code: "UNAVAILABLE",
              message: `Google credentials did not come within ${timeout} ms`,
              fix: "check the network; outside Google Cloud, set METADATA_SERVER_DETECTION=none"
            })
          )
      })
    )

  const load = Effect.suspend(() => client === undefined ? attempt(applicationDefault) : Effect.succeed(client)).pipe(
    Effect.tap((found) =>
      Effect.sync(() => {
        client = found
      })
    )
  )

  const refresh = Effect.gen(function*() {
    const source = yield* load
    // The only way that every client of the library has to discard a token early.
    if (rejected) source.setCredentials({ ...source.credentials, expiry_date: 1 })
    const { token } = yield* attempt(() => source.getAccessToken())
    const now = yield* Clock.currentTimeMillis
    rejected = false
    held = {
      token: token === undefined || token === null || token === "" ? undefined : Redacted.make(token, { label: "access token" }),
      until: source.credentials.expiry_date ?? now + unknownLifeMs
    }
    return held.token
  })

  const token = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const current = held
    if (current !== undefined && current.until - now > aheadMs) return current.token
    if (current !== undefined && current.until - now > spareMs) {
      // The first caller refreshes; a failure does no harm as long as the old token lasts.
      yield* one.withPermitsIfAvailable(1)(Effect.ignore(refresh))
      return (held ?? current).token
    }
    return yield* one.withPermits(1)(
      Effect.suspend(() => held !== undefined && held !== current && held.until - now > spareMs ? Effect.succeed(held.token) : refresh)
    )
  })

  return {
    token,
    reject: (bad) =>
      Effect.sync(() => {
        if (held?.token !== bad) return
        rejected = true
        held = undefined
      }),
    quotaProject: Effect.map(
      options.quotaProject === undefined ? load : Effect.undefined,
      (found) => options.quotaProject ?? found?.quotaProjectId ?? process.env["GOOGLE_CLOUD_QUOTA_PROJECT"]
    ),
    project: Effect.map(
      load,
      (found) => process.env["GOOGLE_CLOUD_PROJECT"] ?? process.env["GCLOUD_PROJECT"] ?? found.projectId ?? undefined
    )
  }
}

/** The library takes a sixth of a second to load. */
const applicationDefault = async (): Promise<GoogleAuthClient> => {
  const { GoogleAuth: Library } = await import("google-auth-library")
  return withoutLookupWarning(() => new Library({ scopes: [scope] }).getClient())
}

/**
 * Behind a proxy the library warns on stderr about the answer it got where it looked for a metadata server. The absence
 * of one is reported as missing credentials, where they are needed.
 */
const withoutLookupWarning = async <A>(look: () => Promise<A>): Promise<A> => {
  const { emitWarning } = process
  const filtered = new Proxy(emitWarning, {
    apply: (emit, self, [warning, kind, ...rest]) =>
      kind === "MetadataLookupWarning" ? undefined : Reflect.apply(emit, self, [warning, kind, ...rest])
  })
  process.emitWarning = filtered
  try {
    return await look()
  } finally {
    if (process.emitWarning === filtered) process.emitWarning = emitWarning
  }
}

/**
 * Sends a request with credentials, if there are any. After a 401 it gets a new token and tries once more, unless the
 * body is a stream, which cannot be sent twice.
 */
export const sendAuthorized = Effect.fnUntraced(function*(
  http: HttpClient.HttpClient,
  auth: GoogleAuth["Service"],
  request: HttpClientRequest.HttpClientRequest
): Effect.fn.Return<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError | ServiceError> {
  const token = yield* auth.token
  if (token === undefined) return yield* http.execute(request)
  const quotaProject = yield* auth.quotaProject
  const billed = quotaProject === undefined ? request : HttpClientRequest.setHeader(request, "x-goog-user-project", quotaProject)
  const response = yield* http.execute(HttpClientRequest.bearerToken(billed, token))
  if (response.status !== 401 || request.body._tag === "Stream") return response
  yield* auth.reject(token)
  const another = yield* auth.token
  if (another === undefined || Redacted.value(another) === Redacted.value(token)) return response
  yield* discard(response)
  return yield* http.execute(HttpClientRequest.bearerToken(billed, another))
})
