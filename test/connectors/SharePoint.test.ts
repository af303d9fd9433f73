import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { SharePointContext } from "../../connectors/sharePoint/Open.ts"
import { sharePoint } from "../../connectors/sharePoint/SharePoint.ts"
import { SecretError } from "../../src/domain/Errors.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { type FakeGraph, fakeGraph, sendGraphError } from "../fakes/Graph.ts"
import { fakeServer, sendCut, sendJson } from "../fakes/Http.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

const secretsOf = (value: string): SharePointContext["secrets"] => ({ resolve: () => Effect.succeed(Redacted.make(value)) })

const settings = {
  site: "Handbook",
  drive: { name: "Documents" },
  clientId: "app",
  tenantId: "Tenant-1",
  clientSecret: SecretVersion.make("projects/1/secrets/sp/versions/2")
} as const

const connect = Effect.fnUntraced(function*(fake: FakeGraph, config: Partial<SettingsOf<"sharePoint">> = {}, secret = "s3cret") {
  const http = yield* HttpClient.HttpClient
  return sharePoint(
    { ...settings, endpoint: `${fake.origin}/v1.0`, loginEndpoint: fake.origin, ...config },
    { http, secrets: secretsOf(secret), retry: { times: 3, baseMs: 1 } }
  )
})

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path).toSorted()
const deleted = (listed: ReadonlyArray<Listed>) => listed.flatMap((event) => event._tag === "deleted" ? [event.path] : []).toSorted()
const failures = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "failed" ? [[event.path, event.error.code] as const] : [])
const cursorOf = (listed: ReadonlyArray<Listed>) => {
  const last = listed.at(-1)
  assert.strictEqual(last?._tag, "complete")
  return last?._tag === "complete" ? last.cursor : undefined
}
const item = (listed: ReadonlyArray<Listed>, path: string) => items(listed).find((each) => each.path === path)
const text = (connector: Connector, one: SourceItem | undefined, maxBytes = 1_000_000) =>
  connector.read(one!, maxBytes).pipe(Stream.decodeText(), Stream.mkString)
const isDelta = ({ url }: { url: URL }) => url.pathname.endsWith("/delta")
const isBatch = ({ url }: { url: URL }) => url.pathname.endsWith("/$batch")
const askOne = (id: string) => `/drives/lib/items/${id}/permissions`
const isOne = (id: string) => ({ url }: { url: URL }) => url.pathname === `/v1.0${askOne(id)}`

const library = (fake: FakeGraph): void => {
  fake.folder("pol", "root", "Policies")
  fake.folder("sub", "pol", "Sub")
  fake.file("leave", "pol", "Leave.docx")
  fake.file("pay", "sub", "Pay.txt")
  fake.file("top", "root", "Top.txt")
}

