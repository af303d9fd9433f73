import type { ServerResponse } from "node:http"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { ByteSize, Cause, Clock, Effect, Exit, type Scope, Stream } from "effect"
import { HttpBody, HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { ServiceError } from "../domain/Errors.ts"
import { isLocation } from "../domain/Locations.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Engine } from "../ports/Engine.ts"
import type { JsonObject } from "../wire/Message.ts"
import { encodeResponse, type Match, match, type Route, routes } from "../wire/Routes.ts"
import { readBody as readMessage, readQuery } from "../wire/tolerant/Request.ts"
import { type Call, CallVersion, type Handlers, type RawHandler, take } from "./Call.ts"
import { ClientNames } from "./ClientNames.ts"
import type { ChatRoutes } from "./CorpusChats.ts"
import { checkPlace } from "./CorpusPlaces.ts"
import type { Fault, Faults } from "./faults/Faults.ts"
import { type AccessRules, corsHeaders, type RequestHeaders, preflightHeaders, refusal, refusedPage } from "./http/Access.ts"
import { largeBody, readBody } from "./http/Body.ts"
import { inMessage, payloadOf } from "./http/HttpBody.ts"
import { failure, json, raw, type Reply, type ReplyStyle, streamed } from "./http/Reply.ts"
import { type Answered, type Incoming, Room } from "./Incoming.ts"
import { pageAt } from "../ui/Http.ts"
import type { HooksEndpoint } from "./Hooks.ts"
import { LongRunning } from "./operations/LongRunning.ts"
import type { Quotas } from "./quotas/Quotas.ts"
import { type AccessEntry, failedUnexpectedly, logAccess, loggable, requestBegan, requestEnded } from "./Telemetry.ts"
import { makeTurns } from "./Turns.ts"
import type { Uploads } from "./upload/Uploads.ts"
import { within } from "./Within.ts"

export interface AppOptions {
  readonly access: AccessRules
  readonly handlers: Handlers
  /** Answers agents under `/mcp`. */
  readonly mcp: Effect.Effect<Reply, unknown, HttpServerRequest.HttpServerRequest | Scope.Scope>
  /** Answers the inspector's page under `/ui/api`. */
  readonly inspector: Effect.Effect<Reply, unknown, HttpServerRequest.HttpServerRequest | Scope.Scope>
  /** Conversations with corpora, and their search, in the protocols of OpenAI and Anthropic. */
  readonly chats: ChatRoutes
  /** Takes webhook notices under `/hooks`. They authenticate themselves, without the server's token. */
  readonly hooks: HooksEndpoint
  readonly uploads: Uploads
  readonly quotas?: Quotas
  readonly faults?: Faults
  /** Response of `GET /`: name and version of the server, its engine and its models. */
  readonly about: JsonObject
  /** Succeeds where the server can answer calls, for the readiness probe. */
  readonly ready: Effect.Effect<void, ServiceError>
  /** Whether the server is shutting down and refuses new calls. */
  readonly draining: () => boolean
  /** Called with 1 when a request starts, and with -1 when its response was sent. */
  readonly underWay: (change: 1 | -1) => void
  /** Log each request. */
  readonly logAccess: boolean
  /** Most concurrent calls; further ones are refused. */
  readonly mostCalls: number
  /** Most milliseconds of one call. */
  readonly callTimeout: number
  /** Most bytes of a JSON body. */
  readonly mostJsonBytes: number
  /** Most bytes of the large bodies of all concurrent calls; a body that finds no room is refused. */
  readonly mostBodyBytes: number
}

/** Any handler, as dispatch sees it. */
type AnyHandler = (call: Call<unknown, unknown, unknown>) => Effect.Effect<object, ServiceError>
type AnyRoute = Route<string, unknown, unknown, unknown>

/**
 * Answers every request. Whatever comes in, the response is one of the API's: a client's mistake is never a 500, and no
 * exception reaches the client.
 */
export const makeApp = (options: AppOptions) =>
  Effect.gen(function*() {
    const { parent } = yield* Engine
    const operations = yield* LongRunning
    const corpora = yield* Corpora
    let calls = 0
    const room = new Room(options.mostBodyBytes)
    const turn = makeTurns()

    const answer = Effect.fnUntraced(function*(
      { key, params, unversioned, version }: Match,
      asked: Incoming
    ): Effect.fn.Return<Answered, ServiceError> {
      const route: AnyRoute = routes[key] as AnyRoute // dispatch treats all routes alike
      const names = new ClientNames(Object.values(params)[0] ?? "", parent)
      if (!isLocation(names.locationId)) return { kind: "failure", error: noSuchLocation(names.locationId) }
      const fault: Fault = options.faults?.next(key) ?? {}
      if (fault.delay !== undefined) yield* Effect.sleep(fault.delay)
      if (fault.drop === "request") return yield* asked.drop
      if (fault.error !== undefined) return { kind: "failure", error: fault.error }
      const at = yield* Clock.currentTimeMillis
      const tooManyImports = key === "importRagFiles" ? options.quotas?.takeImport(yield* operations.imports, names.location) : undefined
      const over = tooManyImports ?? options.quotas?.take(key, names.location, at)
      if (over !== undefined) return { kind: "failure", ...over }

      const mostBytes = route.mostBytes ?? options.mostJsonBytes
      const answered = yield* named(
        names,
        room.hold(
          key === "uploadRagFile" ? 0 : asked.room(mostBytes),
          Effect.gen(function*(): Effect.fn.Return<Answered, ServiceError> {
            yield* Effect.forEach(Object.values<string>(params), (name) => checkPlace(corpora, names, name), { discard: true })
            const { form, query } = yield* take(asked.query(route))
            const writing = { version, enumNumbers: form.enumNumbers }
            if (key === "uploadRagFile") {
              const { body, headers } = yield* asked.upload({ version, names, corpus: names.corpus(params["parent"] ?? "") })
              return { kind: "message", message: body === undefined ? {} : encodeResponse(route, body, writing), headers }
            }
            if (route.raw === true) {
              const handler = options.handlers[key] as unknown as RawHandler<AnyRoute> // the table gives a raw route a raw handler
              const { body, contentType, inMessage } = yield* asked.payload(mostBytes)
              const answer = yield* handler({ version, params, query: {}, body, contentType, names, slowBy: fault.operation })
              return { kind: "raw", answer, inMessage, streaming: route.rpc.endsWith("StreamRawPredict") }
            }
            const bytes = yield* asked.body(mostBytes)
            const body = yield* take(readMessage(route, route.body === undefined ? "" : bytes, { version }))
            // The table gives each handler the messages of its own route.
            const handler = options.handlers[key] as unknown as AnyHandler
            const response = yield* handler({ version, unversioned, params, query, body, names, slowBy: fault.operation })
            if (route.stream === true) {
              const messages = response as Stream.Stream<object, ServiceError> // that of a streaming method is a stream
              return { kind: "messages", messages: Stream.map(messages, (message) => encodeResponse(route, message, writing)) }
            }
            return { kind: "message", message: encodeResponse(route, response, writing) }
          })
        )
      ).pipe(Effect.tapError((error) =>
        Effect.sync(() => {
          if (error.refused) options.quotas?.giveBack(key, names.location, at)
        })
      ))
      if (fault.drop === "reply") return yield* asked.drop
      return fault.drop === "middle" ? { ...answered, cut: true } : answered
    })

    /** Runs a call within the limits of concurrency and time. `failed` makes the response of a failure. */
    const counted = <A>(call: Effect.Effect<A, ServiceError>, failed: (error: ServiceError) => A, mayStop = true): Effect.Effect<A> =>
      Effect.suspend(() => {
        if (calls >= options.mostCalls) return Effect.succeed(failed(busy))
        calls += 1
        const bounded = within(options.callTimeout, call, () => failed(tooSlow))
        return (mayStop ? Effect.interruptible(bounded) : Effect.uninterruptible(bounded)).pipe(
          Effect.catch((error) => Effect.succeed(failed(error))),
          Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), (cause) => Effect.as(unexpected(cause), failed(internal))),
          Effect.ensuring(Effect.sync(() => {
            calls -= 1
          }))
        )
      })

    /** Runs a call that was let in, whatever its protocol. */
    const call = (found: Match, asked: Incoming): Effect.Effect<Answered> =>
      counted<Answered>(
        Effect.andThen(turn, Effect.provideService(answer(found, asked), CallVersion, found.version)),
        (error) => ({ kind: "failure", error }),
        onlyAsks(found)
      )

    const reply = (request: HttpServerRequest.HttpServerRequest, answered: Answered, style: ReplyStyle): Effect.Effect<Reply> => {
      const whole = replyOf(request, answered, style)
      return answered.cut === true ? broken(request, whole) : Effect.succeed(whole)
    }

    /** Answers requests about the server itself, as of probes and pages; undefined for all others. */
    const ofItself = Effect.fnUntraced(function*(path: string, key: string | null, request: HttpServerRequest.HttpServerRequest) {
      if (request.method !== "GET" && request.method !== "HEAD") return undefined
      // Probes carry no token, and learn only whether the server is well. A browser that opens the page has no token yet.
      const probe = path === "/healthz" || path === "/readyz"
      const { token: _, ...open } = options.access
      const refused = refusal(probe || isPage(path) ? open : options.access, request.headers, key)
      if (refused !== undefined) return undefined
      if (isPage(path)) return pageAt(path)
      if (path === "/") return json(options.about, { pretty: true })
      if (path === "/healthz") return json({ status: "ok" }, plain)
      if (path === "/readyz") {
        if (options.draining()) return json({ status: "draining" }, plain, 503)
        return yield* Effect.match(options.ready, {
          onFailure: (error) => json({ status: "not ready", error: error.code }, plain, 503),
          onSuccess: () => json({ status: "ready" }, plain)
        })
      }
      return path === "/metrics" ? metricsText(yield* PrometheusMetrics.format()) : undefined
    })

    /** Lets an endpoint with its own router answer. */
    const routed = (by: AppOptions["mcp"], request: HttpServerRequest.HttpServerRequest): Effect.Effect<Reply> =>
      counted(
        by.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, request),
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.mebibytes(1)),
          Effect.scoped,
          Effect.catch(() => Effect.succeed(failure(noSuchMethod, plain)))
        ),
        (error) => failure(error, plain)
      )

    const dispatch = Effect.fnUntraced(function*(
      request: HttpServerRequest.HttpServerRequest,
      found: Match | undefined
    ): Effect.fn.Return<Reply> {
      const [path = "", ...rest] = request.url.split("?")
      const search = rest.join("?")
      const style: ReplyStyle = { pretty: wantsPretty(search) }
      // Browsers send a preflight request first, without a token.
      if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
        const page = refusedPage(options.access, request.headers)
        return page === undefined
          ? HttpServerResponse.empty({ status: 204, headers: preflightHeaders(options.access, request.headers) })
          : failure(page, style)
      }
      // Senders of webhooks have no token of this server, and call its public address.
      if (path.startsWith("/hooks/")) {
        return options.draining()
          ? failure(stopping, style)
          : yield* counted(options.hooks(request, room), (error) => failure(error, plain))
      }
      const key = search === "" ? null : new URLSearchParams(search).get("key")
      const own = yield* ofItself(path, key, request)
      if (own !== undefined) return own
      const refused = refusal(options.access, request.headers, key)
      if (refused !== undefined) return failure(refused, style)
      if (options.draining()) return HttpServerResponse.setHeader(failure(stopping, style), "connection", "close")
      if (/^\/mcp(?:\/|$)/.test(path)) {
        return yield* routed(options.mcp, request.modify({ url: request.url.replace(/^\/mcp(?=\?|$)/, "/mcp/") }))
      }
      if (path.startsWith("/ui/api/")) return yield* routed(options.inspector, request)
      const chat = options.chats(request.method, path)
      if (chat !== undefined) {
        return yield* counted(
          readBody(request, options.mostJsonBytes).pipe(
            Effect.flatMap((body) => chat(body, new URLSearchParams(search))),
            Effect.map((answer) => raw(answer, breakOff(request)))
          ),
          (error) => failure(error, plain)
        )
      }
      if (found === undefined) return failure(noSuchMethod, style)
      const framed: ReplyStyle = routes[found.key].stream === true
        ? { ...style, framing: /(?:^|&)(?:\$|%24)?alt=sse(?:&|$)/.test(search) ? "sse" : "array" }
        : style
      return yield* reply(request, yield* call(found, incoming(request, search, options.uploads.receive)), framed)
    })

    const http = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const found = methodOf(request)
      return observed(
        request,
        found,
        // Most requests do not come from a page.
        request.headers["origin"] === undefined
          ? dispatch(request, found)
          : Effect.map(dispatch(request, found), HttpServerResponse.setHeaders(corsHeaders(options.access, request.headers))),
        options
      )
    })
    return {
      /** Answers an HTTP request. */
      http,
      call,
      room,
      draining: options.draining,
      /** Returns why a request is refused; undefined where it is let in. Probes need no token. */
      refusal: (headers: RequestHeaders, probe: boolean): ServiceError | undefined => {
        const { token: _, ...open } = options.access
        return refusal(probe ? open : options.access, headers)
      },
      ready: options.ready,
      observing: (request: Observed) => observing(request, options),
      unexpected
    }
  })

