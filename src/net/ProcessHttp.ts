import { Context, Effect, Layer, Scope } from "effect"
import { HttpClient } from "effect/http"
import { type HttpOptions, layer } from "./Http.ts"

/** An HTTP client that lives as long as the process; its idle connections do not keep the process alive. */
const forProcess = (options: HttpOptions): Effect.Effect<HttpClient.HttpClient> =>
  Effect.runSync(Effect.cached(
    Layer.buildWithScope(layer(options), Scope.makeUnsafe()).pipe(Effect.map((built) => Context.get(built, HttpClient.HttpClient)))
  ))

/** The client of connectors that were given none. Made at first use. */
export const processHttp = forProcess({})

/** The client of connectors that were given none and reach public addresses only. Made at first use. */
export const publicProcessHttp = forProcess({ publicOnly: {} })

const byHosts = new Map<string, Effect.Effect<HttpClient.HttpClient>>()

/** A client like {@link publicProcessHttp} that also reaches these hosts, at whatever addresses. One client for equal hosts. */
export const publicProcessHttpWith = (allowHosts: ReadonlyArray<string>): Effect.Effect<HttpClient.HttpClient> => {
  if (allowHosts.length === 0) return publicProcessHttp
  const key = JSON.stringify([...new Set(allowHosts)].sort())
  const client = byHosts.get(key) ?? forProcess({ publicOnly: { allowHosts } })
  byHosts.set(key, client)
  return client
}
