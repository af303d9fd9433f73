import { Result } from "effect"
import type { Chunking } from "../../domain/Chunking.ts"
import type { VectorDb } from "../../domain/Corpus.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import { refusedRegion } from "../../domain/partner/PartnerChatRules.ts"
import { partnerModelNamed } from "../../domain/partner/PartnerModels.ts"
import { wholeNumberRule } from "../../domain/rag/Forms.ts"
import type { Ranking } from "../../domain/Retrieval.ts"
import type { Definition } from "./Definition.ts"
import type { EmbeddingChoice } from "./CorpusSettings.ts"
import type { EngineName } from "./EngineSettings.ts"
import { forEngine, sectionPath } from "./ForEngine.ts"
import type { BuiltInKind } from "../../domain/sources/BuiltInSources.ts"
import { commonSettings, kindOf } from "./SourceSettings.ts"
import type { GeneratorSettings, StageSettings } from "./StageSettings.ts"
import type { Problem, ValuePath } from "./PipelineInvalid.ts"
import { suggest } from "./Suggest.ts"

/** What a pipeline may require of an engine, by the names that the file uses. */
interface Abilities {
  readonly vectorDb: VectorDb["_tag"]
  readonly embedding: EmbeddingChoice["_tag"]
  readonly source: BuiltInKind
  readonly chunking: Chunking["strategy"] | "chunker"
  readonly parsing: Parsing["_tag"]
  /** Vector databases with hybrid search. */
  readonly hybrid: VectorDb["_tag"]
  /** Rankers inside `retrieve`. */
  readonly retrieveRank: Ranking["_tag"]
  /** Rankers of the `rank` stage. */
  readonly rank: Ranking["_tag"]
  readonly generate: GeneratorSettings["_tag"]
  readonly import: "resultSink" | "staging" | "keepEmbeddings" | "budget" | "limits" | "textRecognition"
  readonly filter: "metadata"
  /** The `expand` stage. */
  readonly expand: "chunks"
}
type Family = keyof Abilities

export type Ability = { [F in Family]: `${F}:${Abilities[F]}` }[Family]

/** Abilities of an engine, with the connectors and models wired beside it. */
export interface EngineCapabilities {
  readonly engine: EngineName
  readonly abilities: ReadonlySet<Ability>
  /** Values that `embedding.model` may have; absent where only the service knows them. */
  readonly embeddingModels?: ReadonlySet<string>
  /** Most contexts that a request may ask for; absent where only the service knows. */
  readonly largestTopK?: number
}

/** The port that would provide an ability, and names of the abilities. */
const families: {
  readonly [F in Family]: { readonly port: string; readonly names: { readonly [N in Abilities[F]]: string } }
} = {
  vectorDb: {
    port: "Corpora",
    names: {
      managed: "vector store of its own",
      weaviate: "connection to Weaviate",
      pinecone: "connection to Pinecone",
      featureStore: "connection to Vertex AI Feature Store",
      vectorSearch: "connection to Vertex AI Vector Search",
      agentSearch: "connection to Vertex AI Search",
      postgres: "connection to PostgreSQL",
      qdrant: "connection to Qdrant",
      lanceDb: "connection to LanceDB"
    }
  },
  embedding: {
    port: "Embedder",
    names: {
      model: "embedding models to choose by name",
      openai: "way to embed through an OpenAI-protocol server",
      local: "way to embed with a model of this machine"
    }
  },
  source: {
    port: "Connector",
    names: {
      local: "connector for local folders",
      storage: "connector for object storage and web addresses",
      googleDrive: "connector for Google Drive",
      slack: "connector for Slack",
      jira: "connector for Jira",
      sharePoint: "connector for SharePoint",
      git: "connector for git repositories",
      web: "connector for web sites"
    }
  },
  chunking: {
    port: "Files",
    names: { fixed: "fixed chunking", structure: "structure chunking", chunker: "custom chunkers: it cuts documents itself" }
  },
  parsing: {
    port: "Files",
    names: { default: "parsers of its own", layout: "layout parser", llm: "language-model parser" }
  },
  hybrid: {
    port: "Retrieval",
    names: {
      managed: "hybrid search over its managed database",
      weaviate: "hybrid search over Weaviate",
      pinecone: "hybrid search over Pinecone",
      featureStore: "hybrid search over Feature Store",
      vectorSearch: "hybrid search over Vector Search",
      agentSearch: "hybrid search over Vertex AI Search",
      postgres: "hybrid search over PostgreSQL",
      qdrant: "hybrid search over Qdrant",
      lanceDb: "hybrid search over LanceDB"
    }
  },
  retrieveRank: {
    port: "Retrieval",
    names: {
      rankService: "ranking service",
      llmRanker: "language-model ranker",
      lexical: "lexical ranking inside retrieve",
      crossEncoder: "cross encoder of this machine inside retrieve"
    }
  },
  rank: {
    port: "Ranker",
    names: {
      rankService: "ranking service",
      llmRanker: "language-model ranker",
      lexical: "lexical ranker",
      crossEncoder: "cross encoder of this machine"
    }
  },
  generate: {
    port: "Generator",
    names: {
      extractive: "extractive generator",
      hosted: "hosted models",
      openai: "way to generate through an OpenAI-protocol server"
    }
  },
  import: {
    port: "ObjectStore",
    names: {
      resultSink: "result sink",
      staging: "staging bucket",
      keepEmbeddings: "embeddings of its own to keep",
      limits: "readers of its own to limit",
      textRecognition: "readers of its own that recognise text",
      budget: "way to hold embedding to a budget"
    }
  },
  filter: { port: "Retrieval", names: { metadata: "metadata filter" } },
  expand: { port: "Files", names: { chunks: "way to give the text of its files back" } }
}

