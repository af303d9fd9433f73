import { Result, Schema, SchemaTransformation } from "effect"
import { localModelFields } from "./CorpusSettings.ts"
import { filterExample, filterMistake } from "../../domain/MetadataFilter.ts"
import { partnerModels } from "../../domain/partner/PartnerModels.ts"
import { bucketUriForm } from "../../domain/rag/Forms.ts"
import { definedThroughout } from "../../domain/Defined.ts"
import { alphaRule, distanceRule, fileNamesRule, filesGivenRule, isFileName, oneCorpusRule } from "../../domain/rag/RagRules.ts"
import { longestSynonym, mostSynonyms } from "../../domain/Synonyms.ts"
import { HttpUrl, SecretName } from "../../domain/settings/Names.ts"
import { oneOf } from "../../domain/settings/OneOf.ts"
import {
  atMostOne,
  earlyRule,
  fixAnnotation,
  hasForm,
  integer,
  matches,
  positive,
  rule,
  text,
  withDefault
} from "../../domain/settings/Rules.ts"

const rankModel = Schema.optionalKey(text.annotate({ description: "The ranking model. Unset: the service's default." }))

/** Decodes to the domain's `Ranking`. */
const RankChoice = oneOf({
  bare: ["lexical"],
  description: "Exactly one ranker: lexical (offline), rankService, llmRanker, or crossEncoder.",
  cases: {
    rankService: Schema.Struct({ model: rankModel }).annotate({ description: "The hosted ranking service." }),
    llmRanker: Schema.Struct({ model: rankModel }).annotate({ description: "A language model ranks the contexts." }),
    crossEncoder: Schema.Struct(localModelFields).annotate({
      description:
        "A cross encoder in ONNX on this machine (npm install --ignore-scripts onnxruntime-node); inside retrieve on the embedded engine only."
    })
  }
})

const Filter = Schema.Struct({
  maxDistance: Schema.optionalKey(
    Schema.Finite.check(rule<number>((n) => n >= 0, distanceRule, { minimum: 0 }))
      .annotate({ description: "Only contexts nearer than this; cosine distance, 0 to 2. This or minSimilarity." })
  ),
  minSimilarity: Schema.optionalKey(
    Schema.Finite.annotate({ description: "Only contexts more similar than this. This or maxDistance." })
  ),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String)
      .annotate({ description: "Only files whose metadata has every one of these values." })
  ),
  metadataFilter: Schema.optionalKey(
    text.check(Schema.makeFilter<string>(filterMistake, {
      [fixAnnotation]: `write for example ${filterExample}`,
      toJsonSchema: () => [{}, true] as const
    })).annotate({
      description:
        "Only files whose metadata passes: comparisons, in [..], has(key), &&, ||, !, parentheses, as in year >= 2024 && lang in [\"de\", \"en\"]."
    })
  )
}).check(atMostOne(["maxDistance", "minSimilarity"])).annotate({ description: "Which contexts may be returned." })

const corpusOf = (file: string): string | undefined => /^(.+)\/ragFiles\/[^/]+$/.exec(file)?.[1]