export type App = Effect.Success<ReturnType<typeof makeApp>>

/**
 * Counts a request, and logs it once the last byte of its response is sent. Requests about the server itself are not logged:
 * probes come every few seconds.
 */
const observed = (
  request: HttpServerRequest.HttpServerRequest,
  found: Match | undefined,
  answered: Effect.Effect<Reply>,
  options: AppOptions
): Effect.Effect<Reply> =>
  Effect.flatMap(observing({ method: request.method, url: request.url, route: found?.key ?? "-" }, options), (end) =>
    answered.pipe(
      Effect.flatMap((reply) => {
        const { body, status } = reply
        return body._tag !== "Stream" || request.method === "HEAD"
          ? Effect.as(end(status, false), reply)
          : Effect.succeed(HttpServerResponse.setBody(
            reply,
            HttpBody.stream(
              Stream.onExit(body.stream, (exit) => end(status, Exit.isFailure(exit))),
              body.contentType
            )
          ))
      }),
      // No response was sent: the connection broke, or its client left.
      Effect.onInterrupt(() => end(499, true))
    ))

/** The route of a request. Some clients send the bytes of a resumable upload with PUT, others with POST. */
const methodOf = ({ method, url }: HttpServerRequest.HttpServerRequest): Match | undefined => {
  const [path = ""] = url.split("?")
  return match(method === "PUT" && path.startsWith("/upload/") ? "POST" : method, path)
}

