import type { Server } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"

/** A server that listens on an address for as long as the scope is open. Port 0 picks a free one. */
export const listening = (listener: Server, host: string, port: number) =>
  NodeHttpServer.make(() => listener, { host, port, gracefulShutdownTimeout: "5 seconds" }).pipe(
    Effect.mapError((error) =>
      new ServiceError({
        code: "UNAVAILABLE",
        message: `cannot serve on ${host}:${port}: ${error.cause instanceof Error ? error.cause.message : "the address is not free"}`,
        fix: "choose another --port; 0 picks a free one"
      })
    )
  )
