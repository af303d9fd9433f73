import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { join } from "node:path"
import * as SqliteTableStore from "../../../../src/engines/embedded/stores/SqliteTableStore.ts"
import { type BigQueryOptions, layer } from "../../../../src/engines/vertex/tableStore/BigQueryTableStore.ts"
import { GoogleAuth } from "../../../../src/net/GoogleAuth.ts"
import * as Http from "../../../../src/net/Http.ts"
import { TableStore } from "../../../../src/ports/TableStore.ts"
import * as Conformance from "../../../conformance/TableStore.ts"
import { type FakeBigQuery, fakeBigQuery } from "../../../fakes/Bigquery.ts"
import { sendGoogleError } from "../../../fakes/Http.ts"
import { tempFolder } from "../../../support/TempFolder.ts"

const against = (fake: FakeBigQuery, options: BigQueryOptions = {}) =>
  layer({ endpoint: fake.origin, retry: { times: 3, baseMs: 5, capMs: 10 }, ...options }).pipe(
    Layer.provide([Http.layer(), GoogleAuth.layerAnonymous])
  )

Conformance.suite("BigQuery", Layer.unwrap(Effect.map(fakeBigQuery(500), (fake) => against(fake))))
Conformance.suite("SQLite", Layer.unwrap(Effect.map(tempFolder, (folder) => SqliteTableStore.layer(join(folder, "tables.db")))))

const onFake = <A, E>(body: (store: TableStore["Service"], fake: FakeBigQuery) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fake = yield* fakeBigQuery(2)
    return yield* Effect.flatMap(TableStore, (store) => body(store, fake)).pipe(Effect.provide(against(fake)))
  }).pipe(Effect.scoped)

describe("BigQueryTableStore", () => {
  it.live("reads records, lists and every page, through failures of the way there", () =>
    onFake((store, fake) =>
      Effect.gen(function*() {
        fake.put(
          "p.d.t",
          [
            { name: "custom_id", type: "STRING", mode: "REQUIRED" },
            { name: "tags", type: "STRING", mode: "REPEATED" },
            { name: "who", type: "RECORD", fields: [{ name: "name", type: "STRING" }, { name: "age", type: "INT64" }] },
            { name: "body", type: "JSON" }
          ],
          [1, 2, 3].map((n) => ({ custom_id: `c${n}`, tags: ["a", "b"], who: { name: "x", age: n }, body: { n: [n] } })),
          "US"
        )
        fake.fault(2, ({ url }) => url.pathname.endsWith("/data"), (response) => sendGoogleError(response, 503, "later"))
        const rows = (yield* Stream.runCollect(store.read("p.d.t"))).flat()
        assert.deepStrictEqual(rows[2], { custom_id: "c3", tags: ["a", "b"], who: { name: "x", age: 3 }, body: { n: [3] } })
        assert.lengthOf(rows, 3)
        const head = yield* store.head("bq://p.d.t")
        assert.deepStrictEqual([head.location, head.rows], ["US", 3])
      })
    ))

  it.live("loads a table whole, through failures of the way there, and while it is read", () =>
    onFake((store, fake) =>
      Effect.gen(function*() {
        const columns = [{ name: "a", type: "STRING" }, { name: "n", type: "INTEGER" }]
        const uploads = ({ method }: { readonly method: string }) => method === "PUT"
        fake.fault(2, uploads, (response) => sendGoogleError(response, 503, "later"))
        // The upload arrived, and its answer was lost.
        fake.fault(1, uploads, (response) => void response.destroy())
        const long = "x".repeat(1_000_000)
        const rows = Array.from({ length: 20 }, (_, n) => ({ a: long, n }))
        yield* store.put("bq://p.d.new", columns, Stream.fromIterable(rows.map((row) => [row])))
        assert.deepStrictEqual(fake.tables.get("p.d.new")?.rows.map(({ n }) => n), rows.map(({ n }) => String(n)))
        const puts = fake.asked.filter(uploads)
        assert.isAtLeast(puts.length, 5)
        assert.isTrue(puts.every(({ body }) => body.length <= 8 * 1024 * 1024))
        yield* store.put("bq://p.d.new", columns, Stream.concat(store.read("bq://p.d.new"), Stream.make([{ a: "more", n: 20 }])), {
          replace: true
        })
        assert.lengthOf(fake.tables.get("p.d.new")?.rows ?? [], 21)
      })
    ))

  it.live("says what a load failed for, and leaves what was there", () =>
    onFake((store, fake) =>
      Effect.gen(function*() {
        const columns = [{ name: "a", type: "STRING" }]
        const missing = yield* Effect.flip(store.put("bq://p.none.t", columns, Stream.make([{ a: "1" }])))
        assert.deepStrictEqual([missing.code, missing.message], ["NOT_FOUND", "table bq://p.none.t was not found"])
        fake.put("p.d.raced", [{ name: "a", type: "STRING" }], [{ a: "before" }])
        fake.fault(1, ({ method }) => method === "GET", (response) => sendGoogleError(response, 404, "Not found", { status: "NOT_FOUND" }))
        assert.strictEqual((yield* Effect.flip(store.put("bq://p.d.raced", columns, Stream.make([{ a: "1" }])))).code, "ALREADY_EXISTS")
        assert.deepStrictEqual(fake.tables.get("p.d.raced")?.rows, [{ a: "before" }])
      })
    ))

  it.live("says what to do about a refusal", () =>
    onFake((store, fake) =>
      Effect.gen(function*() {
        fake.fault(1, () => true, (response) => sendGoogleError(response, 403, "Access Denied", { status: "PERMISSION_DENIED" }))
        const denied = yield* Effect.flip(store.head("bq://p.d.t"))
        assert.strictEqual(denied.code, "PERMISSION_DENIED")
        assert.include(denied.fix, "roles/bigquery.dataViewer")
        const strange = yield* Effect.flip(store.put("bq://p.d.s", [{ name: "a", type: "STRING" }], Stream.fail(denied)))
        assert.strictEqual(strange.code, "PERMISSION_DENIED")
        assert.isFalse(fake.tables.has("p.d.s"))
      })
    ))
})
