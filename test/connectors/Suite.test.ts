import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { layer as httpLayer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { type Asked, fakeServer, sendCut } from "../fakes/Http.ts"
import { vendors } from "./Vendors.ts"

const pathsOf = (listed: ReadonlyArray<Listed>) => listed.flatMap((event) => event._tag === "item" ? [event.item.path] : []).toSorted()
const isComplete = (listed: ReadonlyArray<Listed>): boolean => listed.at(-1)?._tag === "complete"
const all = (connector: Connector) => Stream.runCollect(connector.list())
/** What a listing told until it ended, however that was. */
const told = (connector: Connector) => {
  const events: Array<Listed> = []
  return Stream.runForEach(connector.list(), (event) => Effect.sync(() => void events.push(event))).pipe(Effect.exit, Effect.as(events))
}
const read = (connector: Connector, item: SourceItem, maxBytes = 1_000_000) =>
  connector.read(item, maxBytes).pipe(Stream.decodeText(), Stream.mkString)
const itemAt = (listed: ReadonlyArray<Listed>, path: string): SourceItem => {
  const found = listed.find((event) => event._tag === "item" && event.item.path === path)
  assert.strictEqual(found?._tag, "item", path)
  return (found as Extract<Listed, { readonly _tag: "item" }>).item
}
const carriesCredentials = ({ headers }: Asked): boolean => headers.authorization !== undefined || headers.cookie !== undefined

/** What every connector of a remote source does, whoever the vendor is. */
for (const [name, make] of Object.entries(vendors)) {
  describe(`any connector: ${name}`, () => {
    it.layer(httpLayer(), { excludeTestServices: true })((it) => {
      it.effect("pages through everything, says when that is done, and reads what it listed", () =>
        Effect.gen(function*() {
          const { connector, lists, sample, server } = yield* make
          yield* connector.check
          const listed = yield* all(connector)
          assert.isTrue(isComplete(listed))
          assert.isAbove(server.asked.filter(lists).length, 1)
          assert.strictEqual(new Set(pathsOf(listed)).size, pathsOf(listed).length)
          const item = itemAt(listed, sample)
          assert.isAbove((yield* read(connector, item)).length, 3)
          assert.deepInclude(yield* Effect.flip(read(connector, item, 3)), { code: "OUT_OF_RANGE" })
        }).pipe(Effect.scoped))

      it.effect("waits as it is told, tries again what breaks, and takes no cut or garbled page for the end", () =>
        Effect.gen(function*() {
          const { connector, lists, server } = yield* make
          const wanted = pathsOf(yield* all(connector))
          server.fault(1, lists, (response) => void response.writeHead(429, { "retry-after": "0" }).end())
          server.fault(1, lists, (response) => void response.writeHead(503).end("upstream connect error"))
          const listed = yield* all(connector)
          assert.deepStrictEqual(pathsOf(listed), wanted)
          assert.isTrue(isComplete(listed))
          server.fault(1, lists, (response) => sendCut(response, "{\"files\": [", { "content-type": "application/json" }))
          server.fault(1, lists, (response) => void response.writeHead(200, { "content-type": "application/json" }).end("<html>a proxy"))
          const again = yield* all(connector)
          assert.deepStrictEqual(pathsOf(again), wanted)
          assert.isTrue(isComplete(again))
        }).pipe(Effect.scoped))

      it.effect("what stays broken is no complete listing", () =>
        Effect.gen(function*() {
          const { connector, lists, server } = yield* make
          let pages = 0
          server.fault(Infinity, (asked) => lists(asked) && ++pages > 1, (response) => void response.writeHead(500).end())
          assert.isFalse(isComplete(yield* told(connector)))
          assert.isAbove(pages, 2)
        }).pipe(Effect.scoped))

      it.effect("an item that is gone, or broken for good, is one item's failure", () =>
        Effect.gen(function*() {
          const { connector, files, reads, remove, sample, server } = yield* make
          const listed = yield* all(connector)
          const item = itemAt(listed, sample)
          const other = listed.find((event) => event._tag === "item" && event.item.path !== sample)
          const source = files ?? server
          source.fault(1, reads, (response) => void response.writeHead(503).end())
          assert.isAbove((yield* read(connector, item)).length, 3)
          source.fault(3, reads, (response) => void response.writeHead(500).end())
          assert.strictEqual((yield* Effect.flip(read(connector, item)))._tag, "ServiceError")
          remove()
          assert.deepInclude(yield* Effect.flip(read(connector, item)), { code: "NOT_FOUND" })
          if (other?._tag === "item") assert.isAbove((yield* read(connector, other.item)).length, 3)
        }).pipe(Effect.scoped))

      it.effect("follows a link elsewhere without credentials", () =>
        Effect.gen(function*() {
          const { connector, files, lists, reads, sample, server } = yield* make
          const elsewhere = yield* fakeServer((_, response) => void response.end("{}"))
          const item = itemAt(yield* all(connector), sample)
          const away = (response: Parameters<Parameters<typeof server.fault>[2]>[0]) =>
            void response.writeHead(302, { location: `${elsewhere.origin}/other` }).end()
          server.fault(3, lists, away)
          yield* told(connector)
          ;(files ?? server).fault(3, reads, away)
          yield* Effect.exit(read(connector, item))
          assert.isFalse(elsewhere.asked.some(carriesCredentials))
        }).pipe(Effect.scoped))
    })
  })
}
