import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { globs, httpCaller, markdownFromHtml, paged, rateLimit, ServiceError } from "../../src/ConnectorKit.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { HttpClient } from "effect/http"
import { fakeServer, sendJson } from "../fakes/Http.ts"

describe("markdownFromHtml", () => {
  it("gives headings, lists, tables and code, and leaves navigation out", () => {
    const { markdown, title } = markdownFromHtml(`<html><head><title>Leave</title><script>x()</script></head><body><nav>Home</nav><main>
      <h1>Leave</h1><p>Five days carry over, if they are asked for in time, and never more than that in one year.</p>
      <p># no heading</p><ul><li>One</li><li>Two</li></ul>
      <table><tr><th>Days</th><th>Who</th></tr><tr><td>5</td><td>a|b</td></tr></table><pre>if (a) {\n  b()\n}</pre></main></body></html>`)
    assert.strictEqual(title, "Leave")
    assert.strictEqual(
      markdown,
      [
        "# Leave",
        "Five days carry over, if they are asked for in time, and never more than that in one year.",
        "\\# no heading",
        "- One\n- Two",
        "| Days | Who |\n| --- | --- |\n| 5 | a\\|b |",
        "```\nif (a) {\n  b()\n}\n```"
      ].join("\n\n") + "\n"
    )
    assert.strictEqual(markdownFromHtml("").markdown, "")
  })
})

describe("globs", () => {
  it("refuse a pattern whose bracket is not closed, which would match nothing", () => {
    const decode = Schema.decodeUnknownResult(Schema.Struct({ paths: globs("Files to take.") }))
    assert.strictEqual(decode({ paths: ["**/*.{md,txt}", "[a-c]*"] })._tag, "Success")
    for (const broken of ["**/*.{md", "[a-"]) assert.match(String(decode({ paths: [broken] })), /has a bracket that is not closed/)
  })
})

describe("rateLimit", () => {
  it.effect("spends a rate evenly, and all wait where one is told to", () =>
    Effect.gen(function*() {
      const limit = rateLimit({ requestsPerSecond: 1 })
      let made = 0
      const fiber = yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4], () => limit(Effect.sync(() => void made++)), { concurrency: 4 }))
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(made, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(made, 2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(made, 4)
      yield* Fiber.join(fiber)
      yield* Effect.exit(limit(Effect.fail(new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "slower", retryAfter: 30_000 }))))
      yield* Effect.forkChild(limit(Effect.sync(() => void made++)))
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(made, 4)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(made, 5)
    }))
})

describe("httpCaller", () => {
  it.layer(httpLayer(), { excludeTestServices: true })((it) => {
    it.effect("tries again, sends credentials to its own origin alone, and keeps them out of errors", () =>
      Effect.gen(function*() {
        const secret = "very-secret-value"
        const elsewhere = yield* fakeServer((_, response) => sendJson(response, 200, {}))
        const server = yield* fakeServer(({ headers, url }, response) =>
          url.pathname === "/bad"
            ? sendJson(response, 400, { error: { message: `no ${String(headers["x-api-key"])}` } })
            : sendJson(response, 200, { page: 7 })
        )
        server.fault(1, () => true, (response) => void response.writeHead(503, { "retry-after": "0" }).end())
        server.fault(1, () => true, (response) => void response.writeHead(200).end("<html>a proxy"))
        const http = httpCaller({
          http: yield* HttpClient.HttpClient,
          baseUrl: server.origin,
          retry: { baseMs: 1 },
          credentials: Effect.succeed({ "x-api-key": Redacted.make(secret) })
        })
        assert.deepStrictEqual(yield* http.json("the page", "/page", Schema.Struct({ page: Schema.Int })), { page: 7 })
        assert.strictEqual(server.asked.length, 3)
        const refused = yield* Effect.flip(http.send("the bad one", "/bad"))
        assert.deepInclude(refused, { code: "INVALID_ARGUMENT" })
        assert.notInclude(refused.message, secret)
        yield* http.send("elsewhere", elsewhere.origin)
        assert.isUndefined(elsewhere.asked[0]?.headers["x-api-key"])
        assert.deepInclude(yield* Effect.flip(Stream.runDrain(http.download("the page", "/page", 3))), { code: "OUT_OF_RANGE" })
        assert.deepInclude(yield* Effect.flip(http.send("a file", "file:///etc/passwd")), { code: "INVALID_ARGUMENT" })
      }).pipe(Effect.scoped))
  })
})

describe("paged", () => {
  it.effect("has a checkpoint between pages, goes on from it, and says when it is incomplete", () =>
    Effect.gen(function*() {
      const list = (cursor?: string, of = "a") =>
        Stream.runCollect(paged({
          cursor,
          of,
          position: Schema.Struct({ page: Schema.Int }),
          first: { page: 1 },
          page: ({ page }) =>
            Effect.succeed({
              listed: [{ _tag: "deleted" as const, path: `p${page}` }],
              ...(page < 3 ? { next: { page: page + 1 } } : { incomplete: of === "cut", since: { page: 3 } })
            })
        }))
      const all = yield* list()
      assert.deepStrictEqual(all.map(({ _tag }) => _tag), ["deleted", "checkpoint", "deleted", "checkpoint", "deleted", "complete"])
      const [, checkpoint] = all
      assert.deepStrictEqual((yield* list(checkpoint?._tag === "checkpoint" ? checkpoint.cursor : "")).length, 4)
      assert.deepInclude(yield* Effect.flip(list(checkpoint?._tag === "checkpoint" ? checkpoint.cursor : "", "b")), {
        code: "INVALID_ARGUMENT"
      })
      assert.notStrictEqual((yield* list(undefined, "cut")).at(-1)?._tag, "complete")
    }))
})
