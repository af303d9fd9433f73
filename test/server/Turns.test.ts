import { once } from "node:events"
import { ServerResponse } from "node:http"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll, vi } from "vitest"
import { makeTurns } from "../../src/server/Turns.ts"
import { parent, startServer, type TestServer } from "./support/TestServer.ts"

/** Counts passes of the event loop until it is stopped. */
const countPasses = () => {
  let passes = 0
  let going = true
  const count = (): void => {
    passes++
    if (going) setImmediate(count)
  }
  setImmediate(count)
  return { now: () => passes, stop: () => void (going = false) }
}

describe("turns", () => {
  it.live("come one in a pass of the event loop, the first at once, in the order in which they were asked for", () =>
    Effect.gen(function*() {
      const turn = makeTurns()
      const passes = countPasses()
      const order: Array<number> = []
      const at: Array<number> = []
      const call = (n: number) => Effect.map(turn, () => void (order.push(n), at.push(passes.now())))
      yield* Effect.forEach([0, 1, 2, 3, 4], call, { concurrency: "unbounded" })
      passes.stop()
      assert.deepStrictEqual(order, [0, 1, 2, 3, 4])
      assert.strictEqual(at[0], 0)
      assert.deepStrictEqual(at.map((pass) => pass - (at[1] ?? 0)).slice(1), [0, 1, 2, 3])
      // Whoever comes when nobody waits any more begins at once again.
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))))
      assert.isDefined(Effect.runSync(Effect.as(turn, "at once")))
    }))

  it.live("are not kept for who left", () =>
    Effect.gen(function*() {
      const turn = makeTurns()
      const order: Array<string> = []
      const call = (name: string) => Effect.forkChild(Effect.map(turn, () => order.push(name)), { startImmediately: true })
      const [, left, ...others] = yield* Effect.forEach(["first", "left", "second", "third"], call)
      yield* Fiber.interrupt(left!)
      yield* Effect.forEach(others, Fiber.join)
      assert.deepStrictEqual(order, ["first", "second", "third"])
    }))
})

describe("a server", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it("answers calls that come together in a pass of its event loop each", async () => {
    const together = 12
    const { port } = server
    const sockets = await Promise.all(Array.from({ length: together }, async () => {
      const socket = connect(port, "127.0.0.1")
      await once(socket, "connect")
      return socket
    }))
    const ask = async (): Promise<ReadonlyArray<string>> => {
      const answers = sockets.map((socket) => once(socket, "data"))
      for (const socket of sockets) socket.write(`GET /v1/${parent}/ragCorpora HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
      return (await Promise.all(answers)).map(([data]) => String(data).slice(0, "HTTP/1.1 200".length))
    }
    // The server then has every connection, and what is written to them in one pass is read in one.
    await ask()
    const passes = countPasses()
    const at: Array<number> = []
    const { end } = ServerResponse.prototype
    const spy = vi.spyOn(ServerResponse.prototype, "end").mockImplementation(
      function(this: ServerResponse, ...given: Parameters<ServerResponse["end"]>) {
        at.push(passes.now())
        return end.apply(this, given)
      }
    )
    const heads = await ask()
    passes.stop()
    spy.mockRestore()
    for (const socket of sockets) socket.destroy()
    assert.deepStrictEqual(heads, heads.map(() => "HTTP/1.1 200"))
    assert.strictEqual(new Set(at).size, together)
  })
})
