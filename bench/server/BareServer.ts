/**
 * The floor of the server bench: a bare `node:http` server that parses the body of a request as JSON, and responds with a given
 * file. No server in Node is faster. `node bench/server/BareServer.ts ANSWER`
 */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const answer: unknown = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
const server = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    JSON.parse(Buffer.concat(parts).toString())
    const body = JSON.stringify(answer)
    response.setHeader("content-type", "application/json; charset=utf-8")
    response.setHeader("content-length", Buffer.byteLength(body))
    response.end(body)
  })
})
// The same as the other server's: connections are idle while other subjects have their turn.
server.keepAliveTimeout = 65_000
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo // it listens on a port
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.on("SIGTERM", () => process.exit())
