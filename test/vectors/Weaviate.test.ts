import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as Weaviate from "../../src/vectors/weaviate/Weaviate.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { sendJson } from "../fakes/Http.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const real = process.env["WEAVIATE_URL"] ?? ""

/** Properties that the service documents, as somebody else would have made them. */
const documented = ["fileId", "corpusId", "chunkId", "chunkDataType", "chunkData", "fileOriginalUri"].map((name) => ({
  name,
  dataType: ["text"],
  tokenization: "field"
}))

const json = (method: string, url: string, body?: unknown) =>
  Effect.promise(() =>
    fetch(url, { method, headers: { "content-type": "application/json" }, body: body === undefined ? null : JSON.stringify(body) })
  )

const opening = (url: Effect.Effect<string>, collection: string, made?: object) =>
  Layer.effect(
    Opening,
    Effect.gen(function*() {
      const http = yield* HttpClient.HttpClient
      const endpoint = yield* url
      const collectionName = `${collection}${Date.now()}`
      yield* Effect.addFinalizer(() => json("DELETE", `${endpoint}/v1/schema/${collectionName}`))
      if (made !== undefined) {
        yield* json("POST", `${endpoint}/v1/schema`, {
          class: collectionName,
          vectorizer: "none",
          vectorIndexConfig: { distance: "cosine" },
          properties: documented,
          ...made
        })
      }
      return {
        open: (space: VectorSpace) => Weaviate.make({ httpEndpoint: endpoint, collectionName, space, secrets: secretsOf(new Map()), http })
      }
    })
  ).pipe(Layer.provide(Http.layer()))

const fake = Effect.map(fakeWeaviate(), ({ origin }) => origin)
const tenants = { multiTenancyConfig: { enabled: true } }

const fakeOpening = (collection: string, made?: object) =>
  Layer.unwrap(Effect.map(fake, (url) => opening(Effect.succeed(url), collection, made)))
suite("Weaviate", fakeOpening("Docs"), { mixes: true })
suite("Weaviate, a tenant each", fakeOpening("Tenants", tenants), { mixes: true })
if (real !== "") {
  suite(`Weaviate at ${real}`, opening(Effect.succeed(real), "Docs"), { mixes: true })
  suite(`Weaviate at ${real}, a tenant each`, opening(Effect.succeed(real), "Tenants", tenants), { mixes: true })
  suite(`Weaviate at ${real}, a collection of the service's`, opening(Effect.succeed(real), "Service", {}), { mixes: true })
}

describe("Weaviate", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }
  const open = (url: string, more: Partial<Parameters<typeof Weaviate.make>[0]> = {}) =>
    Effect.flatMap(
      HttpClient.HttpClient,
      (http) =>
        Weaviate.make({
          httpEndpoint: url,
          collectionName: "docs",
          space,
          secrets: secretsOf(new Map()),
          http,
          retry: { times: 1, baseMs: 1 },
          ...more
        })
    )
  const file = {
    file: "f1",
    sourceUri: "file:///a",
    displayName: "a",
    chunks: [0, 1, 2].map((ordinal) => ({
      ordinal,
      text: `text ${ordinal}`,
      vector: Float32Array.of(1, 0),
      terms: ["text"],
      headings: [],
      byteStart: 0,
      byteEnd: 6
    }))
  }

  it.live("lays chunks out as the service documents it, and says what is known of them beside", () =>
    Effect.gen(function*() {
      const { classes, origin: url } = yield* fakeWeaviate()
      const store = yield* open(url)
      yield* store.prepare
      yield* store.put([{ ...file, metadata: { lang: "de" }, permissions: { public: true, principals: [] } }])
      const objects = [...classes.get("Docs")?.objects.values() ?? []]
      assert.lengthOf(objects, 3)
      assert.deepInclude(objects[1]?.properties, {
        fileId: "f1",
        corpusId: space.corpus,
        chunkId: objects[1]?.id,
        chunkDataType: "TEXT",
        chunkData: "text 1",
        fileOriginalUri: "file:///a",
        chunkOrdinal: 1,
        fileMetadata: "{\"lang\":\"de\"}",
        filePermissions: "{\"public\":true,\"principals\":[]}"
      })
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("deletes all, however few a server takes at once", () =>
    Effect.gen(function*() {
      const { classes, origin: url } = yield* fakeWeaviate({ mostResults: 2 })
      const store = yield* open(url)
      yield* store.prepare
      yield* store.put([file])
      assert.lengthOf([...classes.get("Docs")?.objects.values() ?? []], 3)
      yield* store.delete([file.file])
      assert.lengthOf([...classes.get("Docs")?.objects.values() ?? []], 0)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("sends again the objects of a batch that were not taken, and only those", () =>
    Effect.gen(function*() {
      const { asked, fault, origin: url } = yield* fakeWeaviate()
      const isBatch = ({ method, url }: (typeof asked)[number]) => method === "POST" && url.pathname.endsWith("/batch/objects")
      const objectsOf = ({ body }: (typeof asked)[number]): ReadonlyArray<object> => JSON.parse(body.toString()).objects
      fault(1, isBatch, (response, request) =>
        sendJson(
          response,
          200,
          objectsOf(request).map((object, i) => ({
            ...object,
            result: i === 0 ? { status: "SUCCESS" } : { status: "FAILED", errors: { error: [{ message: "shard is busy" }] } }
          }))
        ))
      const store = yield* open(url)
      yield* store.prepare
      yield* store.put([file])
      assert.deepStrictEqual(asked.filter(isBatch).map((request) => objectsOf(request).length), [3, 2])
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("waits as long as Retry-After says, and resolves the key again where it is refused", () =>
    Effect.gen(function*() {
      const secrets = new Map([["key", "old"]])
      const { asked, fault, origin: url } = yield* fakeWeaviate({ key: () => "new" })
      fault(1, ({ headers }) =>
        headers["authorization"] === "Bearer new", (response) =>
        void response.writeHead(429, { "retry-after": "0" }).end())
      const store = yield* open(url, { apiKey: secretVersion("key"), secrets: secretsOf(secrets) })
      const refused = yield* Effect.flip(store.prepare)
      assert.strictEqual(refused.code, "UNAUTHENTICATED")
      assert.notInclude(JSON.stringify(refused), "old")
      secrets.set("key", "new")
      yield* store.prepare
      assert.isAbove(
        asked.filter(({ headers }) =>
          headers["authorization"] === "Bearer new"
        ).length,
        2
      )
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("refuses a collection that is not as a corpus needs it, and writes nothing", () =>
    Effect.gen(function*() {
      const { classes, origin: url } = yield* fakeWeaviate()
      const make = (config: object) => json("POST", `${url}/v1/schema`, { class: "Docs", properties: documented, ...config })
      const cases = [
        [{ properties: [{ name: "title" }] }, "somebody else's"],
        [{ vectorIndexConfig: { distance: "l2-squared" } }, "compares vectors by l2-squared"],
        [{ vectorConfig: { title: {} } }, "named vectors"]
      ] as const
      for (const [config, said] of cases) {
        classes.clear()
        yield* make(config)
        const refused = yield* Effect.flatMap(open(url), ({ prepare }) => Effect.flip(prepare))
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, said)
        assert.include(refused.message, "corpus.vectorDb.weaviate.collectionName")
        assert.strictEqual(classes.get("Docs")?.objects.size, 0)
      }
      assert.include((yield* Effect.flip(open(url, { collectionName: undefined }))).message, "corpus.vectorDb.weaviate.collectionName")
      assert.include((yield* Effect.flip(open(url, { collectionName: "no name" }))).message, "is not a valid name of a collection")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
