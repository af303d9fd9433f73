import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import { layer } from "../../src/net/Http.ts"
import { environmentResolver } from "../../src/secrets/EnvironmentSecrets.ts"
import { chain } from "../../src/secrets/Resolver.ts"
import { secretManagerResolver } from "../../src/secrets/SecretManager.ts"
import { sendGoogleError } from "../fakes/Http.ts"
import { fakeSecretManager, type FakeVersion } from "../fakes/Secretmanager.ts"

const versions = (entries: Record<string, FakeVersion>) => new Map(Object.entries(entries))
const name = (secret: string, version = "latest", place = "projects/p") =>
  SecretVersion.make(`${place}/secrets/${secret}/versions/${version}`)
const retry = { times: 2, baseMs: 1 }
const asUser = GoogleAuth.layerTest("ya29.token")

describe("Secret Manager", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("reads a version, regional ones too, and keeps it", () =>
      Effect.gen(function*() {
        const fake = yield* fakeSecretManager(versions({
          // The CRC-32C check value of RFC 3720: "123456789" gives e3069283.
          "projects/p/secrets/key/versions/latest": { data: "123456789", crc: String(0xe3069283) },
          "projects/p/locations/europe-west3/secrets/key/versions/2": { data: "r\u00e9gional" }
        }))
        const secrets = chain([environmentResolver({}), yield* secretManagerResolver({ baseUrl: fake.origin, retry })])
        const both = yield* Effect.all([secrets.resolve(name("key")), secrets.resolve(name("key"))], { concurrency: 2 })
        assert.deepStrictEqual(both.map(Redacted.value), ["123456789", "123456789"])
        assert.strictEqual(fake.asked.length, 1)
        assert.strictEqual(fake.asked[0]?.headers.authorization, "Bearer ya29.token")
        const regional = name("key", "2", "projects/p/locations/europe-west3")
        assert.strictEqual(Redacted.value(yield* secrets.resolve(regional)), "r\u00e9gional")
        assert.notInclude(String(yield* secrets.resolve(regional)), "gional")
      }).pipe(Effect.provide(asUser)))

    it.effect("lets the environment go first", () =>
      Effect.gen(function*() {
        const fake = yield* fakeSecretManager(versions({}))
        const secrets = chain([environmentResolver({ SLUICE_SECRET_KEY: "mine" }), yield* secretManagerResolver({ baseUrl: fake.origin })])
        assert.strictEqual(Redacted.value(yield* secrets.resolve(name("key"))), "mine")
        assert.strictEqual(fake.asked.length, 0)
      }).pipe(Effect.provide(asUser)))

    it.effect("says what is wrong and what mends it, and never the value", () =>
      Effect.gen(function*() {
        const fake = yield* fakeSecretManager(versions({
          "projects/p/secrets/off/versions/latest": { data: "canary", state: "DISABLED" },
          "projects/p/secrets/shut/versions/latest": { data: "canary", state: "FORBIDDEN" },
          "projects/p/secrets/damaged/versions/latest": { data: "canary", crc: "1" },
          "projects/p/secrets/binary/versions/latest": { data: Buffer.from([0xff, 0xfe]) }
        }))
        const secrets = chain([environmentResolver({}), yield* secretManagerResolver({ baseUrl: fake.origin, retry })])
        const errorOf = (secret: string) => Effect.flip(secrets.resolve(name(secret)))
        assert.include((yield* errorOf("off")).message, "disabled or destroyed")
        assert.strictEqual((yield* errorOf("shut")).fix, "give the account roles/secretmanager.secretAccessor on projects/p/secrets/shut")
        assert.include((yield* errorOf("damaged")).message, "checksum")
        assert.include((yield* errorOf("binary")).message, "damaged")
        const none = yield* errorOf("none")
        assert.include(none.message, "environment variable SLUICE_SECRET_NONE, projects/p/secrets/none/versions/latest in Secret Manager")
        for (const secret of ["off", "shut", "damaged"]) assert.notInclude(JSON.stringify(yield* errorOf(secret)), "canary")
      }).pipe(Effect.provide(asUser)))

    it.effect("tries again, and does not keep a failure", () =>
      Effect.gen(function*() {
        const all = versions({})
        const fake = yield* fakeSecretManager(all)
        const secrets = chain([yield* secretManagerResolver({ baseUrl: fake.origin, retry })])
        yield* Effect.flip(secrets.resolve(name("late")))
        all.set("projects/p/secrets/late/versions/latest", { data: "here" })
        fake.fault(1, () => true, (response) => sendGoogleError(response, 503, "try later"))
        assert.strictEqual(Redacted.value(yield* secrets.resolve(name("late"))), "here")
        fake.fault(9, () => true, (response) => sendGoogleError(response, 500, "broken"))
        assert.include((yield* Effect.flip(secrets.resolve(name("other")))).message, "broken")
      }).pipe(Effect.provide(asUser)))

    it.effect("without Google credentials only says so; with dead ones fails", () =>
      Effect.gen(function*() {
        const withAuth = (error: ServiceError) =>
          Effect.gen(function*() {
            const secrets = chain([yield* secretManagerResolver({ baseUrl: "http://127.0.0.1:1" })])
            return yield* Effect.flip(secrets.resolve(name("key")))
          }).pipe(Effect.provideService(GoogleAuth, { ...GoogleAuth.anonymous, token: Effect.fail(error) }))
        const none = new ServiceError({ code: "UNAUTHENTICATED", message: "none", reason: "NO_CREDENTIALS", fix: "Log in." })
        assert.include((yield* withAuth(none)).message, "not asked, as there are no Google credentials")
        assert.deepInclude(yield* withAuth(new ServiceError({ code: "UNAUTHENTICATED", message: "dead", fix: "Log in." })), {
          fix: "Log in."
        })
      }))
  })
})