const Retrieve = Schema.Struct({
  topK: Schema.optionalKey(positive.annotate({ description: "How many contexts. Unset: the engine's default, 10." })),
  hybrid: Schema.optionalKey(
    Schema.Struct({
      alpha: withDefault(
        Schema.Finite.check(
          rule<number>(
            (n) => n >= 0 && n <= 1,
            alphaRule,
            { minimum: 0, maximum: 1 }
          )
        ).annotate({ description: "0: words only. 1: vectors only.", default: 0.5 }),
        0.5
      )
    }).annotate({ description: "Search by words and by vectors, and how the two are weighted. Unset: the engine's default." })
  ),
  filter: Schema.optionalKey(Filter),
  files: Schema.optionalKey(
    Schema.Array(text).check(
      rule<ReadonlyArray<string>>(
        (files) => files.length > 0,
        filesGivenRule,
        { minItems: 1 }
      ),
      rule<ReadonlyArray<string>>((files) => files.every(isFileName), fileNamesRule),
      rule<ReadonlyArray<string>>(
        (files) => new Set(files.map(corpusOf).filter((corpus) => corpus !== undefined)).size <= 1,
        oneCorpusRule
      )
    ).annotate({ description: "Search only these files of the corpus: names or ids, as `sluice files list` shows them." })
  ),
  rank: Schema.optionalKey(RankChoice),
  synonyms: Schema.optionalKey(
    Schema.Array(
      Schema.Array(
        text.check(rule<string>((member) => member.length <= longestSynonym, { rule: `must be ${longestSynonym} characters or fewer` }))
      ).check(rule<ReadonlyArray<string>>(
        ({ length }) => length >= 2 && length <= mostSynonyms.members,
        { rule: `needs 2 to ${mostSynonyms.members} words or phrases that mean the same` },
        { minItems: 2, maxItems: mostSynonyms.members }
      ))
    ).check(rule<ReadonlyArray<unknown>>(
      ({ length }) => length <= mostSynonyms.groups,
      { rule: `must have ${mostSynonyms.groups} groups or fewer` },
      { maxItems: mostSynonyms.groups }
    )).annotate({
      description:
        "Groups of words and phrases that mean the same here, as [[PTO, paid time off, vacation]]: where a question has one of a group, the others are searched for too, and an extractive answer may have them."
    })
  ),
  queries: Schema.optionalKey(
    integer(1, 10).annotate({
      description:
        "How many further queries the model of generate, or of chat, writes for a question. What each finds is fused with what the question finds, by reciprocal rank, and the best topK are kept. Unset: the question alone is searched."
    })
  )
}).annotate({ description: "Find the chunks that are relevant to the question." })

const Diversify = Schema.Struct({
  topK: withDefault(positive.annotate({ description: "How many contexts are kept, at most.", default: 10 }), 10),
  lambda: withDefault(
    Schema.Finite.check(rule<number>((n) => n >= 0 && n <= 1, { rule: "must be from 0 to 1" }, { minimum: 0, maximum: 1 }))
      .annotate({ description: "1: the best contexts. 0: those least like the ones taken before.", default: 0.5 }),
    0.5
  )
}).annotate({
  description:
    "Keep the best contexts that do not repeat one another (maximal marginal relevance); the same text in several formats is kept once."
})

const expandFields = {
  before: Schema.optionalKey(integer(0, 20).annotate({ description: "How many chunks of its file before it.", default: 1 })),
  after: Schema.optionalKey(integer(0, 20).annotate({ description: "How many chunks of its file after it.", default: 1 })),
  to: Schema.optionalKey(
    Schema.Literals(["section", "file"]).annotate({
      description:
        "Instead of before and after: all chunks under its heading (section), or of its file (file), the nearest first, as far as they fit into maxTokens."
    })
  ),
  maxTokens: Schema.optionalKey(positive.annotate({ description: "Beside to: tokens that a context may grow to.", default: 4_000 }))
}
type Expanding = Schema.Struct.Type<typeof expandFields>

const Expand = Schema.Struct(expandFields).check(
  rule<Expanding>(({ after, before, to }) => to === undefined || (before === undefined && after === undefined), {
    rule: "takes before and after, or to, not both",
    fix: "keep one of them"
  }),
  rule<Expanding>(({ maxTokens, to }) => maxTokens === undefined || to !== undefined, {
    rule: "takes maxTokens only together with to",
    fix: "give to: section or to: file, or leave maxTokens out"
  }),
  rule<Expanding>(({ after, before }) => before !== 0 || after !== 0, {
    rule: "adds nothing",
    fix: "give before or after another value than 0, or leave expand out"
  })
).annotate({ description: "Give each context the text around it in its file; contexts that then touch become one." })

