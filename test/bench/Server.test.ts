import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { agree, bareSockets } from "../../bench/server/Callers.ts"
import { compare, type Load } from "../../bench/server/Load.ts"
import { report } from "../../bench/server/Report.ts"
import { serve, serveBare } from "../../bench/server/Serve.ts"
import { steady } from "../../bench/server/Steady.ts"

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

describe("subjects under the same load", () => {
  it("are asked so many at once, one request after the other, for the time given", async () => {
    let under = 0
    let most = 0
    const asked: Array<number> = []
    const slow = async (request: number) => {
      asked.push(request)
      most = Math.max(most, ++under)
      await pause(30)
      under--
    }
    const { quick, slow: figures } = await compare({ slow: { ask: slow }, quick: { ask: () => pause(0) } }, {
      callers: 4,
      seconds: 0.2,
      turns: 2
    })
    expect(most).toBe(4)
    expect(asked).toEqual(asked.map((_, at) => at))
    expect(figures.p50).toBeGreaterThan(25)
    expect(figures.p99).toBeGreaterThanOrEqual(figures.p50)
    // Four callers of 30 ms each, and no faster.
    expect(figures.requestsPerSecond).toBeGreaterThan(0)
    expect(figures.requestsPerSecond).toBeLessThan(150)
    expect(quick.requestsPerSecond).toBeGreaterThan(figures.requestsPerSecond)
  })

  it("leave their warm-up out", async () => {
    let first = true
    const cold = async () => {
      await pause(first ? 5_000 : 1)
      first = false
    }
    const { cold: figures } = await compare({ cold: { ask: cold } }, { callers: 1, seconds: 0.1, turns: 2 })
    expect(figures.p99).toBeLessThan(4_900)
  })

  it("stop at the first failure", async () => {
    await expect(compare({ broken: { ask: () => Promise.reject(new Error("no answer")) } }, { callers: 2, seconds: 0.1, turns: 1 }))
      .rejects.toThrow("no answer")
  })
})

describe("the report", () => {
  it("puts the server beside the port and the floor, and the client beside the server", () => {
    const load = (requestsPerSecond: number): Load => ({
      requestsPerSecond,
      p50: 100 / requestsPerSecond,
      p99: 200 / requestsPerSecond,
      cpu: 50 / requestsPerSecond
    })
    const floor = { ...load(2000), server: { cpu: 0.1, main: 0.1, loopP99: 1, loopMost: 2 } }
    const server = { ...load(500), server: { cpu: 0.3, main: 0.2, loopP99: 2, loopMost: 8 } }
    const text = report([{ callers: 16, loads: { port: load(1000), floor, server, client: load(400) } }])
    const [, rate, p50, , cpu, serverCpu, main, share, , most] = text.split("\n").map((line) => line.trim().split(/ {2,}/))
    expect(rate).toEqual(["16", "requests/s", "1,000", "2,000", "500", "0.50 x", "0.25 x", "400", "0.80 x"])
    expect(p50).toEqual(["16", "p50", "0.10 ms", "0.05 ms", "0.20 ms", "2.00 x", "4.00 x", "0.25 ms", "1.25 x"])
    expect(cpu?.[5]).toBe("-")
    expect(serverCpu).toEqual(["16", "server's CPU", "-", "0.10 ms", "0.30 ms", "-", "3.00 x", "-", "-"])
    expect(main).toEqual(["16", "of that its main thread", "-", "0.10 ms", "0.20 ms", "-", "2.00 x", "-", "-"])
    expect(share).toEqual(["16", "caller's share of CPU", "-", "20%", "25%", "-", "1.25 x", "-", "-"])
    expect(most).toEqual(["16", "loop held, most", "-", "2.00 ms", "8.00 ms", "-", "4.00 x", "-", "-"])
    expect(new Set(text.split("\n").map((line) => line.length)).size).toBe(1)
  })
})

