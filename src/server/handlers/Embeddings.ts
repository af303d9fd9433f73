import { Effect } from "effect"
import { modelId } from "../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import {
  embeddingTasks,
  mostEmbeddedTexts,
  mostEmbeddedTokens,
  nativeDimensionsOf,
  textToEmbed,
  type TextToEmbed
} from "../../domain/TextEmbedding.ts"
import { TextEmbedder } from "../../ports/TextEmbedder.ts"
import { isJsonObject, type Json } from "../../wire/Message.ts"
import type { PredictRequest } from "../../wire/messages/Predict.ts"
import { contentText } from "../../wire/rag/Grounding.ts"
import type { Handlers } from "../Call.ts"

interface Embedded {
  readonly values: ReadonlyArray<number>
  readonly tokens: number
  readonly truncated: boolean
}

/** Handlers of `:predict` on a publisher's embedding model, and of `:embedContent`. */
export interface EmbeddingMethods extends Pick<Handlers, "embedContent"> {
  readonly predict: (
    model: string,
    request: PredictRequest
  ) => Effect.Effect<{ readonly predictions: ReadonlyArray<Json>; readonly metadata: Json }, ServiceError>
}

/** Length of the vectors where none is asked for: that of the model which the embedder stands in for; undefined means the embedder's own. */
export const usualDimensions = ({ standsIn }: TextEmbedder["Service"], model: string): number | undefined =>
  standsIn ? nativeDimensionsOf(modelId(model)) : undefined

const notServed = (model: string): ServiceError =>
  new ServiceError({
    code: "NOT_FOUND",
    message: `model ${modelId(model)} is not served here: of publishers' models, :predict serves those that embed texts`,
    fix: "call it at Google; to embed texts, send instances with a content each"
  })

export const embeddingHandlers = (countTokens: (text: string) => number): Effect.Effect<EmbeddingMethods, never, TextEmbedder> =>
  Effect.gen(function*() {
    const embedder = yield* TextEmbedder

    /** The part of a text that the model reads, and whether the text was truncated. */
    const fitting = Effect.fnUntraced(function*(text: string, autoTruncate: boolean, field: string) {
      if (countTokens(text) <= mostEmbeddedTokens) return { text, truncated: false }
      if (!autoTruncate) {
        return yield* ServiceError.invalid(field, `has more than ${mostEmbeddedTokens} tokens, and autoTruncate is false`)
      }
      let [fits, over] = [0, text.length]
      while (over - fits > 1) {
        const half = (fits + over) >> 1
        if (countTokens(text.slice(0, half)) <= mostEmbeddedTokens) fits = half
        else over = half
      }
      return { text: text.slice(0, fits), truncated: true }
    })

    const embedAll = Effect.fnUntraced(function*(
      model: string,
      texts: ReadonlyArray<TextToEmbed & { readonly field: string }>,
      { autoTruncate = true, dimensions = usualDimensions(embedder, model) }: {
        readonly autoTruncate?: boolean | undefined
        readonly dimensions?: number | undefined
      }
    ): Effect.fn.Return<ReadonlyArray<Embedded>, ServiceError> {
      const read = yield* Effect.forEach(
        texts,
        ({ content, field, title }) => fitting(title === undefined ? content : `${title}\n${content}`, autoTruncate, field)
      )
      const vectors: Array<Float32Array> = []
      for (const side of ["query", "document"] as const) {
        const places = texts.flatMap(({ task = "RETRIEVAL_QUERY" }, at) => (embeddingTasks[task] === side ? [at] : []))
        if (places.length === 0) continue
        const found = yield* embedder.embed(places.map((at) => read[at]?.text ?? ""), side, dimensions)
        places.forEach((at, place) => {
          vectors[at] = found[place] ?? new Float32Array()
        })
      }
      return read.map(({ text, truncated }, at) => ({ values: [...vectors[at] ?? []], tokens: countTokens(text), truncated }))
    })

    const dimensionsIn = (value: unknown, field: string): Effect.Effect<number | undefined, ServiceError> =>
      value === undefined || value === null || value === 0
        ? Effect.succeed(undefined)
        : Number.isSafeInteger(value) && Number(value) > 0
        ? Effect.succeed(Number(value))
        : Effect.fail(ServiceError.invalid(field, "must be a whole number, 1 or more"))

    return {
      predict: Effect.fnUntraced(function*(model, { instances = [], parameters = {} }) {
        if (instances.length === 0) return yield* ServiceError.invalid("instances", "Required field is not set.")
        if (instances.length > mostEmbeddedTexts) {
          return yield* ServiceError.invalid("instances", `has ${instances.length} texts; ${mostEmbeddedTexts} are allowed in a request`)
        }
        const texts = yield* Effect.forEach(instances, (instance, at) => {
          const field = `instances[${at}].`
          // Models of pictures, speech and the like have other instances, and unknown names.
          if (isJsonObject(instance) && instance["content"] === undefined && nativeDimensionsOf(modelId(model)) === undefined) {
            return Effect.fail(notServed(model))
          }
          const read = isJsonObject(instance)
            ? textToEmbed({
              content: instance["content"],
              taskType: instance["task_type"] ?? instance["taskType"],
              title: instance["title"]
            }, field)
            : ServiceError.invalid(
              `instances[${at}]`,
              "must be an object with content: models of publishers embed texts here, and nothing else"
            )
          return read instanceof ServiceError ? Effect.fail(read) : Effect.succeed({ ...read, field: `${field}content` })
        })
        const given = isJsonObject(parameters) ? parameters : {}
        const auto = given["autoTruncate"] ?? given["auto_truncate"]
        const dimensions = yield* dimensionsIn(
          given["outputDimensionality"] ?? given["output_dimensionality"],
          "parameters.outputDimensionality"
        )
        const embedded = yield* embedAll(model, texts, { autoTruncate: typeof auto === "boolean" ? auto : undefined, dimensions })
        return {
          predictions: embedded.map(({ tokens, truncated, values }): Json => ({
            embeddings: { values, statistics: { truncated, token_count: tokens } }
          })),
          metadata: { billableCharacterCount: texts.reduce((sum, { content }) => sum + [...content.replaceAll(/\s+/g, "")].length, 0) }
        }
      }),
      embedContent: Effect.fnUntraced(function*({ body, params: { model } }) {
        const { content, embedContentConfig = {} } = body
        const { audioTrackExtraction, documentOcr, ...config } = embedContentConfig
        const media = content?.parts?.findIndex((part) => part.text === undefined) ?? -1
        if (media >= 0) return yield* ServiceError.invalid(`content.parts[${media}]`, "only text is embedded on this machine")
        for (const [field, value] of Object.entries({ document_ocr: documentOcr, audio_track_extraction: audioTrackExtraction })) {
          if (value === true) return yield* ServiceError.invalid(`embed_content_config.${field}`, "only text is embedded on this machine")
        }
        const taskType = config.taskType ?? body.taskType
        const read = textToEmbed({
          content: contentText(content),
          taskType: taskType === "UNSPECIFIED" ? undefined : taskType,
          title: config.title ?? body.title
        }, "")
        if (read instanceof ServiceError) return yield* read
        const dimensions = yield* dimensionsIn(
          config.outputDimensionality ?? body.outputDimensionality,
          "embed_content_config.output_dimensionality"
        )
        const [one] = yield* embedAll(model, [{ ...read, field: "content" }], {
          autoTruncate: config.autoTruncate ?? body.autoTruncate,
          dimensions
        })
        const { tokens = 0, truncated = false, values = [] } = one ?? {}
        return { embedding: { values }, usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens }, truncated }
      })
    }
  })
