import { Context, Effect, Stream } from "effect"
import type { Asker } from "../../domain/Asker.ts"
import { defined, isEmpty } from "../../domain/Defined.ts"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { filterExample } from "../../domain/MetadataFilter.ts"
import { type Metadata, RagFileName } from "../../domain/RagFile.ts"
import {
  type Context as RetrievedContext,
  hybridAlpha,
  type Ranking,
  type RetrievalRequest,
  type SearchedCorpus
} from "../../domain/Retrieval.ts"
import type { Synonyms } from "../../domain/Synonyms.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { retrievalTime } from "../Metrics.ts"
import type { RetrieveSettings } from "../definition/StageSettings.ts"
import { suggest } from "../definition/Suggest.ts"
import { type AnyStage, described, type Stage } from "./Stage.ts"

/** The question that a chain of stages starts from. */
export interface Question {
  readonly question: string
  /** Text to search for instead of the question, which is still what is answered. Default: the question. */
  readonly query?: string
  /**
   * Answer only from files that this principal may read, or any of these: `["user:ann@acme.com", "group:eng@acme.com"]` asks for a person
   * together with a group. An empty list finds only public files and files without permissions; absent means the owner, who may read
   * all. A field that is there with `undefined` in it, as of a visitor who is not signed in, is refused, and so is an empty text in a list.
   */
  readonly principal?: Asker
  /** Words and phrases that mean the same, which a `retrieve` stage has searched with and an extractive answer is found with. */
  readonly synonyms?: Synonyms
}

/** Output of a `retrieve` stage: the question with the contexts found for it, best first. */
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

/** The corpus that stages search: their pipeline's. */
export class CorpusInUse extends Context.Service<CorpusInUse, CorpusName>()("sluice/pipeline/CorpusInUse") {}

/** How to retrieve. What is not given is the pipeline's setting, or else the engine's default. */
export interface RetrieveOptions {
  /** How many contexts, 1 to 1,000. Default 10. */
  readonly topK?: number
  /**
   * How search by meaning (dense) and by words (sparse) are mixed: `alpha` 0 is words alone, 1 meaning alone; `{}` means 0.5.
   * Default: the engine's own mix, which the embedded engine chooses by its embedder.
   */
  readonly hybrid?: { readonly alpha?: number }
  /** Which contexts may be returned. Default: any. */
  readonly filter?: {
    /** Only contexts whose cosine distance (0 to 2) is less than this. This or `minSimilarity`. */
    readonly maxDistance?: number
    /** Only contexts whose cosine similarity (-1 to 1) is more than this. This or `maxDistance`. */
    readonly minSimilarity?: number
    /** Only files whose metadata has every one of these values. */
    readonly metadata?: Metadata
    /** Only files whose metadata passes this expression: `year >= 2024 && lang in ["de", "en"]`. */
    readonly metadataFilter?: string
  }
  /** What puts the contexts that were found in another order, before the best `topK` are taken. Default: nothing. */
  readonly rank?: Ranking
  /** Names or ids of files of the corpus to search. Default: all files. */
  readonly files?: ReadonlyArray<string>
  /** Further corpora that are searched along, or files of them; the best of all contexts are taken. Default: none. */
  readonly also?: ReadonlyArray<SearchedCorpus>
  /**
   * Words and phrases that mean the same here, in groups: `[["PTO", "paid time off", "vacation"]]`. Where the question has one of a group,
   * the others are searched for too. Default: none.
   */
  readonly synonyms?: Synonyms
  /** Whether words that no document has are corrected. Default true. */
  readonly correctSpelling?: boolean
  /** Whether each context says why it has its place (`explanation`), which takes longer. Default false. */
  readonly explain?: boolean
}

const optionNames = Object.keys(
  {
    topK: true,
    hybrid: true,
    filter: true,
    rank: true,
    files: true,
    also: true,
    synonyms: true,
    correctSpelling: true,
    explain: true
  } satisfies Record<keyof RetrieveOptions, true>
)
const filterNames = Object.keys(
  { maxDistance: true, minSimilarity: true, metadata: true, metadataFilter: true } satisfies Record<
    keyof NonNullable<RetrieveOptions["filter"]>,
    true
  >
)