describe("callers", () => {
  it("must get the same contexts, and some", async () => {
    await agree([async () => ["a"], async () => ["a"]], ["question"])
    await expect(agree([async () => ["a"], async () => ["b"]], ["question"])).rejects.toThrow(/question/)
    await expect(agree([async () => [], async () => []], ["question"])).rejects.toThrow(/question/)
  })

  it("over plain sockets read answers whole, come again where the server has closed, and tell of refusals", async () => {
    const whole = "ä".repeat(200_000)
    const answers = [{ text: whole }, { text: "again", connection: "keep-alive" }, undefined, { text: "after all" }, {
      status: 503,
      text: "busy"
    }]
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      const answer = answers[asked.length]
      request.on("data", (part) => asked.push(JSON.parse(String(part)).query.text))
      request.on("end", () => {
        if (answer === undefined) return void request.socket.destroy()
        const { connection = "close", status = 200, text } = answer
        response.writeHead(status, { connection, "content-length": Buffer.byteLength(text) }).end(text)
      })
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo // it listens on a port
    await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const ask = yield* bareSockets(`http://127.0.0.1:${port}`, { connections: 1, corpusId: "c" })
      yield* Effect.promise(async () => {
        expect(await ask("first")).toBe(whole)
        expect(await ask("\"second\"")).toBe("again")
        expect(await ask("third")).toBe("after all")
        await expect(ask("fourth")).rejects.toThrow("503: busy")
      })
    })))
    expect(asked).toEqual(["first", "\"second\"", "third", "third", "fourth"])
    server.close()
  })
})

describe("a served data directory", () => {
  let folder = ""
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-bench-serve-"))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const program = (text: string): string => {
    const file = join(folder, "program.mjs")
    writeFileSync(file, text)
    return file
  }

  it("is where the first line says, until it is stopped", async () => {
    const ended = join(folder, "ended")
    const { stop, url } = await serve(
      program(`
      import { writeFileSync } from "node:fs"
      process.on("SIGTERM", () => { writeFileSync(${JSON.stringify(ended)}, ""); process.exit() })
      setInterval(() => 0, 1000)
      console.log("http://127.0.0.1:" + process.argv.length)
    `),
      folder
    )
    expect(url).toBe("http://127.0.0.1:7")
    expect(existsSync(ended)).toBe(false)
    await stop()
    expect(existsSync(ended)).toBe(true)
  })

  it("tells what it took since it was asked last", async () => {
    const answer = join(folder, "answer.json")
    writeFileSync(answer, JSON.stringify({ contexts: {} }))
    const { settled, stop, taken, url } = await serveBare(answer)
    const ask = async () => (await fetch(url, { method: "POST", body: "{}" })).json()
    expect(await ask()).toEqual({ contexts: {} })
    const { cpuMicros, loopMost, mainMicros, residentBytes } = await taken()
    expect(cpuMicros).toBeGreaterThan(1_000)
    expect(mainMicros).toBeGreaterThan(1_000)
    expect(mainMicros).toBeLessThanOrEqual(cpuMicros)
    expect(loopMost).toBeGreaterThanOrEqual(0)
    expect(residentBytes).toBeGreaterThan(10e6)
    expect((await taken()).cpuMicros).toBeLessThan(cpuMicros)
    const { before, requestsPerSecond } = await steady({ settled, stop, taken, url }, ask, 2, 0.5)
    expect(requestsPerSecond).toBeGreaterThan(0)
    expect(before).toBeGreaterThan(10e6)
    let residence = 100e6
    const growing = (bytes: number) => async () => ({
      cpuMicros: 0,
      mainMicros: 0,
      loopP99: 0,
      loopMost: 0,
      residentBytes: residence += bytes
    })
    expect((await steady({ settled: growing(0), stop, taken, url }, ask, 2, 0.2)).grew).toBe(false)
    expect((await steady({ settled: growing(1e6), stop, taken, url }, ask, 2, 0.2)).grew).toBe(true)
    await stop()
  })

  it("fails with the program's own words when it does not start", async () => {
    await expect(serve(program("console.error('no port'); process.exit(1)"), folder)).rejects.toThrow(/no port/)
  })
})
