import { connect, type Socket } from "node:net"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { parent, startServer, type TestServer } from "../server/support/TestServer.ts"

let fake: Fake
let server: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  fake = await Effect.runPromise(
    fakeOpenAi(({ body }, response) => {
      const asked = JSON.stringify(body.messages)
      if (asked.includes("busy")) {
        return sendJson(response, 429, { error: { message: "slow down" } }, { "retry-after": "60" })
      }
      return sendChat(response, ["Hello."])
    }).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const ask = (text: string, at = server) =>
  at.call("POST", `/v1/${parent}/publishers/google/models/gemini-2.0-flash-001:generateContent`, { contents: [{ parts: [{ text }] }] })

describe("an upstream's 429", () => {
  it("is told at once to the caller who met it, and to nobody else", async () => {
    const before = performance.now()
    const met = await ask("busy")
    assert.strictEqual(met.status, 429)
    assert.strictEqual(met.headers.get("retry-after"), "60")
    assert.strictEqual((await ask("hello")).status, 200)
    assert.isBelow(performance.now() - before, 20_000)
    assert.lengthOf(fake.received.filter(({ body }) => JSON.stringify(body.messages).includes("busy")), 1)
  })

  it("is tried again behind the server where the operator asks for that", async () => {
    let count = 0
    const inner = Scope.makeUnsafe()
    const moody = await Effect.runPromise(
      fakeOpenAi((_, response) =>
        count++ === 0
          ? sendJson(response, 429, { error: { message: "slow down" } }, { "retry-after": "0" })
          : sendChat(response, ["Hello."])
      ).pipe(Scope.provide(inner))
    )
    const patient = await startServer({ upstream: { url: moody.baseUrl, model: "m", retry: { times: 2 } } })
    assert.strictEqual((await ask("hello", patient)).status, 200)
    assert.strictEqual(count, 2)
    await patient.stop()
    await Effect.runPromise(Scope.close(inner, Exit.void))
  })
})

describe("many clients", () => {
  it("may hold more than 512 connections, as the limit says", async () => {
    const sockets: Array<Socket> = []
    for (let i = 0; i < 600; i++) {
      sockets.push(connect(server.port, "127.0.0.1").on("error", () => undefined))
    }
    await Promise.all(sockets.map((socket) => socket.connecting ? new Promise((resolve) => socket.once("connect", resolve)) : undefined))
    assert.strictEqual((await ask("hello")).status, 200)
    const last = sockets.at(-1)
    const answered = new Promise<string>((resolve) => last?.once("data", (data) => resolve(String(data))))
    last?.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
    assert.match(await answered, /^HTTP\/1\.1 200/)
    for (const socket of sockets) socket.destroy()
  })

  it("are refused beyond the calls that may be under way", async () => {
    const narrow = await startServer({ limits: { calls: 1 }, faults: "faults: [{ method: getRagEngineConfig, delay: 3 }]" })
    const slow = async () => (await narrow.call("GET", `/v1/${parent}/ragEngineConfig`)).status
    // Whichever comes first.
    assert.deepStrictEqual((await Promise.all([slow(), slow()])).toSorted(), [200, 503])
    await narrow.stop()
  })
})
