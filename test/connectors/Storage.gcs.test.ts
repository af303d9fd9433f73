import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import type { StorageContext } from "../../connectors/storage/Open.ts"
import { storage } from "../../connectors/storage/Storage.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { type FakeGcs, fakeGcs } from "../fakes/Gcs.ts"
import { sendCut, sendGoogleError } from "../fakes/Http.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

const retry = { times: 3, baseMs: 1 }

const connect = Effect.fnUntraced(
  function*(fake: FakeGcs, config: Partial<SettingsOf<"storage">> & Pick<SettingsOf<"storage">, "uris">, context: StorageContext = {}) {
    const http = yield* HttpClient.HttpClient
    return storage(config, { http, retry, environment: { STORAGE_EMULATOR_HOST: fake.origin }, ...context })
  }
)

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path)
const complete = (listed: ReadonlyArray<Listed>) => listed.at(-1)?._tag === "complete"
const failures = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "failed" ? [[event.path, event.error.code, event.error.fix] as const] : [])
const text = (connector: Connector, item: SourceItem | undefined, maxBytes = 1_000_000) =>
  connector.read(item!, maxBytes).pipe(Stream.decodeText(), Stream.mkString)

const lists = ({ asked }: FakeGcs) => asked.filter(({ url }) => url.pathname.endsWith("/o"))
const isList = ({ url }: { url: URL }) => url.pathname.endsWith("/o")
const isMedia = ({ url }: { url: URL }) => url.searchParams.get("alt") === "media"

