import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Redacted, Stream } from "effect"
import { HttpClient } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { slack } from "../../connectors/slack/Slack.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { layer } from "../../src/net/Http.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"
import { sendJson } from "../fakes/Http.ts"
import { at, type FakeSlack, fakeSlack } from "../fakes/Slack.ts"
import { turns } from "../support/Turns.ts"

const token = SecretVersion.make("projects/1/secrets/slack/versions/1")
const retry = { times: 2, baseMs: 1 }

/** Resolves to `xoxb-fake-token`, and after that to what is given. */
const secretsOf = (...values: ReadonlyArray<string>) => {
  let resolved = 0
  return { resolve: () => Effect.sync(() => Redacted.make(values[Math.min(resolved++, values.length - 1)] ?? "")) }
}

const connect = (fake: FakeSlack, channels: SettingsOf<"slack">["channels"] = [{ id: "C1" }], secrets = secretsOf("xoxb-fake-token")) =>
  Effect.map(HttpClient.HttpClient, (http) => slack({ channels, token, endpoint: `${fake.origin}/api` }, { http, retry, secrets }))

const collect = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => event._tag === "item" ? [event.item] : [])
const paths = (listed: ReadonlyArray<Listed>) => items(listed).map(({ path }) => path)
const complete = (listed: ReadonlyArray<Listed>) => listed.at(-1)?._tag === "complete"
const failures = (listed: ReadonlyArray<Listed>) =>
  listed.flatMap((event) => event._tag === "failed" ? [[event.path, event.error.code] as const] : [])
const find = (listed: ReadonlyArray<Listed>, path: string) => items(listed).find((item) => item.path.startsWith(path))
const text = (connector: Connector, item: SourceItem | undefined, maxBytes = 1_000_000) =>
  connector.read(item!, maxBytes).pipe(Stream.decodeText(), Stream.mkString)

/** Bytes that are still in use after a collection. */
const heapKept = (): number => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

/** Two days of a channel, with a thread. */
const office = Effect.fnUntraced(function*(pageSize?: number) {
  const fake = yield* fakeSlack(pageSize)
  fake.users.set("U1", { id: "U1", name: "egon", profile: { display_name: "Egon", email: "Egon@Acme.com" } })
  fake.users.set("U2", { id: "U2", name: "grace", real_name: "Grace Hopper", profile: { email: "grace@acme.com" } })
  fake.channels.set("C1", {
    name: "general",
    messages: [
      { ts: at("2026-10-11T23:59:59Z"), user: "U2", text: "good *night* <@U1>, see <https://acme.com/a_b?x=1&amp;y=2|the plan> in <#C1>" },
      { ts: at("2026-10-12T08:00:00Z"), user: "U1", text: "<@U1> has joined the channel", subtype: "channel_join" },
      {
        ts: at("2026-10-12T09:00:00Z"),
        user: "U1",
        text: "Where is `a &lt; b` written?",
        thread_ts: at("2026-10-12T09:00:00Z"),
        reply_count: 2
      },
      { ts: at("2026-10-12T09:00:05Z"), user: "U2", text: "plain words" },
      { ts: at("2026-10-12T10:00:00Z"), user: "U2", text: "in the handbook", thread_ts: at("2026-10-12T09:00:00Z") },
      { ts: at("2026-10-13T10:00:00Z"), user: "U1", text: "thanks", thread_ts: at("2026-10-12T09:00:00Z"), subtype: "thread_broadcast" }
    ]
  })
  return fake
})
/** A message as no app is known to send one. */
const oddOf = (ts: string) => ({ ts, user: "U1", text: "odd", attachments: [{ fields: [{ title: "Count", value: { of: 5 } }] }] })
const thread = `C1/threads/${at("2026-10-12T09:00:00Z")}`

