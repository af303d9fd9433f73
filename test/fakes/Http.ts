import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** One request as a fake sees it, body read. */
export interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

export interface FakeServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly asked: Array<Asked>
  /** The next `times` requests that match are answered by `act`. */
  readonly fault: (times: number, match: (asked: Asked) => boolean, act: (response: ServerResponse, asked: Asked) => void) => void
}

/** A loopback server on a free port, with scripted faults before its own answers. */
export const fakeServer = (
  answer: (asked: Asked, response: ServerResponse) => void
): Effect.Effect<FakeServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<Asked> = []
      const faults: Array<{ left: number; readonly match: (asked: Asked) => boolean; readonly act: (response: ServerResponse, asked: Asked) => void }> = []
      const server = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          const one: Asked = {
            method: request.method ?? "",
            url: new URL(request.url ?? "", "http://fake"),
            headers: request.headers,
            body: Buffer.concat(parts)
          }
          asked.push(one)
          const fault = faults.find(({ left, match }) => left > 0 && match(one))
          if (fault === undefined) return answer(one, response)
          fault.left--
          fault.act(response, one)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo // listening on a port
      return {
        server,
        fake: {
          origin: `http://127.0.0.1:${port}`,
          asked,
          fault: (left, match, act) => void faults.push({ left, match, act })
        } satisfies FakeServer
      }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  ).pipe(Effect.map(({ fake }) => fake))

export const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers }).end(JSON.stringify(body))

/** An error of a Google API, with the ways in which their bodies say it. */
export const sendGoogleError = (response: ServerResponse, status: number, message: string, more: object = {}, headers: Record<string, string> = {}): void =>
  sendJson(response, status, { error: { code: status, message, ...more } }, headers)

/** Says there is more than comes. */
export const sendCut = (response: ServerResponse, body: Buffer | string, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { ...headers, "content-length": String(Buffer.byteLength(body) + 100) })
  response.write(body, () => response.destroy())
}

/** The part of some bytes that a `Range: bytes=n-` asks for. */
export const rangeOf = (range: string | undefined, data: Buffer): { readonly status: 200 | 206; readonly part: Buffer } => {
  const start = /^bytes=(\d+)-$/.exec(range ?? "")?.[1]
  return start === undefined ? { status: 200, part: data } : { status: 206, part: data.subarray(Number(start)) }
}

/** Answers nothing from now on; gives the number of requests that are left waiting. */
export const stalled = (server: FakeServer): () => number => {
  let waiting = 0
  server.fault(Infinity, () => true, (response) => {
    waiting++
    response.on("close", () => waiting--)
  })
  return () => waiting
}
