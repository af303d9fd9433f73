import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecretError, ServiceError } from "../../../src/domain/Errors.ts"
import { SecretVersion } from "../../../src/domain/Secret.ts"
import { checks } from "../../../src/engines/vertex/Checks.ts"
import { Transport } from "../../../src/engines/vertex/Transport.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import { Secrets } from "../../../src/ports/Secrets.ts"
import { onFake } from "./Engine.ts"

const readable = SecretVersion.make("projects/p1/secrets/a/versions/1")
const other = SecretVersion.make("projects/p1/secrets/b/versions/latest")

const secrets = Layer.succeed(Secrets, {
  resolve: (version) =>
    version === readable
      ? Effect.succeed(Redacted.make("value"))
      : Effect.fail(new SecretError({ version, message: `${version} may not be read`, fix: "give the role" }))
})

const errorInfo = (reason: string) => ({
  details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }]
})

describe("the checks of the hosted engine", () => {
  it.live("pass, and go on to each secret", () =>
    onFake(() =>
      Effect.gen(function*() {
        const found = yield* checks([readable, other])
        assert.deepStrictEqual(
          found.map(({ check, ok }) => [check, ok]),
          [["credentials", true], ["project", true], ["API", true], ["billing", true], ["permissions", true], ["region", true], [
            "secret",
            true
          ], ["secret", false]]
        )
        assert.strictEqual(found.at(-1)?.fix, "give the role")
      }).pipe(Effect.provide([secrets, GoogleAuth.layerAnonymous]))
    ))

  for (
    const [status, error, check, fix] of [
      [401, { status: "UNAUTHENTICATED" }, "credentials", "gcloud auth application-default login"],
      [403, { status: "PERMISSION_DENIED", ...errorInfo("USER_PROJECT_DENIED") }, "project", "quotaProject"],
      [403, { status: "PERMISSION_DENIED", ...errorInfo("CONSUMER_INVALID") }, "project", "gcloud projects describe p1"],
      [403, { status: "PERMISSION_DENIED", ...errorInfo("SERVICE_DISABLED") }, "API", "gcloud services enable"],
      [403, { status: "PERMISSION_DENIED", ...errorInfo("BILLING_DISABLED") }, "billing", "billing account"],
      [403, { status: "PERMISSION_DENIED", ...errorInfo("IAM_PERMISSION_DENIED") }, "permissions", "roles/aiplatform.user"],
      [403, { status: "PERMISSION_DENIED" }, "permissions", "roles/aiplatform.user"],
      [400, { status: "INVALID_ARGUMENT" }, "region", "engine.vertex.location"],
      [503, { status: "UNAVAILABLE" }, "service", "answers"]
    ] as const
  ) {
    it.live(`name what is wrong first: ${check}, from ${status} ${JSON.stringify(error)}`, () =>
      onFake((fake) =>
        Effect.gen(function*() {
          fake.fault = () => ({ status, error })
          const found = yield* checks([readable])
          const last = found.at(-1)
          assert.deepStrictEqual([last?.check, last?.ok], [check, false])
          assert.include(last?.fix, fix)
          assert.isTrue(found.slice(0, -1).every(({ ok }) => ok))
        }).pipe(Effect.provide([secrets, GoogleAuth.layerAnonymous]))
      ))
  }

  it.effect("say that there are no credentials before anything is asked", () =>
    Effect.gen(function*() {
      const [only, ...more] = yield* checks([])
      assert.deepStrictEqual([only?.check, only?.ok, more.length], ["credentials", false, 0])
      assert.strictEqual(only?.fix, "sign in")
    }).pipe(Effect.provide([
      secrets,
      Layer.succeed(GoogleAuth, {
        ...GoogleAuth.anonymous,
        token: Effect.fail(new ServiceError({ code: "UNAUTHENTICATED", message: "no Google credentials were found", fix: "sign in" }))
      }),
      Layer.succeed(Transport, {
        project: "p1",
        location: "us-central1",
        parent: "projects/p1/locations/us-central1",
        endpoint: { baseUrl: "https://us-central1-aiplatform.googleapis.com", host: "us-central1-aiplatform.googleapis.com", google: true },
        call: () => Effect.die("nothing may be asked"),
        callOnce: () => Effect.die("nothing may be asked"),
        send: () => Effect.die("nothing may be asked"),
        retry: (effect) => effect
      })
    ])))
})