/**
 * Lists what the pipeline requires and the engine lacks, each with the port that would provide it. Sections under
 * `engines` count for their engine. Empty: the pipeline can run.
 */
export const fitness = (pipeline: Definition, capabilities: EngineCapabilities): ReadonlyArray<Problem> => {
  const { engine } = capabilities
  const override = pipeline.engines[engine]
  const vectorDb = override?.vectorDb ?? pipeline.corpus.vectorDb
  const chunking = override?.chunking ?? pipeline.chunking
  const parsing = override?.parsing ?? pipeline.parsing
  const imports = override?.import ?? pipeline.import
  const stages = override?.stages ?? pipeline.stages
  const judge = override?.judge ?? pipeline.judge
  const at = (section: Parameters<typeof sectionPath>[2]) => sectionPath(pipeline, engine, section)

  const need = <F extends Family>(family: F, name: Abilities[F], path: ValuePath): ReadonlyArray<Problem> => {
    const ability = `${family}:${name}` as Ability // one of the union, by the types of `family` and `name`
    if (capabilities.abilities.has(ability)) return []
    const { names, port } = families[family]
    const has = [...capabilities.abilities]
      .filter((other) => other.startsWith(`${family}:`))
      .map((other) => asWritten(other.slice(family.length + 1)))
    return [{
      path,
      rule: `the ${engine} engine has no ${names[name]} (port ${port})`,
      fix: has.length === 0 ? "leave it out, or run on another engine" : `use ${has.join(" or ")}, or run on another engine`
    }]
  }

  return [
    ...need("vectorDb", vectorDb._tag, at("vectorDb")),
    ...embeddingProblems(pipeline, capabilities, need),
    ...Object.entries(pipeline.sources).flatMap(([id, source]) => [
      ...(source._tag === "own" ? [] : need("source", source._tag, ["sources", id, source._tag])),
      ...(commonSettings(source).staging === undefined ? [] : need("import", "staging", ["sources", id, kindOf(source), "staging"]))
    ]),
    ...(chunking.chunker === undefined
      ? need("chunking", chunking.strategy, [...at("chunking"), "strategy"])
      : need("chunking", "chunker", [...at("chunking"), "chunker"])),
    ...need("parsing", parsing._tag, at("parsing")),
    ...(imports.resultSink === undefined ? [] : need("import", "resultSink", [...at("import"), "resultSink"])),
    ...(imports.budget.embeddedTokens === undefined && imports.budget.requests === undefined
      ? []
      : need("import", "budget", [...at("import"), "budget"])),
    ...(imports.textRecognition === undefined ? [] : need("import", "textRecognition", [...at("import"), "textRecognition"])),
    ...(imports.limits === undefined ? [] : need("import", "limits", [...at("import"), "limits"])),
    ...(imports.keepEmbeddings === undefined ? [] : need("import", "keepEmbeddings", [...at("import"), "keepEmbeddings"])),
    ...metadataProblems(pipeline, capabilities),
    ...parserProblems(pipeline, capabilities),
    ...hookProblems(pipeline),
    ...stages.flatMap((stage, index) => [
      ...stageProblems(stage, [...at("stages"), index], vectorDb, need),
      ...topKProblems(stage, [...at("stages"), index], capabilities),
      ...("model" in stage ? regionProblems(stage.model, [...at("stages"), index, stage._tag, "model"], pipeline, engine) : [])
    ]),
    ...(judge === undefined ? [] : [
      ...need("generate", judge.model._tag, [...at("judge"), "model"]),
      ...regionProblems(judge.model, [...at("judge"), "model"], pipeline, engine)
    ])
  ]
}

/** Choices without settings, which are written alone. */
const bare: ReadonlySet<string> = new Set(["managed", "fixed", "structure", "default", "lexical", "extractive"])

/** A choice as a pipeline file has it. */
const asWritten = (choice: string): string =>
  choice === "hosted" ? "the name of a hosted model" : bare.has(choice) ? choice : `{ ${choice}: ... }`

type Need = <F extends Family>(family: F, name: Abilities[F], path: ValuePath) => ReadonlyArray<Problem>

