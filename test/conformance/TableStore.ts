import { assert, expect, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import type { JsonRecord } from "../../src/domain/Chat.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import { parseExactly } from "../../src/domain/Json.ts"
import { type Column, TableStore } from "../../src/ports/TableStore.ts"

const columns: ReadonlyArray<Column> = [
  { name: "custom_id", type: "STRING" },
  { name: "n", type: "INTEGER" },
  { name: "x", type: "FLOAT" },
  { name: "yes", type: "BOOLEAN" },
  { name: "body", type: "JSON" }
]

const rowsOf = (count: number): ReadonlyArray<JsonRecord> =>
  Array.from({ length: count }, (_, at) => ({
    custom_id: `row ${at} "é"`,
    n: at,
    x: at + 0.5,
    yes: at % 2 === 0,
    body: at % 3 === 0 ? null : { messages: [{ content: `'${at}'` }], deep: [[at]] }
  }))

/** What every TableStore does. */
export const suite = <E>(name: string, store: Layer.Layer<TableStore, E>): void => {
  layer(store, { excludeTestServices: true })(`TableStore: ${name}`, (it) => {
    const all = (uri: string) =>
      Effect.flatMap(TableStore, ({ read }) => Effect.map(Stream.runCollect(read(uri)), (groups) => groups.flat()))

    it.effect("gives back the rows it was given, whatever their number", () =>
      Effect.gen(function*() {
        const { head, put } = yield* TableStore
        for (const count of [0, 1, 1_203]) {
          const uri = `bq://p.main.rows${count}`
          const rows = rowsOf(count)
          yield* put(uri, columns, Stream.fromIterable([rows.slice(0, 700), rows.slice(700)]))
          assert.deepStrictEqual(yield* all(uri), rows)
          expect((yield* head(uri)).columns).toEqual(columns)
        }
      }))

    it.effect("tells tables apart by their addresses, however those are written", () =>
      Effect.gen(function*() {
        const { idOf } = yield* TableStore
        assert.isDefined(idOf("p.d.t"))
        assert.strictEqual(idOf("bq://p.d.t"), idOf("p.d.t"))
        assert.lengthOf(new Set(["p.d.t", "p.d.u", "p.e.t", "p.main.t"].map(idOf)), 4)
        assert.isUndefined(idOf("d.t"))
      }))

    it.effect("keeps integers that doubles would round", () =>
      Effect.gen(function*() {
        const { put } = yield* TableStore
        yield* put("p.main.long", columns, Stream.make([{ custom_id: "a", n: parseExactly("9007199254740993") }]))
        assert.include(JSON.stringify(yield* all("bq://p.main.long")), "\"n\":9007199254740993,")
      }))

    it.effect("replaces a table only where it may, and leaves no half of one", () =>
      Effect.gen(function*() {
        const { head, put } = yield* TableStore
        const uri = "bq://p.main.replaced"
        yield* put(uri, columns, Stream.make(rowsOf(2)))
        assert.strictEqual((yield* Effect.flip(put(uri, columns, Stream.empty))).code, "ALREADY_EXISTS")
        assert.lengthOf(yield* all(uri), 2)
        yield* put(uri, columns, Stream.make(rowsOf(1)), { replace: true })
        assert.lengthOf(yield* all(uri), 1)
        const broken = Stream.concat(Stream.make(rowsOf(900)), Stream.fail(ServiceError.internal("broke off")))
        assert.include((yield* Effect.flip(put("bq://p.main.half", columns, broken))).message, "broke off")
        assert.strictEqual((yield* Effect.flip(head("bq://p.main.half"))).code, "NOT_FOUND")
      }))

    it.effect("deletes, also what is not there, and knows no other table", () =>
      Effect.gen(function*() {
        const { delete: remove, head, put } = yield* TableStore
        yield* put("bq://p.main.gone", columns, Stream.empty)
        yield* remove("bq://p.main.gone")
        yield* remove("bq://p.main.gone")
        for (const call of [Effect.asVoid(head("bq://p.main.gone")), Effect.asVoid(all("bq://p.main.gone"))]) {
          assert.strictEqual((yield* Effect.flip(call)).code, "NOT_FOUND")
        }
        assert.strictEqual((yield* Effect.flip(head("gone"))).code, "INVALID_ARGUMENT")
      }))
  })
}