describe("the storage source, gs://", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("lists prefixes, objects and folders, pages through, and says when it has seen everything", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs(2)
        for (
          const name of ["docs/a.md", "docs/b.md", "docs/c/d.md", "docs/e.md", "other/x.md", "report-1.txt", "report-2.txt", "root.md"]
        ) {
          fake.put("acme", name, name, { metadata: { owner: "hr" }, contentType: "text/markdown; charset=utf-8" })
        }
        const connector = yield* connect(fake, { uris: ["gs://acme/docs/", "gs://acme/root.md", "gs://acme/report-*", "gs://acme/other"] })
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), [
          "gs://acme/docs/a.md",
          "gs://acme/docs/b.md",
          "gs://acme/docs/c/d.md",
          "gs://acme/docs/e.md",
          "gs://acme/root.md",
          "gs://acme/report-1.txt",
          "gs://acme/report-2.txt",
          "gs://acme/other/x.md"
        ])
        assert.isTrue(complete(listed))
        const item = items(listed)[2]
        assert.deepStrictEqual(item, {
          path: "gs://acme/docs/c/d.md",
          uri: "gs://acme/docs/c/d.md",
          displayName: "c/d.md",
          revision: fake.object("acme", "docs/c/d.md")!.generation,
          size: 11,
          mimeType: "text/markdown",
          metadata: { owner: "hr", modifiedTime: "2026-09-29T15:40:13.710Z" }
        })
        assert.strictEqual(yield* text(connector, item), "docs/c/d.md")
        assert.isTrue(lists(fake).every(({ headers }) => headers.authorization === undefined))
        yield* connector.check
      }))

    it.effect("lists nothing twice where addresses overlap, and keeps paths apart that differ in spelling only", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        for (const name of ["docs/a.md", "docs/hr/b.md", "docs/caf\u00e9.md", "docs/cafe\u0301.md", "docs/c d#?%.md"]) {
          fake.put("acme", name, name)
        }
        const connector = yield* connect(fake, {
          uris: ["gs://acme/docs/a.md", "gs://acme/docs/", "gs://acme/docs/hr", "gs://acme", "gs://acme/docs/a.md"]
        })
        const listed = yield* collect(connector)
        assert.deepStrictEqual(
          paths(listed).toSorted(),
          [
            "gs://acme/docs/a.md",
            "gs://acme/docs/c d#?%.md",
            "gs://acme/docs/cafe%CC%81.md",
            "gs://acme/docs/caf\u00e9.md",
            "gs://acme/docs/hr/b.md"
          ].toSorted()
        )
        assert.isTrue(complete(listed))
        const texts = yield* Effect.forEach(items(listed), (item) => text(connector, item))
        assert.deepStrictEqual(
          texts.toSorted(),
          ["docs/a.md", "docs/hr/b.md", "docs/caf\u00e9.md", "docs/cafe\u0301.md", "docs/c d#?%.md"].toSorted()
        )
      }))

    it.effect("passes over folder placeholders and skips what is too large", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        fake.put("acme", "docs/", "")
        fake.put("acme", "docs/odd/", "content")
        fake.put("acme", "docs/big.md", "x".repeat(100))
        fake.put("acme", "docs/small.md", "x")
        const listed = yield* collect(yield* connect(fake, { uris: ["gs://acme/docs/"], maxFileSize: 50 }))
        assert.deepStrictEqual(paths(listed), ["gs://acme/docs/small.md"])
        assert.deepStrictEqual(
          listed.flatMap((event) => event._tag === "skipped" ? [[event.path, event.reason]] : []),
          [["gs://acme/docs/big.md", "limit"], ["gs://acme/docs/odd/", "special"]]
        )
        assert.isTrue(complete(listed))
      }))

    it.effect("goes on from any checkpoint, and after the page token expired", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs(3)
        for (let index = 10; index < 30; index++) fake.put("acme", `docs/${index}.md`, "x")
        fake.put("acme", "last.md", "x")
        const connector = yield* connect(fake, { uris: ["gs://acme/docs/", "gs://acme/last.md"] })
        const whole = yield* collect(connector)
        for (const [index, event] of whole.entries()) {
          if (event._tag !== "checkpoint") continue
          assert.isObject(JSON.parse(event.cursor))
          const before = paths(whole.slice(0, index))
          for (const expire of [false, true]) {
            if (expire) fake.expireTokens()
            const rest = yield* collect(connector, event.cursor)
            assert.deepStrictEqual([...before, ...paths(rest)], paths(whole))
            assert.isTrue(complete(rest))
          }
        }
        assert.isAbove(whole.filter(({ _tag }) => _tag === "checkpoint").length, 6)
        const cursor = whole.flatMap((event) => event._tag === "checkpoint" ? [event.cursor] : [])[0]
        const other = yield* connect(fake, { uris: ["gs://acme/other/"] })
        assert.deepInclude(yield* Effect.flip(collect(other, cursor)), { code: "INVALID_ARGUMENT" })
      }))

    it.effect("lists 50,000 objects in flat memory", () =>
      Effect.gen(function*() {
        const http = HttpClient.make((request, url) =>
          Effect.sync(() => {
            const page = Number(url.searchParams.get("pageToken") ?? 0)
            return HttpClientResponse.fromWeb(
              request,
              Response.json({
                items: Array.from({ length: 1000 }, (_, index) => ({
                  name: `docs/${page}-${index}.md`,
                  generation: "1",
                  size: "1",
                  contentType: "text/markdown",
                  updated: "2026-09-29T15:40:13.710Z"
                })),
                ...(page === 49 ? {} : { nextPageToken: String(page + 1) })
              })
            )
          })
        )
        const connector = storage({ uris: ["gs://acme/docs/"] }, { http, environment: { STORAGE_EMULATOR_HOST: "x" } })
        let count = 0
        const held: Array<number> = []
        setFlagsFromString("--expose-gc")
        const collectGarbage: () => void = runInNewContext("gc")
        yield* connector.list().pipe(Stream.runForEachArray((events) =>
          Effect.sync(() => {
            count += events.filter(({ _tag }) => _tag === "item").length
            if (count % 10_000 !== 0) return
            collectGarbage()
            held.push(process.memoryUsage().heapUsed)
          })
        ))
        assert.strictEqual(count, 50_000)
        assert.isBelow(held.at(-1)! - held[0]!, 2 * 1024 * 1024)
      }))

    it.effect("tries again what is no listing, and keeps what was listed before a page that never comes", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs(2)
        for (const name of ["a.md", "b.md", "c.md"]) fake.put("acme", name, name)
        const connector = yield* connect(fake, { uris: ["gs://acme/"] })
        fake.fault(1, isList, (response) => void response.end(`{"items":[{"name":7}]}`))
        assert.isTrue(complete(yield* collect(connector)))
        // The second page never comes.
        fake.fault(100, ({ url }) => url.searchParams.has("pageToken"), (response) => sendGoogleError(response, 500, "broken"))
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), ["gs://acme/a.md", "gs://acme/b.md"])
        assert.isFalse(complete(listed))
        assert.deepStrictEqual(failures(listed).map(([path, code]) => [path, code]), [["gs://acme/", "INTERNAL"]])
      }))

    it.effect("lists on when objects go and come meanwhile", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs(2)
        for (const name of ["a.md", "b.md", "c.md", "d.md", "e.md"]) fake.put("acme", name, name)
        const connector = yield* connect(fake, { uris: ["gs://acme/"] })
        fake.fault(1, ({ url }) => url.searchParams.has("pageToken"), (response) => {
          for (const name of ["b.md", "c.md"]) fake.remove("acme", name)
          fake.put("acme", "d2.md", "new")
          sendGoogleError(response, 503, "backend error")
        })
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed).map((path) => path.slice("gs://acme/".length)), ["a.md", "b.md", "d.md", "d2.md", "e.md"])
        assert.isTrue(complete(listed))
        assert.deepInclude(yield* Effect.flip(text(connector, items(listed)[1])), { code: "NOT_FOUND" })
      }))

    it.effect("keeps an address's failure to itself and says what mends it", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        fake.put("acme", "a.md", "a")
        fake.put("paid", "p.md", "p")
        fake.put("shut", "s.md", "s")
        fake.put("paper", "here.md", "h")
        fake.requesterPays.add("paid")
        fake.fault(10, ({ url }) =>
          url.pathname.includes("/b/shut/"), (response) =>
          sendGoogleError(response, 403, "no storage.objects.list access"))
        const uris = ["gs://shut/", "gs://nobody/", "gs://paid/", "gs://acme/", "gs://paper/gone.md"]
        const listed = yield* collect(yield* connect(fake, { uris }))
        assert.deepStrictEqual(paths(listed), ["gs://acme/a.md"])
        assert.isFalse(complete(listed))
        assert.deepStrictEqual(failures(listed), [
          ["gs://shut/", "PERMISSION_DENIED", "give the account roles/storage.objectViewer on gs://shut"],
          ["gs://nobody/", "NOT_FOUND", "correct the bucket's name"],
          ["gs://paid/", "FAILED_PRECONDITION", "set userProject to the project that pays for reading it"],
          ["gs://paper/gone.md", "NOT_FOUND", "correct the address, or end it with / if it is an empty folder"]
        ])
        const paying = yield* connect(fake, { uris: ["gs://paid/"], userProject: "billing" })
        const [item] = items(yield* collect(paying))
        assert.strictEqual(yield* text(paying, item), "p")
        assert.deepInclude(yield* Effect.flip((yield* connect(fake, { uris: ["gs://nobody/"] })).check), { code: "NOT_FOUND" })
      }))

    it.effect("ends at once on bad credentials, with the token nowhere in the error", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        fake.put("acme", "a.md", "a")
        fake.fault(10, () =>
          true, (response, { headers }) =>
          sendGoogleError(response, 401, `Invalid Credentials ${String(headers.authorization)}`))
        const google = yield* GoogleAuth.pipe(Effect.provide(GoogleAuth.layerTest("ya29.canary-token", "payer")))
        const connector = yield* connect(fake, { uris: ["gs://acme/", "gs://acme/a.md"] }, { google })
        const error = yield* Effect.flip(collect(connector))
        assert.deepInclude(error, { code: "UNAUTHENTICATED" })
        assert.include(JSON.stringify(error), "gcloud auth application-default login")
        assert.notInclude(JSON.stringify(error), "canary")
        assert.strictEqual(fake.asked[0]?.headers["x-goog-user-project"], "payer")
      }))

    it.effect("reads what was listed, or says that it changed", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        for (const name of ["changed.md", "same.md"]) fake.put("acme", name, name)
        const connector = yield* connect(fake, { uris: ["gs://acme/"] })
        const [changed, same] = items(yield* collect(connector))
        fake.put("acme", "changed.md", "new")
        assert.deepInclude(yield* Effect.flip(text(connector, changed)), { code: "ABORTED" })
        assert.strictEqual(yield* text(connector, same), "same.md")
      }))

    it.effect("decompresses itself, and within the limit", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        const bomb = Buffer.alloc(50_000_000)
        fake.put("acme", "a.txt", gzipSync("compressed text"), { contentEncoding: "gzip" })
        fake.put("acme", "bomb.txt", gzipSync(bomb), { contentEncoding: "gzip" })
        fake.put("acme", "cut.txt", gzipSync("compressed text").subarray(0, 20), { contentEncoding: "gzip" })
        fake.put("acme", "zstd.txt", "?", { contentEncoding: "zstd" })
        const connector = yield* connect(fake, { uris: ["gs://acme/"] })
        const [a, bombed, cut, zstd] = items(yield* collect(connector))
        assert.isUndefined(a?.size)
        assert.strictEqual(yield* text(connector, a), "compressed text")
        assert.deepInclude(yield* Effect.flip(text(connector, bombed)), { code: "OUT_OF_RANGE" })
        assert.deepInclude(yield* Effect.flip(text(connector, cut)), { code: "DATA_LOSS" })
        assert.deepInclude(yield* Effect.flip(text(connector, zstd)), { code: "UNIMPLEMENTED" })
      }))

    it.effect("goes on with a download that broke off, of the same generation only", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        const content = "0123456789".repeat(1000)
        fake.put("acme", "a.txt", content)
        const connector = yield* connect(fake, { uris: ["gs://acme/"] })
        const [item] = items(yield* collect(connector))
        fake.fault(1, isMedia, (response) => sendCut(response, content.slice(0, 3000)))
        assert.strictEqual(yield* text(connector, item), content)
        assert.strictEqual(fake.asked.at(-1)?.headers.range, "bytes=3000-")
        fake.fault(1, isMedia, (response) => {
          fake.put("acme", "a.txt", "else")
          sendCut(response, content.slice(0, 3000))
        })
        assert.deepInclude(yield* Effect.flip(text(connector, item)), { code: "ABORTED" })
        fake.fault(9, isMedia, (response) => sendCut(response, "x"))
        assert.deepInclude(yield* Effect.flip(text(connector, { ...item!, revision: fake.object("acme", "a.txt")!.generation })), {
          code: "UNAVAILABLE"
        })
      }))

    it.effect("says what is wrong with an address", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs()
        const bad = [
          "gs://",
          "ftp://a/b",
          "gs://acme/a*b.md",
          "gs://acme/..",
          "http://example.com/a",
          "https://user:canary@example.com/",
          "file://host/a",
          "nonsense"
        ]
        for (const uri of bad) {
          const error = yield* Effect.flip(collect(yield* connect(fake, { uris: [uri] })))
          assert.deepInclude(error, { code: "INVALID_ARGUMENT" })
          assert.notInclude(JSON.stringify(error), "canary")
        }
        assert.deepInclude(yield* Effect.flip(collect(yield* connect(fake, { uris: [] }))), { code: "INVALID_ARGUMENT" })
      }))
  })
})
