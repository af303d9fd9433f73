import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { LocalEmbedding, Pooling } from "../domain/LocalModel.ts"
import { Embedder } from "../ports/Embedder.ts"
import type { OnnxFolder, StaticFolder } from "./local/ModelFolder.ts"
import { type LocalModelOptions, openModel } from "./local/ModelProcess.ts"

const field = "corpus.embedding.local"

/**
 * Embeds with a model in a process on this machine. A text longer than the model's input is read in windows, whose vectors are averaged, so
 * that no part of it is left out. The id contains a hash of weights, tokenizer and settings, so that a different model, whatever its name,
 * leads to a rebuild.
 */
export const make = Effect.fn("LocalEmbedder.make")(function*(settings: LocalEmbedding, options: LocalModelOptions) {
  const { ask, found, name } = yield* openModel(field, settings, options)
  const prefixes = {
    document: settings.documentPrefix ?? found.prefixes.document,
    query: settings.queryPrefix ?? found.prefixes.query
  }
  const { dimensions, of, pooling } = yield* found.form === "static" ? asTable(settings, found, name) : asOnnx(settings, found, name)
  const decided = JSON.stringify([found.contentHash, of, pooling, prefixes.document, prefixes.query])
  return Embedder.of({
    id: `local/${dimensions}/${createHash("sha256").update(decided).digest("hex").slice(0, 16)}`,
    dimensions,
    ...(found.form === "static" ? { ofWords: true } : {}),
    embed: Effect.fn("LocalEmbedder.embed")(function*(texts, task) {
      yield* Effect.annotateCurrentSpan({ model: name, texts: texts.length })
      const values = yield* ask({ texts, urgent: task === "query", pooling, prefix: prefixes[task] })
      if (values.length !== texts.length * dimensions && values.length > 0) {
        return yield* new ServiceError({
          code: "FAILED_PRECONDITION",
          message: `the model ${name} gave ${values.length / texts.length} dimensions where its configuration says ${dimensions}`,
          fix: `check that ${found.folder} holds files of one model`
        })
      }
      return texts.map((_, at) => values.length === 0 ? new Float32Array(dimensions) : values.slice(at * dimensions, (at + 1) * dimensions))
    })
  })
})

/** What determines the numbers besides weights, tokenizer and prefixes. */
interface Decided {
  readonly dimensions: number
  /** Tokens of the model's input, or how a table is read. */
  readonly of: number | "static" | "static without unknown tokens"
  readonly pooling: Pooling | undefined
}

const asOnnx = Effect.fnUntraced(
  function*(
    settings: LocalEmbedding,
    { dimensions, maxTokens, ...found }: OnnxFolder,
    name: string
  ): Effect.fn.Return<Decided, ServiceError> {
    const pooling = settings.pooling ?? found.pooling
    if (dimensions === undefined) {
      return yield* ServiceError.invalid(
        field,
        `the config.json of ${name} does not state the length of its vectors`,
        "add hidden_size to it"
      )
    }
    if (pooling === undefined) {
      return yield* ServiceError.invalid(
        `${field}.pooling`,
        `${name} does not say how its vectors are pooled`,
        "say it, as the model's description has it: mean, cls, max or lastToken"
      )
    }
    return { dimensions, of: maxTokens, pooling }
  }
)

const asTable = (
  { pooling, threads }: LocalEmbedding,
  { countsUnknown, dimensions }: StaticFolder,
  name: string
): Effect.Effect<Decided, ServiceError> => {
  const idle = pooling !== undefined ? "pooling" : threads === undefined ? undefined : "threads"
  return idle === undefined
    ? Effect.succeed({ dimensions, of: countsUnknown ? "static" : "static without unknown tokens", pooling: undefined })
    : Effect.fail(
      ServiceError.invalid(
        `${field}.${idle}`,
        `${name} is a table of vectors, whose mean one thread takes; ${idle} has no effect`,
        "leave it out"
      )
    )
}

/** {@link make}, for as long as the layer lives. */
export const layer = (settings: LocalEmbedding, options: LocalModelOptions): Layer.Layer<Embedder, ServiceError> =>
  Layer.effect(Embedder, make(settings, options))
