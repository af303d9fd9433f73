import { Array as Arr, Effect, Layer, Semaphore, Stream } from "effect"
import type { TextSpan, TextToCut } from "../domain/Chunking.ts"
import type { ChatEvent, ChatRequest } from "../domain/Chat.ts"
import { defined } from "../domain/Defined.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { Context } from "../domain/Retrieval.ts"
import { make as makeGrounded } from "../models/GroundedGenerator.ts"
import { redactText } from "../domain/Redact.ts"
import { retry } from "../net/Retry.ts"
import { type Answered, type AnswerOptions, generateBy as generateByGenerator } from "../pipeline/stages/Generate.ts"
import { rankBy as rankByEffect } from "../pipeline/stages/Rank.ts"
import type { CorpusInUse, Retrieved, Unanswered, Unretrieved } from "../pipeline/stages/Retrieve.ts"
import { retrieveEach as retrieveEachOf, type RetrieveEachOptions as EachOptions } from "../pipeline/stages/RetrieveEach.ts"
import type { Stage } from "../pipeline/stages/Stage.ts"
import { type Chunker, defineChunker } from "../ports/Chunker.ts"
import { Embedder, type EmbeddingTask } from "../ports/Embedder.ts"
import { defineParser, type FileToParse, type ParsedMarkdown, type Parser } from "../ports/Parser.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { TextPool } from "../text/TextPool.ts"

type Awaitable<A> = A | Promise<A>

/** Awaits what a function returns; its signal aborts where the call is interrupted. What it throws is the error, unless `errorOf` makes another of it. */
const awaited = <A, E = unknown>(
  call: (signal: AbortSignal) => Awaitable<A>,
  errorOf: (thrown: unknown) => E = (thrown) => thrown as E // `unknown` where nothing is made of it
): Effect.Effect<A, E> => Effect.tryPromise({ try: async (signal) => call(signal), catch: errorOf })

/** What a service is taken to be that threw: one that may answer later. */
const unavailable = (what: string) => (thrown: unknown): ServiceError =>
  thrown instanceof ServiceError ? thrown : new ServiceError({
    code: "UNAVAILABLE",
    message: `${what} failed: ${redactText(thrown instanceof Error ? thrown.message : String(thrown))}`,
    cause: thrown
  })

/** What a function gave in the place of what it should: of a program without types, or of a service's answer that was taken as it is. */
const misgiven = (what: string, gave: string, fix: string): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `${what} gave ${gave}`, fix })

const kindOf = (value: unknown): string => value === null ? "null" : Array.isArray(value) ? "an array" : typeof value

/**
 * Makes a stage of a function, for `compose`. Calls of the pipeline reject with what it throws. `signal` aborts once the answer is no
 * longer wanted.
 *
 * @example
 * ```ts
 * const recent = stage(async (input: Retrieved) => ({ ...input, contexts: await newestFirst(input.contexts) }))
 * Pipeline.make("p", { corpus, sources, stages: compose(retrieve({ topK: 20 }), recent, generate()) })
 * ```
 */
export const stage = <In, Out>(run: (input: In, signal: AbortSignal) => Out | Promise<Out>): Stage<In, Out, unknown> => (input) =>
  awaited((signal) => run(input, signal))

/**
 * Orders the contexts by a function that returns a score for each, in their order; larger is better. `score` becomes that score. Rejects
 * with `FAILED_PRECONDITION` if it does not return one finite number for each context.
 *
 * @example
 * ```ts
 * rankBy(async (question, contexts, signal) => await scoresOf(question, contexts.map(({ text }) => text), signal))
 * ```
 */
export const rankBy = (
  score: (question: string, contexts: ReadonlyArray<Context>, signal: AbortSignal) => ReadonlyArray<number> | Promise<ReadonlyArray<number>>
): Stage<Unanswered, Retrieved, unknown> => rankByEffect((question, contexts) => awaited((signal) => score(question, contexts, signal)))

/** Options of `retrieveEach`; `queries` may be what `queriesBy` returns. */
export interface RetrieveEachOptions<R = never> extends Omit<EachOptions, "queries"> {
  /** Returns the queries for a question, 32 at most. Blank ones, and those that repeat an earlier one, are left out. */
  readonly queries: (
    question: string,
    signal: AbortSignal
  ) => ReadonlyArray<string> | Promise<ReadonlyArray<string>> | Effect.Effect<ReadonlyArray<string>, unknown, R>
}

/**
 * Retrieves each of several queries for a question, and fuses what they find by reciprocal rank: see `retrieveEach` of `sluice`.
 *
 * @example
 * ```ts
 * retrieveEach({ queries: async (question) => [question, await translated(question)], topK: 8 })
 * ```
 */
export const retrieveEach = <R = never>(
  { queries, ...options }: RetrieveEachOptions<R>
): Stage<Unretrieved, Retrieved, unknown, R | Retrieval | CorpusInUse> =>
  retrieveEachOf<unknown, R>({
    ...options,
    queries: (question) =>
      Effect.flatten(awaited(async (signal) => {
        const given = queries(question, signal)
        return Effect.isEffect(given) ? given : Effect.succeed(await given)
      }))
  })

