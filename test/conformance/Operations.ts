import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { OperationName, type Operation } from "../../src/domain/Operation.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Operations } from "../../src/ports/Operations.ts"
import { managed } from "./Cases.ts"

/**
 * What every engine's Operations does. The engine can import: `gs://fine/…` ends well with one file imported,
 * `gs://slow/…` runs until it is cancelled.
 */
export const suite = <E>(name: string, engine: Layer.Layer<Corpora | Files | Operations, E>): void => {
  const start = Effect.fnUntraced(function*(uri: string) {
    const corpus = (yield* (yield* Corpora).create(managed("importing"))).name
    const operation = yield* (yield* Files).import({
      corpus,
      source: { _tag: "storage", uris: [uri] },
      chunking: { strategy: "fixed", size: 1024, overlap: 200 }
    })
    return { corpus, operation }
  })

  layer(engine, { excludeTestServices: true })(`Operations: ${name}`, (it) => {
    it.effect("follows an import to its end", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const { corpus, operation } = yield* start("gs://fine/docs")
        assert.strictEqual(operation.kind, "importFiles")
        assert.strictEqual(operation.target, corpus)
        const ended = yield* operations.wait(operation.name, 10_000)
        assert.isTrue(ended.done)
        assert.isUndefined(ended.error)
        assert.deepStrictEqual(ended.counts, { imported: 1, failed: 0, skipped: 0 })
        assert.deepStrictEqual(yield* operations.get(operation.name), ended)
      }))

    it.effect("returns from waiting when the time is up", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const { operation } = yield* start("gs://slow/docs")
        assert.isFalse((yield* operations.wait(operation.name, 50)).done)
        yield* operations.cancel(operation.name)
      }))

    it.effect("cancels", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const { operation } = yield* start("gs://slow/docs")
        yield* operations.cancel(operation.name)
        const ended = yield* operations.wait(operation.name, 10_000)
        assert.isTrue(ended.done)
        assert.strictEqual(ended.error?.code, "CANCELLED")
      }))

    it.effect("lists operations, and deletes those that are done", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const { operation } = yield* start("gs://fine/docs")
        yield* operations.wait(operation.name, 10_000)
        const listed = (found: ReadonlyArray<Operation>) => found.some((one) => one.name === operation.name)
        assert.isTrue(listed((yield* operations.list({})).items))
        yield* operations.delete(operation.name)
        assert.isFalse(listed((yield* operations.list({})).items))
        assert.strictEqual((yield* Effect.flip(operations.get(operation.name))).code, "NOT_FOUND")
      }))

    it.effect("knows no operation that was not started", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const { operation } = yield* start("gs://fine/docs")
        const name = OperationName.make(operation.name.replace(/[^/]+$/, "1"))
        assert.strictEqual((yield* Effect.flip(operations.get(name))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(operations.cancel(name))).code, "NOT_FOUND")
      }))
  })
}