interface Observed {
  readonly method: string
  readonly url: string
  /** Key of the route, `-` where none matches. */
  readonly route: string
}

/** Counts a request that starts. Returns a function to be called when it ends; further calls do nothing. */
const observing = ({ method, route, url }: Observed, { logAccess: log, underWay }: AppOptions) =>
  Effect.flatMap(Clock.currentTimeMillis, (since) => {
    const [path = ""] = url.split("?")
    let over = false
    const end = (status: number, broken: boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (over) return Effect.void
        over = true
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const entry: AccessEntry = { method, path: loggable(url), route, status, duration: now - since, broken }
          underWay(-1)
          return Effect.andThen(requestEnded(entry), log && !ownPaths.has(path) ? logAccess(entry) : Effect.void)
        })
      })
    underWay(1)
    return Effect.as(requestBegan, end)
  })

const incoming = (
  request: HttpServerRequest.HttpServerRequest,
  search: string,
  uploads: Uploads["receive"]
): Incoming => ({
  room: (mostBytes) => largeBody(request, mostBytes),
  query: (route) => readQuery(route, search),
  body: (mostBytes) => readBody(request, mostBytes),
  payload: (mostBytes) => Effect.map(readBody(request, mostBytes), (bytes) => payloadOf(bytes, request.headers["content-type"] ?? "")),
  upload: (to) => uploads({ request, query: search, ...to }),
  drop: dropped(request)
})

