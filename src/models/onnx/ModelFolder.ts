import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Pooling } from "../../domain/LocalModel.ts"

/** A model's folder as it was found. */
export interface ModelFolder {
  readonly folder: string
  /** The ONNX file, as an absolute path. */
  readonly weights: string
  /** Tokens that the model reads at once, those around a text among them. */
  readonly maxTokens: number
  /** Of one token; absent where the configuration does not say. */
  readonly dimensions: number | undefined
  readonly pooling: Pooling | undefined
  /** Put before a text; empty for most. */
  readonly prefixes: { readonly document: string; readonly query: string }
  /** SHA-256 of weights and tokenizer, hexadecimal. */
  readonly contentHash: string
}

/** Where the weights are looked for, in this order. */
export const usualWeights = ["onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx"]

/** What no model's configuration says is taken for this. */
const usualTokens = 512

/** Tokenizers without a limit write one of 1e30. */
const endless = 1_000_000

const Config = Schema.Struct({
  model_type: Schema.optional(Schema.String),
  hidden_size: Schema.optional(Schema.Int),
  d_model: Schema.optional(Schema.Int),
  dim: Schema.optional(Schema.Int),
  n_embd: Schema.optional(Schema.Int),
  max_position_embeddings: Schema.optional(Schema.Int),
  pad_token_id: Schema.optional(Schema.NullOr(Schema.Int))
})
const TokenizerConfig = Schema.Struct({ model_max_length: Schema.optional(Schema.NullOr(Schema.Finite)) })
const SentenceConfig = Schema.Struct({ max_seq_length: Schema.optional(Schema.NullOr(Schema.Int)) })
const Modules = Schema.Array(Schema.Struct({ path: Schema.String, type: Schema.String }))
const Prompts = Schema.Struct({
  prompts: Schema.optional(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  default_prompt_name: Schema.optional(Schema.NullOr(Schema.String))
})
const PoolingConfig = Schema.Record(Schema.String, Schema.Unknown)

/** The switches of a sentence transformer's pooling, and what each means here. */
const poolings: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_lasttoken: "lastToken",
  pooling_mode_mean_sqrt_len_tokens: "meanSqrtLength"
}

