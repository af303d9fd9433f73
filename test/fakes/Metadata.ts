import type { Effect, Scope } from "effect"
import type { ServerResponse } from "node:http"
import { fakeServer, type FakeServer } from "./Http.ts"

/** The metadata server of a Compute Engine machine: tokens `token-1`, `token-2`, …, of an hour unless told. */
export const fakeMetadata = (
  script: (response: ServerResponse, path: string) => boolean = () => false
): Effect.Effect<FakeServer, never, Scope.Scope> => {
  let tokens = 0
  return fakeServer(({ url }, response) => {
    if (script(response, url.pathname)) return
    const headers = { "metadata-flavor": "Google" }
    if (url.pathname.endsWith("/token")) {
      response.writeHead(200, { ...headers, "content-type": "application/json" })
        .end(JSON.stringify({ access_token: `token-${++tokens}`, expires_in: 3599, token_type: "Bearer" }))
    } else if (url.pathname.endsWith("/project-id")) response.writeHead(200, headers).end("fake-project")
    else response.writeHead(200, headers).end("ok")
  })
}
