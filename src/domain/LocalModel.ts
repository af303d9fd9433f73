import { Schema } from "effect"

/** How the vectors of a text's tokens are combined into the text's vector. */
export const Pooling = Schema.Literals(["mean", "cls", "max", "lastToken", "meanSqrtLength"])
export type Pooling = typeof Pooling.Type

/** A model that runs on this machine, and settings to run it with. */
export const LocalModel = Schema.Struct({
  /**
   * The model's folder (`./all-MiniLM-L6-v2`, `/models/bge`), or its name on the hub, `owner/name` or
   * `owner/name@revision`: {@link isModelFolder}.
   */
  model: Schema.String,
  /** File of weights in the model, where it has several: `onnx/model_quantized.onnx`. */
  file: Schema.optionalKey(Schema.String),
  /** Number of threads for computation. Default: one per processor, at most four. */
  threads: Schema.optionalKey(Schema.Int)
})
export type LocalModel = typeof LocalModel.Type

/** A {@link LocalModel} for embedding, with settings that override those of its folder. */
export interface LocalEmbedding extends LocalModel {
  /** How token vectors are combined. Default: as the model's own configuration says. */
  readonly pooling?: Pooling
  /** Prefix of each text of a document. Default: as the model's own configuration says, else none. */
  readonly documentPrefix?: string
  readonly queryPrefix?: string
}

/** Whether a model is given by its folder rather than by a name on the hub. */
export const isModelFolder = (model: string): boolean => /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|[A-Za-z]:[\\/])/.test(model)

/** Form of a model's name in a pipeline file. */
export const localModelForm = {
  pattern: /^(?:(?:\.{1,2}(?:[\\/].*)?|[\\/].+|[A-Za-z]:[\\/].+)|[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*(?:@[A-Za-z0-9][\w.-]*)?)$/,
  rule: "must be a model's folder, which begins with ./, ../ or /, or its name on the hub: owner/name or owner/name@revision"
}

/** The model's name for people: the last part of its folder's path, or its name on the hub. */
export const localModelName = ({ file, model }: LocalModel): string =>
  `${isModelFolder(model) ? model.split(/[\\/]/).filter((part) => part !== "" && part !== ".").at(-1) ?? model : model}${
    file === undefined ? "" : `#${file}`
  }`