describe("the SharePoint source", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("lists the library and the site's pages, and reads both", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(2)
        library(fake)
        fake.file("notes", "root", "Notes", { more: { file: undefined, package: { type: "oneNote" } } })
        fake.file("big", "root", "big.bin", { content: "x".repeat(200) })
        fake.pages.push(
          {
            id: "home",
            name: "Home.aspx",
            title: "Home & <more>",
            version: 1,
            webparts: [
              { "@odata.type": "#microsoft.graph.textWebPart", innerHtml: "<h2>Welcome</h2>" },
              {
                "@odata.type": "#microsoft.graph.standardWebPart",
                data: {
                  serverProcessedContent: {
                    htmlStrings: [{ key: "answer", value: "<b>Five</b> days" }],
                    searchablePlainTexts: [{ key: "title", value: "Quick <links>" }]
                  }
                }
              }
            ]
          },
          { id: "draft", name: "Draft.aspx", title: "Draft", version: 1, versionId: "0.1", webparts: [] }
        )
        const connector = yield* connect(fake, { maxFileSize: 100 })
        yield* connector.check
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), ["Policies/Leave.docx", "Policies/Sub/Pay.txt", "Top.txt", "pages:/Home.aspx"])
        assert.deepStrictEqual(
          listed.flatMap((event) => event._tag === "skipped" ? [[event.path, event.reason]] : []),
          [["Notes", "unsupported"], ["big.bin", "limit"]]
        )
        cursorOf(listed)
        const leave = item(listed, "Policies/Leave.docx")
        assert.deepStrictEqual(leave, {
          path: "Policies/Leave.docx",
          uri: "https://acme.sharepoint.com/Shared%20Documents/Leave.docx",
          displayName: "Leave.docx",
          revision: "\"{leave},1\"",
          size: 13,
          mimeType: "text/plain",
          metadata: {
            title: "Leave.docx",
            author: "Ann",
            createdTime: "2026-05-01T10:00:00Z",
            modifiedTime: "2026-06-01T10:00:00Z",
            driveId: "lib",
            itemId: "leave"
          },
          permissions: { public: false, principals: ["user:ann@acme.com"] }
        })
        assert.strictEqual(yield* text(connector, leave), "text of leave")
        assert.isTrue(fake.files.asked.every(({ headers }) => headers.authorization === undefined))
        assert.deepInclude(yield* Effect.flip(text(connector, leave, 5)), { code: "OUT_OF_RANGE" })
        const home = item(listed, "pages:/Home.aspx")
        assert.deepInclude(home, {
          displayName: "Home.html",
          mimeType: "text/html",
          permissions: { public: false, principals: ["group:handbook visitors"] }
        })
        const html = yield* text(connector, home)
        assert.include(html, "<h1>Home &#38; &#60;more&#62;</h1>\n<h2>Welcome</h2>\n<b>Five</b> days\n<p>Quick &#60;links&#62;</p>")
        assert.strictEqual(fake.tokens.issued, 1)
      }))

    it.effect("takes a site and a library by name, address or id, and a folder by path or id, without pages", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        library(fake)
        fake.pages.push({ id: "home", name: "Home.aspx", title: "Home", version: 1, webparts: [] })
        const id = "acme.sharepoint.com,6d32f5d3-3a2f-4f7e-9c56-0d8f7e3b1a01,8b0f1c52-93a4-4f0e-b0b4-7f2a2f0c9e02"
        for (const site of ["the handbook", "acme.sharepoint.com:/sites/Handbook", "https://acme.sharepoint.com/sites/%48andbook", id]) {
          for (const drive of [{ name: "documents" }, { id: "lib" }]) {
            for (const folder of [{ path: "/Policies/" }, { id: "pol" }]) {
              const listed = yield* collect(yield* connect(fake, { site, drive, folder }))
              assert.deepStrictEqual(paths(listed), ["Policies/Leave.docx", "Policies/Sub/Pay.txt"])
            }
          }
        }
      }))

    it.effect("tells from its cursor what changed, moved, came and went, and asks the permissions of no more than that", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(2)
        library(fake)
        fake.pages.push(
          { id: "home", name: "Home.aspx", title: "Home", version: 1, webparts: [] },
          { id: "news", name: "News.aspx", title: "News", version: 1, webparts: [] }
        )
        const connector = yield* connect(fake)
        const first = yield* collect(connector)
        const asked = fake.asked.filter(isBatch).length
        const idle = yield* collect(connector, cursorOf(first))
        assert.deepStrictEqual(idle.map(({ _tag }) => _tag), ["checkpoint", "complete"])
        assert.strictEqual(fake.asked.filter(isBatch).length, asked)
        fake.edit("leave", { content: "new", permissions: [] })
        fake.edit("top", { name: "Moved.txt", parent: "sub" })
        fake.folder("it", "root", "IT")
        fake.file("vpn", "it", "vpn.txt")
        fake.edit("pay", { deleted: true })
        fake.pages.splice(1, 1)
        fake.pages[0]!.version++
        const second = yield* collect(connector, cursorOf(idle))
        assert.deepStrictEqual(paths(second), ["IT/vpn.txt", "Policies/Leave.docx", "Policies/Sub/Moved.txt", "pages:/Home.aspx"])
        assert.deepStrictEqual(deleted(second), ["Policies/Sub/Pay.txt", "Top.txt", "pages:/News.aspx"])
        assert.deepStrictEqual(item(second, "Policies/Leave.docx")?.permissions, { public: false, principals: [] })
        fake.edit("vpn", { content: "faster" })
        fake.denials.set(askOne("vpn"), 500)
        fake.fault(4, isOne("vpn"), (response) => sendGraphError(response, 500, "generalException"))
        const cut = yield* collect(connector, cursorOf(second))
        assert.deepStrictEqual(cut.map(({ _tag }) => _tag), ["failed"])
        assert.deepStrictEqual(paths(yield* collect(connector, cursorOf(second))), ["IT/vpn.txt"])
        fake.edit("it", { deleted: true })
        const third = yield* collect(connector, cursorOf(second))
        assert.deepStrictEqual([paths(third), deleted(third)], [[], ["IT/vpn.txt"]])
        fake.file("late", "root", "Late.txt")
        const late = cursorOf(yield* collect(connector, cursorOf(third)))
        fake.edit("late", { name: "Later.txt" })
        fake.file("early", "root", "Late.txt")
        fake.edit("late", { deleted: true })
        const replaced = yield* collect(connector, late)
        assert.include(paths(replaced), "Late.txt")
        assert.isBelow(
          replaced.findLastIndex((event) => event._tag === "deleted" && event.path === "Late.txt"),
          replaced.findLastIndex((event) => event._tag === "item" && event.item.path === "Late.txt")
        )
        fake.edit("early", { deleted: true })
        fake.edit("pol", { name: "Rules" })
        const renamed = yield* Effect.flip(collect(connector, cursorOf(third)))
        assert.deepStrictEqual(renamed._tag === "ServiceError" ? renamed.violations?.map(({ field }) => field) : [], ["cursor"])
        fake.expire()
        const ended = yield* Effect.flip(collect(connector, cursorOf(third)))
        assert.deepStrictEqual(ended._tag === "ServiceError" ? ended.violations?.map(({ field }) => field) : [], ["cursor"])
        assert.deepStrictEqual(paths(yield* collect(connector)), ["Rules/Leave.docx", "Rules/Sub/Moved.txt", "pages:/Home.aspx"])
      }))

    it.effect("lists pages of one name in several folders, each with its own readers, and pages that swap their names", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        const page = { title: "Home", version: 1, webparts: [] }
        fake.pages.push(
          { ...page, id: "home", name: "Home.aspx" },
          { ...page, id: "board", name: "Home.aspx", folder: "The Board/2026/", readers: "Board" }
        )
        const connector = yield* connect(fake)
        const first = yield* collect(connector)
        assert.deepStrictEqual(items(first).map(({ path, permissions }) => [path, permissions?.principals]), [
          ["pages:/Home.aspx", ["group:handbook visitors"]],
          ["pages:/The Board/2026/Home.aspx", ["group:board"]]
        ])
        fake.pages.splice(0, 2, { ...page, id: "board", name: "Home.aspx", version: 2 }, {
          ...page,
          id: "home",
          name: "Old.aspx",
          version: 2
        })
        const second = yield* collect(connector, cursorOf(first))
        assert.deepStrictEqual(
          second.flatMap((event) => event._tag === "deleted" ? [event.path] : event._tag === "item" ? [event.item.path] : []),
          ["pages:/The Board/2026/Home.aspx", "pages:/Home.aspx", "pages:/Home.aspx", "pages:/Old.aspx"]
        )
      }))

    it.effect("lists a file once that is renamed or deleted while everything is listed", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(5)
        library(fake)
        const connector = yield* connect(fake)
        const listed: Array<Listed> = []
        yield* Stream.runForEach(connector.list(), (event) =>
          Effect.sync(() => {
            listed.push(event)
            if (event._tag !== "item" || event.item.path !== "Policies/Leave.docx") return
            fake.edit("leave", { name: "Renamed.docx" })
            fake.edit("pay", { deleted: true })
          }))
        const here = new Set<string>()
        for (const event of listed) {
          if (event._tag === "item") here.add(event.item.path)
          if (event._tag === "deleted") here.delete(event.path)
        }
        assert.deepStrictEqual([...here].toSorted(), ["Policies/Renamed.docx", "Top.txt"])
        assert.strictEqual(listed.at(-1)?._tag, "complete")
      }))

    it.effect("maps everyone that SharePoint can grant something", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        const grants: Readonly<Record<string, ReadonlyArray<object>>> = {
          anonymous: [{ link: { scope: "anonymous", type: "view" } }],
          locked: [{ link: { scope: "anonymous" }, hasPassword: true }],
          organization: [{ link: { scope: "organization" } }],
          people: [{
            link: { scope: "users" },
            grantedToIdentitiesV2: [{ user: { id: "7", userPrincipalName: "Bob@acme.com" } }, { group: { id: "G1", email: null } }]
          }],
          site: [
            { grantedToV2: { siteGroup: { id: "5", displayName: "Handbook Members" } } },
            { grantedToV2: { siteUser: { id: "6", loginName: "i:0#.f|membership|Cy@acme.com" } } },
            { grantedToV2: { siteUser: { id: "4", loginName: "c:0-.f|rolemanager|spo-grid-all-users/tenant-1" } } }
          ],
          old: [{ grantedToV2: { user: { email: "old@acme.com" } }, expirationDateTime: "2020-01-01T00:00:00Z" }]
        }
        for (const [name, permissions] of Object.entries(grants)) fake.file(name, "root", name, { permissions })
        const connector = yield* connect(fake)
        fake.denials.set(askOne("old"), 503)
        fake.fault(1, isOne("old"), (response) => sendGraphError(response, 503, "serviceNotAvailable", "x", { "retry-after": "0" }))
        const listed = yield* collect(connector)
        assert.deepStrictEqual(
          Object.fromEntries(items(listed).map(({ path, permissions }) => [path, [permissions?.public, ...permissions?.principals ?? []]])),
          {
            anonymous: [true],
            locked: [false],
            organization: [false, "domain:tenant-1"],
            people: [false, "group:g1", "user:bob@acme.com"],
            site: [false, "domain:tenant-1", "group:handbook members", "user:cy@acme.com"],
            old: [false]
          }
        )
        fake.denials.set(askOne("site"), 403)
        fake.fault(1, isOne("site"), (response) => sendGraphError(response, 403, "accessDenied"))
        assert.deepStrictEqual(item(yield* collect(connector), "site")?.permissions, { public: false, principals: [] })
      }))

    it.effect("goes on from any checkpoint, and refuses another library's cursor", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(3)
        library(fake)
        for (let index = 0; index < 20; index++) fake.file(`f${index}`, "sub", `${index}.txt`)
        const connector = yield* connect(fake)
        const whole = yield* collect(connector)
        const marks = whole.flatMap((event, index) => event._tag === "checkpoint" ? [[index, event.cursor] as const] : [])
        assert.isAbove(marks.length, 6)
        for (const [index, cursor] of marks) {
          const rest = yield* collect(connector, cursor)
          assert.deepStrictEqual([...paths(whole.slice(0, index)), ...paths(rest)].toSorted(), paths(whole))
          cursorOf(rest)
        }
        const other = yield* connect(fake, { folder: { id: "pol" } })
        assert.deepInclude(yield* Effect.flip(collect(other, marks[0]?.[1])), { code: "INVALID_ARGUMENT" })
      }))

    it.effect("waits when a batch is throttled, takes no page without a link for the end, and keeps an item's failure to it", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(2)
        library(fake)
        const connector = yield* connect(fake)
        const times: Array<number> = []
        fake.fault(1, isBatch, (response) => {
          times.push(Date.now())
          sendGraphError(response, 429, "activityLimitReached", "slow", { "retry-after": "1" })
        })
        cursorOf(yield* collect(connector))
        assert.isAtLeast(Date.now() - times[0]!, 990)
        for (const [body, end] of [["{\"value\": 7}", "Success"], ["{\"value\": []}", "Failure"]] as const) {
          fake.fault(1, isDelta, (response) => void response.end(body))
          assert.strictEqual((yield* Effect.result(collect(connector)))._tag, end)
        }
        fake.denials.set(askOne("leave"), 429)
        fake.fault(4, isOne("leave"), (response) => sendGraphError(response, 500, "generalException"))
        const broken = yield* collect(connector)
        assert.deepStrictEqual(failures(broken), [["Policies/Leave.docx", "INTERNAL"]])
        assert.lengthOf(items(broken), 2)
        assert.notStrictEqual(broken.at(-1)?._tag, "complete")
        fake.fault(1, isOne("leave"), (response) => {
          fake.item("leave").deleted = true
          sendGraphError(response, 404, "itemNotFound")
        })
        const gone = yield* collect(connector)
        assert.deepStrictEqual(paths(gone), ["Policies/Sub/Pay.txt", "Top.txt"])
        cursorOf(gone)
      }))

    it.effect("takes no harm from one item in a shape that no item has, and none from nulls", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        library(fake)
        fake.file("null", "root", "Null.txt", { more: { createdBy: null, file: { mimeType: null } } })
        fake.file("odd", "root", "Odd.txt", { more: { size: "large" } })
        const listed = yield* collect(yield* connect(fake))
        assert.include(paths(listed), "Null.txt")
        assert.include(paths(listed), "Policies/Leave.docx")
        assert.deepStrictEqual(failures(listed), [["Odd.txt", "DATA_LOSS"]])
        assert.isFalse(listed.some(({ _tag }) => _tag === "complete"))
      }).pipe(Effect.scoped))

    it.effect("replaces tokens: one for all, ahead of their end, and when Graph refuses one", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph(1)
        library(fake)
        const connector = yield* connect(fake)
        yield* Effect.all([collect(connector), collect(connector), collect(connector)], { concurrency: 3 })
        assert.strictEqual(fake.tokens.issued, 1)
        fake.revoke()
        cursorOf(yield* collect(connector))
        assert.strictEqual(fake.tokens.issued, 2)
        fake.tokens.seconds = 0
        fake.revoke()
        cursorOf(yield* collect(connector))
        assert.isAbove(fake.tokens.issued, 4)
      }))

    it.effect("says what is wrong and what to do, and never the secret", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        library(fake)
        const wrong = yield* Effect.flip((yield* connect(fake, {}, "canary")).check)
        assert.deepInclude(wrong, { code: "UNAUTHENTICATED", reason: "AADSTS7000215" })
        assert.include(JSON.stringify(wrong), "not its id")
        assert.notInclude(JSON.stringify(wrong), "canary")
        const said = Effect.fnUntraced(function*(config: Partial<SettingsOf<"sharePoint">>) {
          return JSON.stringify(yield* Effect.flip((yield* connect(fake, config)).check))
        })
        assert.include(yield* said({ site: "Nothing" }), "site Nothing of the tenant was not found")
        assert.include(yield* said({ drive: { name: "Docs" } }), "there are: Documents, Other")
        assert.include(yield* said({ folder: { path: "Nowhere" } }), "folder Nowhere was not found")
        assert.include(yield* said({ folder: { path: "Policies/Leave.docx" } }), "is a file")
        assert.include(yield* said({ clientId: " " }), "clientId")
        fake.fault(1, ({ url }) => url.pathname.endsWith("/sites"), (response) => sendGraphError(response, 403, "accessDenied"))
        assert.include(yield* said({}), "Sites.Read.All")
        const http = yield* HttpClient.HttpClient
        const none = new SecretError({ version: settings.clientSecret, message: "gone", fix: "make it" })
        const unresolved = sharePoint(settings, { http, secrets: { resolve: () => Effect.fail(none) } })
        assert.deepInclude(yield* Effect.flip(unresolved.check), { _tag: "SecretError" })
      }))

    it.effect("follows links nowhere but below its endpoint", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        library(fake)
        const other = yield* fakeServer((_, response) => sendJson(response, 200, { value: [] }))
        const connector = yield* connect(fake)
        fake.fault(1, isDelta, (response) =>
          sendJson(response, 200, { value: [], "@odata.nextLink": `${other.origin}/v1.0/drives/lib/root/delta?token=1` }))
        const refused = yield* Effect.flip(collect(connector))
        assert.include(JSON.stringify(refused), "is not followed")
        assert.lengthOf(other.asked, 0)
      }))

    it.effect("goes on with a download that broke off, of the listed version only", () =>
      Effect.gen(function*() {
        const fake = yield* fakeGraph()
        library(fake)
        const content = "0123456789".repeat(1000)
        fake.edit("leave", { content })
        const connector = yield* connect(fake)
        const leave = item(yield* collect(connector), "Policies/Leave.docx")
        fake.files.fault(1, () => true, (response) => sendCut(response, content.slice(0, 3000)))
        assert.strictEqual(yield* text(connector, leave), content)
        assert.strictEqual(fake.files.asked.at(-1)?.headers.range, "bytes=3000-")
        fake.files.fault(1, () => true, (response) => {
          fake.edit("leave", { content: "else" })
          sendCut(response, content.slice(0, 3000))
        })
        assert.deepInclude(yield* Effect.flip(text(connector, leave)), { code: "ABORTED" })
        fake.edit("leave", { deleted: true })
        assert.deepInclude(yield* Effect.flip(text(connector, leave)), { code: "NOT_FOUND" })
      }))

    it.effect("lists 50,000 files in flat memory", () =>
      Effect.gen(function*() {
        const http = HttpClient.make((request, url) =>
          Effect.sync(() => {
            const page = Number(url.searchParams.get("token") ?? 0)
            const link = (name: string, token: number) => ({
              [`@odata.${name}Link`]: `https://graph.microsoft.com/v1.0/drives/lib/root/delta?token=${token}`
            })
            const file = (index: number) => ({
              id: `${page}-${index}`,
              name: `${page}-${index}.txt`,
              cTag: "1",
              size: 1,
              file: {},
              parentReference: { id: "root" }
            })
            const body = url.pathname.endsWith("/token") ?
              { access_token: "t", expires_in: 3600 }
              : url.pathname.endsWith("/delta") ?
              {
                value: [{ id: "root", name: "root", root: {}, folder: {} }, ...Array.from({ length: 500 }, (_, index) => file(index))],
                ...(page === 99 ? link("delta", 100) : link("next", page + 1))
              }
              : url.pathname.endsWith("/$batch") ?
              { responses: Array.from({ length: 20 }, (_, id) => ({ id: String(id), status: 200, body: { value: [] } })) }
              : url.pathname.endsWith("/drive") ?
              { id: "main" }
              : { id: "lib" }
            return HttpClientResponse.fromWeb(request, Response.json(body))
          })
        )
        const connector = sharePoint({ ...settings, site: "root", drive: { id: "lib" } }, {
          http,
          secrets: secretsOf("x"),
          requestsPerMinute: 1e9
        })
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
        assert.isBelow(held.at(-1)! - held[0]!, 4 * 1024 * 1024)
      }))
  })
})