/** A prompt, in the form that most services take. */
export interface PromptRequest extends Pick<ChatRequest, "temperature" | "topP" | "seed"> {
  readonly messages: ReadonlyArray<{ readonly role: "system" | "user" | "assistant"; readonly content: string }>
}

/** A model that writes text. */
export interface TextModel {
  /** How answers name the model. */
  readonly model: string
  /**
   * Writes the reply to a prompt, at once or piece by piece. `signal` aborts once the rest is not wanted. What it throws becomes
   * `UNAVAILABLE`, unless it is a `ServiceError`.
   */
  readonly write: (request: PromptRequest, signal: AbortSignal) => string | AsyncIterable<string> | Promise<string | AsyncIterable<string>>
}

/**
 * Answers from the contexts with a custom model. The prompt asks for a quote with every sentence, and every citation is verified word
 * for word: write what the model writes, unchanged. Contexts of a prompt have at most `maxContextCharacters` UTF-16 units, by default 100,000.
 *
 * @example
 * ```ts
 * generateBy({
 *   model: "mine",
 *   write: async ({ messages }, signal) => {
 *     const response = await fetch(url, { method: "POST", body: JSON.stringify({ messages }), signal })
 *     const { choices } = await response.json() as { choices: [{ message: { content: string } }] }
 *     return choices[0].message.content
 *   }
 * })
 * ```
 */
export const generateBy = (
  model: TextModel,
  { maxContextCharacters, ...options }: AnswerOptions & { readonly maxContextCharacters?: number } = {}
): Stage<Unanswered, Answered, ServiceError, TextPool> => generateByGenerator(makeGrounded(chatOf(model), maxContextCharacters), options)

const chatOf = ({ model, write }: TextModel) => {
  const failure = unavailable(model)
  const eventOf = (text: string): ChatEvent => ({ type: "text", candidate: 0, text })
  return {
    model,
    stream: ({ seed, system, temperature, topP, turns }: ChatRequest): Stream.Stream<ChatEvent, ServiceError> =>
      Stream.unwrap(Effect.gen(function*() {
        // It outlives the call of `write`, whose pieces come later.
        const signal = yield* Effect.abortSignal
        const messages = [
          ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
          ...turns.map(({ parts, role }) => ({ role, content: parts.map((part) => part.type === "text" ? part.text : "").join("") }))
        ]
        const written = yield* awaited(() => write(defined({ messages, seed, temperature, topP }), signal), failure)
        if (typeof written === "string") return Stream.succeed(eventOf(written))
        if (!(Symbol.asyncIterator in Object(written))) return yield* noText(model, written)
        return Stream.mapEffect(
          Stream.fromAsyncIterable(written, failure),
          (piece) => typeof piece === "string" ? Effect.succeed(eventOf(piece)) : noText(model, piece)
        )
      })).pipe(Stream.scoped)
  }
}

/** A model's service answers with `null` where it refuses, or calls a tool. */
const noText = (model: string, given: unknown): Effect.Effect<never, ServiceError> =>
  Effect.fail(misgiven(model, `${kindOf(given)} where text is wanted`, "give a text, or an async iterable of texts"))

/** Options of a custom embedder. */
export interface EmbedderOptions {
  /** Names everything that determines the numbers (model, version, dimensions): a corpus remembers it, and another id requires a rebuild. */
  readonly id: string
  /** Length of every vector. */
  readonly dimensions: number
  /** Most texts of a call. Default 128, which is also the most. */
  readonly batch?: number
  /** Calls at the same time, at most. Default 4. */
  readonly concurrency?: number
  /** Times that a call is tried again which failed with `UNAVAILABLE`, `RESOURCE_EXHAUSTED` or the like. Default 5. */
  readonly retries?: number
  /**
   * Returns a vector for each text, in order; they are scaled to length 1. What it throws becomes `UNAVAILABLE`, unless it is a
   * `ServiceError`, whose `retryAfter` (milliseconds) is waited for. Where a call fails for good, its texts do, and the next run tries them
   * again.
   */
  readonly embed: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask,
    signal: AbortSignal
  ) => ReadonlyArray<ArrayLike<number>> | Promise<ReadonlyArray<ArrayLike<number>>>
}

/**
 * Makes an embedder of a function, for `Embedded.layer({ dataDir, embedder })`.
 *
 * @example
 * ```ts
 * const mine = embedder({ id: "mine-v1", dimensions: 384, batch: 32, embed: async (texts, task, signal) => await vectorsOf(texts, signal) })
 * ```
 */
