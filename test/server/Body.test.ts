import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { until } from "../support/Eventually.ts"
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
  /** The text that comes from now on, up to a whole response: its head, and its JSON unless only a head is expected. */
  const heard = async (socket: Socket, what: string, whole = /\r\n\r\n.*\}\s*$/s): Promise<string> => {
    let text = ""
    const listen = (data: Buffer): void => {
      text += data.toString()
    }
    socket.on("data", listen)
    await until(what, () => whole.test(text))
    socket.off("data", listen)
    return text
  }
  const made = /^HTTP\/1\.1 200 .*"displayName":"Größen".*\}$/s

  it("is read whole, however many parts it comes in, and the connection goes on", async () => {
    const socket = await opened()
    for (let request = 0; request < 2; request++) {
      const answer = heard(socket, `the response to request ${request + 1}`)
      socket.write(head(`content-length: ${bytes.length}`))
      // In the middle of a character.
      const middle = bytes.indexOf("ö") + 1
      for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        socket.write(part)
      }
      assert.match(await answer, made)
    }
  })

  it("is asked for where its sender waits for that, and read without a length", async () => {
    const socket = await opened()
    const asked = heard(socket, "the request for the body", /\r\n\r\n/)
    socket.write(head(`content-length: ${bytes.length}`, "expect: 100-continue"))
    assert.match(await asked, /^HTTP\/1\.1 100 /)
    const answer = heard(socket, "the response to a body that was waited for")
    socket.write(bytes)
    assert.match(await answer, made)
    const chunked = heard(socket, "the response to a body without a length")
    socket.write(Buffer.concat([
      Buffer.from(`${head("transfer-encoding: chunked")}${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from("\r\n0\r\n\r\n")
    ]))
    assert.match(await chunked, made)
  })

  it("is read whatever upgrade of the connection is offered, which stays HTTP/1.1", async () => {
    // As Java's HttpClient and `curl --http2` offer it, and a web socket of which the server has none.
    for (
      const offer of [["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"], [
        "connection: Upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
      ]]
    ) {
      const socket = await opened()
      for (const length of ["known", "unknown"]) {
        const answer = heard(socket, `the response to an offer with a body of ${length} length`)
        socket.write(
          length === "known"
            ? Buffer.concat([Buffer.from(head(`content-length: ${bytes.length}`, ...offer)), bytes])
            : Buffer.concat([
              Buffer.from(`${head("transfer-encoding: chunked", ...offer)}${bytes.length.toString(16)}\r\n`),
              bytes,
              Buffer.from("\r\n0\r\n\r\n")
            ])
        )
        assert.match(await answer, made)
      }
      const listed = heard(socket, "the response to an offer without a body")
      socket.write(`GET /v1/${parent}/ragCorpora HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n${offer.join("\r\n")}\r\n\r\n`)
      assert.match(await listed, /^HTTP\/1\.1 200 .*"ragCorpora"/s)
    }
  })

  it("that breaks off leaves no call under way", async () => {
    const socket = await opened()
    const underWay = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^sluice_http_requests_in_flight\S* (\d+)$/m.exec(text)?.[1])
    }
    const idle = await underWay()
    socket.write(Buffer.concat([Buffer.from(head("content-length: 1000")), bytes]))
    await until("the call is under way", async () => await underWay() !== idle)
    assert.strictEqual(await underWay(), idle + 1)
    socket.destroy()
    await until("the call has ended", async () => await underWay() === idle)
  })
})
