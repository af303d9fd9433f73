import { largestTopK } from "../domain/Retrieval.ts"
import type { Ability, EngineCapabilities } from "../pipeline/definition/Fitness.ts"
import type { EngineName } from "../pipeline/definition/EngineSettings.ts"

/** The abilities of this build's engines, with the connectors and models wired beside them. */
export const capabilitiesOf = (engine: EngineName, sources: Iterable<string>): EngineCapabilities => ({
  engine,
  ...(engine === "embedded" ? { largestTopK } : {}),
  abilities: new Set<Ability>([
    ...abilities[engine],
    ...[...sources].map((kind) => `source:${kind}` as Ability) // connectors are registered under the schema's own names
  ])
})

const abilities: Record<EngineName, ReadonlyArray<Ability>> = {
  embedded: [
    "vectorDb:managed",
    "vectorDb:postgres",
    "vectorDb:weaviate",
    "vectorDb:pinecone",
    "vectorDb:qdrant",
    "vectorDb:lanceDb",
    "vectorDb:vectorSearch",
    "vectorDb:featureStore",
    "vectorDb:agentSearch",
    "embedding:openai",
    "embedding:local",
    "chunking:fixed",
    "chunking:structure",
    "chunking:chunker",
    "parsing:default",
    "import:budget",
    "hybrid:managed",
    "hybrid:postgres",
    "hybrid:weaviate",
    "hybrid:pinecone",
    "hybrid:qdrant",
    "hybrid:lanceDb",
    "hybrid:vectorSearch",
    "hybrid:agentSearch",
    "retrieveRank:lexical",
    "retrieveRank:crossEncoder",
    "rank:lexical",
    "rank:crossEncoder",
    "generate:extractive",
    "generate:openai",
    "filter:metadata",
    "expand:chunks",
    "import:keepEmbeddings",
    "import:limits",
    "import:textRecognition"
  ],
  vertex: [
    "vectorDb:managed",
    "vectorDb:weaviate",
    "vectorDb:pinecone",
    "vectorDb:featureStore",
    "vectorDb:vectorSearch",
    "vectorDb:agentSearch",
    "source:storage",
    "source:googleDrive",
    "source:slack",
    "source:jira",
    "source:sharePoint",
    "import:resultSink",
    "import:staging",
    "embedding:model",
    "chunking:fixed",
    "parsing:default",
    "parsing:layout",
    "parsing:llm",
    "hybrid:weaviate",
    "retrieveRank:rankService",
    "retrieveRank:llmRanker",
    "rank:lexical",
    "rank:crossEncoder",
    "generate:extractive",
    "generate:openai",
    "generate:hosted"
  ]
}
