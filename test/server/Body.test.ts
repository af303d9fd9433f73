import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { describe, it } from "@effect/vitest"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { parent, startServer, type TestServer } from "./support/TestServer.ts"

describe("the body of a call", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  const body = JSON.stringify({ displayName: "Größen", description: "in parts" })
  const bytes = Buffer.from(body)

  const opened = async (): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1")
    onTestFinished(() => void socket.destroy())
    await once(socket, "connect")
    return socket
  }
  const head = (...more: ReadonlyArray<string>): string =>
    [`POST /v1/${parent}/ragCorpora HTTP/1.1`, `host: 127.0.0.1:${server.port}`, ...more, "", ""].join("\r\n")
  /** Until what came from now on reads so. */
  const heard = (socket: Socket, pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      let text = ""
      const listen = (data: Buffer): void => {
        text += data.toString()
        if (!pattern.test(text)) return
        socket.off("data", listen)
        resolve()
      }
      socket.on("data", listen)
    })
  const made = /^HTTP\/1\.1 200 .*"displayName":"Größen".*\}$/s

  it("is read whole, however many parts it comes in, and the connection goes on", async () => {
    const socket = await opened()
    for (let request = 0; request < 2; request++) {
      const answer = heard(socket, made)
      socket.write(head(`content-length: ${bytes.length}`))
      // In the middle of a character.
      const middle = bytes.indexOf("ö") + 1
      for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        socket.write(part)
      }
      await answer
    }
  })

  it("is asked for where its sender waits for that, and read without a length", async () => {
    const socket = await opened()
    const asked = heard(socket, /^HTTP\/1\.1 100 /)
    socket.write(head(`content-length: ${bytes.length}`, "expect: 100-continue"))
    await asked
    const answer = heard(socket, made)
    socket.write(bytes)
    await answer
    const chunked = heard(socket, made)
    socket.write(Buffer.concat([
      Buffer.from(`${head("transfer-encoding: chunked")}${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from("\r\n0\r\n\r\n")
    ]))
    await chunked
  })

  it("that breaks off leaves no call under way", async () => {
    const socket = await opened()
    const underWay = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^sluice_http_requests_in_flight\S* (\d+)$/m.exec(text)?.[1])
    }
    const idle = await underWay()
    socket.write(Buffer.concat([Buffer.from(head("content-length: 1000")), bytes]))
    while (await underWay() === idle) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while (await underWay() !== idle) await new Promise((resolve) => setImmediate(resolve))
  })
})
