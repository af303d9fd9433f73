import { Context, Effect, Layer, Scope } from "effect"
import { HttpClient } from "effect/http"
import { type HttpOptions, layer } from "./Http.ts"

/** An HTTP client that lives as long as the process; its idle connections do not keep the process alive. */
const forProcess = (options: HttpOptions): Effect.Effect<HttpClient.HttpClient> =>
  Effect.runSync(Effect.cached(
    Layer.buildWithScope(layer(options), Scope.makeUnsafe()).pipe(Effect.map((built) => Context.get(built, HttpClient.HttpClient)))
  ))

/** The client of connectors that were given none. Made when first asked for. */
export const processHttp = forProcess({})

/** Likewise, reaching public addresses only. */
export const publicProcessHttp = forProcess({ publicOnly: {} })

const byHosts = new Map<string, Effect.Effect<HttpClient.HttpClient>>()

/** {@link publicProcessHttp} that also reaches these hosts, wherever they lead. One client for the same hosts. */
export const publicProcessHttpWith = (allowHosts: ReadonlyArray<string>): Effect.Effect<HttpClient.HttpClient> => {
  if (allowHosts.length === 0) return publicProcessHttp
  const key = JSON.stringify([...new Set(allowHosts)].sort())
  const client = byHosts.get(key) ?? forProcess({ publicOnly: { allowHosts } })
  byHosts.set(key, client)
  return client
}