/** Settings of a server that speaks the `/v1/chat/completions` protocol. */
const OpenAiChat = Schema.Struct({
  url: HttpUrl.annotate({ description: "Base address, for example http://localhost:11434/v1." }),
  model: text.annotate({ description: "The model's name at that address." }),
  apiKey: Schema.optionalKey(SecretName)
}).annotate({ description: "A chat server that speaks the OpenAI protocol." })

export type GeneratorSettings =
  /** Answers with sentences of the corpus; needs no model. */
  | { readonly _tag: "extractive" }
  /** A model of the hosted service. */
  | { readonly _tag: "hosted"; readonly model: string }
  | { readonly _tag: "openai" } & typeof OpenAiChat.Type

/** A model as a person writes it. */
export type WrittenGenerator = string | { readonly openai: typeof OpenAiChat.Encoded }

/** The settings of a model, by the name a person gives it. What is no model stays as it is written: a pipeline with it is refused. */
export const generatorOf = (written: WrittenGenerator): GeneratorSettings =>
  Result.getOrElse(Schema.decodeUnknownResult(GeneratorChoice)(definedThroughout(written)), () => written as never)

/** Whether it is a model, and not what {@link generatorOf} found to be none. */
export const isGenerator = (model: unknown): model is GeneratorSettings => typeof model === "object" && model !== null && "_tag" in model

const modelName = text.check(matches(/^(?!(?:(?:publishers\/anthropic\/models|anthropic)\/)?claude-[^@]*$)/, {
  rule: "a Claude model is named with its date",
  fix: `write for example ${partnerModels[0]?.id}`
}))

/** A setting that names a model. */
const modelChoice = (
  annotations: { readonly description: string; readonly default?: string }
): Schema.Codec<GeneratorSettings, WrittenGenerator> =>
  Schema.Union([
    modelName,
    Schema.Struct({ openai: OpenAiChat })
  ]).annotate(annotations).pipe(Schema.decodeTo(
    Schema.declare(isGenerator),
    SchemaTransformation.transform<GeneratorSettings, string | { readonly openai: typeof OpenAiChat.Type }>({
      decode: (written) =>
        typeof written !== "string"
          ? { _tag: "openai", ...written.openai }
          : written === "extractive"
          ? { _tag: "extractive" }
          : { _tag: "hosted", model: written },
      encode: writtenGenerator
    })
  ))

const writtenGenerator = (generator: GeneratorSettings): string | { readonly openai: typeof OpenAiChat.Type } => {
  if (generator._tag === "extractive") return "extractive"
  if (generator._tag === "hosted") return generator.model
  const { _tag, ...openai } = generator
  return { openai }
}

const GeneratorChoice = modelChoice({
  description:
    "extractive (no model: sentences of the corpus), the name of a hosted model (gemini-2.0-flash-001, claude-3-5-haiku@20241022, meta/llama-3.1-70b-instruct-maas), or an OpenAI-protocol server.",
  default: "extractive"
})

/** Settings of the model that judges answers. */
export const JudgeSettings = Schema.Struct({
  model: modelChoice({ description: "The name of a hosted model, or an OpenAI-protocol server." }).check(
    rule<GeneratorSettings>(({ _tag }) => _tag !== "extractive", {
      rule: "extractive calls no model, so it cannot judge",
      fix: "name a hosted model, or an OpenAI-protocol server"
    })
  )
}).annotate({
  description:
    "The model with which `sluice eval` judges whether each answer says what its test expects, in addition to the exact checks. Unset: no model judges."
})

