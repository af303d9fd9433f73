import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import type { StorageContext } from "../../connectors/storage/Open.ts"
import { storage } from "../../connectors/storage/Storage.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { fakeServer } from "../fakes/Http.ts"
import { type FakeS3, fakeS3, s3Credentials } from "../fakes/S3.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

const retry = { times: 2, baseMs: 1 }
const connect = (config: SettingsOf<"storage">, context: StorageContext = {}) =>
  Effect.map(HttpClient.HttpClient, (http) => storage(config, { http, retry, environment: {}, ...context }))
const onS3 = (fake: FakeS3, config: SettingsOf<"storage">, environment: Record<string, string> = {}) =>
  connect(config, { environment: { ...s3Credentials, AWS_ENDPOINT_URL: fake.origin, ...environment } })

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path)
const complete = (listed: ReadonlyArray<Listed>) => listed.at(-1)?._tag === "complete"
const failures = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "failed" ? [[event.path, event.error.code] as const] : [])
const text = (connector: Connector, item: SourceItem | undefined, maxBytes = 1_000_000) =>
  connector.read(item!, maxBytes).pipe(Stream.decodeText(), Stream.mkString)

describe("the storage source, s3://", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("signs whatever the key, pages, and reads what it listed", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3(2)
        const keys = ["docs/a b.md", "docs/c+d&e=f.md", "docs/it's (1)!*.md", "docs/sub/%41 ü/x.md", "docs/日本.md", "other.md"]
        for (const key of keys) fake.put("acme-docs", key, key)
        fake.put("acme-docs", "docs/", "")
        const connector = yield* onS3(fake, { uris: ["s3://acme-docs/docs/", "s3://acme-docs/other.md"] })
        yield* connector.check
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed).toSorted(), keys.map((key) => `s3://acme-docs/${key}`).toSorted())
        assert.isTrue(complete(listed))
        for (const item of items(listed)) assert.strictEqual(yield* text(connector, item), item.path.slice("s3://acme-docs/".length))
        const cursor = listed.flatMap((event) => event._tag === "checkpoint" ? [event.cursor] : [])[0]
        fake.expireTokens()
        const rest = yield* collect(connector, cursor)
        assert.isTrue(complete(rest))
        assert.deepStrictEqual([...paths(listed).slice(0, 5 - paths(rest).length + 1), ...paths(rest)], paths(listed))
      }))

    it.effect("follows a bucket to its region, once", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3()
        fake.put("far", "a.md", "a")
        fake.regions.set("far", "eu-west-3")
        const connector = yield* onS3(fake, { uris: ["s3://far/"] })
        const [item] = items(yield* collect(connector))
        assert.strictEqual(yield* text(connector, item), "a")
        assert.strictEqual(fake.asked.length, 3)
      }))

    it.effect("names the bucket and the fix, and never the key", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3()
        fake.put("acme-docs", "a.md", "a")
        const wrong = yield* onS3(fake, { uris: ["s3://acme-docs/"] }, { AWS_SECRET_ACCESS_KEY: "canary" })
        const error = yield* Effect.flip(collect(wrong))
        assert.deepInclude(error, { code: "UNAUTHENTICATED", reason: "SignatureDoesNotMatch" })
        assert.notInclude(JSON.stringify(error), "canary")
        const none = yield* connect({ uris: ["s3://acme-docs/"] }, { environment: { AWS_ENDPOINT_URL_S3: fake.origin } })
        assert.include(JSON.stringify(yield* Effect.flip(none.check)), "AWS_ACCESS_KEY_ID")
        const nobody = yield* onS3(fake, { uris: ["s3://nobody/"] })
        assert.deepInclude(yield* Effect.flip(nobody.check), { code: "NOT_FOUND", message: "the bucket s3://nobody does not exist" })
      }))

    it.effect("addresses Amazon's buckets by host, dotted ones by path, and never climbs out of one", () =>
      Effect.gen(function*() {
        const asked: Array<{ readonly url: URL; readonly headers: HttpClientRequest.HttpClientRequest["headers"] }> = []
        const http = HttpClient.make((request, url) =>
          Effect.sync(() => {
            asked.push({ url, headers: request.headers })
            return HttpClientResponse.fromWeb(request, new Response("<ListBucketResult/>"))
          })
        )
        const uris = ["s3://acme-docs/", "s3://acme.docs/", "s3://acme/../other/a.md"]
        const s3 = { region: "eu-west-3", unsigned: false, requesterPays: true }
        const listed = yield* collect(storage({ uris, s3 }, { http, environment: { ...s3Credentials, AWS_SESSION_TOKEN: "session" } }))
        assert.deepStrictEqual(asked.map(({ url }) => url.host + url.pathname), [
          "acme-docs.s3.eu-west-3.amazonaws.com/",
          "s3.eu-west-3.amazonaws.com/acme.docs/"
        ])
        assert.include(asked[0]?.headers["authorization"], "x-amz-request-payer;x-amz-security-token")
        assert.deepStrictEqual(failures(listed), [["s3://acme/../other/a.md", "INVALID_ARGUMENT"]])
        yield* collect(storage({ uris: ["s3://acme-docs/"], s3: { unsigned: true, requesterPays: false } }, { http, environment: {} }))
        assert.isUndefined(asked.at(-1)?.headers["authorization"])
      }))

    it.effect("tries again on SlowDown; reads the listed version, gunzipped", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3()
        fake.put("acme-docs", "a.md", gzipSync("compressed"), { "content-encoding": "gzip" })
        fake.put("acme-docs", "b.md", "b")
        const connector = yield* onS3(fake, { uris: ["s3://acme-docs/"] })
        fake.fault(1, () =>
          true, (response) =>
          void response.writeHead(503, { "retry-after": "0" }).end("<Error><Code>SlowDown</Code></Error>"))
        const [a, b] = items(yield* collect(connector))
        assert.strictEqual(yield* text(connector, a), "compressed")
        fake.put("acme-docs", "b.md", "new")
        assert.deepInclude(yield* Effect.flip(text(connector, b)), { code: "ABORTED" })
        fake.fault(9, () =>
          true, (response) => void response.end("<ListBucketResult><Contents>"))
        assert.deepStrictEqual(failures(yield* collect(connector)), [["s3://acme-docs/", "UNAVAILABLE"]])
      }))

    it.effect("takes no page for the last that says there is more, as of a service without ListObjectsV2", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3(1)
        for (const key of ["a.md", "b.md"]) fake.put("acme-docs", key, key)
        const connector = yield* onS3(fake, { uris: ["s3://acme-docs/"] })
        const object = "<Contents><Key>a.md</Key><ETag>x</ETag><Size>4</Size></Contents>"
        fake.fault(1, () =>
          true, (response) =>
          void response.end(`<ListBucketResult><IsTruncated>true</IsTruncated><NextMarker>a.md</NextMarker>${object}</ListBucketResult>`))
        const listed = yield* collect(connector)
        assert.deepStrictEqual([
          failures(listed),
          listed.some(({ _tag }) =>
            _tag === "complete"
          )
        ], [
          [["s3://acme-docs/", "UNIMPLEMENTED"]],
          false
        ])
        assert.strictEqual(items(yield* collect(connector)).length, 2)
      }))

    it.effect("reads an upload's aws-chunked, which its store kept, as no encoding", () =>
      Effect.gen(function*() {
        const fake = yield* fakeS3()
        fake.put("acme-docs", "a.md", "plain", { "content-encoding": "aws-chunked" })
        fake.put("acme-docs", "b.md", gzipSync("compressed"), { "content-encoding": "gzip,aws-chunked" })
        const connector = yield* onS3(fake, { uris: ["s3://acme-docs/"] })
        const [a, b] = items(yield* collect(connector))
        assert.deepStrictEqual([yield* text(connector, a), yield* text(connector, b)], ["plain", "compressed"])
      }))
  })
})

