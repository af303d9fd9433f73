import { NodeHttpClient } from "@effect/platform-node"
import { Agent, EnvHttpProxyAgent } from "@effect/platform-node/Undici"
import { Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { publicConnector, type PublicOnly } from "./PublicConnector.ts"

export interface HttpOptions {
  /** Most connections to one origin. Default 32. */
  readonly connections?: number
  /** Milliseconds to connect, TLS included. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Most bytes of one response body. Default 256 MiB. */
  readonly maxResponseBytes?: number
  readonly userAgent?: string
  /**
   * Connects to public addresses only, for addresses that someone else chose. Bypasses the proxy, which would resolve
   * names itself. Default: connects to any address.
   */
  readonly publicOnly?: PublicOnly
}

/**
 * The HTTP client for everything that leaves the machine: pooled, bounded, through the proxy of `HTTP_PROXY`,
 * `HTTPS_PROXY` and `NO_PROXY` (in either case), trusting `NODE_EXTRA_CA_CERTS` (which Node reads at start), following
 * redirects as {@link followRedirects} does. Callers set their own timeouts.
 */
export const layer = (options: HttpOptions = {}): Layer.Layer<HttpClient.HttpClient> => {
  const dispatcher = Layer.effect(
    NodeHttpClient.Dispatcher,
    Effect.acquireRelease(
      Effect.sync(() => {
        const timeout = options.connectTimeoutMs ?? 10_000
        const limits = {
          connections: options.connections ?? 32,
          maxResponseSize: options.maxResponseBytes ?? 256 * 1024 * 1024
        }
        return options.publicOnly === undefined
          ? new EnvHttpProxyAgent({ ...limits, connect: { timeout } })
          : new Agent({ ...limits, connect: publicConnector({ connectTimeoutMs: timeout, ...options.publicOnly }) })
      }),
      (agent) => Effect.promise(() => agent.destroy())
    )
  )
  return Layer.effect(
    HttpClient.HttpClient,
    NodeHttpClient.makeUndici.pipe(Effect.map((client) =>
      client.pipe(
        HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", options.userAgent ?? "sluice")),
        followRedirects
      )
    ))
  ).pipe(Layer.provide(dispatcher))
}

const maxRedirects = 5
/** Headers that may follow a redirect to another origin: any other header could be a service's credential. */
const harmless = new Set(["accept", "accept-encoding", "accept-language", "user-agent", "range", "if-none-match", "if-modified-since"])

/**
 * Follows redirects of GET and HEAD, at most five; when the origin changes, only harmless headers are kept. Never from
 * https to http, and never for a request with a body: then the answer is the redirect itself, which callers report as an
 * error.
 */
export const followRedirects = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (first, request) => {
    const follow = (
      response: HttpClientResponse.HttpClientResponse,
      last: HttpClientRequest.HttpClientRequest,
      left: number
    ): typeof first => {
      const next = left === 0 ? undefined : redirected(response, last)
      if (next === undefined) return Effect.succeed(response)
      return Stream.runDrain(Stream.take(response.stream, 1)).pipe(
        Effect.ignore,
        Effect.andThen(client.execute(next)),
        Effect.flatMap((after) => follow(after, next, left - 1))
      )
    }
    return Effect.flatMap(first, (response) => follow(response, request, maxRedirects))
  })

const redirected = (
  response: HttpClientResponse.HttpClientResponse,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest | undefined => {
  const location = response.headers["location"]
  if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return undefined
  if (request.method !== "GET" && request.method !== "HEAD") return undefined
  const from = URL.parse(response.request.url)
  const to = URL.parse(location, response.request.url)
  if (from === null || to === null || !/^https?:$/.test(to.protocol)) return undefined
  if (from.protocol === "https:" && to.protocol === "http:") return undefined
  const headers = Object.entries(request.headers).filter(([name]) => to.origin === from.origin || harmless.has(name))
  return HttpClientRequest.make(request.method)(to, { headers: Object.fromEntries(headers) })
}