/** Settings shared by the stages that answer. */
const answering = {
  model: withDefault(GeneratorChoice, "extractive"),
  instruction: Schema.optionalKey(text.annotate({ description: "Instruction on the form of the answer." })),
  temperature: Schema.optionalKey(
    Schema.Finite.check(rule<number>((n) => n >= 0 && n <= 2, { rule: "must be from 0 to 2" }, { minimum: 0, maximum: 2 }))
      .annotate({ description: "Sampling temperature: 0 always takes the most likely words. Unset: the model's default." })
  ),
  topP: Schema.optionalKey(
    Schema.Finite.check(rule<number>((n) => n >= 0 && n <= 1, { rule: "must be from 0 to 1" }, { minimum: 0, maximum: 1 }))
      .annotate({
        description: "Sample from the most likely words that make up this share of the probability. Unset: the model's default."
      })
  ),
  seed: Schema.optionalKey(
    Schema.Int.annotate({ description: "Seed of the sampling: equal requests get equal answers, as far as the model can." })
  )
}

const generateFields = {
  ...answering,
  ground: Schema.optionalKey(
    Schema.Literals(["contexts", "corpus"]).annotate({
      description:
        "contexts: answer from what was retrieved (the default). corpus: the hosted model searches the corpus itself, with its own queries and the settings of retrieve.",
      default: "contexts"
    })
  )
}

const Generate = Schema.Struct(generateFields).check(
  rule<Schema.Struct.Type<typeof generateFields>>(
    ({ ground, model }) => ground !== "corpus" || model._tag === "hosted",
    { rule: "only a hosted model can search the corpus itself", fix: "name one as model, or leave ground out" }
  )
).annotate({ description: "Answer from the contexts, with citations." })

const Chat = Schema.Struct({
  ...answering,
  turns: Schema.optionalKey(
    Schema.Int.check(rule<number>((n) => n >= 0 && n <= 50, { rule: "must be from 0 to 50" }, { minimum: 0, maximum: 50 }))
      .annotate({
        description: "Number of earlier questions and answers that a question may refer to; 0 takes each question alone.",
        default: 6
      })
  )
}).annotate({
  description: "Answer the questions of a conversation: each question is completed from the earlier ones before contexts are retrieved."
})

const batchFields = {
  ...answering,
  maxTokens: Schema.optionalKey(positive.annotate({ description: "Most tokens of an answer. Unset: the model's own limit." })),
  staging: Schema.optionalKey(
    hasForm(bucketUriForm).annotate({
      description:
        "Where the questions with their contexts are stored for a hosted model, and where it writes its answers: gs://bucket/folder."
    })
  )
}

const Batch = Schema.Struct(batchFields).check(
  rule<Schema.Struct.Type<typeof batchFields>>(
    ({ model, staging }) => model._tag !== "hosted" || staging !== undefined,
    { rule: "a hosted model needs staging", fix: "give staging: gs://bucket/folder" }
  )
).annotate({ description: "Answer a file of questions from their contexts, with citations; a hosted model as one batch job." })

const builtInStages = {
  retrieve: Retrieve,
  rank: RankChoice,
  diversify: Diversify,
  expand: Expand,
  generate: Generate,
  chat: Chat,
  batch: Batch
}

export const builtInStageNames: ReadonlySet<string> = new Set(Object.keys(builtInStages))

/** What a stage takes or returns: the question, the question with contexts, or these with an answer. */
export type StageValue = "question" | "retrieved" | "answered"

/** A custom stage that a file can name: its settings, and where it fits. */
export interface OwnStageCase {
  readonly settings: Schema.Codec<unknown, unknown>
  readonly takes: StageValue
  readonly gives: StageValue
}

/** The key that holds the place of a function among the stages that code composed: it may take and give anything. */
export const functionStage = "a stage of one's own"

/** Custom stages, by the keys under which a file writes them. */
export type OwnStages = Readonly<Record<string, OwnStageCase>>

/** A stage of {@link OwnStages}. */
export interface OwnStage {
  readonly _tag: "own"
  readonly kind: string
  readonly settings: object
}