const replyOf = (request: HttpServerRequest.HttpServerRequest, answered: Answered, style: ReplyStyle): Reply => {
  switch (answered.kind) {
    case "message":
      return json(answered.message, style, 200, answered.headers)
    case "messages":
      return streamed(answered.messages, style, breakOff(request))
    case "raw":
      return raw(answered.inMessage ? inMessage(answered.answer, answered.streaming) : answered.answer, breakOff(request))
    case "failure":
      return failure(answered.error, style, answered.metadata)
  }
}

/** Whether a path is one of the inspector's page. The service's binding of operations starts with `/ui` too. */
const isPage = (path: string): boolean => /^\/ui(?:\/(?!api\/|(?:v1(?:beta1)?\/)?projects\/)|$)/.test(path)

const ownPaths: ReadonlySet<string> = new Set(["/", "/healthz", "/readyz", "/metrics"])
const plain: ReplyStyle = { pretty: false }

const metricsText = (text: string): Reply =>
  HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8", headers: { "cache-control": "no-store" } })

/** Replaces the engine's resource names by the client's in the messages of an error. */
const named = <A>(names: ClientNames, effect: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
  Effect.mapError(effect, (error) =>
    error.with({
      message: names.message(error.message),
      fix: error.fix === undefined ? undefined : names.message(error.fix),
      violations: error.violations?.map(({ description, field }) => ({ field, description: names.message(description) }))
    }))

const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.andThen(Effect.logError("a call failed unexpectedly", Cause.pretty(cause)), failedUnexpectedly)

/** Breaks the connection without a response. */
const dropped = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<never> =>
  Effect.suspend(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
    return Effect.interrupt
  })

