import { Schema } from "effect"

/** How the vectors of a text's tokens become the text's. */
export const Pooling = Schema.Literals(["mean", "cls", "max", "lastToken", "meanSqrtLength"])
export type Pooling = typeof Pooling.Type

/** A model that runs on this machine, and how it is run. */
export const LocalModel = Schema.Struct({
  /**
   * A folder (`./all-MiniLM-L6-v2`, `/models/bge`), or the name that a model has on the hub, `owner/name` or
   * `owner/name@revision`: {@link isModelFolder}.
   */
  model: Schema.String,
  /** The weights within the model, where it has several: `onnx/model_quantized.onnx`. */
  file: Schema.optionalKey(Schema.String),
  /** Threads that calculate. Default: one for each processor, four at most. */
  threads: Schema.optionalKey(Schema.Int)
})
export type LocalModel = typeof LocalModel.Type

/** A {@link LocalModel} that embeds, and what its folder does not say of it. */
export interface LocalEmbedding extends LocalModel {
  /** Default: what the model's own configuration says. */
  readonly pooling?: Pooling
  /** Put before each text of a document, and before each question. Default: what the model's own configuration says, else nothing. */
  readonly documentPrefix?: string
  readonly queryPrefix?: string
}

/** Whether a model is named by its folder, not by a hub. */
export const isModelFolder = (model: string): boolean => /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|[A-Za-z]:[\\/])/.test(model)

/** What a model may be called in a pipeline file. */
export const localModelForm = {
  pattern: /^(?:(?:\.{1,2}(?:[\\/].*)?|[\\/].+|[A-Za-z]:[\\/].+)|[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*(?:@[A-Za-z0-9][\w.-]*)?)$/,
  rule: "must be a model's folder, which begins with ./, ../ or /, or its name on the hub: owner/name or owner/name@revision"
}

/** What a person calls the model: the last part of its folder's path, or its name on the hub. */
export const localModelName = ({ file, model }: LocalModel): string =>
  `${isModelFolder(model) ? model.split(/[\\/]/).filter((part) => part !== "" && part !== ".").at(-1) ?? model : model}${
    file === undefined ? "" : `#${file}`
  }`