/** Setting of one step from question to answer. */
const stageSettings = (own: OwnStages) =>
  oneOf<never, typeof builtInStages, OwnStage>({
    bare: [],
    description: "One step from question to answer: retrieve, rank, diversify, expand, generate, chat or batch.",
    cases: builtInStages,
    own: Object.fromEntries(Object.entries(own).map(([kind, { settings }]) => [kind, settings]))
  })
export type StageSettings = ReturnType<typeof stageSettings>["Type"]

/** A stage as a file writes it, whether or not it keeps the rules, and whatever else is in it. */
export const writtenStage = (settings: StageSettings): unknown => {
  const { _tag, ...fields }: { readonly _tag: string; readonly model?: unknown; readonly rank?: unknown } = settings
  const rank = "rank" in fields ? { rank: writtenRank(fields.rank) } : {}
  if (_tag === "rank") return rank
  return { [_tag]: { ...fields, ...rank, ...(isGenerator(fields.model) ? { model: writtenGenerator(fields.model) } : {}) } }
}

const writtenRank = (rank: unknown): unknown => {
  if (typeof rank !== "object" || rank === null || !("_tag" in rank)) return rank
  const { _tag, ...fields } = rank
  return _tag === "lexical" ? _tag : { [String(_tag)]: fields }
}

export type RetrieveSettings = Extract<StageSettings, { readonly _tag: "retrieve" }>
export type GenerateSettings = Extract<StageSettings, { readonly _tag: "generate" }>
export type BatchSettings = Extract<StageSettings, { readonly _tag: "batch" }>
export type ChatSettings = Extract<StageSettings, { readonly _tag: "chat" }>

const nameOf = (stage: unknown): unknown =>
  typeof stage !== "object" || stage === null
    ? undefined
    : "_tag" in stage
    ? (stage._tag === "own" && "kind" in stage ? stage.kind : stage._tag)
    : Object.keys(stage)[0]

/** The stages that make other contexts of those that were found. */
const between: ReadonlyArray<unknown> = ["rank", "diversify", "expand"]

/** Stages that answer; a pipeline may have one of each, for `ask`, `chat` and `batch run`. */
const last: ReadonlyArray<unknown> = ["generate", "chat", "batch"]

const misplaced = (written: unknown, before: ReadonlyArray<unknown>, own: OwnStages): string | undefined => {
  const stage = nameOf(written)
  if (stage === functionStage) return undefined
  const after = before.lastIndexOf(functionStage) + 1
  const earlier = before.slice(after)
  const case_ = typeof stage === "string" ? own[stage] : undefined
  if (case_ !== undefined) {
    const given = valueAfter(earlier, own)
    return given === case_.takes
      ? undefined
      : `${String(stage)} takes what ${stagesGiving[case_.takes]} returns, but follows a stage that returns ${valueNames[given]}`
  }
  if (stage === "retrieve") return earlier.includes("retrieve") ? "comes a second time; a pipeline retrieves once" : undefined
  if (!between.includes(stage) && !last.includes(stage)) return undefined
  if (after === 0 && !earlier.includes("retrieve") && !isWrittenToSearch(written)) {
    return `${String(stage)} needs a retrieve stage before it`
  }
  if (between.includes(stage)) {
    const answered = earlier.find((name) => last.includes(name))
    return answered === undefined ? undefined : `${String(stage)} cannot come after ${String(answered)}, which is last`
  }
  return earlier.includes(stage) ? `${String(stage)} comes a second time` : undefined
}

/** {@link searchesItself}, of a stage as it is written. */
const isWrittenToSearch = (written: unknown): boolean => {
  const settings: unknown = typeof written === "object" && written !== null && "generate" in written ? written.generate : written
  return typeof settings === "object" && settings !== null && "ground" in settings && settings.ground === "corpus"
}

const valueNames: Readonly<Record<StageValue, string>> = { question: "a question", retrieved: "contexts", answered: "an answer" }
const stagesGiving: Readonly<Record<StageValue, string>> = { question: "no other stage", retrieved: "retrieve", answered: "generate" }

