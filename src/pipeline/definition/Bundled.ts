import { isAbsolute, relative, resolve } from "node:path"
import { defined } from "../../domain/Defined.ts"
import { isModelFolder } from "../../domain/LocalModel.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Definition } from "./Definition.ts"
import { definePipeline } from "./DefinePipeline.ts"
import type { StageSettings } from "./StageSettings.ts"

/**
 * The part of a pipeline that reading its corpus needs: its name, the embedding of questions, and the stages from
 * question to answer. Sources, imports, tests and custom stages are left out; secrets are named by their versions, as in
 * the file. Local models are given by their folders, relative to `folder`.
 */
export const bundled = (pipeline: Definition, folder: string): Definition => {
  const { name, stages, corpus: { description, displayName, embedding } } = pipeline
  const least = definePipeline({ name, corpus: { displayName }, sources: {} })
  return {
    ...least,
    corpus: defined({
      ...least.corpus,
      description,
      embedding: embedding?._tag === "local" ? moved(embedding, (path) => portable(relative(folder, path))) : embedding
    }),
    stages: stages.filter(({ _tag }) => _tag !== "own" && _tag !== "batch").map(movedStage((path) => portable(relative(folder, path))))
  }
}

/** A bundle's pipeline as read in `folder`: folders of models are resolved against it. */
export const unbundled = (pipeline: Definition, folder: string): Definition => {
  const { embedding } = pipeline.corpus
  const from = (path: string) => resolve(folder, path)
  return {
    ...pipeline,
    corpus: defined({ ...pipeline.corpus, embedding: embedding?._tag === "local" ? moved(embedding, from) : embedding }),
    stages: pipeline.stages.map(movedStage(from))
  }
}

/** The reason a pipeline's answers would differ from those of its bundle, if there is one. */
export const notBundled = ({ stages }: Definition): ServiceError | undefined => {
  const at = stages.findIndex((stage) => stage._tag === "retrieve" && stage.files !== undefined)
  return at === -1 ? undefined : ServiceError.invalid(
    `stages[${at}].retrieve.files`,
    "names files of this corpus, which have other names in a bundle",
    "choose them by their metadata: filter: { metadataFilter: … }"
  )
}

/** A folder as it is written, `./models/small`; a folder on another drive stays as it is. */
const portable = (path: string): string =>
  isAbsolute(path) || path.startsWith("../") ? path.replaceAll("\\", "/") : `./${path.replaceAll("\\", "/")}`

const moved = <M extends { readonly model: string }>(model: M, change: (path: string) => string): M =>
  isModelFolder(model.model) ? { ...model, model: change(model.model) } : model

const movedStage = (change: (path: string) => string) => (stage: StageSettings): StageSettings =>
  "rank" in stage && stage.rank?._tag === "crossEncoder" ? { ...stage, rank: moved(stage.rank, change) } : stage
