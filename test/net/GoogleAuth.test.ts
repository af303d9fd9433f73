import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { OAuth2Client, PassThroughClient } from "google-auth-library"
import { GoogleAuth, make, sendAuthorized } from "../../src/net/GoogleAuth.ts"
import { layer } from "../../src/net/Http.ts"
import { fakeServer } from "../fakes/Http.ts"
import { fakeMetadata } from "../fakes/Metadata.ts"

const minutes = (count: number) => count * 60_000

/** A client of the library whose refreshes are scripted; the library's own rules say when one is due. */
const scripted = (refresh: (count: number) => Promise<{ access_token: string; expiry_date: number }>) => {
  let count = 0
  const client = new OAuth2Client()
  client.refreshHandler = () => refresh(++count)
  return { client, count: () => count }
}

const value = Effect.map((token: Redacted.Redacted<string> | undefined) => token === undefined ? undefined : Redacted.value(token))

/** The process's environment for one test. */
const withEnvironment = (values: Record<string, string | undefined>) => <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const set = (each: Record<string, string | undefined>): void => {
    for (const [name, value] of Object.entries(each)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]))
      set(values)
      return before
    }),
    () => effect,
    (before) => Effect.sync(() => set(before))
  )
}

describe("GoogleAuth", () => {
  it.live("asks once for many, and again before the end, while the old token still serves", () =>
    Effect.gen(function*() {
      let release: (() => void) | undefined
      const { client, count } = scripted(async (count) => {
        if (count === 2) await new Promise<void>((resolve) => (release = resolve))
        return { access_token: `token-${count}`, expiry_date: Date.now() + minutes(count === 1 ? 3 : 60) }
      })
      const auth = make({ client })
      const first = yield* Effect.all(Array.from({ length: 50 }, () => value(auth.token)), { concurrency: 50 })
      assert.deepStrictEqual(new Set(first), new Set(["token-1"]))
      assert.strictEqual(count(), 1)
      const ahead = yield* Effect.forkChild(value(auth.token), { startImmediately: true })
      const meanwhile = yield* Effect.all(Array.from({ length: 50 }, () => value(auth.token)), { concurrency: 50 })
      assert.deepStrictEqual(new Set(meanwhile), new Set(["token-1"]))
      release?.()
      assert.strictEqual(yield* Fiber.join(ahead), "token-2")
      assert.strictEqual(yield* value(auth.token), "token-2")
      assert.strictEqual(count(), 2)
    }))

  it.live("lives with a failed refresh as long as the old token lasts", () =>
    Effect.gen(function*() {
      const { client, count } = scripted((count) =>
        count === 2
          ? Promise.reject(new Error("invalid_grant"))
          : Promise.resolve({ access_token: `token-${count}`, expiry_date: Date.now() + minutes(count === 1 ? 3 : 60) })
      )
      const auth = make({ client })
      assert.deepStrictEqual(yield* Effect.all([value(auth.token), value(auth.token), value(auth.token)]), [
        "token-1",
        "token-1",
        "token-3"
      ])
      assert.strictEqual(count(), 3)
    }))

  it.live("answers a 401 with one new token, whoever else met it, and says who pays", () =>
    Effect.gen(function*() {
      const { client, count } = scripted((count) =>
        Promise.resolve({ access_token: `token-${count}`, expiry_date: Date.now() + minutes(60) })
      )
      const auth = make({ client, quotaProject: "payer" })
      const service = yield* fakeServer(({ headers }, response) =>
        void response.writeHead(headers.authorization === "Bearer token-2" ? 200 : 401).end(String(headers["x-goog-user-project"]))
      )
      const http = yield* HttpClient.HttpClient
      const send = sendAuthorized(http, auth, HttpClientRequest.get(service.origin))
      const responses = yield* Effect.all(Array.from({ length: 10 }, () => send), { concurrency: 10 })
      assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.strictEqual(yield* responses[0]!.text, "payer")
      assert.strictEqual(count(), 2)
      // And not for ever, where no token will do.
      const never = yield* fakeServer((_, response) => void response.writeHead(401).end())
      assert.strictEqual((yield* sendAuthorized(http, auth, HttpClientRequest.get(never.origin))).status, 401)
      assert.strictEqual(never.asked.length, 2)
    }).pipe(Effect.scoped, Effect.provide(layer())))

  it.live("sends nothing where there is nothing to send", () =>
    Effect.gen(function*() {
      const service = yield* fakeServer((_, response) => void response.end())
      const http = yield* HttpClient.HttpClient
      for (const auth of [GoogleAuth.anonymous, make({ client: new PassThroughClient() })]) {
        yield* sendAuthorized(http, auth, HttpClientRequest.get(service.origin))
        assert.isUndefined(service.asked.at(-1)?.headers.authorization)
      }
    }).pipe(Effect.scoped, Effect.provide(layer())))

  it.live("says what to do when credentials are missing, dead or unreachable, and keeps the token to itself", () =>
    Effect.gen(function*() {
      const failing = (error: Error) => Effect.flip(make({ client: scripted(() => Promise.reject(error)).client }).token)
      const missing = yield* failing(new Error("Could not load the default credentials. Browse to https://…"))
      assert.deepInclude(missing, { code: "UNAUTHENTICATED", reason: "NO_CREDENTIALS" })
      assert.include(missing.fix, "gcloud auth application-default login")
      const dead = yield* failing(
        Object.assign(new Error("invalid_grant ya29.canary-canary"), { config: { data: "refresh_token=canary" } })
      )
      assert.deepInclude(dead, { code: "UNAUTHENTICATED" })
      assert.notInclude(JSON.stringify(dead) + String(dead.cause), "canary")
      const away = yield* failing(Object.assign(new Error("request to oauth2 failed"), { code: "ECONNREFUSED" }))
      assert.deepInclude(away, { code: "UNAVAILABLE", retryable: true })
      const hanging = scripted(() => new Promise(() => {}))
      assert.deepInclude(yield* Effect.flip(make({ client: hanging.client, timeoutMs: 20 }).token), { code: "UNAVAILABLE" })
      const plain = new OAuth2Client()
      plain.setCredentials({ access_token: "ya29.canary-canary", expiry_date: Date.now() + minutes(60) })
      const auth = make({ client: plain })
      const token = yield* auth.token
      yield* auth.reject(token!)
      assert.notInclude(JSON.stringify(yield* Effect.flip(auth.token)), "canary")
    }))

  it.live("finds Application Default Credentials: the metadata server's here", () =>
    Effect.gen(function*() {
      const metadata = yield* fakeMetadata()
      const environment = {
        GCE_METADATA_HOST: new URL(metadata.origin).host,
        METADATA_SERVER_DETECTION: "assume-present",
        GOOGLE_APPLICATION_CREDENTIALS: undefined,
        CLOUDSDK_CONFIG: "/nowhere",
        HOME: "/nowhere",
        GOOGLE_CLOUD_QUOTA_PROJECT: "payer"
      }
      yield* Effect.gen(function*() {
        const auth = yield* GoogleAuth
        assert.strictEqual(yield* value(auth.token), "token-1")
        assert.strictEqual(yield* value(auth.token), "token-1")
        assert.strictEqual(yield* auth.quotaProject, "payer")
        yield* auth.reject((yield* auth.token)!)
        assert.strictEqual(yield* value(auth.token), "token-2")
      }).pipe(Effect.provide(GoogleAuth.layer()), withEnvironment(environment))
      yield* Effect.gen(function*() {
        const error = yield* Effect.flip(make().token)
        assert.deepInclude(error, { code: "UNAUTHENTICATED" })
        assert.include(error.message, "/nowhere/key.json")
      }).pipe(withEnvironment({ GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json" }))
    }).pipe(Effect.scoped))

  it.live("keeps the library's warning of a proxy's answer to itself, and no other", () =>
    Effect.gen(function*() {
      const proxy = yield* fakeMetadata((response) => {
        process.emitWarning("meanwhile", "OtherWarning")
        response.writeHead(403).end("not through here")
        return true
      })
      const { emitWarning } = process
      yield* Effect.addFinalizer(() => Effect.sync(() => void (process.emitWarning = emitWarning)))
      const warned: Array<unknown> = []
      const hear = (_: string | Error, kind?: unknown) => void warned.push(kind)
      process.emitWarning = hear
      yield* Effect.flip(make().token).pipe(withEnvironment({
        GCE_METADATA_HOST: new URL(proxy.origin).host,
        METADATA_SERVER_DETECTION: "ping-only",
        GOOGLE_APPLICATION_CREDENTIALS: undefined,
        CLOUDSDK_CONFIG: "/nowhere",
        HOME: "/nowhere"
      }))
      assert.deepStrictEqual([...new Set(warned)], ["OtherWarning"])
      assert.strictEqual(process.emitWarning, hear)
    }).pipe(Effect.scoped))
})
