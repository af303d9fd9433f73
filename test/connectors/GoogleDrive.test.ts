import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { GoogleDriveContext } from "../../connectors/googleDrive/Open.ts"
import { googleDrive } from "../../connectors/googleDrive/GoogleDrive.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { type FakeDrive, fakeDrive, sendDriveError } from "../fakes/Drive.ts"
import { fakeServer, sendCut } from "../fakes/Http.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

const google = "application/vnd.google-apps."
const auth = (token: string): GoogleAuth["Service"] => ({ ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make(token)) })

const connect = Effect.fnUntraced(function*(fake: FakeDrive, config: Partial<SettingsOf<"googleDrive">>, context: GoogleDriveContext = {}) {
  const http = yield* HttpClient.HttpClient
  return googleDrive(
    { folders: [], files: [], endpoint: fake.origin, ...config },
    { http, googleDrive: auth("good"), retry: { times: 3, baseMs: 1 }, pollMs: 1, ...context }
  )
})

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path).toSorted()
const deleted = (listed: ReadonlyArray<Listed>) => listed.flatMap((event) => event._tag === "deleted" ? [event.path] : []).toSorted()
const skipped = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "skipped" ? [[event.path, event.reason] as const] : [])
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

const handbook = (fake: FakeDrive): void => {
  fake.folder("root", undefined, { name: "Handbook" })
  fake.folder("hr", "root", { name: "HR" })
  fake.put("leave", "hr", { name: "Leave.txt" })
  fake.put("pay", "hr", { name: "Pay.txt" })
  fake.put("faq", "root", { name: "FAQ", mimeType: `${google}document` })
}
const isList = ({ url }: { url: URL }) => url.pathname.endsWith("/files")
const isMedia = ({ url }: { url: URL }) => url.searchParams.get("alt") === "media"

