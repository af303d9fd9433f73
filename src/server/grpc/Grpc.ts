import {
  constants,
  createServer as createHttp2,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream
} from "node:http2"
import { createServer as createTcp, type Socket } from "node:net"
import { createServer as createTls, type TLSSocket } from "node:tls"
import { Cause, Effect, FiberSet, Result, type Scope, Stream } from "effect"
import type protobuf from "protobufjs"
import { codeOfHttp, grpcStatusOf, httpStatusOf } from "../../domain/Codes.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { loadProtos, methodsOf, type RpcMethod } from "../../wire/grpc/Protos.ts"
import { decode, encode, statusDetails, transcode } from "../../wire/grpc/Transcode.ts"
import { isJsonObject, type JsonObject } from "../../wire/Message.ts"
import { type Route, routes } from "../../wire/Routes.ts"
import { type AnswerForm, readMessage } from "../../wire/tolerant/Request.ts"
import { type App, internal, stopping } from "../App.ts"
import { type RawAnswer, take } from "../Call.ts"
import type { RequestHeaders } from "../http/Access.ts"
import type { RawPayload } from "../http/HttpBody.ts"
import type { Answered, Incoming } from "../Incoming.ts"
import type { Uploads } from "../upload/Uploads.ts"
import type { Certificate } from "./Certificate.ts"
import { encodings, framed, longestDetails, messageHeader, messagesOf, timeoutOf } from "./Frames.ts"
import { healthMethods, healthProtos } from "./Health.ts"
import type { OwnMethod, OwnMethods } from "./Own.ts"
import { reflectionMethods } from "./Reflection.ts"

export interface GrpcOptions {
  readonly host: string
  /** The port to listen on; 0 picks a free one. */
  readonly port: number
  readonly certificate: Certificate
  /** Whether connections without TLS are accepted too, as on loopback. */
  readonly plaintext: boolean
  /** Path of the protos: those that the build compiled, or those of the package. */
  readonly protos: string
  readonly app: App
  readonly uploads: Uploads
  /** Most bytes of a message, for most methods. */
  readonly mostJsonBytes: number
  readonly connections: number
  /** Most bytes of a call's headers. */
  readonly headers: number
  /** Most milliseconds until a connection has shown its protocol. */
  readonly head: number
  /** Most milliseconds until a request has arrived. */
  readonly request: number
  /** Milliseconds between pings that test whether the client of a connection is still there. */
  readonly ping: number
  /** Most milliseconds until the reply to a ping. */
  readonly pong: number
  /** Takes over a connection that speaks HTTP/1.1, as uploads do. */
  readonly http1: (socket: Socket) => void
  /** Handles an HTTP/2 request that is not gRPC. */
  readonly http2: (request: Http2ServerRequest, response: Http2ServerResponse) => void
}

/** Most concurrent calls on one connection; further ones wait in the client. */
const concurrentStreams = 256
/** The first byte of TLS; HTTP/2 without TLS starts with a letter. */
const handshake = 0x16
/** Most bytes of a message to the server's own services: a name and little more. */
const mostOwnBytes = 64 * 1024
/** Flow control window: bytes that a client may send ahead. */
const window = 1024 * 1024

/**
 * Serves the routes over gRPC for as long as the scope lives, with TLS, and on loopback without it too. The port also accepts
 * HTTP/1.1 over TLS, because Google's client libraries upload by REST to the address that they call. Returns the port.
 */
