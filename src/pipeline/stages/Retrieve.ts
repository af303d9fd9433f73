import { Context, Effect } from "effect"
import { defined, isEmpty } from "../../domain/Defined.ts"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { RagFileName } from "../../domain/RagFile.ts"
import type { Context as RetrievedContext, RetrievalRequest } from "../../domain/Retrieval.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { retrievalTime } from "../Metrics.ts"
import type { RetrieveSettings } from "../definition/StageSettings.ts"
import { described, type Stage } from "./Stage.ts"

/** What a chain of stages starts from. */
export interface Question {
  readonly question: string
  /** What is searched in place of the question, which is still what is answered. Default: the question. */
  readonly query?: string
  /** Answer only from what this principal may read; absent means the owner, who reads all. */
  readonly principal?: string
}

/** What a `retrieve` stage gives: the question with the contexts found for it, best first. */
export interface Retrieved extends Question {
  readonly contexts: ReadonlyArray<RetrievedContext>
}

/** A question that nothing was retrieved for yet: what a stage takes that retrieves. */
export interface Unretrieved extends Question {
  readonly contexts?: never
}

/** Contexts that nothing was answered from yet: what stages take that rank or answer. */
export interface Unanswered extends Retrieved {
  readonly answer?: never
}

/** The corpus that stages search: that of the pipeline they belong to. */
export class CorpusInUse extends Context.Service<CorpusInUse, CorpusName>()("sluice/pipeline/CorpusInUse") {}

/** How to retrieve: a {@link RetrievalRequest} but for what the question and the pipeline bring. */
export interface RetrieveOptions extends Omit<RetrievalRequest, "corpus" | "query" | "principal" | "files"> {
  /** Names or ids of the corpus's files. Default: all of them. */
  readonly files?: ReadonlyArray<string>
}

/** What one question asks of `retrieve` differently from the pipeline: `--top-k` of the command line, for one. */
export const RetrieveOverrides = Context.Reference<RetrieveOptions>("sluice/pipeline/RetrieveOverrides", { defaultValue: () => ({}) })

/** The request that a question makes of a corpus. */
export const retrievalRequest = (
  question: Question,
  options: RetrieveOptions
): Effect.Effect<Omit<RetrievalRequest, "query">, never, CorpusInUse> =>
  Effect.map(Effect.context<CorpusInUse>(), (around) => requestIn(around, question, options))

const requestIn = (
  around: Context.Context<CorpusInUse>,
  { principal }: Question,
  options: RetrieveOptions
): Omit<RetrievalRequest, "query"> => {
  const corpus = Context.get(around, CorpusInUse)
  const overrides = Context.get(around, RetrieveOverrides)
  const { files, ...rest } = { ...options, ...defined(overrides) }
  return {
    ...rest,
    ...(rest.filter === undefined ? {} : { filter: bothFilters(options.filter, overrides.filter) }),
    corpus,
    ...(files === undefined
      ? {}
      : { files: files.map((file) => RagFileName.make(file.includes("/") ? file : `${corpus}/ragFiles/${file}`)) }),
    ...(principal === undefined ? {} : { principal })
  }
}

/** A question narrows what the pipeline lets through, and sets a threshold of its own. */
const bothFilters = (ofPipeline: RetrieveOptions["filter"] = {}, ofQuestion: RetrieveOptions["filter"] = {}) => {
  const { maxDistance, metadata, metadataFilter, minSimilarity } = ofQuestion
  const threshold = isEmpty({ maxDistance, minSimilarity }) ? ofPipeline : ofQuestion
  const expressions = [ofPipeline.metadataFilter, metadataFilter].filter((expression) => expression !== undefined)
  return defined({
    maxDistance: threshold.maxDistance,
    minSimilarity: threshold.minSimilarity,
    metadata: ofPipeline.metadata === undefined ? metadata : { ...metadata, ...ofPipeline.metadata },
    metadataFilter: expressions.length < 2 ? expressions[0] : expressions.map((expression) => `(${expression})`).join(" && ")
  })
}

/** Made once: it notes where it was made, which would be a tenth of what a question costs. */
const spanOfStage = Effect.withSpan("stage.retrieve")

/** Finds the contexts of the pipeline's corpus that bear on the question, best first. */
export const retrieve = (options: RetrieveOptions = {}): Stage<Unretrieved, Retrieved, ServiceError, Retrieval | CorpusInUse> =>
  described(settingsOf(options), (input) =>
    Effect.flatMap(Effect.context<Retrieval | CorpusInUse>(), (around) =>
      Effect.map(
        Context.get(around, Retrieval).retrieve({ ...requestIn(around, input, options), query: input.query ?? input.question }),
        (contexts) => ({ ...input, contexts })
      )).pipe(Effect.trackDuration(retrievalTime), spanOfStage))

const settingsOf = ({ correctSpelling: _, explain: __, hybrid, ...options }: RetrieveOptions): RetrieveSettings => ({
  _tag: "retrieve",
  ...options,
  ...(hybrid === undefined ? {} : { hybrid: { alpha: hybrid.alpha ?? 0.5 } })
})