describe("the slack source", () => {
  it.layer(layer(), { excludeTestServices: true })((it) => {
    it.effect("names a message in a form that is not known, and reads the others", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const { messages } = fake.channels.get("C1")!
        messages.push(oddOf(at("2026-10-13T11:00:00Z")), { ...oddOf(at("2026-10-13T12:00:00Z")), thread_ts: at("2026-10-12T09:00:00Z") })
        const connector = yield* connect(fake)
        const listed = yield* collect(connector)
        assert.deepStrictEqual(failures(listed).toSorted(), [
          [`C1/${at("2026-10-13T11:00:00Z")}`, "DATA_LOSS"],
          [`C1/${at("2026-10-13T12:00:00Z")}`, "DATA_LOSS"]
        ])
        assert.isFalse(complete(listed))
        assert.include(paths(listed), thread)
        assert.include(yield* text(connector, find(listed, thread)), "in the handbook")
        messages.splice(0, messages.length - 2)
        const none = yield* collect(connector)
        assert.deepStrictEqual([failures(none).length, complete(none)], [1, false])
      }))

    it.effect("names what a free plan hides, and lists no day of which a part may be hidden", () =>
      Effect.gen(function*() {
        const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
        const said = (ago: number, time: string, more: object = {}) => ({ ts: at(`${day(ago)}T${time}Z`), user: "U1", text: time, ...more })
        const fake = yield* fakeSlack()
        const began = at(`${day(90)}T23:59:58Z`)
        const channel = {
          name: "general",
          shownFrom: at(`${day(90)}T23:59:57Z`),
          messages: [
            said(91, "12:00:00"),
            said(90, "00:00:00"),
            said(90, "23:59:57"),
            said(90, "23:59:58", { thread_ts: began, reply_count: 1 }),
            said(80, "12:00:00", { thread_ts: began }),
            said(50, "12:00:00")
          ]
        }
        fake.channels.set("C1", channel)
        const hidden = (listed: ReadonlyArray<Listed>) =>
          listed.flatMap((event) => event._tag === "skipped" ? [[event.path, event.reason, event.before]] : [])
        const before = (end: string) => [
          ["C1/", "hidden", `C1/${end}`],
          ["C1/threads/", "hidden", `C1/threads/${at(`${end}T00:00:00Z`)}`],
          ["C1/files/", "hidden", undefined]
        ]
        const listed = yield* collect(yield* connect(fake))
        assert.deepStrictEqual(paths(listed), [`C1/${day(50)}`, `C1/threads/${began}`])
        assert.deepStrictEqual(hidden(listed), before(day(89)))
        assert.isTrue(complete(listed))
        const detail = listed.flatMap((event) => event._tag === "skipped" ? [event.detail] : [])[0]
        assert.strictEqual(detail, `messages before ${day(89)} are hidden by the workspace's plan; what is stored of them stays`)

        // A day of which everything is shown.
        channel.messages.splice(0, 5)
        const later = yield* collect(yield* connect(fake))
        assert.deepStrictEqual([paths(later), hidden(later)], [[`C1/${day(50)}`], before(day(50))])
        const recent = yield* collect(yield* connect(fake, [{ id: "C1", start: `${day(60)}T00:00:00Z` }]))
        assert.deepStrictEqual([paths(recent), hidden(recent)], [[`C1/${day(50)}`], []])
        channel.messages.length = 0
        assert.deepStrictEqual(hidden(yield* collect(yield* connect(fake))), before(day(89)))
      }))

    it.effect("gives a document per thread and per day of the rest", () =>
      Effect.gen(function*() {
        const fake = yield* office(2)
        const connector = yield* connect(fake)
        yield* connector.check
        const listed = yield* collect(connector)
        assert.isTrue(complete(listed))
        assert.deepStrictEqual(paths(listed).toSorted(), ["C1/2026-10-11", "C1/2026-10-12", thread])
        assert.deepInclude(find(listed, thread), {
          displayName: "#general: Where is a < b written?.md",
          uri: "https://acme.slack.com/archives/C1/p1791795600000000",
          mimeType: "text/markdown",
          permissions: { public: true, principals: [] }
        })
        assert.strictEqual(find(listed, thread)?.metadata?.["author"], "Egon")
        assert.deepInclude(find(listed, "C1/2026-10-11")?.metadata, {
          channel: "#general",
          channelId: "C1",
          createdTime: "2026-10-11T23:59:59.000Z"
        })
        assert.strictEqual(
          yield* text(connector, find(listed, thread)),
          "# #general: Where is a \\< b written?\n\n**Egon** (2026-10-12 09:00 UTC):\n\nWhere is `a < b` written?\n\n" +
            "**Grace Hopper** (2026-10-12 10:00 UTC):\n\nin the handbook\n\n**Egon** (2026-10-13 10:00 UTC):\n\nthanks\n"
        )
        assert.include(
          yield* text(connector, find(listed, "C1/2026-10-11")),
          "good **night** @Egon, see [the plan](https://acme.com/a_b?x=1&amp;y=2) in #general"
        )
        const day = yield* text(connector, find(listed, "C1/2026-10-12"))
        assert.include(day, "plain words")
        assert.notInclude(day, "joined")
        // People were asked for once, which takes two pages, and reading asks nothing about the channel.
        const asks = (method: string) => fake.asked.filter(({ url }) => url.pathname.endsWith(method)).length
        assert.deepStrictEqual([asks("users.list"), asks("conversations.info")], [2, 2])
      }))

    it.effect("sees edits, replies and deletions, and nothing else", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const connector = yield* connect(fake)
        const revisions = Effect.map(collect(connector), (listed) => new Map(items(listed).map(({ path, revision }) => [path, revision])))
        const before = yield* revisions
        assert.deepStrictEqual(yield* revisions, before)
        const messages = fake.channels.get("C1")!.messages
        messages[4]!["text"] = "in the new handbook"
        messages[4]!["edited"] = { user: "U2", ts: at("2026-10-20T00:00:00Z") }
        const edited = yield* revisions
        assert.deepStrictEqual([...edited].filter(([path, revision]) => before.get(path) !== revision).map(([path]) => path), [thread])
        messages.splice(0, 1)
        assert.deepStrictEqual([...(yield* revisions).keys()].toSorted(), ["C1/2026-10-12", thread])
        assert.deepInclude(yield* Effect.flip(text(connector, { path: "C1/2026-10-11", uri: "", displayName: "", revision: "" })), {
          code: "NOT_FOUND"
        })
        // The parent goes, the replies stay; then they go too.
        messages[1] = { ...messages[1]!, subtype: "tombstone", text: "This message was deleted.", hidden: true }
        assert.notInclude(yield* text(connector, { path: thread, uri: "", displayName: "", revision: "" }), "deleted")
        fake.channels.get("C1")!.messages = [messages[1], messages[2]!]
        assert.deepStrictEqual([...(yield* revisions).keys()], ["C1/2026-10-12"])
      }))

    it.effect("keeps to start and end", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const listed = yield* collect(yield* connect(fake, [{ id: "C1", start: "2026-10-12T09:00:00Z", end: "2026-10-12T12:00:05+02:00" }]))
        assert.deepStrictEqual(paths(listed).toSorted(), ["C1/2026-10-12", thread])
        const until = yield* connect(fake, [{ id: "C1", start: "2026-10-12T00:00:00Z", end: "2026-10-13T10:00:00Z" }])
        assert.notInclude(yield* text(until, find(yield* collect(until), thread)), "thanks")
        assert.deepStrictEqual(paths(yield* collect(yield* connect(fake, [{ id: "C1", start: "2026-10-12T09:00:05.000001Z" }]))), [
          "C1/2026-10-13"
        ])
        for (
          const channels of [[], [{ id: "C1" }, { id: "C1" }], [{ id: "C1", start: "2026-10-12T09:00:00Z", end: "2026-10-12T09:00:00Z" }]]
        ) {
          assert.deepInclude(yield* Effect.flip((yield* connect(fake, channels)).check), { code: "INVALID_ARGUMENT" })
        }
      }))

    it.effect("goes on from each checkpoint, with cursors long expired, to the same end", () =>
      Effect.gen(function*() {
        const fake = yield* fakeSlack(3)
        for (const id of ["C1", "C2"]) {
          fake.channels.set(id, {
            name: id.toLowerCase(),
            messages: Array.from(
              { length: 20 },
              (_, n) => ({ ts: at(`2026-10-${10 + Math.floor(n / 3)}T10:00:00Z`, n), text: `message ${n}` })
            )
          })
        }
        const connector = yield* connect(fake, [{ id: "C1" }, { id: "C2" }])
        const listed = yield* collect(connector)
        assert.lengthOf(items(listed), 14)
        fake.expireCursors()
        for (const [index, event] of listed.entries()) {
          if (event._tag !== "checkpoint") continue
          const rest = yield* collect(connector, event.cursor)
          assert.deepStrictEqual([...paths(listed.slice(0, index)), ...paths(rest)], paths(listed))
          assert.isTrue(complete(rest))
        }
        fake.fault(1, ({ url }) =>
          url.searchParams.has("cursor"), (response) =>
          sendJson(response, 200, { ok: false, error: "invalid_cursor" }))
        assert.deepStrictEqual(paths(yield* collect(connector)), paths(listed))
        const other = yield* connect(fake, [{ id: "C2" }])
        assert.deepInclude(
          yield* Effect.flip(collect(
            other,
            listed.flatMap((event) =>
              event._tag === "checkpoint" ? [event.cursor] : []
            )[0]
          )),
          { code: "INVALID_ARGUMENT" }
        )
      }))

    it.effect("lists attached files, and sends the token to Slack only", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const foreign = yield* fakeSlack()
        const messages = fake.channels.get("C1")!.messages
        const report = fake.host("F1", "report.txt", "the figures")
        messages[0]!["files"] = [report, {
          id: "F2",
          name: "sheet",
          mode: "external",
          is_external: true,
          url_private: "https://docs.example.com/x"
        }]
        messages[4]!["files"] = [
          report,
          { ...fake.host("F3", "in thread.pdf", "%PDF"), file_access: "check_file_info" },
          { ...fake.host("F4", "away.txt", "x"), url_private_download: `${foreign.origin}/files-pri/F4` },
          { id: "F5", mode: "tombstone" }
        ]
        fake.files.set("F4", {
          facts: { ...fake.files.get("F4")!.facts, url_private_download: `${foreign.origin}/files-pri/F4` },
          data: Buffer.from("x")
        })
        const connector = yield* connect(fake)
        const listed = yield* collect(connector)
        assert.deepStrictEqual(paths(listed).filter((path) => path.includes("/files/")).toSorted(), [
          "C1/files/F1-report.txt",
          "C1/files/F3-in thread.pdf"
        ])
        assert.deepStrictEqual(
          listed.flatMap((event) => event._tag === "skipped" ? [[event.path, event.reason]] : []).toSorted(),
          [["C1/files/F2-sheet", "unsupported"], ["C1/files/F4-away.txt", "unsupported"]]
        )
        const item = find(listed, "C1/files/F1")
        assert.deepInclude(item, {
          displayName: "report.txt",
          size: 11,
          mimeType: "text/plain",
          uri: "https://acme.slack.com/files/U1/F1/report.txt"
        })
        fake.fault(1, ({ url }) => url.pathname.startsWith("/files-pri"), (response) => {
          response.writeHead(200, { "content-type": "text/plain", "content-length": "11" })
          response.write("the fi", () => response.destroy())
        })
        assert.strictEqual(yield* text(connector, item), "the figures")
        assert.deepInclude(yield* Effect.flip(text(connector, item, 5)), { code: "OUT_OF_RANGE" })
        assert.deepInclude(yield* Effect.flip(text(connector, { ...item!, path: "C1/files/F4-away.txt" })), { code: "PERMISSION_DENIED" })
        // A redirect to another origin takes no token along.
        fake.fault(1, ({ url }) =>
          url.pathname.startsWith("/files-pri"), (response) =>
          void response.writeHead(302, { location: `${foreign.origin}/files-pri/F1` }).end())
        assert.deepInclude(yield* Effect.flip(text(connector, item)), { code: "PERMISSION_DENIED" })
        assert.deepStrictEqual(
          foreign.asked.map(({ headers }) =>
            headers.authorization
          ),
          [undefined]
        )
        fake.files.delete("F1")
        assert.deepInclude(yield* Effect.flip(text(connector, item)), { code: "NOT_FOUND" })
      }))

    it.effect("private channels are for their members, as they are now", () =>
      Effect.gen(function*() {
        const fake = yield* office(1)
        fake.channels.set("G1", {
          name: "board",
          private: true,
          members: ["U1", "U2", "U9"],
          messages: [{ ts: at("2026-10-12T10:00:00Z"), text: "secret" }]
        })
        const connector = yield* connect(fake, [{ id: "G1" }])
        const principals = Effect.map(collect(connector), (listed) => items(listed)[0]?.permissions)
        assert.deepStrictEqual(yield* principals, {
          public: false,
          principals: ["slack:t1/u9", "user:egon@acme.com", "user:grace@acme.com"]
        })
        fake.channels.get("G1")!.members = ["U1"]
        assert.deepStrictEqual(yield* principals, { public: false, principals: ["user:egon@acme.com"] })
        fake.lacking.set("conversations.members", "groups:read")
        const listed = yield* collect(connector)
        assert.deepStrictEqual([failures(listed), complete(listed)], [[["G1", "PERMISSION_DENIED"]], false])
      }))

    it.effect("says what to do, and never the token", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const error = (connector: Connector) => Effect.flip(connector.check)
        const connector = yield* connect(fake)
        fake.lacking.set("conversations.history", "channels:history,groups:history")
        const scope = yield* error(connector)
        assert.deepInclude(scope, { code: "PERMISSION_DENIED", reason: "missing_scope" })
        assert.include(JSON.stringify(scope), "channels:history,groups:history to the app")
        fake.lacking.clear()
        fake.fault(1, ({ url }) =>
          url.pathname.endsWith("history"), (response) =>
          sendJson(response, 200, { ok: false, error: "not_in_channel" }))
        assert.include(JSON.stringify(yield* error(connector)), "/invite")
        assert.deepInclude(yield* error(yield* connect(fake, [{ id: "C9" }])), { code: "NOT_FOUND", reason: "channel_not_found" })
        const wrong = yield* connect(fake, [{ id: "C1" }], secretsOf("xoxb-canary"))
        const refused = yield* Effect.flip(collect(wrong))
        assert.deepInclude(refused, { code: "UNAUTHENTICATED", reason: "invalid_auth" })
        assert.notInclude(JSON.stringify(refused), "canary")
        // One channel's failure is its own.
        const listed = yield* collect(yield* connect(fake, [{ id: "C9" }, { id: "C1" }]))
        assert.deepStrictEqual([failures(listed), paths(listed).length, complete(listed)], [[["C9", "NOT_FOUND"]], 3, false])
      }))

    it.effect("takes up a new token when the old one ends", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const connector = yield* connect(fake, [{ id: "C1" }], secretsOf("xoxb-fake-token", "xoxb-next"))
        yield* connector.check
        fake.token = "xoxb-next"
        assert.isTrue(complete(yield* collect(connector)))
      }))

    it.effect("waits when told to, with everything that has the token", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const connector = yield* connect(fake)
        const refused = yield* Deferred.make<number>()
        fake.fault(1, ({ url }) => url.pathname.endsWith("replies"), (response) => {
          Deferred.doneUnsafe(refused, Effect.succeed(performance.now()))
          sendJson(response, 429, { ok: false, error: "ratelimited" }, { "retry-after": "1" })
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
        fake.fault(1, () => true, (response) => sendJson(response, 429, { ok: false, error: "ratelimited" }, { "retry-after": "3600" }))
        assert.strictEqual(failures(yield* collect(connector))[0]?.[1], "RESOURCE_EXHAUSTED")
      }))

    it.effect("tries again what is no history, and isolates what stays broken", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const connector = yield* connect(fake)
        const history = ({ url }: { readonly url: URL }) => url.pathname.endsWith("history")
        fake.fault(1, history, (response) => sendJson(response, 200, { ok: true, messages: [{ ts: 5 }] }))
        assert.isTrue(complete(yield* collect(connector)))
        // A thread that is deleted between the page and its turn.
        fake.fault(1, ({ url }) =>
          url.pathname.endsWith("replies"), (response) =>
          sendJson(response, 200, { ok: false, error: "thread_not_found" }))
        const listed = yield* collect(connector)
        assert.deepStrictEqual(failures(listed), [])
        assert.isTrue(complete(listed))
        fake.fault(3, ({ url }) =>
          url.pathname.endsWith("replies"), (response) =>
          sendJson(response, 200, { ok: false, error: "internal_error" }))
        const broken = yield* collect(connector)
        assert.deepStrictEqual([failures(broken), complete(broken)], [[[thread, "UNAVAILABLE"]], false])
      }))

    it.effect("reads what apps say, in blocks, attachments and code", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        fake.channels.get("C1")!.messages = [
          {
            ts: at("2026-10-12T10:00:00Z"),
            subtype: "bot_message",
            bot_id: "B1",
            username: "Deploys",
            text: "",
            blocks: [
              {
                type: "section",
                text: { type: "mrkdwn", text: "*Deployed* <https://ci.acme.com/1>" },
                fields: [{ type: "mrkdwn", text: "by <@U9>" }]
              },
              {
                type: "rich_text",
                elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "to " }, { type: "text", text: "prod" }] }]
              }
            ]
          },
          {
            ts: at("2026-10-12T10:00:01Z"),
            user: "U1",
            text: "# no heading\n&gt; quoted\n• one\n```if (a &lt; b) *x*```\n~gone~ 2*3*4 <!here> <!subteam^S1|@ops> &lt;b&gt;",
            attachments: [
              { title: "Ticket", title_link: "https://acme.com/1", text: "body", fields: [{ title: "Owner", value: "Grace" }] }
            ]
          }
        ]
        const connector = yield* connect(fake)
        const said = yield* text(connector, items(yield* collect(connector))[0])
        for (
          const part of [
            "**Deploys** (2026-10-12 10:00 UTC):\n\n**Deployed** <https://ci.acme.com/1>\nby @U9\nto prod",
            "\\# no heading\n> quoted\n- one\n",
            "```\nif (a < b) *x*\n```",
            "~~gone~~ 2\\*3\\*4 @here @ops &lt;b&gt;",
            "> [Ticket](https://acme.com/1)\n>\n> body\n>\n> Owner: Grace"
          ]
        ) assert.include(said, part)
      }))

    it.effect("reads an app's layout beside the text of its notice, layouts of attachments, and shared messages", () =>
      Effect.gen(function*() {
        const fake = yield* office()
        const section = (words: string) => ({ type: "section", text: { type: "mrkdwn", text: words } })
        const rich = (...elements: ReadonlyArray<object>) => ({
          type: "rich_text",
          elements: [{ type: "rich_text_section", elements }]
        })
        fake.groups.push({ id: "S1", handle: "sre", name: "Site reliability" })
        fake.channels.get("C1")!.messages = [
          {
            ts: at("2026-10-12T10:00:00Z"),
            username: "Deploys",
            text: "Deploy finished",
            blocks: [
              { type: "header", text: { type: "plain_text", text: "Release 4.2" } },
              { ...section("Rolled out"), accessory: { type: "button", text: { type: "plain_text", text: "Open" } } },
              { type: "image", title: { type: "plain_text", text: "Load" }, alt_text: "falls at noon" },
              { type: "table", rows: [[{ type: "raw_text", text: "a < b" }, rich({ type: "text", text: "cell" })]] }
            ]
          },
          { ts: at("2026-10-12T10:00:01Z"), username: "Repeats", text: "Rolled out.", blocks: [section("*Rolled* out")] },
          {
            ts: at("2026-10-12T10:00:02Z"),
            username: "Alerts",
            text: "",
            attachments: [{ fallback: "[no preview available]", blocks: [section("Incident solved by <@U1> and <!subteam^S1>")] }]
          },
          {
            ts: at("2026-10-12T10:00:03Z"),
            username: "Rich",
            text: "",
            blocks: [
              rich(
                { type: "text", text: "see " },
                { type: "link", url: "https://acme.com/1" },
                { type: "text", text: " <b> by " },
                { type: "user", user_id: "U2" },
                { type: "usergroup", usergroup_id: "S2" },
                { type: "emoji", name: "wave" }
              )
            ]
          },
          {
            ts: at("2026-10-12T10:00:04Z"),
            user: "U1",
            text: "look",
            attachments: [{ text: "shared words", files: [{ id: "F9", name: "plan.txt" }] }]
          }
        ]
        const connector = yield* connect(fake)
        const item = items(yield* collect(connector))[0]
        const said = yield* text(connector, item)
        for (
          const part of [
            "Deploy finished\n\nRelease 4.2\nRolled out\nOpen\nLoad\nfalls at noon\na &lt; b | cell",
            "**Repeats** (2026-10-12 10:00 UTC):\n\n**Rolled** out\n",
            "> Incident solved by @Egon and @sre",
            "see <https://acme.com/1> &lt;b&gt; by @Grace Hopper@S2:wave:",
            "> shared words\n>\n> Attached: plan.txt"
          ]
        ) assert.include(said, part)
        assert.notInclude(said, "no preview")
        // Names of groups need a scope that a token may lack.
        fake.lacking.set("usergroups.list", "usergroups:read")
        assert.include(yield* text(yield* connect(fake), item), "by @Egon and @S1")
        const blocks = [section("Incident goes on")]
        fake.channels.get("C1")!.messages[2]!["attachments"] = [{ fallback: "[no preview available]", blocks }]
        assert.notStrictEqual(items(yield* collect(connector))[0]?.revision, item?.revision)
      }))

    it.effect("lists 50,000 items in flat memory", () =>
      Effect.gen(function*() {
        const fake = yield* fakeSlack()
        fake.channels.set("C1", { name: "archive", messages: [] })
        const newest = Date.parse("2150-01-01T00:00:00Z") / 1000
        // A message a day; pages are made as they are asked for.
        fake.fault(250, ({ url }) => url.pathname.endsWith("history"), (response, { url }) => {
          const page = Number(url.searchParams.get("cursor") ?? 0)
          const messages = Array.from(
            { length: 200 },
            (_, n) => ({ ts: `${newest - (page * 200 + n) * 86_400}.000000`, user: "U1", text: `message ${n}` })
          )
          sendJson(response, 200, { ok: true, messages, response_metadata: { next_cursor: page === 249 ? "" : String(page + 1) } })
        })
        const connector = yield* connect(fake)
        let count = 0
        const kept: Array<number> = []
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
