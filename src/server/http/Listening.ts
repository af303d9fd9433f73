import type { Server } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"

/** Serves an app on an address for as long as the scope is open. Port 0 picks a free one. */
export const serveOn = Effect.fnUntraced(function*<E, R>(
  listener: Server,
  { app, host, port }: {
    readonly host: string
    readonly port: number
    readonly app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  }
) {
  const server = yield* NodeHttpServer.make(() => listener, { host, port, gracefulShutdownTimeout: "5 seconds" }).pipe(
    Effect.mapError((error) =>
      new ServiceError({
        code: "UNAVAILABLE",
        message: `cannot serve on ${host}:${port}: ${error.cause instanceof Error ? error.cause.message : "the address is not free"}`,
        fix: "choose another --port; 0 picks a free one"
      })
    )
  )
  yield* server.serve(app)
  // Clients of HTTP/2 offer an upgrade with their first request. With a listener Node takes the offer and leaves the body
  // unread; without one it answers in HTTP/1.1. No route upgrades.
  listener.removeAllListeners("upgrade")
  return server
})
