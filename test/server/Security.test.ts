import { connect } from "node:net"
import { Effect, Exit, Redacted, Scope } from "effect"
import { request } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isLoopbackHost } from "../../src/domain/HttpAddress.ts"
import { refusal } from "../../src/server/http/Access.ts"
import { fakeOpenAi, startChat } from "../fakes/Openai.ts"
import { parent, startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

/** What fetch would not send. */
const raw = (port: number, headers: Record<string, string>, path = `/v1/${parent}/ragCorpora`) =>
  new Promise<{ status: number; headers: Record<string, unknown> }>((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, headers }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    }).on("error", reject).end()
  })

/** Sends bytes and gives all that comes back until the connection ends. */
const spoken = (port: number, bytes: string, keepSending?: string) =>
  new Promise<string>((resolve) => {
    let heard = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    const timer = keepSending === undefined ? undefined : setInterval(() => socket.write(keepSending), 100)
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard += text
    })
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(timer)
      resolve(heard)
    })
  })

describe("a server on loopback", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ limits: { json: 100_000, connections: 20 } })
  })
  afterAll(() => server.stop())

  it("answers only to its own names", async () => {
    const own = `127.0.0.1:${server.port}`
    for (const host of [own, `localhost:${server.port}`, "LOCALHOST", "127.0.0.1", `[::1]:${server.port}`]) {
      assert.strictEqual((await raw(server.port, { host })).status, 200, host)
    }
    for (
      const host of [
        "evil.example",
        `evil.example:${server.port}`,
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "169.254.169.254",
        "[::2]",
        "127.0.0.1:80:80"
      ]
    ) {
      assert.strictEqual((await raw(server.port, { host })).status, 403, host)
    }
    assert.match(await spoken(server.port, "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"), /^HTTP\/1\.1 403/)
    assert.match(await spoken(server.port, "GET / HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 403/)
    assert.match(
      await spoken(server.port, "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"),
      /^HTTP\/1\.1 403/
    )
  })

  it("is out of reach of web pages", async () => {
    const host = `127.0.0.1:${server.port}`
    const foreign: ReadonlyArray<Record<string, string>> = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:1" },
      { origin: "http://localhost" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" }
    ]
    for (const headers of foreign) {
      const answer = await raw(server.port, { host, ...headers })
      assert.strictEqual(answer.status, 403, JSON.stringify(headers))
      assert.isEmpty(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-")))
    }
    assert.strictEqual((await raw(server.port, { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" })).status, 200)
    const preflight = await fetch(`${server.url}/v1/${parent}/ragCorpora`, { method: "OPTIONS" })
    assert.isNull(preflight.headers.get("access-control-allow-origin"))
    assert.strictEqual(preflight.status, 404)
  })

  it("ends requests that come too slowly", async () => {
    // By limits that a request of another test could pass on a busy machine.
    const hasty = await startServer({ limits: { head: 500, request: 1_000 } })
    try {
      const slowHead = await spoken(hasty.port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X-A: b\r\n")
      assert.match(slowHead, /^HTTP\/1\.1 408/)
      const slowBody = await spoken(
        hasty.port,
        `POST /v1/${parent}/ragCorpora HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{`,
        " "
      )
      assert.match(slowBody, /^HTTP\/1\.1 40[08]/)
    } finally {
      await hasty.stop()
    }
  })

  it("bounds heads and bodies", async () => {
    assert.match(await spoken(server.port, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`), /^HTTP\/1\.1 431/)
    const large = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "x".repeat(200_000) })
    assert.strictEqual(large.status, 400)
    assert.match(large.body.error.message, /exceeds the limit/)
    const deep = await server.call("POST", `/v1/${parent}/ragCorpora`, "[".repeat(50_000))
    assert.strictEqual(deep.status, 400)
    const chunked = await spoken(
      server.port,
      `POST /v1/${parent}/ragCorpora HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${
        `ffff\r\n${"x".repeat(0xffff)}\r\n`.repeat(3)
      }0\r\n\r\n`
    )
    assert.match(chunked, /^HTTP\/1\.1 400[^]*exceeds the limit/)
  })

  it("says nothing of its own inside", async () => {
    const { body } = await server.call("GET", `/v1/${parent}/ragCorpora/1/ragFiles/2`)
    assert.notMatch(JSON.stringify(body), /projects\/local|node_modules|\.ts:\d/)
  })
})

describe("a server that others can reach", () => {
  const token = "0123456789abcdef-token"

  it("does not start without a token", async () => {
    const failure = await startServer({ host: "0.0.0.0" }).then((server) => server.stop(), (error: unknown) => String(error))
    assert.match(failure ?? "", /no token/)
  })

  it("wants it with every request, and no name in particular", async () => {
    const server = await startServer({ host: "0.0.0.0", token: Redacted.make(token) })
    try {
      const status = async (headers: Record<string, string>) => (await raw(server.port, { host: "rag.example", ...headers })).status
      assert.strictEqual(await status({}), 401)
      assert.strictEqual(await status({ authorization: "Bearer wrong" }), 401)
      assert.strictEqual(await status({ authorization: `Bearer ${token}x` }), 401)
      assert.strictEqual(await status({ authorization: `Basic ${token}` }), 401)
      assert.strictEqual(await status({ authorization: `Bearer ${token}` }), 200)
      assert.strictEqual(await status({ "x-goog-api-key": token }), 200)
      assert.strictEqual(await status({ authorization: `Bearer ${token}`, origin: "https://evil.example" }), 403)
    } finally {
      await server.stop()
    }
  })
})

describe("the rules of access", () => {
  it("tell loopback from everything else", () => {
    for (const host of ["127.0.0.1", "127.8.9.1", "localhost", "::1"]) assert.isTrue(isLoopbackHost(host), host)
    for (
      const host of [
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "127.0.0.1.nip.io",
        "localhost.",
        "a.localhost",
        "127.1.256.1",
        "127.0.0.1.",
        "",
        "128.0.0.1"
      ]
    ) assert.isFalse(isLoopbackHost(host), host)
  })

  it("take the token before they take anything else", () => {
    const rules = { loopback: true, token: Redacted.make("0123456789abcdef") }
    assert.strictEqual(refusal(rules, { host: "localhost" })?.code, "UNAUTHENTICATED")
    assert.isUndefined(refusal(rules, { host: "localhost", authorization: "bearer 0123456789abcdef" }))
  })
})

describe("large requests", () => {
  it("find room together, or are told to wait; small ones always do", async () => {
    const scope = Scope.makeUnsafe()
    const upstream = await Effect.runPromise(fakeOpenAi((_, response) => startChat(response, [])).pipe(Scope.provide(scope)))
    const server = await startServer({
      upstream: { url: upstream.baseUrl, model: "m", retry: { times: 0 } },
      limits: { bodies: 5_000_000 }
    })
    const ask = (characters: number, signal?: AbortSignal) =>
      fetch(
        `${server.url}/v1/${parent}/publishers/google/models/gemini-2.0-flash:${characters > 100 ? "generateContent" : "countTokens"}`,
        {
          method: "POST",
          body: JSON.stringify({ contents: [{ parts: [{ text: "x".repeat(characters) }] }] }),
          ...(signal === undefined ? {} : { signal })
        }
      )
    const leaving = new AbortController()
    const first = ask(3_000_000, leaving.signal).catch(() => undefined)
    await until("the first has reached the upstream", () => upstream.received.length === 1)
    const second = await ask(3_000_000)
    assert.deepStrictEqual([second.status, second.headers.get("retry-after")], [503, "1"])
    assert.include(await second.text(), "too many large requests")
    assert.strictEqual((await ask(10)).status, 200)
    // Whoever leaves makes room.
    leaving.abort()
    await first
    await until("the upstream is left", () => upstream.received[0]?.aborted === true)
    const again = new AbortController()
    const third = (async () => {
      while ((await ask(3_000_000, again.signal)).status === 503);
    })().catch(() => undefined)
    await until("the third has reached the upstream", () => upstream.received.length === 2)
    again.abort()
    await third
    await server.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
})
