import { createServer } from "node:http"
import { Effect, type Redacted } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { type AccessRules, refusal } from "../server/http/Access.ts"
import { serveOn } from "../server/http/Listening.ts"
import { failure, type Reply } from "../server/http/Reply.ts"
import { apiHttp, pageAt } from "../ui/Http.ts"
import type { Inspector } from "../ui/Inspector.ts"

const missing = failure(new ServiceError({ code: "NOT_FOUND", message: "the inspector is at /ui/" }), { pretty: false })

/**
 * Serves only the inspector, on this machine's loopback address, for as long as the scope is open. It shows a corpus to
 * anyone who has the token. Returns its base URL.
 */
export const serveInspector = Effect.fn("serveInspector")(function*(
  inspector: Inspector["Service"],
  { port, token }: { readonly port: number; readonly token: Redacted.Redacted<string> }
) {
  const api = yield* apiHttp(inspector)
  const open: AccessRules = { loopback: true }
  const app = Effect.gen(function*(): Effect.fn.Return<Reply, never, HttpServerRequest.HttpServerRequest> {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [path = ""] = request.url.split("?")
    const asksApi = path.startsWith("/ui/api/")
    const refused = refusal(asksApi ? { ...open, token } : open, request.headers)
    if (refused !== undefined) return failure(refused, { pretty: false })
    if (asksApi) return yield* api.pipe(Effect.scoped, Effect.orElseSucceed(() => missing))
    if (path === "/") return HttpServerResponse.redirect("/ui/")
    return path === "/ui" || path.startsWith("/ui/") ? pageAt(path) : missing
  })
  const server = yield* serveOn(createServer({ maxHeaderSize: 16 * 1024 }), { host: "127.0.0.1", port, app })
  return HttpServer.formatAddress(server.address)
})