const embeddingProblems = (pipeline: Definition, capabilities: EngineCapabilities, need: Need): ReadonlyArray<Problem> => {
  const embedding = pipeline.engines[capabilities.engine]?.embedding ?? pipeline.corpus.embedding
  if (embedding === undefined) return []
  const path = sectionPath(pipeline, capabilities.engine, "embedding")
  const missing = need("embedding", embedding._tag, path)
  const known = capabilities.embeddingModels
  if (missing.length > 0 || embedding._tag !== "model" || known === undefined || known.has(embedding.model)) return missing
  const suggestion = suggest(embedding.model, [...known])
  return [{
    path: [...path, "model"],
    rule: `the ${capabilities.engine} engine has no embedding model of this name (port Embedder)`,
    fix: `it has ${[...known].join(", ")}; leave embedding out for its default`,
    suggestion
  }]
}

const hookProblems = ({ hooks, sources }: Definition): ReadonlyArray<Problem> =>
  Object.entries(hooks).flatMap(([name, hook]) =>
    (hook.sources ?? []).flatMap((source, index) =>
      source in sources ? [] : [{
        path: ["hooks", name, hook._tag, "sources", index],
        rule: "is not a source of this pipeline",
        fix: `name one of ${Object.keys(sources).join(", ")}`,
        suggestion: suggest(source, Object.keys(sources))
      }]
    )
  )

/** An engine that fetches files itself gets their addresses, and not the properties in the documents. */
const metadataProblems = ({ metadata = {}, sources }: Definition, { abilities, engine }: EngineCapabilities): ReadonlyArray<Problem> => {
  if (!abilities.has("import:staging")) return []
  const fetched = Object.entries(sources).find(([, source]) =>
    commonSettings(source).staging !== undefined || (source._tag === "storage" && source.uris.some((uri) => uri.startsWith("gs://")))
  )
  if (fetched === undefined) return []
  const [id] = fetched
  return Object.entries(metadata).flatMap(([key, { property, strict }]) =>
    property === undefined && !strict ? [] : [{
      path: ["metadata", key, property === undefined ? "strict" : "property"],
      rule: `cannot be applied to sources.${id}, whose files the ${engine} engine fetches itself`,
      fix: "make it a rule by path that is not strict, or leave the source out, or its staging"
    }]
  )
}

/** Files that an engine lists and fetches itself are not seen by parsers here. */
const parserProblems = ({ parsers = [], sources }: Definition, { abilities, engine }: EngineCapabilities): ReadonlyArray<Problem> =>
  parsers.length === 0 || !abilities.has("import:staging") ?
    [] :
    Object.entries(sources).flatMap(([id, source]) =>
      commonSettings(source).listing !== "service" ? [] : [{
        path: ["sources", id, kindOf(source), "listing"],
        rule: `has the ${engine} engine list and fetch the files itself, so that parsers see none of them`,
        fix: "leave listing out, or parsers"
      }]
    )

/** A partner's model is not available in every region. */
const regionProblems = (model: GeneratorSettings, path: ValuePath, pipeline: Definition, engine: EngineName): ReadonlyArray<Problem> => {
  const fitted = forEngine(pipeline, engine)
  if (Result.isFailure(fitted) || fitted.success.engine._tag !== "vertex") return []
  if (model._tag !== "hosted") return []
  const refused = refusedRegion(partnerModelNamed(model.model) ?? "", fitted.success.engine.location)
  const [violation] = refused?.violations ?? []
  return violation === undefined ? [] : [{
    path,
    rule: violation.description,
    fix: refused?.fix === undefined ? undefined : `${refused.fix} as location, or another model`
  }]
}

const topKProblems = (stage: StageSettings, path: ValuePath, { largestTopK }: EngineCapabilities): ReadonlyArray<Problem> =>
  stage._tag !== "retrieve" || largestTopK === undefined || (stage.topK ?? 0) <= largestTopK
    ? []
    : [{ path: [...path, "retrieve", "topK"], rule: wholeNumberRule(1, largestTopK).rule }]

const stageProblems = (stage: StageSettings, path: ValuePath, vectorDb: VectorDb, need: Need): ReadonlyArray<Problem> => {
  switch (stage._tag) {
    case "retrieve":
      return [
        ...(stage.hybrid === undefined ? [] : need("hybrid", vectorDb._tag, [...path, "retrieve", "hybrid"])),
        ...(stage.filter?.metadata === undefined ? [] : need("filter", "metadata", [...path, "retrieve", "filter", "metadata"])),
        ...(stage.rank === undefined ? [] : need("retrieveRank", stage.rank._tag, [...path, "retrieve", "rank"]))
      ]
    case "own":
    case "diversify":
      return []
    case "expand":
      return need("expand", "chunks", [...path, "expand"])
    case "rank":
      return need("rank", stage.rank._tag, [...path, "rank"])
    case "generate":
    case "chat":
    case "batch": {
      const problems = need("generate", stage.model._tag, [...path, stage._tag, "model"])
      const meant = stage.model._tag === "hosted" ? suggest(stage.model.model, ["extractive"]) : undefined
      return meant === undefined ? problems : problems.map((problem) => ({ ...problem, suggestion: meant }))
    }
  }
}
