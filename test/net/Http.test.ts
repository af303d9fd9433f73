import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { layer } from "../../src/net/Http.ts"

/** A loopback origin; the port makes it another one. */
const origin = (handle: (request: IncomingMessage, response: ServerResponse) => void): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(handle)
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)) // listening on a port

const secret = { authorization: "Bearer s3cret", "x-api-key": "s3cret", "private-token": "s3cret" }

describe("Http", () => {
  it.live("leaves credentials behind when a redirect changes the origin, whatever header they are in", () =>
    Effect.gen(function*() {
      const seen: Array<IncomingMessage["headers"]> = []
      const other = yield* origin((request, response) => {
        seen.push(request.headers)
        response.end("there")
      })
      const first = yield* origin((request, response) => {
        seen.push(request.headers)
        response.writeHead(302, { location: request.url === "/a" ? "/b" : `${other}/c` }).end("moved")
      })
      const response = yield* HttpClient.execute(HttpClientRequest.get(`${first}/a`, { headers: { ...secret, accept: "text/plain" } }))
      assert.strictEqual(yield* response.text, "there")
      assert.deepStrictEqual(seen.map((headers) => JSON.stringify(headers).includes("s3cret")), [true, true, false])
      assert.deepInclude(seen[2], { accept: "text/plain", "user-agent": "sluice" })
    }).pipe(Effect.scoped, Effect.provide(layer())))

  it.live("does not send a body on, and does not follow for ever", () =>
    Effect.gen(function*() {
      let requests = 0
      const loop = yield* origin((_, response) => {
        requests++
        response.writeHead(307, { location: "/again" }).end()
      })
      assert.strictEqual((yield* HttpClient.post(`${loop}/a`)).status, 307)
      assert.strictEqual(requests, 1)
      assert.strictEqual((yield* HttpClient.get(`${loop}/a`)).status, 307)
      assert.strictEqual(requests, 7)
    }).pipe(Effect.scoped, Effect.provide(layer())))

  it.live("bounds what it reads", () =>
    Effect.gen(function*() {
      const big = yield* origin((_, response) => void response.end("x".repeat(100_000)))
      const error = yield* HttpClient.get(big).pipe(Effect.flatMap((response) => response.text), Effect.flip)
      assert.strictEqual(error._tag, "HttpClientError")
    }).pipe(Effect.scoped, Effect.provide(layer({ maxResponseBytes: 1000 }))))

  it.live("goes through the proxy that the environment names", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const proxy = yield* origin((request, response) => {
        asked.push(request.url ?? "")
        response.end("by proxy")
      })
      const before = process.env["http_proxy"]
      process.env["http_proxy"] = proxy
      const text = yield* HttpClient.get("http://example.invalid/page").pipe(
        Effect.flatMap((response) => response.text),
        Effect.provide(layer()),
        Effect.ensuring(Effect.sync(() => {
          if (before === undefined) delete process.env["http_proxy"]
          else process.env["http_proxy"] = before
        }))
      )
      assert.strictEqual(text, "by proxy")
      assert.deepStrictEqual(asked, ["http://example.invalid/page"])
    }).pipe(Effect.scoped))
})
