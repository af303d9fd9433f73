import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { basename, dirname, join, posix } from "node:path"
import { pipeline } from "node:stream/promises"
import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Pooling } from "../../domain/LocalModel.ts"
import { readTensors } from "./Safetensors.ts"

/** A model's folder, with what was found in it. */
export type ModelFolder = OnnxFolder | StaticFolder

interface Found {
  readonly folder: string
  /** Absolute path of the file of weights. */
  readonly weights: string
  /** Prefixes of texts; empty for most models. */
  readonly prefixes: { readonly document: string; readonly query: string }
  /** SHA-256 of weights and tokenizer, hexadecimal. */
  readonly contentHash: string
}

export interface OnnxFolder extends Found {
  readonly form: "onnx"
  /** Most tokens of the model's input, including the special ones around a text. */
  readonly maxTokens: number
  /** Dimensions of a token's vector; absent where the configuration does not state them. */
  readonly dimensions: number | undefined
  readonly pooling: Pooling | undefined
}

/** A table of token vectors, as in model2vec and sentence-transformers' StaticEmbedding. */
export interface StaticFolder extends Found {
  readonly form: "static"
  /** Absolute path of the tokenizer's file. */
  readonly tokenizer: string
  /** Name of the tensor that contains the table. */
  readonly table: string
  readonly dimensions: number
  /** Whether the token for unknown words counts: model2vec leaves it out. */
  readonly countsUnknown: boolean
}

/** Where ONNX weights are searched for, in this order. */
export const usualWeights = ["onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx"]

/** Most tokens of a model whose configuration states no limit. */
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

/** The switches of a sentence transformer's pooling, and the pooling that each one means. */
const poolings: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_lasttoken: "lastToken",
  pooling_mode_mean_sqrt_len_tokens: "meanSqrtLength"
}

