import { Clock, Effect, Metric, Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Operation } from "../domain/Operation.ts"
import { percentDecoded } from "../domain/Percent.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Embedder } from "../ports/Embedder.ts"
import type { Generator } from "../ports/Generator.ts"
import type { Files } from "../ports/Files.ts"
import type { TextEmbedder } from "../ports/TextEmbedder.ts"

// A server's metrics: read at /metrics, and sent by OTLP where that is set up. Attributes have a small set of values, such as
// routes, codes and models; never names, texts or keys.

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

const requests = Metric.counter("sluice_http_requests_total", { description: "Requests answered, by route and status", incremental: true })
const inFlight = Metric.gauge("sluice_http_requests_in_flight", { description: "Requests in flight, including streams until their end" })
const requestTime = Metric.histogram("sluice_http_request_duration_seconds", {
  description: "Time from a request to the last byte of its response",
  boundaries: seconds
})
const broken = Metric.counter("sluice_http_streams_broken_total", {
  description: "Streamed responses that broke off",
  incremental: true
})
const unexpected = Metric.counter("sluice_errors_unexpected_total", {
  description: "Calls that failed because of a fault in the server",
  incremental: true
})
const imports = Metric.counter("sluice_imports_total", {
  description: "Imports that ended, by outcome: ok, partial (some files failed), or the code of their error",
  incremental: true
})
const files = Metric.counter("sluice_files_stored_total", { description: "Files stored or refused, by outcome", incremental: true })
const embeddedTokens = Metric.counter("sluice_embedded_tokens_total", {
  description: "Tokens of chunks that were embedded",
  incremental: true
})
const modelCalls = Metric.counter("sluice_model_calls_total", { description: "Calls of models, by model and outcome", incremental: true })
const modelTime = Metric.histogram("sluice_model_call_duration_seconds", {
  description: "Time of a model's whole answer",
  boundaries: seconds
})

/** A request that has been answered. Never holds a query's keys, a header or a body. */
export interface AccessEntry {
  readonly method: string
  /** Path and query, with keys and tokens redacted. */
  readonly path: string
  /** Key of the route, such as `retrieveContexts`; `-` where none matches. */
  readonly route: string
  readonly status: number
  /** Milliseconds until the last byte of the response. */
  readonly duration: number
  /** Whether the response broke off. */
  readonly broken: boolean
}

export const requestBegan = Metric.modify(inFlight, 1)

/** The series of a route and a status, cached: making them for each request would cost as much as all other counting. */
const series = new Map<string, { readonly answered: typeof requests; readonly taken: typeof requestTime }>()

const seriesOf = (route: string, status: number) => {
  const key = `${status} ${route}`
  const known = series.get(key)
  if (known !== undefined) return known
  const made = {
    answered: Metric.withAttributes(requests, { route, code: String(status) }),
    taken: Metric.withAttributes(requestTime, { route })
  }
  series.set(key, made)
  return made
}

export const requestEnded = ({ broken: cut, duration, route, status }: AccessEntry): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    const { answered, taken } = seriesOf(route, status)
    inFlight.modifyUnsafe(-1, context)
    answered.updateUnsafe(1, context)
    taken.updateUnsafe(duration / 1000, context)
    if (cut) Metric.withAttributes(broken, { route }).updateUnsafe(1, context)
    return Effect.void
  })

export const failedUnexpectedly = Metric.update(unexpected, 1)

const secretParameter = /^(?:key|access_token|oauth_token|token|upload_id|\$?key)$/i

/** A path and query as they may be logged. */
export const loggable = (url: string): string => {
  const [path = "", query] = url.split("?", 2)
  const rest = query === undefined ? "" : url.slice(path.length + 1)
  if (rest === "") return path
  return `${path}?${
    rest.split("&").map((pair) => {
      const [name = ""] = pair.split("=", 1)
      return secretParameter.test(percentDecoded(name)) ? `${name}=REDACTED` : pair
    }).join("&")
  }`
}

export const importEnded = ({ error, partialFailures }: Pick<Operation, "error" | "partialFailures">): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(imports, { outcome: error?.code ?? (partialFailures.length > 0 ? "partial" : "ok") }), 1)