describe("the storage source, https://", () => {
  // Plain http is taken for loopback only, which is what lets these run.
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("takes single pages, and keeps signatures out of everything that is stored", () =>
      Effect.gen(function*() {
        const site = yield* fakeServer(({ headers, method, url }, response) => {
          if (url.pathname === "/signed.pdf") {
            return method === "HEAD"
              ? void response.writeHead(403).end()
              : void response.writeHead(url.searchParams.get("sig") === "canary" ? 200 : 403, {
                etag: "\"s1\"",
                "content-type": "application/pdf"
              }).end("%PDF")
          }
          if (url.pathname === "/moved") return void response.writeHead(302, { location: "/page.html" }).end()
          if (url.pathname === "/gone") return void response.writeHead(404).end()
          if (url.pathname === "/plain") return void response.end("no validators")
          response.writeHead(200, {
            etag: "W/\"1\"",
            "content-type": "text/html; charset=utf-8",
            "last-modified": "Mon, 12 Oct 2026 17:50:30 GMT",
            ...(/gzip/.test(String(headers["accept-encoding"])) ? { "content-encoding": "gzip" } : {})
          }).end(method === "HEAD" ? undefined : gzipSync("<p>page</p>"))
        })
        const connector = yield* connect({
          uris: ["page.html", "moved", "plain", "signed.pdf?sig=canary", "signed.pdf?sig=other", "gone"].map((path) =>
            `${site.origin}/${path}`
          )
        })
        const listed = yield* collect(connector)
        assert.notInclude(JSON.stringify(listed), "canary")
        assert.deepStrictEqual(failures(listed), [[`${site.origin}/gone`, "NOT_FOUND"]])
        assert.isFalse(complete(listed))
        const [page, moved, plain, signed] = items(listed)
        assert.deepInclude(page, {
          path: `${site.origin}/page.html`,
          displayName: "page.html",
          revision: "etag W/\"1\"",
          mimeType: "text/html",
          metadata: { modifiedTime: "2026-10-12T17:50:30.000Z" }
        })
        assert.isUndefined(page?.size)
        assert.isTrue(plain?.unsettled)
        assert.lengthOf(items(listed), 4)
        assert.strictEqual(yield* text(connector, page), "<p>page</p>")
        assert.strictEqual(yield* text(connector, moved), "<p>page</p>")
        assert.strictEqual(yield* text(connector, plain), "no validators")
        assert.strictEqual(yield* text(connector, signed), "%PDF")
        assert.deepInclude(yield* Effect.flip(text(connector, { ...page!, revision: "etag \"0\"" })), { code: "ABORTED" })
        assert.deepInclude(yield* Effect.flip(text(connector, plain, 5)), { code: "OUT_OF_RANGE" })
      }))

    it.effect("does not follow a redirect in circles, and skips what is too large", () =>
      Effect.gen(function*() {
        const site = yield* fakeServer(({ url }, response) =>
          void (url.pathname === "/loop"
            ? response.writeHead(302, { location: "/loop" }).end()
            : response.writeHead(200, { "content-length": "1000", etag: "\"1\"" }).end())
        )
        const listed = yield* collect(yield* connect({ uris: [`${site.origin}/loop`, `${site.origin}/big`], maxFileSize: 10 }))
        assert.deepStrictEqual(failures(listed), [[`${site.origin}/loop`, "FAILED_PRECONDITION"]])
        assert.isTrue(listed.some((event) => event._tag === "skipped" && event.reason === "limit"))
      }))
  })
})