export const serveGrpc = (options: GrpcOptions): Effect.Effect<number, ServiceError, Scope.Scope> =>
  Effect.gen(function*() {
    const root = loadProtos(options.protos)
    const run = yield* FiberSet.makeRuntime()
    const sessions = new Set<ServerHttp2Session>()
    const http2 = createHttp2({
      settings: { maxConcurrentStreams: concurrentStreams, initialWindowSize: window, maxHeaderListSize: options.headers },
      // Megabytes. Large messages are counted in the room besides.
      maxSessionMemory: 256
    })
    const calls = makeCalls(options, root)
    http2.on("session", (session) => {
      sessions.add(session)
      session.setLocalWindowSize(4 * window)
      session.on("close", () => sessions.delete(session))
      session.on("error", () => session.destroy())
      keepAlive(session, options)
    })
    http2.on("stream", (stream, headers) => {
      stream.on("error", () => undefined)
      if (!isGrpc(headers)) {
        options.http2(new Http2ServerRequest(stream, headers, {}, []), new Http2ServerResponse(stream))
        return
      }
      const fiber = run(calls(stream, headers))
      // The client left, or the connection broke.
      stream.on("close", () => fiber.interruptUnsafe())
    })
    const tls = createTls({ cert: options.certificate.cert, key: options.certificate.key, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
      socket.on("error", () => socket.destroy())
      if (socket.alpnProtocol === "h2") http2.emit("connection", socket)
      else options.http1(socket)
    })
    tls.on("tlsClientError", (_, socket: TLSSocket) => socket.destroy())
    const sockets = new Set<Socket>()
    const server = createTcp((socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
      socket.on("error", () => socket.destroy())
      socket.setTimeout(options.head, () => socket.destroy())
      socket.once("readable", () => {
        const first: Buffer | null = socket.read(1)
        if (first === null) return
        socket.setTimeout(0)
        socket.removeAllListeners("timeout")
        socket.unshift(first)
        if (first[0] === handshake) tls.emit("connection", socket)
        else if (options.plaintext) http2.emit("connection", socket)
        else socket.destroy()
      })
    })
    server.maxConnections = options.connections
    yield* Effect.acquireRelease(
      Effect.callback<void, ServiceError>((resume) => {
        server.once("error", (error) => resume(Effect.fail(notFree(options, error))))
        server.listen(options.port, options.host, () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const session of sessions) session.destroy()
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : options.port
  })

/**
 * Detects a client that has gone silently, as its machine or network failed, and ends its calls. While nothing is sent, only
 * pings can show that. Node answers the pings of clients.
 */
const keepAlive = (session: ServerHttp2Session, { ping, pong }: Pick<GrpcOptions, "ping" | "pong">): void => {
  const timer = setInterval(() => {
    if (session.destroyed) return
    const late = setTimeout(() => session.destroy(), pong)
    // The only error is that the connection has ended meanwhile.
    session.ping(() => clearTimeout(late))
  }, ping)
  session.on("close", () => clearInterval(timer))
}

const notFree = ({ host, port }: GrpcOptions, error: Error): ServiceError =>
  new ServiceError({
    code: "UNAVAILABLE",
    message: `cannot serve gRPC on ${host}:${port}: ${error.message}`,
    fix: "choose another --grpc port; 0 picks a free one"
  })

/** How a call ends: with trailers or, where `cut` is set, by breaking the stream. */
interface End {
  readonly error?: ServiceError
  readonly metadata?: Readonly<Record<string, string>>
}

const makeCalls = (options: GrpcOptions, root: protobuf.Root) => {
  const { app, mostJsonBytes } = options
  const methods = methodsOf(root)
  const status = root.lookupType("google.rpc.Status")
  const ownMethods: OwnMethods = new Map([...healthMethods(app.ready, app.draining), ...reflectionMethods([root, healthProtos])])

  const trailersOf = ({ error, metadata = {} }: End): Record<string, string> => {
    if (error === undefined) return { "grpc-status": "0" }
    const details = statusDetails(status, error, metadata)
    return {
      "grpc-status": String(grpcStatusOf(error.code)),
      "grpc-message": messageHeader(error.message),
      // With longer metadata the client would not even receive the code.
      ...(details === undefined || details.length > longestDetails
        ? {}
        : { "grpc-status-details-bin": Buffer.from(details).toString("base64") })
    }
  }

  const writer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    // Responses are compressed where the request is.
    const compress = headers["grpc-encoding"] === "gzip"
    let trailers: Record<string, string> = {}
    const begin = (): void => {
      if (stream.headersSent || stream.destroyed) return
      stream.on("wantTrailers", () => stream.sendTrailers(trailers))
      stream.respond(
        {
          ":status": 200,
          "content-type": "application/grpc+proto",
          "grpc-accept-encoding": encodings,
          ...(compress ? { "grpc-encoding": "gzip" } : {})
        },
        { waitForTrailers: true }
      )
    }
    const send = (message: Uint8Array): Effect.Effect<void> =>
      Effect.flatMap(Effect.promise(() => framed(message, compress)), (frame) =>
        Effect.callback<void>((resume) => {
          begin()
          if (stream.destroyed || stream.write(frame)) return resume(Effect.void)
          const on = (): void => {
            stream.off("drain", on).off("close", on)
            resume(Effect.void)
          }
          stream.on("drain", on).on("close", on)
        }))
    const end = (how: End): Effect.Effect<void> =>
      Effect.sync(() => {
        if (stream.destroyed || stream.writableEnded) return
        trailers = trailersOf(how)
        begin()
        stream.end()
        // The rest of the request is discarded.
        stream.resume()
      })
    const cut: Effect.Effect<void> = Effect.sync(() => {
      begin()
      stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
    return { send, end, cut }
  }
  type Writer = ReturnType<typeof writer>

  /** Reads the messages of a request one by one; undefined after the last. */
  const messagesIn = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, most: number) =>
    Effect.acquireRelease(
      Effect.sync(() => messagesOf(stream, { encoding: String(headers["grpc-encoding"] ?? "identity"), most, room: app.room })),
      // An interrupted reader has to give back its room.
      (messages) => Effect.promise(() => messages.return(undefined))
    ).pipe(Effect.map((messages) =>
      Effect.tryPromise({
        try: () => messages.next(),
        catch: (cause) => cause instanceof ServiceError ? cause : leftEarly
      }).pipe(
        Effect.timeoutOrElse({ duration: options.request, orElse: () => Effect.fail(tooSlow) }),
        Effect.map(({ done, value }) => done === true ? undefined : value)
      )
    ))

  const first = (next: Effect.Effect<Uint8Array | undefined, ServiceError>): Effect.Effect<Uint8Array, ServiceError> =>
    Effect.flatMap(next, (message) => message === undefined ? Effect.fail(noMessage) : Effect.succeed(message))

  /** Answers a call to the server's own services: health and reflection. */
  const answerOwn = Effect.fnUntraced(function*(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: OwnMethod,
    write: Writer
  ): Effect.fn.Return<End, ServiceError, Scope.Scope> {
    const next = yield* messagesIn(stream, headers, mostOwnBytes)
    const answer = method.begin()
    let message: Uint8Array | undefined = yield* first(next)
    while (message !== undefined) {
      yield* Stream.runForEach(answer(message), write.send)
      message = method.stream ? yield* next : undefined
    }
    return {}
  })

  const answerMethod = Effect.fnUntraced(function*(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: RpcMethod,
    write: Writer
  ): Effect.fn.Return<End, ServiceError, Scope.Scope> {
    const most = Math.max(...method.keys.map((key) => (routes[key] as Route).mostBytes ?? mostJsonBytes))
    const bytes = yield* first(yield* messagesIn(stream, headers, most))
    const request = yield* take(decode(method.request, bytes))
    const { body, found, query } = yield* take(transcode(method, request))
    const incoming: Incoming = {
      // Room was taken when the message was read.
      room: () => 0,
      query: (route) => Result.map(readMessage(route.query, query, found), (query) => ({ query, form: plainForm })),
      body: () => Effect.succeed(body),
      payload: () => Effect.succeed(payloadIn(body)),
      upload: (to) => options.uploads.withoutBytes(to, body),
      drop: Effect.andThen(write.cut, Effect.interrupt)
    }
    const answered = yield* app.call(found, incoming)
    if (answered.cut === true) {
      yield* write.cut
      return {}
    }
    return yield* tell(answered, method, write)
  })

  const tell = (answered: Answered, method: RpcMethod, { send }: Writer): Effect.Effect<End, ServiceError> => {
    const { response } = method
    switch (answered.kind) {
      case "failure":
        return Effect.succeed({ error: answered.error, metadata: answered.metadata })
      case "message":
        return Effect.as(send(encode(response, answered.message)), {})
      case "messages":
        return Effect.as(Stream.runForEach(answered.messages, (message) => send(encode(response, message))), {})
      case "raw":
        return tellRaw(answered.answer, method, send)
    }
  }

  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Effect.Effect<void> => {
    const path = String(headers[":path"] ?? "")
    const method = methods.get(path)
    const write = writer(stream, headers)
    const timeout = timeoutOf(one(headers["grpc-timeout"]))
    const call = Effect.gen(function*(): Effect.fn.Return<End, ServiceError, Scope.Scope> {
      // A call that changes something runs to its end, even after its deadline.
      if (timeout !== undefined) yield* Effect.forkScoped(Effect.andThen(Effect.sleep(timeout), write.end({ error: tooLate })))
      const own = ownMethods.get(path)
      const refused = app.refusal(requestHeaders(headers), own?.open === true)
      if (refused !== undefined) return yield* refused
      if (app.draining() && own?.open !== true) return yield* stopping
      if (own !== undefined) return yield* answerOwn(stream, headers, own, write)
      if (method === undefined) return yield* new ServiceError({ code: "UNIMPLEMENTED", message: `unknown method ${path.slice(0, 200)}` })
      return yield* answerMethod(stream, headers, method, write)
    }).pipe(
      Effect.scoped,
      Effect.catch((error) => Effect.succeed<End>({ error })),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) => Effect.as(app.unexpected(cause), { error: internal })
      )
    )
    const observe = app.observing({ method: "GRPC", url: path, route: method?.keys[0] ?? "-" })
    return Effect.flatMap(observe, (end) =>
      call.pipe(
        Effect.tap(write.end),
        Effect.flatMap(({ error }) => end(error === undefined ? 200 : httpStatusOf(error.code), false)),
        Effect.onInterrupt(() => end(499, true))
      ))
  }
}

/** The payload of a raw method: its `http_body`. */
const payloadIn = ({ httpBody }: JsonObject): RawPayload => {
  const { contentType, data } = isJsonObject(httpBody) ? httpBody : {}
  return {
    contentType: typeof contentType === "string" ? contentType : "application/json",
    body: typeof data === "string" ? Buffer.from(data, "base64") : new Uint8Array(),
    inMessage: true
  }
}

/** Sends the answer of a raw method, each piece as a `google.api.HttpBody`. */
const tellRaw = (
  { body, contentType, status = 200 }: RawAnswer,
  { response, stream }: RpcMethod,
  send: (message: Uint8Array) => Effect.Effect<void>
): Effect.Effect<End, ServiceError> =>
  Effect.gen(function*() {
    const sent = (data: Uint8Array) => send(response.encode(response.create({ contentType, data })).finish())
    const pieces = body instanceof Uint8Array ? Stream.succeed(body) : Stream.mapError(body, ({ last }) => modelsError(503, last))
    if (status < 300 && stream) {
      yield* Stream.runForEach(pieces, sent)
      return {}
    }
    const whole = Buffer.concat(yield* Stream.runCollect(pieces))
    if (status >= 300) return { error: modelsError(status, whole) }
    yield* sent(whole)
    return {}
  })

/** An error in the model's own format, which has a message somewhere, as a `ServiceError`. */
const modelsError = (status: number, body: Uint8Array): ServiceError => {
  const text = Buffer.from(body).toString("utf8")
  const message = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return new ServiceError({
    code: codeOfHttp(status),
    message: message === undefined ? `the model answered ${status}` : String(JSON.parse(message)),
    status
  })
}

const isGrpc = (headers: IncomingHttpHeaders): boolean => /^application\/grpc(?:\+proto)?(?:;|$)/.test(headers["content-type"] ?? "")

/** Headers with `:authority` under its name in HTTP/1.1, `host`. */
const requestHeaders = ({ ":authority": authority, ...headers }: IncomingHttpHeaders): RequestHeaders => ({
  host: authority,
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, one(value)]))
})

const one = (value: string | ReadonlyArray<string> | undefined): string | undefined => typeof value === "object" ? value[0] : value

const plainForm: AnswerForm = { enumNumbers: false, sse: false }

const leftEarly = new ServiceError({ code: "CANCELLED", message: "the client left" })
const noMessage = new ServiceError({ code: "INTERNAL", message: "the request has no message" })
const tooSlow = new ServiceError({ code: "DEADLINE_EXCEEDED", message: "The request took too long to arrive." })
const tooLate = new ServiceError({ code: "DEADLINE_EXCEEDED", message: "The call's deadline has passed." })