/** Logs a request as one line, with its fields as annotations. */
export const logAccess = ({ broken, duration, method, path, route, status }: AccessEntry): Effect.Effect<void> =>
  Effect.logInfo("request").pipe(
    Effect.annotateLogs({ method, path, route, status, duration: Math.round(duration), ...(broken ? { broken } : {}) })
  )

/** Counts calls of a model once they have ended, with any outcome. */
const countCall = (model: string, use: string) => {
  const called = (outcome: string, since: number, now: number) =>
    Effect.all([
      Metric.update(Metric.withAttributes(modelCalls, { model, use, outcome }), 1),
      Metric.update(Metric.withAttributes(modelTime, { model, use }), Math.max(0, now - since) / 1000)
    ], { discard: true })
  return { called }
}

export const countedChat = (chat: ChatModel["Service"]): ChatModel["Service"] => ({
  ...chat,
  stream: (request) => countedStream(chat.model, "chat", chat.stream(request))
})

/** Counts the calls of a generator that does not use a counted chat model. */
export const countedGenerator = (generator: Generator["Service"]): Generator["Service"] => {
  const { called } = countCall(generator.model, "answer")
  return {
    ...generator,
    answer: (request) => timed(generator.answer(request), called),
    stream: (request) => countedStream(generator.model, "answer", generator.stream(request))
  }
}

const countedStream = <A>(model: string, use: string, stream: Stream.Stream<A, ServiceError>): Stream.Stream<A, ServiceError> => {
  const { called } = countCall(model, use)
  return Stream.unwrap(Effect.map(Clock.currentTimeMillis, (since) => {
    // A stream that ends in neither way was interrupted by its reader.
    let outcome = "left"
    return stream.pipe(
      Stream.tapError((error) => Effect.sync(() => void (outcome = error.code))),
      Stream.concat(Stream.suspend(() => {
        outcome = "ok"
        return Stream.empty
      })),
      Stream.ensuring(Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.andThen(
          Effect.annotateCurrentSpan({ model, outcome }),
          called(outcome, since, now)
        )))
    )
  }))
}

/** Counts the calls of an embedder of corpora, which may also serve as a {@link TextEmbedder}: each batch of texts counts as one call. */
export const countedCorpusEmbedder = (embedder: Embedder["Service"]): Embedder["Service"] => {
  const { called } = countCall(embedder.id, "embed")
  // Without `hashed`, engines call the embedder, so that every embedding is counted.
  const { hashed: _, ...counted } = embedder
  const { embedEach, embedSparse } = counted
  return {
    ...counted,
    embed: (...request) => timed(embedder.embed(...request), called),
    ...(embedSparse === undefined
      ? {}
      : { embedSparse: (...request: Parameters<typeof embedSparse>) => timed(embedSparse(...request), called) }),
    ...(embedEach === undefined ? {} : { embedEach: (...request: Parameters<typeof embedEach>) => timed(embedEach(...request), called) })
  }
}

export const countedEmbedder = (embedder: TextEmbedder["Service"]): TextEmbedder["Service"] => {
  const { called } = countCall(embedder.model, "embed")
  return { ...embedder, embed: (...request) => timed(embedder.embed(...request), called) }
}

const timed = <A, E extends ServiceError>(
  effect: Effect.Effect<A, E>,
  called: ReturnType<typeof countCall>["called"]
): Effect.Effect<A, E> =>
  Effect.flatMap(Clock.currentTimeMillis, (since) => {
    const end = (outcome: string) => Effect.flatMap(Clock.currentTimeMillis, (now) => called(outcome, since, now))
    return effect.pipe(Effect.tap(() => end("ok")), Effect.tapError(({ code }) => end(code)))
  })

/** Counts the files that a server stores. */
export const countedFiles = (inner: Files["Service"]): Files["Service"] => ({
  ...inner,
  upload: (request) =>
    inner.upload(request).pipe(
      Effect.tap(({ embeddedTokens: tokens = 0 }) =>
        Effect.all([
          Metric.update(Metric.withAttributes(files, { outcome: "stored" }), 1),
          Metric.update(embeddedTokens, tokens),
          Effect.annotateCurrentSpan({ corpus: request.corpus, embeddedTokens: tokens, outcome: "stored" })
        ], { discard: true })
      ),
      Effect.tapError(() => Metric.update(Metric.withAttributes(files, { outcome: "failed" }), 1)),
      Effect.withSpan("Server.storeFile", { attributes: { corpus: request.corpus, file: request.displayName } })
    )
})