describe("the storage source, file://", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("takes files and folders, and reads them", () =>
      Effect.gen(function*() {
        const folder = yield* tempFolder
        write(folder, { "docs/a b.md": "a", "docs/sub/b.md": "b", "one.md": "one", "two/c.md": "c" })
        const at = (path: string) => pathToFileURL(join(folder, path)).href
        const connector = yield* connect({ uris: [`${at("docs")}/`, at("one.md"), at("two"), at("docs/sub/b.md"), at("none.md")] })
        const listed = yield* collect(connector)
        assert.deepStrictEqual(
          items(listed).map(({ path }) => path.slice(path.indexOf(folder) + folder.length)).toSorted(),
          ["/docs/a b.md", "/docs/sub/b.md", "/one.md", "/two/c.md"]
        )
        assert.deepStrictEqual(failures(listed).map(([, code]) => code), ["NOT_FOUND"])
        const texts = yield* Effect.forEach(items(listed), (item) => text(connector, item))
        assert.deepStrictEqual(texts.toSorted(), ["a", "b", "c", "one"])
      }).pipe(Effect.scoped))
  })
})

describe("the storage source for someone else", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("refuses files, plain http, and addresses that are not public", () =>
      Effect.gen(function*() {
        const codes = Effect.fnUntraced(function*(uri: string) {
          const listed = yield* Effect.result(collect(storage({ uris: [uri] }, { untrusted: true, retry, environment: {} })))
          return listed._tag === "Failure"
            ? listed.failure
            : listed.success.flatMap((event) => event._tag === "failed" ? [event.error] : [])[0]
        })
        for (const uri of ["file:///etc/passwd", "http://127.0.0.1:1/"]) {
          assert.deepInclude(yield* codes(uri), { code: "PERMISSION_DENIED" })
        }
        for (
          const host of [
            "127.0.0.1",
            "localhost",
            "2130706433",
            "0x7f.1",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1"
          ]
        ) {
          const error = yield* codes(`https://${host}/latest/meta-data`)
          assert.deepInclude(error, { code: "PERMISSION_DENIED" })
          assert.include(JSON.stringify(error), "not a public address")
        }
      }))
  })
})