/** Models that count positions from after their padding token, and so have fewer than they say. */
const offsetPositions = new Set(["roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "data2vec-text"])

/**
 * Reads a model's folder in the layout that the hub and sentence-transformers have: `tokenizer.json`, `config.json`,
 * weights in ONNX, and `modules.json` with what it names. Nothing is guessed that decides the numbers and is not written.
 */
export const readModelFolder = Effect.fn("readModelFolder")(function*(folder: string, file: string | undefined) {
  const place = (name: string) => join(folder, name)
  const there = (name: string) => Effect.promise(() => stat(place(name)).then((found) => found.isFile(), () => false))
  if (!(yield* Effect.promise(() => stat(folder).then((found) => found.isDirectory(), () => false)))) {
    return yield* broken(folder, "there is no such folder", "name the folder that holds tokenizer.json and onnx/model.onnx")
  }
  const candidates = file === undefined ? usualWeights : [file]
  const found = yield* Effect.filter(candidates, there)
  const [weights] = found
  if (weights === undefined) {
    return yield* broken(
      folder,
      `it has no ${file ?? "weights in ONNX, neither onnx/model.onnx nor model.onnx"}`,
      file === undefined
        ? "export the model to ONNX: optimum-cli export onnx --model MODEL FOLDER"
        : "name a file of the model by its path in the folder, as onnx/model_quantized.onnx"
    )
  }
  if (!(yield* there("tokenizer.json"))) {
    return yield* broken(
      folder,
      "it has no tokenizer.json",
      "take it from where the model is from: it belongs to a model as its weights do"
    )
  }
  const json = <A>(name: string, schema: Schema.Decoder<A>): Effect.Effect<A | undefined, ServiceError> =>
    Effect.flatMap(there(name), (exists) =>
      !exists ? Effect.undefined : Effect.tryPromise({
        try: async () => Schema.decodeUnknownSync(schema)(JSON.parse(await readFile(place(name), "utf8"))),
        catch: () => broken(folder, `its ${name} is not what such a file is`, "take it anew from where the model is from")
      }))
  const config = (yield* json("config.json", Config)) ?? {}
  const tokenizer = yield* json("tokenizer_config.json", TokenizerConfig)
  const sentence = yield* json("sentence_bert_config.json", SentenceConfig)
  const modules = (yield* json("modules.json", Modules)) ?? []
  const prompts = yield* json("config_sentence_transformers.json", Prompts)
  const dense = modules.find(({ type }) => type.endsWith(".Dense"))
  if (dense !== undefined) {
    return yield* broken(
      folder,
      `it has a layer beside its weights, ${dense.path}, which is not run`,
      "export it with sentence-transformers' ONNX backend, which puts such layers into the weights"
    )
  }
  const pooled = modules.find(({ type }) => type.endsWith(".Pooling"))?.path ?? "1_Pooling"
  const pooling = yield* json(`${pooled}/config.json`, PoolingConfig)
  const positions = config.max_position_embeddings
  const usable = positions !== undefined && offsetPositions.has(config.model_type ?? "")
    ? positions - (config.pad_token_id ?? 1) - 1
    : positions
  const limits = [usable, tokenizer?.model_max_length, sentence?.max_seq_length].filter(
    (limit): limit is number => typeof limit === "number" && limit > 0 && limit < endless
  )
  const named = prompts?.prompts ?? {}
  const usual = named[prompts?.default_prompt_name ?? ""] ?? ""
  const width = pooling?.["word_embedding_dimension"] ?? config.hidden_size ?? config.d_model ?? config.dim ?? config.n_embd
  return {
    folder,
    weights: place(weights),
    maxTokens: limits.length === 0 ? usualTokens : Math.min(...limits),
    dimensions: typeof width === "number" ? width : undefined,
    pooling: pooling === undefined ? undefined : yield* poolingOf(folder, pooling),
    prefixes: {
      query: named["query"] ?? usual,
      document: named["document"] ?? named["passage"] ?? named["corpus"] ?? usual
    },
    contentHash: yield* hashOf(folder, place(weights))
  } satisfies ModelFolder
})

const poolingOf = (folder: string, config: Readonly<Record<string, unknown>>): Effect.Effect<Pooling, ServiceError> => {
  const written = config["pooling_mode"]
  const switched = typeof written === "string"
    ? [
      written === "lasttoken"
        ? "pooling_mode_lasttoken"
        : `pooling_mode_${written === "mean_sqrt_len_tokens" ? written : `${written}_${written === "cls" ? "token" : "tokens"}`}`
    ]
    : Object.entries(config).flatMap(([name, value]) => name.startsWith("pooling_mode_") && value === true ? [name] : [])
  const [mode] = switched
  const known = mode === undefined ? undefined : poolings[mode]
  return switched.length === 1 && known !== undefined
    ? Effect.succeed(known)
    : Effect.fail(
      broken(
        folder,
        `its vectors are pooled by ${switched.join(" and ") || "nothing"}, which is not done here`,
        "use a model that pools by mean, cls, max or the last token"
      )
    )
}

/** Weights beside the ONNX file, where they are too large for it, count as it does. */
const hashOf = (folder: string, weights: string): Effect.Effect<string, ServiceError> =>
  Effect.tryPromise({
    try: async () => {
      const hash = createHash("sha256")
      const beside = (await readdir(dirname(weights))).filter((name) => name !== basename(weights) && name.startsWith(basename(weights)))
      for (const path of [weights, ...beside.toSorted().map((name) => join(dirname(weights), name)), join(folder, "tokenizer.json")]) {
        hash.update(`${(await stat(path)).size}\n`)
        await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), async (pieces) => {
          for await (const piece of pieces) hash.update(piece)
        })
      }
      return hash.digest("hex")
    },
    catch: (cause) => broken(folder, `it cannot be read: ${cause instanceof Error ? cause.message : "no details"}`)
  })

const broken = (folder: string, rule: string, fix?: string): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `the model in ${folder}: ${rule}`, fix })
