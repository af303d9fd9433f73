import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { type DataSchema, DataSchemaName, type FileMetadata, FileMetadataName } from "../../../src/domain/FileMetadata.ts"
import type { MetadataRules } from "../../../src/domain/MetadataRules.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import type { Connector, Listed } from "../../../src/ports/Connector.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { tempFolder } from "../../support/TempFolder.ts"

type Store = NonNullable<Engine["Service"]["metadata"]>["store"]

const notAsked = () => Effect.die("not asked for")

/** Keeps metadata in memory, as a service beside the files would. */
const memoryMetadata = () => {
  const schemas = new Map<string, DataSchema>()
  const files = new Map<string, Map<string, FileMetadata>>()
  const store: Store = {
    createSchemas: (corpus, made) =>
      Effect.sync(() =>
        made.map(({ id, ...schema }) => {
          const one = { ...schema, name: DataSchemaName.make(`${corpus}/ragDataSchemas/${id ?? schema.key}`) }
          schemas.set(one.key, one)
          return one
        })
      ),
    listSchemas: () => Effect.sync(() => ({ items: [...schemas.values()] })),
    list: (file) => Effect.sync(() => ({ items: [...files.get(file)?.values() ?? []] })),
    create: (file, made) =>
      Effect.sync(() => {
        const of = files.get(file) ?? new Map<string, FileMetadata>()
        files.set(file, of)
        return made.map(({ id, key, value }) => {
          const one = { key, value, name: FileMetadataName.make(`${file}/ragMetadata/${id ?? key}`) }
          of.set(key, one)
          return one
        })
      }),
    getSchema: notAsked,
    deleteSchemas: notAsked,
    update: notAsked,
    get: notAsked,
    delete: notAsked
  }
  return { files, store }
}

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  engine.objects = { "gs://b/ops/a.md": "one", "gs://b/hr/b.md": "two", "gs://b/c.md": "three" }
  const { files, store } = memoryMetadata()
  const connector: Connector = {
    kind: "storage",
    check: Effect.void,
    list: () =>
      Stream.suspend(() =>
        Stream.fromIterable<Listed>([
          ...Object.entries(engine.objects ?? {}).map(([uri, text]): Listed => ({
            _tag: "item",
            item: { path: uri.slice("gs://b/".length), uri, displayName: uri, revision: text, size: text.length }
          })),
          { _tag: "complete" }
        ])
      ),
    read: (item) => Stream.die(new Error(`${item.uri} was read`))
  }
  const spec = (metadata: MetadataRules): SyncSpec => ({
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    metadata,
    sources: [{ id: "bucket", connector, imports: { _tag: "storage", uris: ["gs://b/"] } }],
    maxDelete: { percent: 10 },
    onFileError: "continue"
  })
  const services = Layer.effect(
    Engine,
    Effect.map(Engine, (facts) => Engine.of({ ...facts, metadata: { store, withFiles: false, properties: notAsked } }))
  ).pipe(
    Layer.provideMerge(engine.layer),
    Layer.merge(SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir))))
  )
  return {
    run: (metadata: MetadataRules) => sync(spec(metadata)).pipe(Effect.provide(services)),
    values: Effect.sync(() =>
      Object.fromEntries([...engine.files].map(([name, { file }]) => [
        file.sourceUri,
        [...files.get(name)?.values() ?? []].map(({ key, value }) => value._tag === "list" ? key : `${key} ${value.value}`)
      ]))
    )
  }
})

const rule = { type: "string", required: true, strict: false } as const

describe("metadata of files that the service fetches by itself", () => {
  it.effect("is made of their paths, and tells which have none", () =>
    Effect.gen(function*() {
      const { run, values } = yield* setUp
      const report = yield* run({ team: { ...rule, path: "{team}/*.md" } })
      assert.strictEqual(report.totals.added, 3)
      assert.deepStrictEqual(yield* values, {
        "gs://b/ops/a.md": ["team ops"],
        "gs://b/hr/b.md": ["team hr"],
        "gs://b/c.md": []
      })
      assert.deepStrictEqual(report.notable.map(({ path, unfit }) => [path, unfit]), [["c.md", "team: is required, and there is none"]])
    }).pipe(Effect.scoped))

  it.effect("is refused by name where it would need their bytes", () =>
    Effect.gen(function*() {
      const { run } = yield* setUp
      const { message } = yield* Effect.flip(run({ team: { ...rule, path: "{team}/*.md" }, year: { ...rule, property: ["year"] } }))
      assert.strictEqual(message, "sources.bucket: metadata.year cannot be made of files that the service fetches by itself")
    }).pipe(Effect.scoped))
})