/** The value that these stages return. */
const valueAfter = (names: ReadonlyArray<unknown>, own: OwnStages): StageValue =>
  names.reduce((value: StageValue, name) => {
    if (typeof name === "string" && own[name] !== undefined) return own[name].gives
    if (name === "retrieve") return "retrieved"
    return name === "generate" ? "answered" : value
  }, "question")

const inOrder = (own: OwnStages) =>
  earlyRule((stages) => {
    const written: ReadonlyArray<unknown> = Array.isArray(stages) ? stages : []
    const names = written.map(nameOf)
    return written.flatMap((stage, at) => {
      const issue = misplaced(stage, names.slice(0, at), own)
      return issue === undefined ? [] : [{ path: [at], issue }]
    })
  })

/** The model that writes further queries for a question: that of generate, or else that of chat, whichever calls one. */
export const queryModel = (stages: ReadonlyArray<StageSettings>): GeneratorSettings | undefined =>
  ["generate", "chat"]
    .flatMap((tag) => stages.filter(({ _tag }) => _tag === tag))
    .flatMap((stage) => "model" in stage && stage.model._tag !== "extractive" ? [stage.model] : [])[0]

/** A rule about a key of `retrieve`, in a list of stages. */
const retrieveRule = (
  key: "queries" | "synonyms",
  issue: string,
  fix: string,
  breaks: (stages: ReadonlyArray<StageSettings>) => boolean
) =>
  Schema.makeFilter<ReadonlyArray<StageSettings>>(
    (stages) =>
      stages.flatMap((stage, at) =>
        stage._tag === "retrieve" && stage[key] !== undefined && breaks(stages) ? [{ path: [at, "retrieve", key], issue }] : []
      ),
    { [fixAnnotation]: fix, toJsonSchema: () => [{}, true] as const }
  )

/** Whether the model retrieves itself, so that no contexts come from the stages before it. */
export const searchesItself = (stage: StageSettings): boolean => stage._tag === "generate" && stage.ground === "corpus"

export const stagesSchema = (own: OwnStages) =>
  Schema.Array(stageSettings(own)).check(
    rule<ReadonlyArray<StageSettings>>(
      (stages) => stages.length > 0,
      { rule: "needs at least a retrieve stage" },
      { minItems: 1 }
    ),
    rule<ReadonlyArray<StageSettings>>(
      (stages) => !stages.some(searchesItself) || !stages.some(({ _tag }) => _tag === "rank"),
      {
        rule: "has a rank stage and a generate stage with ground: corpus, where there are no contexts to rank",
        fix: "rank inside retrieve, or leave ground out"
      }
    ),
    rule<ReadonlyArray<StageSettings>>(
      (stages) => !stages.some(searchesItself) || !stages.some(({ _tag }) => _tag === "diversify" || _tag === "expand"),
      {
        rule: "has a diversify or an expand stage and a generate stage with ground: corpus, where there are no contexts",
        fix: "leave the stage out, or ground"
      }
    ),
    ...(["queries", "synonyms"] as const).map((key) =>
      retrieveRule(
        key,
        "cannot be combined with ground: corpus, where the model searches with its own queries",
        `leave ${key} out, or ground`,
        (stages) => stages.some(searchesItself)
      )
    ),
    retrieveRule(
      "queries",
      "needs a model to write the queries, and neither generate nor chat names one",
      "name a model under generate or chat, or leave queries out",
      (stages) => !stages.some(searchesItself) && queryModel(stages) === undefined
    ),
    inOrder(own)
  ).annotate({
    description:
      "From question to answer, in order: retrieve, then rank, diversify and expand where wanted, then generate, chat, batch or several of these."
  })

/** Stages of a pipeline whose file has none: it answers with the corpus's own sentences. */
export const defaultStages = [{ retrieve: {} }, { generate: { model: "extractive" } }] as const