/** The error of what is no option: a program without types would take a filter for given that nothing looks at. */
export const strangerAmong = (options: RetrieveOptions): ServiceError | undefined => {
  const { filter } = options
  if (filter !== undefined && Object(filter) !== filter) {
    return ServiceError.invalid("filter", "must be an object", `write for example { metadataFilter: ${JSON.stringify(filterExample)} }`)
  }
  const strange = Object.keys(options).find((name) => !optionNames.includes(name))
  if (strange !== undefined) return noOption(strange, strange, optionNames)
  const inFilter = Object.keys(filter ?? {}).find((name) => !filterNames.includes(name))
  return inFilter === undefined ? undefined : noOption(`filter.${inFilter}`, inFilter, filterNames)
}

const noOption = (field: string, name: string, known: ReadonlyArray<string>): ServiceError => {
  const meant = suggest(name, known)
  return ServiceError.invalid(
    field,
    "is no option of a question",
    meant === undefined ? `there are ${known.join(", ")}` : `did you mean ${meant}?`
  )
}

/** Lets a stage fail with what is wrong where its input has no contexts: the compiler refuses that, but not every program has types. */
export const overContexts = <S extends AnyStage>(name: string, stage: S): S => {
  const { stream } = stage
  const guarded = (input: never) => hasContexts(input) ? stage(input) : Effect.fail(lacksContexts(name))
  return Object.assign(
    guarded,
    stage,
    stream === undefined ? {} : { stream: (input: never) => hasContexts(input) ? stream(input) : Stream.fail(lacksContexts(name)) }
  ) as unknown as S // the stage, with one error more that it may have
}

/** Whether a value has a list of contexts, which stages then have made. */
export const hasContexts = (value: unknown): value is Retrieved =>
  typeof value === "object" && value !== null && "contexts" in value && Array.isArray(value.contexts)

const lacksContexts = (name: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${name} was given no contexts: the field contexts of its input must be a list`,
    fix: "put retrieve() before it, and return { ...input, contexts } from a stage of your own"
  })

/** Options of `retrieve` that one question overrides, such as `--top-k` on the command line. */
export const RetrieveOverrides = Context.Reference<RetrieveOptions>("sluice/pipeline/RetrieveOverrides", { defaultValue: () => ({}) })

/** Builds the retrieval request of a question. */
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

/** A question's filter narrows the pipeline's, and its threshold replaces the pipeline's. */
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

/** Made once: a span records where it was made, which would take a tenth of a question's time. */
const spanOfStage = Effect.withSpan("stage.retrieve")

/** Finds the contexts in the pipeline's corpus that are relevant to the question, best first. */
export const retrieve = (options: RetrieveOptions = {}): Stage<Unretrieved, Retrieved, ServiceError, Retrieval | CorpusInUse> =>
  described(settingsOf(options), (input) =>
    Effect.flatMap(Effect.context<Retrieval | CorpusInUse>(), (around) =>
      Effect.map(
        Context.get(around, Retrieval).retrieve({ ...requestIn(around, input, options), query: input.query ?? input.question }),
        (contexts) => retrieved(input, options, contexts)
      )).pipe(Effect.trackDuration(retrievalTime), spanOfStage))

/** What stages after a retrieving one get. */
export const retrieved = (input: Question, { synonyms }: RetrieveOptions, contexts: Retrieved["contexts"]): Retrieved => ({
  ...input,
  ...defined({ synonyms }),
  contexts
})

/** What a pipeline file would say of it. */
export const settingsOf = ({ correctSpelling: _, explain: __, hybrid, ...options }: RetrieveOptions): RetrieveSettings => ({
  _tag: "retrieve",
  ...options,
  ...(hybrid === undefined ? {} : { hybrid: { alpha: hybrid.alpha ?? hybridAlpha } })
})
