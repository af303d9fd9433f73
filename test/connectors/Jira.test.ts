import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Redacted, Stream } from "effect"
import { HttpClient } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { jira } from "../../connectors/jira/Jira.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { fakeServer, sendJson } from "../fakes/Http.ts"
import { type FakeJira, fakeJira } from "../fakes/Jira.ts"
import { turns } from "../support/Turns.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

const token = SecretVersion.make("projects/1/secrets/jira/versions/latest")
const retry = { times: 2, baseMs: 1 }

/** Resolves to each value in turn, and then to the last. */
const secretsOf = (...values: ReadonlyArray<string>) => {
  let resolved = 0
  return { resolve: () => Effect.sync(() => Redacted.make(values[Math.min(resolved++, values.length - 1)] ?? "")) }
}

const connect = (fake: FakeJira, config: Partial<SettingsOf<"jira">> = { projects: ["OPS"] }, secrets = secretsOf("api-token")) =>
  Effect.map(
    HttpClient.HttpClient,
    (http) => jira({ server: fake.origin, email: "bot@acme.com", token, projects: [], queries: [], ...config }, { http, retry, secrets })
  )

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path)
const complete = (listed: ReadonlyArray<Listed>) => listed.at(-1)?._tag === "complete"
const failures = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "failed" ? [[event.path, event.error.code] as const] : [])
const text = (connector: Connector, item: SourceItem | undefined, maxBytes = 1_000_000) =>
  connector.read(item!, maxBytes).pipe(Stream.decodeText(), Stream.mkString)
const isSearch = ({ url }: { readonly url: URL }) => url.pathname.includes("/search")

const adf = (...content: ReadonlyArray<unknown>) => ({ version: 1, type: "doc", content })
const paragraph = (words: string) => ({ type: "paragraph", content: [{ type: "text", text: words }] })

/** Bytes that are still in use after a collection. */
const heapKept = (): number => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