describe("the Google Drive source", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("lists folders with all in them, single files, and what Google's own formats are read as", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive(2)
        handbook(fake)
        fake.put("sheet", "root", { name: "Budget.xlsx", mimeType: `${google}spreadsheet` })
        fake.put("form", "root", { name: "Survey", mimeType: `${google}form` })
        fake.put("held", "root", { name: "Held", capabilities: { canDownload: false } })
        fake.put("single", undefined, { name: "a/b.txt" })
        fake.put("elsewhere", undefined)
        const connector = yield* connect(fake, { folders: ["root"], files: ["single"] })
        yield* connector.check
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), [
          "Handbook/Budget.xlsx",
          "Handbook/FAQ",
          "Handbook/HR/Leave.txt",
          "Handbook/HR/Pay.txt",
          "a%2Fb.txt"
        ])
        assert.deepStrictEqual(skipped(listed).toSorted(), [["Handbook/Held", "special"], ["Handbook/Survey", "unsupported"]])
        cursorOf(listed)
        const leave = item(listed, "Handbook/HR/Leave.txt")
        assert.deepInclude(leave, {
          uri: "https://drive.google.com/file/d/leave/view",
          displayName: "Leave.txt",
          size: 13,
          mimeType: "text/plain",
          permissions: { public: false, principals: ["user:ann@acme.com"] }
        })
        assert.match(leave?.revision ?? "", /^md5 [0-9a-f]{32}$/)
        assert.deepInclude(leave?.metadata, { title: "Leave.txt", author: "Ann", fileId: "leave" })
        const faq = item(listed, "Handbook/FAQ")
        assert.deepInclude(faq, { displayName: "FAQ.md", mimeType: "text/markdown" })
        assert.isUndefined(faq?.size)
        assert.strictEqual(item(listed, "Handbook/Budget.xlsx")?.displayName, "Budget.xlsx")
        assert.strictEqual(yield* text(connector, leave), "text of leave")
        assert.strictEqual(yield* text(connector, faq), "text/markdown: text of faq")
        assert.deepInclude(yield* Effect.flip(text(connector, leave, 5)), { code: "OUT_OF_RANGE" })
      }))

    it.effect("gives files of one name their own paths, the oldest keeping the plain one", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive(1)
        fake.folder("root", undefined, { name: "R" })
        for (const id of ["one", "two"]) fake.put(id, "root", { name: "Same" })
        for (const id of ["f1", "f2"]) fake.folder(id, "root", { name: "F" })
        for (const id of ["f1", "f2"]) fake.put(`${id}-a`, id, { name: "a" })
        const listed = yield* collect(yield* connect(fake, { folders: ["root"] }))
        assert.deepStrictEqual(paths(listed), ["R/F (f2)/a", "R/F/a", "R/Same", "R/Same (two)"])
      }))

    it.effect("follows shortcuts once, and not in circles", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        fake.folder("far", undefined, { name: "Far" })
        fake.put("note", "far", { name: "note" })
        fake.put("lone", undefined, { name: "lone" })
        fake.shortcut("to-far", "hr", "far")
        fake.shortcut("to-far-again", "root", "far")
        fake.shortcut("to-lone", "root", "lone")
        fake.shortcut("to-leave", "root", "leave")
        fake.shortcut("to-root", "far", "root")
        fake.shortcut("to-nothing", "root", "nothing")
        const listed = yield* collect(yield* connect(fake, { folders: ["root"] }))
        assert.deepStrictEqual(paths(listed).filter((path) => path.includes("to-")), ["Handbook/to-far-again/note", "Handbook/to-lone"])
        assert.lengthOf(items(listed), 5)
        assert.deepStrictEqual(skipped(listed).map(([path, reason]) => `${reason} ${path}`).toSorted(), [
          "link Handbook/to-far-again/to-root",
          "link Handbook/to-leave",
          "link Handbook/to-nothing"
        ])
        cursorOf(listed)
      }))

    it.effect("reads shared drives with their own feed and looks each grant up once", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        const permissions = [
          { id: "p-hr", type: "group", role: "reader", emailAddress: "HR@acme.com" },
          { id: "p-acme", type: "domain", role: "reader", domain: "Acme.com" },
          { id: "p-old", type: "user", role: "reader", emailAddress: "old@acme.com", expirationTime: "2020-01-01T00:00:00Z" }
        ]
        fake.folder("shared", undefined, { driveId: "shared", name: "Team", permissions })
        fake.put("a", "shared", { permissions: permissions.slice(0, 2) })
        const connector = yield* connect(fake, { folders: ["shared"] })
        const first = yield* collect(connector)
        assert.deepStrictEqual(item(first, "Team/a")?.permissions, { public: false, principals: ["domain:acme.com", "group:hr@acme.com"] })
        const queries = fake.asked.filter(isList).map(({ url }) => url.searchParams)
        assert.isTrue(queries.every((query) =>
          query.get("corpora") === "drive" && query.get("driveId") === "shared" && query.get("supportsAllDrives") === "true"
        ))
        fake.put("b", "shared", { permissions })
        const second = yield* collect(connector, cursorOf(first))
        assert.deepStrictEqual(paths(second), ["Team/b"])
        assert.deepStrictEqual(item(second, "Team/b")?.permissions?.principals, ["domain:acme.com", "group:hr@acme.com"])
      }))

    it.effect("shows nobody by mistake what it may not know the readers of, and anyone what anyone may see", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        fake.folder("root", undefined)
        fake.folder("shared", undefined, { driveId: "shared" })
        fake.put("open", "root", { permissions: [{ id: "anyoneWithLink", type: "anyone", role: "reader" }] })
        fake.put("mute", "root", { canShare: false })
        fake.put("drive", "shared", { canShare: false })
        const listed = yield* collect(yield* connect(fake, { folders: ["root", "shared"] }))
        assert.deepStrictEqual(item(listed, "root/open")?.permissions, { public: true, principals: ["user:ann@acme.com"] })
        assert.deepStrictEqual(item(listed, "root/mute")?.permissions, { public: false, principals: ["user:ann@acme.com"] })
        assert.deepStrictEqual(item(listed, "shared/drive")?.permissions, { public: false, principals: [] })
      }))

    it.effect("tells from its cursor what changed, moved, came and went", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive(2)
        handbook(fake)
        fake.put("elsewhere", undefined)
        const connector = yield* connect(fake, { folders: ["root"] })
        const first = yield* collect(connector)
        const lists = fake.asked.filter(isList).length
        const idle = yield* collect(connector, cursorOf(first))
        assert.deepStrictEqual(idle.map(({ _tag }) => _tag), ["checkpoint", "checkpoint", "complete"].slice(3 - idle.length))
        fake.edit("elsewhere", { content: "not ours" })
        fake.edit("leave", { content: "new" })
        fake.edit("pay", { name: "Salary.txt" })
        fake.put("new", "hr", { name: "Leave.txt" })
        fake.edit("faq", { trashed: true })
        fake.folder("it", "root", { name: "IT" })
        fake.put("vpn", "it", { name: "vpn" })
        const second = yield* collect(connector, cursorOf(idle))
        assert.deepStrictEqual(paths(second), [
          "Handbook/HR/Leave.txt",
          "Handbook/HR/Leave.txt (new)",
          "Handbook/HR/Salary.txt",
          "Handbook/IT/vpn"
        ])
        assert.deepStrictEqual(deleted(second), ["Handbook/FAQ", "Handbook/HR/Pay.txt"])
        assert.strictEqual(fake.asked.filter(isList).length, lists + 1)
        fake.remove("leave")
        fake.edit("pay", { parents: ["elsewhere-folder"] })
        fake.edit("vpn", { content: "edited, and then gone with its folder" })
        fake.edit("it", { trashed: true })
        const third = yield* collect(connector, cursorOf(second))
        assert.deepStrictEqual([paths(third), deleted(third)], [[], ["Handbook/HR/Leave.txt", "Handbook/HR/Salary.txt", "Handbook/IT/vpn"]])
        fake.edit("new", { permissions: [] })
        const narrowed = yield* collect(connector, cursorOf(third))
        assert.deepStrictEqual(items(narrowed).map(({ path, permissions }) => [path, permissions?.principals]), [[
          "Handbook/HR/Leave.txt (new)",
          ["user:ann@acme.com"]
        ]])
        fake.edit("new", { content: "again" })
        fake.fault(1, ({ url }) => url.pathname.endsWith("/changes"), (response) => sendDriveError(response, 500, "backendError"))
        const again = yield* collect(connector, cursorOf(narrowed))
        assert.deepStrictEqual(paths(again), ["Handbook/HR/Leave.txt (new)"])
        fake.edit("hr", { name: "People" })
        const refused = yield* Effect.flip(collect(connector, cursorOf(narrowed)))
        assert.deepInclude(refused, { code: "INVALID_ARGUMENT" })
        assert.deepStrictEqual(refused._tag === "ServiceError" ? refused.violations?.map(({ field }) => field) : [], ["cursor"])
        assert.deepStrictEqual(paths(yield* collect(connector)), ["Handbook/People/Leave.txt"])
      }))

    it.effect("goes on from any checkpoint, and refuses another source's cursor", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive(3)
        fake.folder("root", undefined)
        for (let folder = 0; folder < 60; folder++) {
          fake.folder(`d${folder}`, "root")
          fake.put(`f${folder}`, `d${folder}`)
        }
        fake.put("lone", undefined)
        fake.shortcut("to-lone", "d3", "lone")
        const connector = yield* connect(fake, { folders: ["root"] })
        const whole = yield* collect(connector)
        assert.lengthOf(items(whole), 61)
        const marks = whole.flatMap((event, index) => event._tag === "checkpoint" ? [[index, event.cursor] as const] : [])
        assert.isAbove(marks.length, 4)
        for (const [index, cursor] of marks) {
          const rest = yield* collect(connector, cursor)
          assert.deepStrictEqual([...paths(whole.slice(0, index)), ...paths(rest)].toSorted(), paths(whole))
          cursorOf(rest)
        }
        const other = yield* connect(fake, { folders: ["d1"] })
        assert.deepInclude(yield* Effect.flip(collect(other, marks[0]?.[1])), { code: "INVALID_ARGUMENT" })
      }))

    it.effect("waits out the rate limits that come as 403, and keeps a folder's failure to it", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive(1)
        handbook(fake)
        const connector = yield* connect(fake, { folders: ["root"] })
        fake.fault(1, isList, (response) => sendDriveError(response, 403, "userRateLimitExceeded"))
        fake.fault(1, isList, (response) => void response.end("{\"files\": 7}"))
        cursorOf(yield* collect(connector))
        fake.fault(99, ({ url }) =>
          isList({ url }) && (url.searchParams.get("q") ?? "").includes("hr"), (response) =>
          sendDriveError(response, 500, "backendError"))
        const broken = yield* collect(connector)
        assert.deepStrictEqual(failures(broken), [["Handbook/HR", "INTERNAL"]])
        assert.deepStrictEqual(paths(broken), ["Handbook/FAQ"])
        assert.notStrictEqual(broken.at(-1)?._tag, "complete")
      }))

    it.effect("takes no harm from one file in a shape that no file has, and none from nulls", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        const connector = yield* connect(fake, { folders: ["root"] })
        const cursor = cursorOf(yield* collect(connector))
        fake.edit("leave", JSON.parse("{\"driveId\": null}"))
        fake.put("odd", "hr", JSON.parse("{\"name\": 42}"))
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), ["Handbook/FAQ", "Handbook/HR/Leave.txt", "Handbook/HR/Pay.txt"])
        assert.deepStrictEqual(failures(listed), [["odd", "DATA_LOSS"]])
        assert.isFalse(listed.some(({ _tag }) => _tag === "complete"))
        const changed = yield* collect(connector, cursor)
        assert.deepStrictEqual(paths(changed), ["Handbook/HR/Leave.txt"])
        assert.deepStrictEqual(failures(changed), [["odd", "DATA_LOSS"]])
      }).pipe(Effect.scoped))

    it.effect("does not mind a folder that goes while it is listed", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        fake.folder("it", "root", { name: "IT" })
        fake.put("vpn", "it")
        const connector = yield* connect(fake, { folders: ["root"] })
        fake.fault(1, ({ url }) => isList({ url }) && (url.searchParams.get("q") ?? "").includes("hr"), (response) => {
          fake.remove("hr")
          sendDriveError(response, 404, "notFound")
        })
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed), ["Handbook/FAQ", "Handbook/IT/vpn"])
        cursorOf(listed)
      }))

    it.effect("says what is wrong and what to do, and never the token", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        const missing = yield* connect(fake, { folders: ["none"], files: ["leave"] })
        const error = yield* Effect.flip(missing.check)
        assert.deepInclude(error, { code: "NOT_FOUND", reason: "notFound" })
        assert.include(JSON.stringify(error), "share it with the account")
        assert.deepStrictEqual(failures(yield* collect(missing)), [["none", "NOT_FOUND"]])
        assert.deepInclude(yield* Effect.flip((yield* connect(fake, { folders: ["leave"] })).check), { code: "INVALID_ARGUMENT" })
        assert.deepInclude(yield* Effect.flip((yield* connect(fake, { files: ["hr"] })).check), { code: "INVALID_ARGUMENT" })
        assert.deepInclude(yield* Effect.flip((yield* connect(fake, {})).check), { code: "INVALID_ARGUMENT" })
        fake.edit("root", { trashed: true })
        assert.deepInclude(yield* Effect.flip((yield* connect(fake, { folders: ["root"] })).check), { code: "NOT_FOUND" })
        for (
          const [reason, words] of [
            ["appNotAuthorizedToFile", "drive.readonly"],
            ["insufficientPermissions", "--scopes"],
            ["accessNotConfigured", "drive.googleapis.com"],
            ["cannotDownloadFile", "its owner"],
            ["downloadQuotaExceeded", "in a day"],
            ["domainPolicy", "administrator of the domain"]
          ] as const
        ) {
          fake.fault(1, () => true, (response) => sendDriveError(response, 403, reason))
          const refused = yield* Effect.flip((yield* connect(fake, { folders: ["hr"] })).check)
          assert.include(JSON.stringify(refused), words)
        }
        const wrong = yield* connect(fake, { folders: ["hr"] }, { googleDrive: auth("canary") })
        const denied = yield* Effect.flip(collect(wrong))
        assert.deepInclude(denied, { code: "UNAUTHENTICATED" })
        assert.notInclude(JSON.stringify(denied), "canary")
      }))

    it.effect("takes a new token when the old one ended", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        let current = "old"
        const connector = yield* connect(fake, { folders: ["root"] }, {
          googleDrive: {
            ...GoogleAuth.anonymous,
            token: Effect.sync(() => Redacted.make(current)),
            reject: () =>
              Effect.sync(() => {
                current = "good"
              })
          }
        })
        cursorOf(yield* collect(connector))
      }))

    it.effect("exports what is too large by a long-running operation, and takes credentials nowhere else", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        fake.edit("faq", { content: "x".repeat(2000) })
        const connector = yield* connect(fake, { folders: ["root"] })
        const faq = item(yield* collect(connector), "Handbook/FAQ")
        assert.lengthOf(yield* text(connector, faq), "text/markdown: ".length + 2000)
        const other = yield* fakeServer((_, response) => void response.end("from elsewhere"))
        fake.fault(1, ({ url }) =>
          url.pathname.includes("/operations/"), (response) =>
          void response.end(JSON.stringify({ name: "operations/x", done: true, response: { downloadUri: `${other.origin}/bytes` } })))
        assert.strictEqual(yield* text(connector, faq), "from elsewhere")
        assert.isUndefined(other.asked[0]?.headers.authorization)
        fake.fault(1, ({ url }) =>
          url.pathname.includes("/operations/"), (response) =>
          void response.end(JSON.stringify({ name: "operations/x", done: true, error: { code: 3, message: "no" } })))
        assert.deepInclude(yield* Effect.flip(text(connector, faq)), { code: "FAILED_PRECONDITION" })
        fake.edit("faq", { content: "small" })
        assert.deepInclude(yield* Effect.flip(text(connector, faq)), { code: "ABORTED" })
        const again = item(yield* collect(connector), "Handbook/FAQ")
        fake.fault(1, ({ url }) =>
          url.searchParams.get("mimeType") === "text/markdown", (response) =>
          sendDriveError(response, 400, "badRequest"))
        assert.include(yield* text(connector, again), "wordprocessingml")
      }))

    it.effect("goes on with a download that broke off, of the listed bytes only", () =>
      Effect.gen(function*() {
        const fake = yield* fakeDrive()
        handbook(fake)
        const content = "0123456789".repeat(1000)
        fake.edit("leave", { content })
        const connector = yield* connect(fake, { folders: ["root"] })
        const leave = item(yield* collect(connector), "Handbook/HR/Leave.txt")
        fake.fault(1, isMedia, (response) => sendCut(response, content.slice(0, 3000)))
        assert.strictEqual(yield* text(connector, leave), content)
        assert.strictEqual(fake.asked.at(-1)?.headers.range, "bytes=3000-")
        fake.edit("leave", { content: "else" })
        assert.deepInclude(yield* Effect.flip(text(connector, leave)), { code: "ABORTED" })
        fake.remove("leave")
        assert.deepInclude(yield* Effect.flip(text(connector, leave)), { code: "NOT_FOUND" })
      }))

    it.effect("lists 50,000 files in flat memory", () =>
      Effect.gen(function*() {
        const file = (id: string, parent: string) => ({
          id,
          name: id,
          mimeType: "text/plain",
          parents: [parent],
          md5Checksum: "0".repeat(32),
          size: "1",
          permissions: []
        })
        const http = HttpClient.make((request, url) =>
          Effect.sync(() => {
            const query = url.searchParams
            const parent = /'(\w+)' in parents/.exec(query.get("q") ?? "")?.[1] ?? ""
            const page = Number(query.get("pageToken") ?? 0)
            const body = url.pathname.endsWith("startPageToken") ?
              { startPageToken: "1" }
              : !url.pathname.endsWith("/files") ?
              { id: "root", name: "root", mimeType: `${google}folder` }
              : parent === "root" ?
              {
                files: Array.from(
                  { length: 10 },
                  (_, index) => ({ id: `d${index}`, name: `d${index}`, mimeType: `${google}folder`, parents: ["root"] })
                )
              }
              : {
                files: Array.from({ length: 1000 }, (_, index) => file(`${page}-${index}`, `d${index % 10}`)),
                ...(page === 49 ? {} : { nextPageToken: String(page + 1) })
              }
            return HttpClientResponse.fromWeb(request, Response.json(body))
          })
        )
        const connector = googleDrive({ folders: ["root"], files: [] }, { http, googleDrive: auth("good") })
        let count = 0
        const held: Array<number> = []
        setFlagsFromString("--expose-gc")
        const collectGarbage: () => void = runInNewContext("gc")
        yield* connector.list().pipe(Stream.runForEachArray((events) =>
          Effect.sync(() => {
            count += events.filter(({ _tag }) => _tag === "item").length
            if (count % 10_000 !== 0 || count === 0) return
            collectGarbage()
            held.push(process.memoryUsage().heapUsed)
          })
        ))
        assert.strictEqual(count, 50_000)
        assert.isBelow(held.at(-1)! - held[0]!, 8 * 1024 * 1024)
      }))
  })
})