/** Types of models that count positions from after their padding token, and so have fewer than they state. */
const offsetPositions = new Set(["roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "data2vec-text"])

/** The files of a static model, by path in its folder. */
interface StaticFiles {
  readonly weights: string
  readonly tokenizer: string
  readonly countsUnknown: boolean
}

/**
 * The files of a static model; undefined where the folder's `config.json` and `modules.json` do not declare one, whatever else it contains.
 */
export const staticFilesOf = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<StaticFiles | undefined, ServiceError> {
  const isModel2vec = (yield* readJson(folder, "config.json", Config))?.model_type === "model2vec"
  const modules = (yield* readJson(folder, "modules.json", Modules)) ?? []
  const table = modules.find(({ type }) => type.endsWith(".StaticEmbedding"))
  if (table === undefined && !isModel2vec) return undefined
  const other = modules.find((module) => module !== table && !module.type.endsWith(".Normalize"))
  if (other !== undefined) {
    return yield* broken(
      folder,
      `its modules.json has ${other.path || other.type} beside the table of vectors, which is not run`,
      "use a model that is a table alone"
    )
  }
  const within = (name: string) => posix.join(table?.path ?? "", name)
  return { weights: within("model.safetensors"), tokenizer: within("tokenizer.json"), countsUnknown: !isModel2vec }
})

/**
 * Reads a model's folder in the layout of the hub and sentence-transformers: `tokenizer.json`, `config.json`, weights in ONNX, and
 * `modules.json` with the files it names; or a static table of vectors. Nothing that determines the numbers is guessed.
 */
export const readModelFolder = Effect.fn("readModelFolder")(function*(
  folder: string,
  file: string | undefined
): Effect.fn.Return<ModelFolder, ServiceError> {
  if (!(yield* Effect.promise(() => stat(folder).then((found) => found.isDirectory(), () => false)))) {
    return yield* broken(folder, "there is no such folder", "name the folder that holds tokenizer.json and the weights")
  }
  const table = file === undefined || file.endsWith(".safetensors") ? yield* staticFilesOf(folder) : undefined
  return table === undefined ? yield* readOnnx(folder, file) : yield* readStatic(folder, { ...table, weights: file ?? table.weights })
})

const isThere = (folder: string, name: string): Effect.Effect<boolean> =>
  Effect.promise(() => stat(join(folder, name)).then((found) => found.isFile(), () => false))

/** The content of a settings file; undefined where it does not exist. */
const readJson = <A>(folder: string, name: string, schema: Schema.Decoder<A>): Effect.Effect<A | undefined, ServiceError> =>
  Effect.flatMap(isThere(folder, name), (exists) =>
    !exists ? Effect.undefined : Effect.tryPromise({
      try: async () => Schema.decodeUnknownSync(schema)(JSON.parse(await readFile(join(folder, name), "utf8"))),
      catch: () => broken(folder, `its ${name} is not what such a file is`, "take it anew from where the model is from")
    }))

const noTokenizer = (folder: string, name: string): ServiceError =>
  broken(folder, `it has no ${name}`, "take it from where the model is from: it belongs to a model as its weights do")

const prefixesIn = Effect.fnUntraced(function*(folder: string) {
  const prompts = yield* readJson(folder, "config_sentence_transformers.json", Prompts)
  const named = prompts?.prompts ?? {}
  const usual = named[prompts?.default_prompt_name ?? ""] ?? ""
  return {
    query: named["query"] ?? usual,
    document: named["document"] ?? named["passage"] ?? named["corpus"] ?? usual
  }
})

const readOnnx = Effect.fnUntraced(function*(folder: string, file: string | undefined): Effect.fn.Return<OnnxFolder, ServiceError> {
  const [weights] = yield* Effect.filter(file === undefined ? usualWeights : [file], (name) => isThere(folder, name))
  if (weights === undefined) {
    return yield* broken(
      folder,
      file === undefined
        ? "it has no weights in ONNX, neither onnx/model.onnx nor model.onnx, and says nowhere that it is a table of vectors"
        : `it has no ${file}`,
      file === undefined
        ? "export the model to ONNX: optimum-cli export onnx --model MODEL FOLDER"
        : "name a file of the model by its path in the folder, as onnx/model_quantized.onnx"
    )
  }
  if (!(yield* isThere(folder, "tokenizer.json"))) return yield* noTokenizer(folder, "tokenizer.json")
  const config = (yield* readJson(folder, "config.json", Config)) ?? {}
  const tokenizer = yield* readJson(folder, "tokenizer_config.json", TokenizerConfig)
  const sentence = yield* readJson(folder, "sentence_bert_config.json", SentenceConfig)
  const modules = (yield* readJson(folder, "modules.json", Modules)) ?? []
  const dense = modules.find(({ type }) => type.endsWith(".Dense"))
  if (dense !== undefined) {
    return yield* broken(
      folder,
      `it has a layer beside its weights, ${dense.path}, which is not run`,
      "export it with sentence-transformers' ONNX backend, which puts such layers into the weights"
    )
  }
  const pooled = modules.find(({ type }) => type.endsWith(".Pooling"))?.path ?? "1_Pooling"
  const pooling = yield* readJson(folder, `${pooled}/config.json`, PoolingConfig)
  const positions = config.max_position_embeddings
  const usable = positions !== undefined && offsetPositions.has(config.model_type ?? "")
    ? positions - (config.pad_token_id ?? 1) - 1
    : positions
  const limits = [usable, tokenizer?.model_max_length, sentence?.max_seq_length].filter(
    (limit): limit is number => typeof limit === "number" && limit > 0 && limit < endless
  )
  const width = pooling?.["word_embedding_dimension"] ?? config.hidden_size ?? config.d_model ?? config.dim ?? config.n_embd
  return {
    form: "onnx",
    folder,
    weights: join(folder, weights),
    maxTokens: limits.length === 0 ? usualTokens : Math.min(...limits),
    dimensions: typeof width === "number" ? width : undefined,
    pooling: pooling === undefined ? undefined : yield* poolingOf(folder, pooling),
    prefixes: yield* prefixesIn(folder),
    contentHash: yield* hashOf(folder, join(folder, weights), join(folder, "tokenizer.json"))
  }
})

/** Names of the table: in model2vec, and in sentence-transformers. */
const tables = ["embeddings", "embedding.weight"]

const readStatic = Effect.fnUntraced(function*(folder: string, files: StaticFiles): Effect.fn.Return<StaticFolder, ServiceError> {
  const { countsUnknown } = files
  if (!(yield* isThere(folder, files.weights))) {
    return yield* broken(folder, `it has no ${files.weights}`, "take it anew from where the model is from")
  }
  if (!(yield* isThere(folder, files.tokenizer))) return yield* noTokenizer(folder, files.tokenizer)
  const [weights, tokenizer] = [join(folder, files.weights), join(folder, files.tokenizer)]
  const tensors = yield* Effect.tryPromise({
    try: () => readTensors(weights),
    catch: (cause) =>
      broken(
        folder,
        `its ${files.weights} cannot be read: ${cause instanceof Error ? cause.message : "no details"}`,
        "take it anew from where the model is from"
      )
  })
  const table = tables.find((name) => tensors.has(name))
  const [, dimensions = 0, ...more] = tensors.get(table ?? "")?.shape ?? []
  if (table === undefined || dimensions === 0 || more.length > 0) {
    return yield* broken(
      folder,
      `its ${files.weights} has no table of vectors under ${tables.join(" or ")}`,
      "use a model of model2vec, or of sentence-transformers' StaticEmbedding"
    )
  }
  return {
    form: "static",
    folder,
    weights,
    tokenizer,
    table,
    dimensions,
    countsUnknown,
    prefixes: yield* prefixesIn(folder),
    contentHash: yield* hashOf(folder, weights, tokenizer)
  }
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

/** The content hash. Weights in a separate file, where they are too large for the ONNX file, are included. */
const hashOf = (folder: string, weights: string, tokenizer: string): Effect.Effect<string, ServiceError> =>
  Effect.tryPromise({
    try: async () => {
      const hash = createHash("sha256")
      const beside = (await readdir(dirname(weights))).filter((name) => name !== basename(weights) && name.startsWith(basename(weights)))
      for (const path of [weights, ...beside.toSorted().map((name) => join(dirname(weights), name)), tokenizer]) {
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
