import { isAbsolute, relative, resolve } from "node:path"
import { defined } from "../../domain/Defined.ts"
import { isModelFolder } from "../../domain/LocalModel.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Definition } from "./Definition.ts"
import { definePipeline } from "./DefinePipeline.ts"
import type { StageSettings } from "./StageSettings.ts"

/**
 * What reading a corpus needs of its pipeline: what it is called, what questions are embedded with, and the stages from
 * question to answer. Sources, imports, tests and stages of one's own stay behind; secrets are named by their versions, as
 * in the file. Models of this machine go by their folders, from `folder` on.
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

/** The same as read from a bundle in `folder`: folders of models are resolved against it. */
export const unbundled = (pipeline: Definition, folder: string): Definition => {
  const { embedding } = pipeline.corpus
  const from = (path: string) => resolve(folder, path)
  return {
    ...pipeline,
    corpus: defined({ ...pipeline.corpus, embedding: embedding?._tag === "local" ? moved(embedding, from) : embedding }),
    stages: pipeline.stages.map(movedStage(from))
  }
}

/** Why a pipeline's answers cannot be those of its bundle. */
export const notBundled = ({ stages }: Definition): ServiceError | undefined => {
  const at = stages.findIndex((stage) => stage._tag === "retrieve" && stage.files !== undefined)
  return at === -1 ? undefined : ServiceError.invalid(
    `stages[${at}].retrieve.files`,
    "names files of this corpus, whose names in a bundle are others",
    "choose them by their metadata: filter: { metadataFilter: … }"
  )
}

/** A folder as it is named, `./models/small`; of another drive it stays as it is. */
const portable = (path: string): string =>
  isAbsolute(path) || path.startsWith("../") ? path.replaceAll("\\", "/") : `./${path.replaceAll("\\", "/")}`

const moved = <M extends { readonly model: string }>(model: M, change: (path: string) => string): M =>
  isModelFolder(model.model) ? { ...model, model: change(model.model) } : model

const movedStage = (change: (path: string) => string) => (stage: StageSettings): StageSettings =>
  "rank" in stage && stage.rank?._tag === "crossEncoder" ? { ...stage, rank: moved(stage.rank, change) } : stage
