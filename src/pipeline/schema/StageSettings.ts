import { Schema, SchemaTransformation } from "effect"
import { HttpUrl, SecretName } from "./names.ts"
import { oneOf } from "./oneOf.ts"
import { atMostOne, earlyRule, positive, rule, text, withDefault } from "./rules.ts"

const rankModel = Schema.optionalKey(text.annotate({ description: "The ranking model. Unset: the service's default." }))

/** Decodes to the domain's `Ranking`. */
const RankChoice = oneOf({
  bare: ["lexical"],
  description: "Exactly one ranker: lexical (offline), rankService, or llmRanker.",
  cases: {
    rankService: Schema.Struct({ model: rankModel }).annotate({ description: "The hosted ranking service." }),
    llmRanker: Schema.Struct({ model: rankModel }).annotate({ description: "A language model ranks the contexts." })
  }
})

const Filter = Schema.Struct({
  maxDistance: Schema.optionalKey(
    Schema.Finite.check(rule<number>((n) => n >= 0, { rule: "must be 0 or more" }, { minimum: 0 }))
      .annotate({ description: "Only contexts nearer than this; cosine distance, 0 to 2. This or minSimilarity." })
  ),
  minSimilarity: Schema.optionalKey(
    Schema.Finite.annotate({ description: "Only contexts more similar than this. This or maxDistance." })
  ),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String)
      .annotate({ description: "Only files whose metadata has every one of these values." })
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
            { rule: "must be from 0 (words only) to 1 (vectors only)" },
            { minimum: 0, maximum: 1 }
          )
        ).annotate({ description: "0: words only. 1: vectors only.", default: 0.5 }),
        0.5
      )
    }).annotate({ description: "Search by words and by vectors, and how they are weighed. Unset: the engine's default." })
  ),
  filter: Schema.optionalKey(Filter),
  files: Schema.optionalKey(
    Schema.Array(text).check(
      rule<ReadonlyArray<string>>(
        (files) => files.length > 0,
        { rule: "needs at least one file", fix: "leave files out to search the whole corpus" },
        { minItems: 1 }
      ),
      rule<ReadonlyArray<string>>(
        (files) => new Set(files.map(corpusOf).filter((corpus) => corpus !== undefined)).size <= 1,
        { rule: "must all be files of one corpus" }
      )
    ).annotate({ description: "Search only these files of the corpus: names or ids, as `sluice files list` shows them." })
  ),
  rank: Schema.optionalKey(RankChoice)
}).annotate({ description: "Find the chunks that bear on the question." })

/** Any server that speaks the `/v1/chat/completions` protocol. */
const OpenAiChat = Schema.Struct({
  url: HttpUrl.annotate({ description: "Base address, for example http://localhost:11434/v1." }),
  model: text.annotate({ description: "The model's name at that address." }),
  apiKey: Schema.optionalKey(SecretName)
}).annotate({ description: "A chat server that speaks the OpenAI protocol." })

export type GeneratorSettings =
  /** Answers in sentences of the corpus; needs no model. */
  | { readonly _tag: "extractive" }
  /** A model of the hosted service. */
  | { readonly _tag: "hosted"; readonly model: string }
  | { readonly _tag: "openai" } & typeof OpenAiChat.Type

type WrittenGenerator = string | { readonly openai: typeof OpenAiChat.Encoded }

const GeneratorChoice: Schema.Codec<GeneratorSettings, WrittenGenerator> = Schema.Union([
  text,
  Schema.Struct({ openai: OpenAiChat })
]).annotate({
  description: "extractive (no model: sentences of the corpus), the name of a hosted model, or an OpenAI-protocol server.",
  default: "extractive"
}).pipe(Schema.decodeTo(
  Schema.declare((u): u is GeneratorSettings => typeof u === "object" && u !== null && "_tag" in u),
  SchemaTransformation.transform<GeneratorSettings, string | { readonly openai: typeof OpenAiChat.Type }>({
    decode: (written) =>
      typeof written !== "string"
        ? { _tag: "openai", ...written.openai }
        : written === "extractive"
        ? { _tag: "extractive" }
        : { _tag: "hosted", model: written },
    encode: (generator) => {
      if (generator._tag === "extractive") return "extractive"
      if (generator._tag === "hosted") return generator.model
      const { _tag, ...openai } = generator
      return { openai }
    }
  })
))

const Generate = Schema.Struct({
  model: withDefault(GeneratorChoice, "extractive"),
  instruction: Schema.optionalKey(text.annotate({ description: "What the answer should be like." }))
}).annotate({ description: "Answer from the contexts, with citations." })

/** One step from question to answer. */
export const StageSettings = oneOf({
  bare: [],
  description: "One step from question to answer: retrieve, rank or generate.",
  cases: { retrieve: Retrieve, rank: RankChoice, generate: Generate }
})
export type StageSettings = typeof StageSettings.Type
export type RetrieveSettings = Extract<StageSettings, { readonly _tag: "retrieve" }>
export type GenerateSettings = Extract<StageSettings, { readonly _tag: "generate" }>

const nameOf = (stage: unknown): unknown =>
  typeof stage !== "object" || stage === null ? undefined : "_tag" in stage ? stage._tag : Object.keys(stage)[0]

const misplaced = (stage: unknown, earlier: ReadonlyArray<unknown>): string | undefined => {
  if (stage === "retrieve") return earlier.includes("retrieve") ? "comes a second time; a pipeline retrieves once" : undefined
  if (stage !== "rank" && stage !== "generate") return undefined
  if (!earlier.includes("retrieve")) return `${stage} needs a retrieve stage before it`
  return earlier.includes("generate") ? `${stage} cannot come after generate, which is last` : undefined
}

const inOrder = earlyRule((stages) => {
  const names = Array.isArray(stages) ? stages.map(nameOf) : []
  return names.flatMap((name, at) => {
    const issue = misplaced(name, names.slice(0, at))
    return issue === undefined ? [] : [{ path: [at], issue }]
  })
})

export const Stages = Schema.Array(StageSettings).check(
  rule<ReadonlyArray<StageSettings>>(
    (stages) => stages.length > 0,
    { rule: "needs at least a retrieve stage" },
    { minItems: 1 }
  ),
  inOrder
).annotate({ description: "From question to answer, in order: retrieve, then rank where wanted, then generate." })

/** What `stages` is when a file leaves it out: answers in the corpus's own sentences. */
export const defaultStages = [{ retrieve: {} }, { generate: { model: "extractive" } }] as const