describe("the jira source", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("gives a document per issue, with all its comments", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud", 2)
        fake.add("OPS-1", {
          summary: "Backups <fail>",
          labels: ["kb", "ops"],
          assignee: { displayName: "Egon" },
          description: adf(paragraph("They do *not* run."))
        }, ["one", "two", "three"].map((words) => adf(paragraph(words))))
        for (const n of [2, 3, 4, 5]) fake.add(`OPS-${n}`)
        const connector = yield* connect(fake)
        yield* connector.check
        const listed = yield* collect(connector)
        assert.isTrue(complete(listed))
        assert.deepStrictEqual(paths(listed), [1, 2, 3, 4, 5].map((n) => `OPS/OPS-${n}`))
        const [first] = items(listed)
        assert.deepInclude(first, {
          uri: `${fake.origin}/browse/OPS-1`,
          displayName: "OPS-1: Backups <fail>.md",
          revision: "2026-10-12T10:00:00.000+0200 3 v3",
          mimeType: "text/markdown"
        })
        assert.isUndefined(first?.permissions)
        assert.deepInclude(first?.metadata, {
          key: "OPS-1",
          status: "To Do",
          labels: "kb, ops",
          author: "Grace Hopper",
          modifiedTime: "2026-10-12T08:00:00.000Z"
        })
        assert.strictEqual(
          yield* text(connector, first),
          "# OPS-1: Backups \\<fail\\>\n\n- Project: Operations\n- Type: Task\n- Status: To Do\n- Priority: Medium\n- Labels: kb, ops\n" +
            "- Reporter: Grace Hopper\n- Assignee: Egon\n\n## Description\n\nThey do \\*not\\* run.\n\n## Comments\n\n" +
            ["one", "two", "three"].map((words) => `### Egon, 2026-10-12 09:00 UTC\n\n${words}`).join("\n\n") + "\n"
        )
        assert.deepInclude(yield* Effect.flip(text(connector, first, 50)), { code: "OUT_OF_RANGE" })
        fake.issues.shift()
        assert.deepInclude(yield* Effect.flip(text(connector, first)), { code: "NOT_FOUND" })
      }))

    it.effect("reads the fields that administrators added, and no comments for a few", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        const own = (type: string) => `com.atlassian.jira.plugin.system.customfieldtypes:${type}`
        for (
          const [id, name, type] of [
            ["customfield_1", "Acceptance criteria", own("textarea")],
            ["customfield_2", "Severity", own("select")],
            ["customfield_3", "Region", own("cascadingselect")],
            ["customfield_4", "Testers", own("multiuserpicker")],
            ["customfield_5", "Points", own("float")],
            ["customfield_6", "Rank", "com.pyxis.greenhopper.jira:gh-lexo-rank"],
            ["customfield_7", "Not set", own("textfield")]
          ] as const
        ) fake.custom.set(id, { name, type })
        const { comments } = fake.add("OPS-1", {
          description: adf(paragraph("what")),
          environment: adf(paragraph("where")),
          customfield_1: adf(paragraph("done when")),
          customfield_2: { id: "1", value: "High" },
          customfield_3: { value: "Europe", child: { value: "Bern" } },
          customfield_4: [{ displayName: "Grace" }, { displayName: "Egon" }],
          customfield_5: 3,
          customfield_6: "0|i0001:",
          customfield_7: null
        }, ["open", "secret"].map((words) => adf(paragraph(words))))
        comments[1]!["visibility"] = { type: "role", value: "Administrators" }
        const connector = yield* connect(fake)
        const said = yield* text(connector, items(yield* collect(connector))[0])
        assert.include(said, "- Severity: High\n- Region: Europe / Bern\n- Testers: Grace, Egon\n- Points: 3\n\n## Description\n\nwhat\n\n")
        assert.include(said, "## Environment\n\nwhere\n\n## Acceptance criteria\n\ndone when\n\n## Comments\n\n")
        assert.isTrue(said.endsWith("open\n\n(1 comment for a group or role only, not shown here)\n"))
        for (const absent of ["secret", "Rank", "i0001", "Not set"]) assert.notInclude(said, absent)
      }))

    it.effect("names what an issue is linked to by keys alone, its affected versions and a Server's epic", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Server")
        fake.custom.set("customfield_8", { name: "Epic Link", type: "com.pyxis.greenhopper.jira:gh-epic-link" })
        const linked = (key: string) => ({ key, fields: { summary: "Not for everyone" } })
        const blocks = { name: "Blocks", inward: "is blocked by", outward: "blocks" }
        fake.add("OPS-1", {
          versions: [{ name: "1.0" }, { name: "1.1" }],
          subtasks: [linked("OPS-7")],
          issuelinks: [
            { type: blocks, outwardIssue: linked("OPS-2") },
            { type: blocks, inwardIssue: linked("SEC-1") },
            { type: blocks, outwardIssue: linked("OPS-3") },
            { outwardIssue: null }
          ],
          customfield_8: "OPS-5"
        })
        const connector = yield* connect(fake)
        const said = yield* text(connector, items(yield* collect(connector))[0])
        const facts = [
          "- Affects versions: 1.0, 1.1",
          "- Sub-tasks: OPS-7",
          "- Blocks: OPS-2, OPS-3",
          "- Is blocked by: SEC-1",
          "- Epic Link: OPS-5"
        ]
        for (const fact of facts) assert.include(said, `${fact}\n`)
        assert.notInclude(said, "Not for everyone")
      }))

    it.effect("reads a Server's wiki markup, below its context path", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Server", 2)
        fake.add("OPS-1", { description: "h1. Steps\n\n# Call [~egon]\n# Run {{a_b}}\n\n{code:java}\nint *x;\n{code}" }, [
          "see [the plan|https://acme.com/p] *now*"
        ])
        for (const n of [2, 3, 4, 5]) fake.add(`OPS-${n}`)
        const connector = yield* connect(fake, { server: `${fake.origin}/jira/`, projects: ["OPS", "ops"] })
        yield* connector.check
        const listed = yield* collect(connector)
        assert.deepStrictEqual([paths(listed).length, complete(listed)], [5, true])
        assert.strictEqual(items(listed)[0]?.uri, `${fake.origin}/jira/browse/OPS-1`)
        const said = yield* text(connector, items(listed)[0])
        assert.include(said, "## Description\n\n### Steps\n\n1. Call @egon\n2. Run `a_b`\n\n```java\nint *x;\n```\n\n## Comments")
        assert.include(said, "see [the plan](https://acme.com/p) **now**")
      }))

    for (const kind of ["Cloud", "Server"] as const) {
      it.effect(`${kind}: misses nothing when issues vanish while they are listed`, () =>
        Effect.gen(function*() {
          const fake = yield* fakeJira(kind, 4)
          for (let n = 1; n <= 20; n++) fake.add(`OPS-${n}`)
          const connector = yield* connect(fake)
          // With each page the first issues of all go, the last one listed among them.
          let page = 0
          const listed = yield* connector.list().pipe(
            Stream.tap((event) =>
              Effect.sync(() => {
                if (event._tag === "checkpoint" && ++page < 4) fake.issues.splice(0, 3)
              })
            ),
            Stream.runCollect
          )
          assert.isTrue(complete(listed))
          const found = paths(listed)
          assert.strictEqual(new Set(found).size, found.length)
          for (const { key } of fake.issues) assert.include(found, `OPS/${key}`)
        }))

      it.effect(`${kind}: goes on from each checkpoint`, () =>
        Effect.gen(function*() {
          const fake = yield* fakeJira(kind, 3)
          for (let n = 1; n <= 8; n++) fake.add(`OPS-${n}`, { labels: n % 2 === 0 ? ["kb"] : [] })
          for (let n = 1; n <= 8; n++) fake.add(`HR-${n}`, { labels: n % 2 === 0 ? ["kb"] : [] })
          const connector = yield* connect(fake, { projects: ["OPS"], queries: ["labels = kb order by updated DESC", "project = HR"] })
          const listed = yield* collect(connector)
          // What a project or an earlier query lists is not listed again.
          assert.deepStrictEqual(paths(listed).toSorted(), [...fake.issues].map(({ key }) => `${key.replace(/-.*/, "")}/${key}`).toSorted())
          for (const [index, event] of listed.entries()) {
            if (event._tag !== "checkpoint") continue
            const rest = yield* collect(connector, event.cursor)
            assert.deepStrictEqual([...new Set([...paths(listed.slice(0, index)), ...paths(rest)])], paths(listed))
            assert.isTrue(complete(rest))
          }
          const cursor = listed.flatMap((event) => event._tag === "checkpoint" ? [event.cursor] : [])[0]
          fake.expireTokens()
          assert.isTrue(complete(yield* collect(connector, cursor)))
          assert.deepInclude(yield* Effect.flip(collect(yield* connect(fake), cursor)), { code: "INVALID_ARGUMENT" })
        }))
    }

    it.effect("lists what was updated since, a little more, and never loses a listing's cursor", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud", 2)
        const ago = (minutes: number) => new Date(fake.now - minutes * 60_000).toISOString()
        for (const [n, minutes] of [[1, 600], [2, 3], [3, 7], [4, 600]] as const) fake.add(`OPS-${n}`, { updated: ago(minutes) })
        const connector = yield* connect(fake)
        const cursorOf = (listed: ReadonlyArray<Listed>) => listed.flatMap((event) => event._tag === "complete" ? [event.cursor] : [])[0]
        const all = yield* collect(connector)
        const since = yield* collect(connector, cursorOf(all))
        assert.deepStrictEqual(paths(since), ["OPS/OPS-2"])
        fake.issues[3]!.fields["updated"] = ago(0)
        assert.deepStrictEqual(paths(yield* collect(connector, cursorOf(since))), ["OPS/OPS-2", "OPS/OPS-4"])
        // A comment changes the revision, whatever the time of update says.
        fake.issues[3]!.comments.push({ id: "1", body: adf() })
        assert.notDeepEqual(items(yield* collect(connector)).map(({ revision }) => revision), items(all).map(({ revision }) => revision))
      }))

    it.effect("takes attachments, and no credentials along to where they are", () =>
      Effect.gen(function*() {
        for (const kind of ["Cloud", "Server"] as const) {
          const fake = yield* fakeJira(kind)
          fake.attachments.set("7", Buffer.from("the figures"))
          fake.add("OPS-1", {
            attachment: [{
              id: "7",
              filename: "a/b ü.txt",
              size: 11,
              mimeType: "text/plain",
              created: "2026-10-12T10:00:00.000+0000",
              content: "https://evil.example.com/7"
            }]
          })
          const connector = yield* connect(fake)
          const [, item] = items(yield* collect(connector))
          assert.deepInclude(item, {
            path: "OPS/OPS-1/attachments/7-a_b ü.txt",
            displayName: "a/b ü.txt",
            size: 11,
            mimeType: "text/plain",
            revision: "7 11"
          })
          fake.fault(1, ({ url }) => url.pathname.includes("attachment"), (response) => {
            response.writeHead(200, { "content-length": "11" })
            response.write("the fi", () => response.destroy())
          })
          assert.strictEqual(yield* text(connector, item), "the figures")
          assert.deepInclude(yield* Effect.flip(text(connector, item, 5)), { code: "OUT_OF_RANGE" })
          const media = yield* fakeServer((_, response) => void response.end("from media"))
          fake.media = media.origin
          assert.strictEqual(yield* text(connector, item), "from media")
          assert.deepStrictEqual(media.asked.map(({ headers, url }) => [headers.authorization, url.search]), [[undefined, "?token=signed"]])
          fake.attachments.clear()
          assert.deepInclude(yield* Effect.flip(text(connector, item)), { code: "NOT_FOUND" })
        }
      }))

    it.effect("shows who may read what, as it is now", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        fake.add("OPS-1")
        fake.add("OPS-2", { security: { id: "10", name: "Board" } })
        const connector = yield* connect(fake)
        const permissions = Effect.map(collect(connector), (listed) => items(listed).map((item) => item.permissions))
        // Nothing is visible: the level stays closed.
        assert.deepStrictEqual(yield* permissions, [undefined, { public: false, principals: ["jira-level:10"] }])
        const scheme = (...holders: ReadonlyArray<object>) => ({
          id: 1,
          permissions: [...holders.map((holder) => ({ permission: "BROWSE_PROJECTS", holder })), {
            permission: "ADMINISTER_PROJECTS",
            holder: { type: "anyone" }
          }]
        })
        fake.admin.set(
          "/rest/api/2/project/OPS/permissionscheme",
          scheme({ type: "group", parameter: "Staff" }, { type: "projectRole", parameter: "5" })
        )
        fake.admin.set("/rest/api/2/project/OPS/role/5", {
          actors: [{ type: "atlassian-group-role-actor", actorGroup: { name: "Devs" } }, {
            type: "atlassian-user-role-actor",
            actorUser: { accountId: "Xy" }
          }]
        })
        fake.admin.set("/rest/api/3/issuesecurityschemes/level/member", {
          isLast: true,
          values: [{ holder: { type: "reporter" } }, { holder: { type: "user", user: { emailAddress: "Ceo@Acme.com" } } }]
        })
        assert.deepStrictEqual(yield* permissions, [
          { public: false, principals: ["group:devs", "group:staff", "jira:xy"] },
          { public: false, principals: ["user:ceo@acme.com", "user:grace@acme.com"] }
        ])
        fake.admin.set("/rest/api/2/project/OPS/permissionscheme", scheme({ type: "group", parameter: "Staff" }))
        assert.deepStrictEqual((yield* permissions)[0], { public: false, principals: ["group:staff"] })
        fake.admin.set("/rest/api/2/project/OPS/permissionscheme", scheme({ type: "applicationRole" }))
        assert.deepStrictEqual((yield* permissions)[0], { public: true, principals: [] })
      }))

    it.effect("says what is wrong in Jira's words, and never the token", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        fake.add("OPS-1")
        const error = (config: Partial<SettingsOf<"jira">>, secret = "api-token") =>
          Effect.flatMap(connect(fake, config, secretsOf(secret)), ({ check }) => Effect.flip(check))
        const query = yield* error({ queries: ["labels ~~ kb"] })
        assert.deepInclude(query, { code: "INVALID_ARGUMENT" })
        assert.include(JSON.stringify(query), "is not understood")
        const project = yield* error({ projects: ["NONE"] })
        assert.deepInclude(project, { code: "NOT_FOUND" })
        assert.include(JSON.stringify(project), "No project could be found with key 'NONE'")
        const login = yield* error({ projects: ["OPS"] }, "canary")
        assert.deepInclude(login, { code: "UNAUTHENTICATED" })
        assert.notInclude(JSON.stringify(login), "canary")
        assert.notInclude(JSON.stringify(login), Buffer.from("bot@acme.com:canary").toString("base64"))
        fake.fault(1, () => true, (response) => void response.writeHead(401, { "x-seraph-loginreason": "AUTHENTICATION_DENIED" }).end())
        assert.include(JSON.stringify(yield* error({ projects: ["OPS"] })), "CAPTCHA")
        for (const server of ["http://jira.acme.com", "https://a:b@jira.acme.com", "https://jira acme"]) {
          assert.deepInclude(yield* error({ server, projects: ["OPS"] }), { code: "INVALID_ARGUMENT" })
        }
        assert.deepInclude(yield* error({}), { code: "INVALID_ARGUMENT" })
        // One place's failure is its own.
        const listed = yield* collect(yield* connect(fake, { projects: ["OPS"], queries: ["labels ~~ kb"] }))
        assert.deepStrictEqual([paths(listed), failures(listed), complete(listed)], [["OPS/OPS-1"], [[
          "query labels ~~ kb",
          "INVALID_ARGUMENT"
        ]], false])
      }))

    it.effect("takes up a new token when the old one ends", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        fake.add("OPS-1")
        const connector = yield* connect(fake, { projects: ["OPS"] }, secretsOf("api-token", "next"))
        yield* connector.check
        fake.token = "next"
        assert.isTrue(complete(yield* collect(connector)))
        fake.token = "other"
        assert.deepInclude(yield* Effect.flip(collect(connector)), { code: "UNAUTHENTICATED" })
      }))

    it.effect("waits when told to, with everything of the account", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        fake.add("OPS-1")
        const connector = yield* connect(fake)
        yield* connector.check
        const refused = yield* Deferred.make<number>()
        fake.fault(1, isSearch, (response) => {
          Deferred.doneUnsafe(refused, Effect.succeed(performance.now()))
          sendJson(response, 429, { errorMessages: ["Rate limit exceeded."] }, { "retry-after": "1" })
        })
        const [listed, waited] = yield* Effect.all([
          collect(connector),
          Effect.gen(function*() {
            const refusedAt = yield* Deferred.await(refused)
            // Until the answer has arrived, there is nothing to wait for.
            yield* turns
            yield* connector.check
            return performance.now() - refusedAt
          })
        ], { concurrency: 2 })
        assert.isTrue(complete(listed))
        assert.isAtLeast(waited, 990)
        fake.fault(1, isSearch, (response) => sendJson(response, 429, {}, { "retry-after": "3600" }))
        assert.deepStrictEqual(failures(yield* collect(connector)), [["project OPS", "RESOURCE_EXHAUSTED"]])
      }))

    it.effect("tries again what is no listing, and isolates what stays broken", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud", 2)
        for (const n of [1, 2, 3]) fake.add(`OPS-${n}`)
        const connector = yield* connect(fake)
        fake.fault(1, isSearch, (response) => sendJson(response, 200, { issues: "none" }))
        assert.isTrue(complete(yield* collect(connector)))
        delete fake.issues[1]!.fields["updated"]
        const odd = yield* collect(connector)
        assert.deepStrictEqual([paths(odd), failures(odd), complete(odd)], [["OPS/OPS-1", "OPS/OPS-3"], [["OPS-2", "DATA_LOSS"]], false])
        fake.fault(3, isSearch, (response) => void response.writeHead(500).end())
        assert.deepStrictEqual(failures(yield* collect(connector)), [["project OPS", "INTERNAL"]])
      }))

    it.effect("takes what nobody may see for no listing", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud")
        fake.add("OPS-1")
        const connector = yield* connect(fake)
        const seen = (reason: string) => {
          fake.fault(1, isSearch, (response) => sendJson(response, 200, { issues: [], isLast: true }, { "x-seraph-loginreason": reason }))
          return collect(connector)
        }
        const error = yield* Effect.flip(seen("AUTHENTICATED_FAILED"))
        assert.deepInclude(error, { code: "UNAUTHENTICATED" })
        assert.include(JSON.stringify(error), "store a new API token")
        assert.isTrue(complete(yield* seen("OK")))
      }))

    it.effect("ends where pages repeat, or a page's token is refused at once", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud", 1)
        for (const n of [1, 2, 3]) fake.add(`OPS-${n}`)
        const connector = yield* connect(fake)
        let asked = 0
        const repeats = fake.fault(
          9,
          isSearch,
          (response) => sendJson(response, 200, { issues: fake.issues.slice(0, 1), nextPageToken: `t${++asked}` })
        )
        assert.deepStrictEqual(failures(yield* collect(connector)), [["project OPS", "INTERNAL"]])
        assert.strictEqual(asked, 2)
        repeats()
        fake.fault(9, ({ body, url }) => isSearch({ url }) && body.includes("nextPageToken"), (response) => {
          asked++
          sendJson(response, 400, { errorMessages: ["nextPageToken is invalid"] })
        })
        asked = 0
        assert.deepStrictEqual(failures(yield* collect(connector)), [["project OPS", "INVALID_ARGUMENT"]])
        assert.strictEqual(asked, 1)
      }))

    it.effect("lists 50,000 issues in flat memory", () =>
      Effect.gen(function*() {
        const fake = yield* fakeJira("Cloud", 1000)
        const page = Array.from({ length: 100 }, (_, n) => fake.add(`OPS-${n + 1}`))
        let count = 0
        const kept: Array<number> = []
        // Pages of the same issues under other numbers: what is measured is the connector.
        fake.fault(500, isSearch, (response, { body }) => {
          const at = Number(JSON.parse(body.toString()).nextPageToken ?? 0)
          const issues = page.map(({ fields, id, key }, n) => ({
            id: `${at}${id}`,
            key: key.replace(/\d+$/, String(at * 100 + n + 1)),
            fields
          }))
          sendJson(response, 200, { issues, isLast: at === 499, ...(at === 499 ? {} : { nextPageToken: String(at + 1) }) })
        })
        const connector = yield* connect(fake)
        yield* connector.list().pipe(Stream.runForEach((event) =>
          Effect.sync(() => {
            if (event._tag === "item" && ++count % 10_000 === 0) kept.push(heapKept())
          })
        ))
        assert.strictEqual(count, 50_000)
        assert.isBelow(Math.max(...kept) - (kept[0] ?? 0), 8 * 1024 * 1024)
      }))
  })
})