export const embedder = ({ batch = 128, concurrency = 4, dimensions, embed, id, retries = 5 }: EmbedderOptions): Layer.Layer<Embedder> =>
  Layer.effect(
    Embedder,
    Effect.sync(() => {
      const places = Semaphore.makeUnsafe(concurrency)
      const again = retry({ times: retries })
      const call = (texts: ReadonlyArray<string>, task: EmbeddingTask) =>
        again(places.withPermit(awaited((signal) => embed(texts, task, signal), unavailable(`embedder ${id}`)))).pipe(
          Effect.flatMap((vectors) => {
            const wrong = flawOf(vectors, texts.length, dimensions)
            return wrong === undefined
              ? Effect.succeed(vectors.map((vector) => Float32Array.from(vector)))
              : Effect.fail(misgiven(`embedder ${id}`, wrong, `give an array with a vector of ${dimensions} numbers for each text`))
          })
        )
      const inBatches = <A, E>(texts: ReadonlyArray<string>, use: (part: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<A>, E>) =>
        Effect.map(Effect.forEach(Arr.chunksOf(texts, batch), use, { concurrency }), (parts) => parts.flat())
      return Embedder.of({
        id,
        dimensions,
        embed: (texts, task) => inBatches(texts, (part) => call(part, task)),
        // What one call gave is kept where another fails.
        embedEach: (texts) =>
          inBatches<Float32Array | ServiceError, never>(
            texts,
            (part) => Effect.catch(call(part, "document"), (error) => Effect.succeed(part.map(() => error)))
          )
      })
    })
  )

/** What is wrong with an embedder's vectors, if anything. */
const flawOf = (vectors: ReadonlyArray<ArrayLike<number> | null | undefined>, texts: number, dimensions: number): string | undefined => {
  if (!Array.isArray(vectors)) return `${kindOf(vectors)} for ${texts} texts`
  if (vectors.length !== texts) return `${vectors.length} vectors for ${texts} texts`
  const at = vectors.findIndex((vector) => vector?.length !== dimensions)
  return at === -1 ? undefined : `a vector of ${vectors[at]?.length ?? "no"} numbers for text ${at + 1} of ${texts}`
}

/** Options of a custom parser. */
export interface ParserOptions {
  /** Names the parser in errors and reports: letters, digits and `-`, starting with a letter. */
  readonly kind: string
  /** Version of its results: raise it when the same file would come out differently, and its files are read again. */
  readonly version: string | number
  /** Endings of the file names it reads, without the first dot: `["vsdx"]`, `["call.jsonl"]`. These or `mimeTypes`. */
  readonly extensions?: ReadonlyArray<string>
  /** MIME types it reads, where the source states them. */
  readonly mimeTypes?: ReadonlyArray<string>
  /** Most seconds for one file. Default 60. */
  readonly maxSeconds?: number
  /**
   * Returns a file's Markdown. Throws `DocumentError` where the file is at fault, `ServiceError` where a service is that it calls; what else
   * it throws costs the file as `crash`.
   */
  readonly parse: (file: FileToParse, signal: AbortSignal) => string | ParsedMarkdown | Promise<string | ParsedMarkdown>
}

/**
 * Makes a parser of a function, for `parsers` of `Pipeline.make`.
 *
 * @example
 * ```ts
 * parser({ kind: "calls", version: 1, extensions: ["call.jsonl"], parse: ({ content }) => markdownOf(content) })
 * ```
 */
export const parser = ({ kind, parse, version, ...files }: ParserOptions): Parser =>
  defineParser({
    kind,
    version,
    description: "A parser of the program.",
    fields: {},
    make: () => Effect.succeed((file) => orCrash((signal) => parse(file, signal))),
    ...files
  })({})

/** Options of a custom chunker. */
export interface ChunkerOptions {
  /** Names the chunker in errors and reports: letters, digits and `-`, starting with a letter. */
  readonly kind: string
  /** Version of its cuts: raise it when the same text would be cut differently, and files are cut again. */
  readonly version: string | number
  /** Returns the spans of a document's text that become chunks, in order. Errors are those of a parser. */
  readonly cut: (text: TextToCut, signal: AbortSignal) => ReadonlyArray<TextSpan> | Promise<ReadonlyArray<TextSpan>>
}

/**
 * Makes a chunker of a function, for `chunking: { chunker }` of `Pipeline.make`.
 *
 * @example
 * ```ts
 * chunker({ kind: "blocks", version: 1, cut: ({ blocks }) => blocks.map(({ start, end }) => ({ start, end })) })
 * ```
 */
export const chunker = ({ cut, kind, version }: ChunkerOptions): Chunker =>
  defineChunker({
    kind,
    version,
    description: "A chunker of the program.",
    fields: {},
    make: () => Effect.succeed((text) => orCrash((signal) => cut(text, signal)))
  })({})

/** An error of the two kinds as it is; anything else is a defect, which costs the file as `crash`. */
const orCrash = <A>(call: (signal: AbortSignal) => Awaitable<A>): Effect.Effect<A, DocumentError | ServiceError> =>
  Effect.catch(
    awaited(call),
    (thrown) => thrown instanceof DocumentError || thrown instanceof ServiceError ? Effect.fail(thrown) : Effect.die(thrown)
  )