/** Sends bytes, waits until they are written, and breaks the connection. */
const breakOff = (request: HttpServerRequest.HttpServerRequest) => (last: Uint8Array): Effect.Effect<never> =>
  Effect.gen(function*() {
    const response = responseOf(request)
    if (last.length > 0 && !response.destroyed) {
      yield* Effect.callback<void>((resume) => void response.write(last, () => resume(Effect.void)))
    }
    return yield* dropped(request)
  })

/** Sends the head of a reply and a part of its body, then breaks the connection: half of a whole body, or the first piece of a stream. */
const broken = (request: HttpServerRequest.HttpServerRequest, { body, headers, status }: Reply): Effect.Effect<never> =>
  Effect.gen(function*() {
    const response = responseOf(request)
    const stream = body._tag === "Stream" ? body.stream : Stream.empty
    const [first] = yield* Stream.runCollect(Stream.take(Stream.orDie(stream), 1))
    const part = body._tag === "Uint8Array" ? body.body.subarray(0, body.body.length >> 1) : first ?? new Uint8Array()
    response.writeHead(status, { ...headers })
    return yield* breakOff(request)(part)
  })

const responseOf = (request: HttpServerRequest.HttpServerRequest): ServerResponse =>
  NodeHttpServerRequest.toServerResponse(request) as ServerResponse // this listener speaks HTTP/1.1 only

/**
 * Whether a call only reads: it is interrupted when its client leaves, so that no model is paid for nothing. A call that
 * changes something runs to its end.
 */
const onlyAsks = ({ key }: Match): boolean => /^(?:PredictionService|VertexRagService)\./.test(routes[key].rpc)

const wantsPretty = (search: string): boolean => /(?:^|&)(?:\$|%24)?prettyPrint=(?:1|true)(?:&|$)/i.test(search)

const noSuchLocation = (location: string): ServiceError =>
  ServiceError.invalid("location", `${location} is not a location of Vertex AI`, "name a region, such as us-central1")

const noSuchMethod = new ServiceError({ code: "NOT_FOUND", message: "Method not found." })
export const stopping = new ServiceError({ code: "UNAVAILABLE", message: "The server is shutting down.", retryAfter: 1_000 })
const busy = new ServiceError({ code: "UNAVAILABLE", message: "The server has too many calls under way.", retryAfter: 1_000 })
const tooSlow = new ServiceError({ code: "DEADLINE_EXCEEDED", message: "The call took too long." })
export const internal = new ServiceError({ code: "INTERNAL", message: "Internal error encountered." })
