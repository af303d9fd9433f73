import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { environmentResolver } from "../../src/secrets/EnvironmentSecrets.ts"
import { fileResolver } from "../../src/secrets/FileSecrets.ts"
import { chain } from "../../src/secrets/Resolver.ts"

const version = (secret: string, number = "latest") => SecretVersion.make(`projects/p/secrets/${secret}/versions/${number}`)

const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-secrets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)
const write = (path: string, text: string, mode = 0o600): void => {
  writeFileSync(path, text)
  chmodSync(path, mode)
}
const resolve = (secrets: ReturnType<typeof chain>, name: SecretVersion) => Effect.map(secrets.resolve(name), Redacted.value)

describe("environment", () => {
  const secrets = chain([environmentResolver({
    SLUICE_SECRET_MY_KEY: "any",
    SLUICE_SECRET_MY_KEY_V3: "third",
    SLUICE_SECRET_MY_KEY_VPROD: "alias",
    SLUICE_SECRET_EMPTY: ""
  })])

  it.effect("finds a secret by its name, and one version of it first", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* resolve(secrets, version("my-key")), "any")
      assert.strictEqual(yield* resolve(secrets, version("my-key", "2")), "any")
      assert.strictEqual(yield* resolve(secrets, version("my-key", "3")), "third")
      assert.strictEqual(yield* resolve(secrets, version("My_key", "prod")), "alias")
    }))

  it.effect("says where it looked", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(secrets.resolve(version("empty", "4")))
      assert.strictEqual(error.version, "projects/p/secrets/empty/versions/4")
      assert.include(error.message, "environment variable SLUICE_SECRET_EMPTY_V4, environment variable SLUICE_SECRET_EMPTY")
    }))
})

describe("files", () => {
  it.effect("reads a private file, one version first, without the line end", () =>
    Effect.gen(function*() {
      const path = yield* folder
      write(join(path, "my-key"), "any\n")
      write(join(path, "my-key.3"), "third\r\n")
      write(join(path, "two"), "a\nb\n\n")
      const secrets = chain([fileResolver(path)])
      assert.strictEqual(yield* resolve(secrets, version("my-key", "1")), "any")
      assert.strictEqual(yield* resolve(secrets, version("my-key", "3")), "third")
      assert.strictEqual(yield* resolve(secrets, version("two")), "a\nb\n")
    }).pipe(Effect.scoped))

  it.effect.skipIf(process.platform === "win32")(
    "refuses a file that others can read, with the command that mends it",
    () =>
      Effect.gen(function*() {
        const path = yield* folder
        for (const mode of [0o644, 0o640, 0o602]) {
          write(join(path, "my-key"), "canary", mode)
          // It is no reason to look on: the secret is there, and somebody else has it too.
          const secrets = chain([fileResolver(path), environmentResolver({ SLUICE_SECRET_MY_KEY: "other" })])
          const error = yield* Effect.flip(secrets.resolve(version("my-key")))
          assert.include(error.message, `mode 0${mode.toString(8)}`)
          assert.strictEqual(error.fix, `chmod 600 ${join(path, "my-key")}`)
        }
      }).pipe(Effect.scoped)
  )

  it.effect("refuses what is no file, or too large", () =>
    Effect.gen(function*() {
      const path = yield* folder
      mkdirSync(join(path, "dir"))
      write(join(path, "big"), "x".repeat(70_000))
      const secrets = chain([fileResolver(path)])
      assert.match((yield* Effect.flip(secrets.resolve(version("dir")))).message, /not a file|EISDIR/)
      assert.match((yield* Effect.flip(secrets.resolve(version("big")))).message, /larger/)
    }).pipe(Effect.scoped))

  it.effect("looks in every place in order and lists them all when there is nothing", () =>
    Effect.gen(function*() {
      const path = yield* folder
      write(join(path, "my-key"), "file")
      const both = chain([environmentResolver({ SLUICE_SECRET_OTHER: "environment" }), fileResolver(path)])
      assert.strictEqual(yield* resolve(both, version("my-key")), "file")
      assert.strictEqual(yield* resolve(both, version("other")), "environment")
      const error = yield* Effect.flip(both.resolve(version("none")))
      assert.include(error.message, "environment variable SLUICE_SECRET_NONE")
      assert.include(error.message, join(path, "none"))
      assert.notInclude(error.fix, "NONE")
      assert.include((yield* Effect.flip(chain([]).resolve(version("none")))).message, "no resolver")
    }).pipe(Effect.scoped))
})
