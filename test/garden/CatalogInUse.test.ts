import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { embeddedGarden } from "../../src/compose/Garden.ts"
import { SecretError } from "../../src/domain/Errors.ts"
import { Endpoints } from "../../src/ports/Endpoints.ts"
import { ModelCatalog } from "../../src/ports/ModelCatalog.ts"
import { Secrets } from "../../src/ports/Secrets.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { modelServer } from "./Support.ts"

const key = "canary-6c1f-of-the-model-server"
const version = "projects/p/secrets/model-server/versions/1"

const secrets = Layer.succeed(Secrets, {
  resolve: (asked) =>
    asked === version
      ? Effect.succeed(Redacted.make(key))
      : Effect.fail(new SecretError({ version: asked, message: `${asked} is not there`, fix: "put it there" }))
})

const model = (name: string, more = "") =>
  `  - { name: publishers/acme/models/${name}, versionId: "1"${more}, deploy: [{ resources: { machine: { machineType: n1-standard-4 } } }] }\n`

describe("a catalog in use", () => {
  it.live("is read again when its file changes, and holds while the file is broken", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const names = Effect.gen(function*() {
        const { list } = yield* ModelCatalog
        return (yield* list({}, {})).items.map(({ name }) => name.replace("publishers/acme/models/", ""))
      })
      yield* Effect.gen(function*() {
        assert.include(yield* names, "publishers/google/models/gemma3")
        write(join(folder, "data"), { "models.yaml": `models:\n${model("one")}` })
        assert.deepStrictEqual(yield* names, ["one"])
        write(join(folder, "data"), { "models.yaml": `models:\n${model("one")}${model("two")}` })
        assert.deepStrictEqual(yield* names, ["one", "two"])
        write(join(folder, "data"), { "models.yaml": "models:\n  - what" })
        assert.deepStrictEqual(yield* names, ["one", "two"])
        write(join(folder, "data"), { "models.yaml": `models:\n${model("three")}` })
        assert.deepStrictEqual(yield* names, ["three"])
        rmSync(join(folder, "data", "models.yaml"))
        assert.include(yield* names, "publishers/google/models/gemma3")
      }).pipe(Effect.provide(embeddedGarden({ dataDir: join(folder, "data") })))
    }).pipe(Effect.scoped))

  it.live("names the key that a model server is sent, and says that it is missing without saying more", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const server = yield* modelServer
      const upstream = (secret: string) => `, upstream: { url: "${server.origin}/x", apiKey: ${secret} }`
      write(folder, {
        "catalog.yaml": `models:\n${model("open", upstream(version))}${model("shut", upstream(version.replace("/1", "/2")))}`
      })
      yield* Effect.gen(function*() {
        const { deploy } = yield* ModelCatalog
        const { rawPredict } = yield* Endpoints
        const ask = Effect.fnUntraced(function*(name: string) {
          const { deployment } = yield* deploy({ publisherModelName: `publishers/acme/models/${name}@1` })
          const { list } = yield* Endpoints
          const made = (yield* list({})).items.find((endpoint) => endpoint.name === deployment?.endpoint)
          if (made === undefined) return yield* Effect.die(new Error("there is no endpoint"))
          return yield* rawPredict(made.name, { contentType: "text/plain", body: new TextEncoder().encode("hello") })
        })
        const { body } = yield* ask("open")
        assert.strictEqual(Buffer.from(body).toString(), "hello")
        assert.strictEqual(server.asked[0]?.headers["authorization"], `Bearer ${key}`)
        const refused = yield* Effect.flip(ask("shut"))
        assert.deepInclude(refused, {
          code: "FAILED_PRECONDITION",
          message: "the model server's key cannot be had: projects/p/secrets/model-server/versions/2 is not there"
        })
        assert.lengthOf(server.asked, 1)
      }).pipe(Effect.provide(embeddedGarden({ dataDir: join(folder, "data"), catalog: join(folder, "catalog.yaml"), secrets })))
    }).pipe(Effect.scoped))
})
