import { createHash } from "node:crypto"
import { Effect, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { transportErrorOf } from "../net/HttpErrors.ts"
import { Embedder, type EmbeddingTask, narrowed } from "../ports/Embedder.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { TextEmbedder } from "../ports/TextEmbedder.ts"
import { batchesOf, type BatchLimits } from "./openai/Batches.ts"
import { type Connection, connect, type Service } from "./openai/Connection.ts"
import { unitVector } from "./openai/Vectors.ts"

export interface OpenAiEmbedderOptions extends Connection {
  /** Length of the vectors: the model's own, or the length requested with `sendDimensions`. Every response is checked against it. */
  readonly dimensions: number
  /** Requests vectors shortened to `dimensions`; models without that option refuse it. Default false. */
  readonly sendDimensions?: boolean
  /** Prefixes of texts, as E5 and similar models need them: `query: ` and `passage: `. Default none. */
  readonly prefixes?: Readonly<Record<EmbeddingTask, string>>
  readonly batch?: Partial<BatchLimits>
  /** Requests running at the same time. Default 4. */
  readonly concurrency?: number
  /** Called before each request for documents, retries included: waits, or refuses it. Default: nothing. */
  readonly admit?: Effect.Effect<void, ServiceError>
  /** How vectors are transmitted; base64 has a third of the bytes. Responses of either kind are understood. Default `float`. */
  readonly encoding?: "float" | "base64"
}

const Answer = Schema.Struct({
  data: Schema.Array(Schema.Struct({ index: Schema.optional(Schema.Int), embedding: Schema.Unknown }))
})
const decodeAnswer = Schema.decodeUnknownEffect(Answer)

/** Embeds through any `/embeddings` URL compatible with OpenAI's. Fails at once on options that cannot work. */
export const make = Effect.fnUntraced(function*(options: OpenAiEmbedderOptions) {
  const { dimensions, model, prefixes, concurrency = 4 } = options
  if (!Number.isInteger(dimensions) || dimensions < 1) return yield* ServiceError.invalid("dimensions", "expected a whole number from 1")
  const service = yield* connect(options, "embeddings", "embeddings")
  const ask = requesting(service, options)
  const lengths = { sent: options.sendDimensions === true ? dimensions : undefined, wanted: dimensions }
  const request = (input: ReadonlyArray<string>) => ask(input, lengths, options.admit)
  const unlimited = (input: ReadonlyArray<string>) => ask(input, lengths)

  const embed = Effect.fn("OpenAiEmbedder.embed")(function*(texts: ReadonlyArray<string>, task: EmbeddingTask) {
    const prefix = prefixes?.[task] ?? ""
    const batches = batchesOf(texts, prefix, options.batch)
    yield* Effect.annotateCurrentSpan({ model, texts: texts.length, requests: batches.length })
    const vectors: Array<Float32Array> = texts.map(() => new Float32Array(dimensions))
    yield* Effect.forEach(
      batches,
      (batch) =>
        (task === "document" ? request : unlimited)(batch.map(({ text }) => text)).pipe(Effect.map((found) => {
          batch.forEach(({ at }, place) => {
            vectors[at] = found[place]!
          })
        })),
      { concurrency, discard: true }
    )
    return vectors
  })

  const embedEach = Effect.fn("OpenAiEmbedder.embedEach")(function*(texts: ReadonlyArray<string>) {
    const batches = batchesOf(texts, prefixes?.document ?? "", options.batch)
    yield* Effect.annotateCurrentSpan({ model, texts: texts.length, requests: batches.length })
    const outcomes: Array<Float32Array | ServiceError> = texts.map(() => new Float32Array(dimensions))
    yield* Effect.forEach(batches, (batch) =>
      narrowed(request, batch.map(({ text }) => text)).pipe(Effect.map((found) => {
        batch.forEach(({ at }, place) => {
          outcomes[at] = found[place]!
        })
      })), { concurrency, discard: true })
    return outcomes
  })

  return Embedder.of({ id: idOf(service.host, options), dimensions, embed, embedEach })
})

/** Makes one request to a service: `sent` is the length of vectors to request, `wanted` the length that the response must have. */
const requesting = (service: Service, { encoding = "float", model }: Pick<OpenAiEmbedderOptions, "encoding" | "model">) => {
  const request = Effect.fnUntraced(function*(
    input: ReadonlyArray<string>,
    dimensions: { readonly sent: number | undefined; readonly wanted: number | undefined },
    admit?: Effect.Effect<void, ServiceError>
  ) {
    const body = { model, input, encoding_format: encoding, dimensions: dimensions.sent }
    return yield* service.post(body, (response) =>
      response.json.pipe(
        Effect.mapError((error) => transportErrorOf(service.what, error)),
        Effect.flatMap((json) => decodeAnswer(json).pipe(Effect.mapError(() => malformed("an answer that is no list of embeddings")))),
        Effect.flatMap(({ data }) => inOrder(data, input.length, dimensions.wanted))
      ), admit)
  })

  const malformed = (what: string): ServiceError =>
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${service.what} gave ${what}`,
      fix: "check that the model and dimensions are those of this embedding service"
    })

  /** Sorts the vectors: servers may answer out of order, and `index` states which text a vector belongs to. */
  const inOrder = Effect.fnUntraced(function*(data: (typeof Answer.Type)["data"], count: number, dimensions: number | undefined) {
    if (data.length !== count) return yield* malformed(`${data.length} vectors for ${count} texts`)
    const vectors: Array<Float32Array | undefined> = Array.from({ length: count }, () => undefined)
    for (const [place, { index = place, embedding }] of data.entries()) {
      if (index < 0 || index >= count || vectors[index] !== undefined) return yield* malformed(`the index ${index} twice or out of range`)
      const vector = unitVector(embedding)
      if (vector === undefined) return yield* malformed("a vector with something other than finite numbers in it")
      if (dimensions !== undefined && vector.length !== dimensions) {
        return yield* malformed(`${vector.length} dimensions where ${dimensions} are expected`)
      }
      vectors[index] = vector
    }
    return vectors.filter((vector) => vector !== undefined)
  })

  return request
}

/** Embeds texts of callers who choose the length of the vectors, which is requested from the service. */
export const makeTextEmbedder = Effect.fnUntraced(function*(options: Omit<OpenAiEmbedderOptions, "dimensions" | "sendDimensions">) {
  const { batch, concurrency = 4, model, prefixes } = options
  const request = requesting(yield* connect(options, "embeddings", "embeddings"), options)
  return TextEmbedder.of({
    model,
    standsIn: false,
    embed: Effect.fn("TextEmbedder.embed")(function*(texts, task, dimensions) {
      const batches = batchesOf(texts, prefixes?.[task] ?? "", batch)
      yield* Effect.annotateCurrentSpan({ model, texts: texts.length, requests: batches.length })
      const found = yield* Effect.forEach(
        batches,
        (batch) =>
          Effect.map(
            request(batch.map(({ text }) => text), { sent: dimensions, wanted: dimensions }),
            (vectors) => batch.map(({ at }, place) => [at, vectors[place]!] as const)
          ),
        { concurrency }
      )
      const vectors = new Map(found.flat())
      const length = dimensions ?? found[0]?.[0]?.[1].length ?? 0
      return texts.map((_, at) => vectors.get(at) ?? new Float32Array(length))
    })
  })
})

/**
 * The id: host, model, dimensions and, where there are prefixes, a hash of them. These determine the numbers; the key is never part of it.
 */
const idOf = (host: string, { model, dimensions, prefixes }: OpenAiEmbedderOptions): string => {
  const id = `${host}/${model}/${dimensions}`
  if (prefixes === undefined) return id
  return `${id}/${createHash("sha256").update(JSON.stringify([prefixes.document, prefixes.query])).digest("hex").slice(0, 8)}`
}

export const layer = (
  options: OpenAiEmbedderOptions
): Layer.Layer<Embedder, ServiceError, HttpClient.HttpClient | Secrets> => Layer.effect(Embedder, make(options))
