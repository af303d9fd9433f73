import { describe, expect, it } from "vitest"
import { definePipeline, type PipelineInput } from "../../../../src/pipeline/definition/DefinePipeline.ts"
import { type EngineCapabilities, fitness } from "../../../../src/pipeline/definition/Fitness.ts"
import { formatPath } from "../../../../src/pipeline/definition/PipelineInvalid.ts"
import { minimal, secret } from "../schema/Support.ts"
import { parsed } from "./Support.ts"

const embedded: EngineCapabilities = {
  engine: "embedded",
  abilities: new Set([
    "vectorDb:managed",
    "embedding:model",
    "embedding:openai",
    "source:local",
    "chunking:fixed",
    "chunking:structure",
    "parsing:default",
    "hybrid:managed",
    "filter:metadata",
    "expand:chunks",
    "retrieveRank:lexical",
    "rank:lexical",
    "generate:extractive",
    "generate:openai"
  ]),
  embeddingModels: new Set(["lsa", "hash"])
}

const vertex: EngineCapabilities = {
  engine: "vertex",
  abilities: new Set([
    "vectorDb:managed",
    "vectorDb:weaviate",
    "vectorDb:pinecone",
    "embedding:model",
    "source:local",
    "source:storage",
    "source:slack",
    "chunking:fixed",
    "parsing:default",
    "parsing:layout",
    "hybrid:weaviate",
    "retrieveRank:rankService",
    "generate:hosted",
    "import:resultSink",
    "import:staging"
  ])
}

const problems = (input: PipelineInput, capabilities: EngineCapabilities): ReadonlyArray<string> =>
  fitness(definePipeline(input), capabilities).map(({ path, rule }) => `${formatPath(path)}: ${rule}`)

const place = "projects/p/locations/us"
const corpus = (fields: object): PipelineInput => ({ ...minimal, corpus: { displayName: "H", ...fields } })
const source = (source: PipelineInput["sources"][string]): PipelineInput => ({ ...minimal, sources: { s: source } })
const stages = (...stages: NonNullable<PipelineInput["stages"]>): PipelineInput => ({ ...minimal, stages })

describe("the fix", () => {
  it.each<[PipelineInput, EngineCapabilities, string]>([
    [stages({ retrieve: {} }, { generate: { model: "gpt-4o" } }), embedded, "use extractive or { openai: ... }, or run on another engine"],
    [{ ...minimal, chunking: { strategy: "structure" } }, vertex, "use fixed, or run on another engine"]
  ])("writes choices as the file has them", (input, capabilities, fix) => {
    expect(fitness(definePipeline(input), capabilities)[0]?.fix).toBe(fix)
  })
})

describe("the embedded engine", () => {
  it("runs what it can", () => {
    expect(problems({ ...minimal, chunking: { strategy: "structure" } }, embedded)).toEqual([])
    expect(problems(stages({ retrieve: { hybrid: {}, rank: "lexical" } }, { rank: "lexical" }, { generate: {} }), embedded)).toEqual([])
    expect(problems(stages({ retrieve: {} }, { diversify: {} }, { expand: { to: "section" } }, { generate: {} }), embedded)).toEqual([])
  })

  it("returns as many contexts as it can, and no more", () => {
    const capabilities = { ...embedded, largestTopK: 1_000 }
    expect(problems(stages({ retrieve: { topK: 1_000 } }), capabilities)).toEqual([])
    expect(problems(stages({ retrieve: { topK: 1_001 } }), capabilities)).toEqual([
      "stages[0].retrieve.topK: must be a whole number from 1 to 1000"
    ])
  })

  it.each<[PipelineInput, string]>([
    [corpus({ vectorDb: { weaviate: {} } }), "corpus.vectorDb: the embedded engine has no connection to Weaviate (port Corpora)"],
    [corpus({ vectorDb: { pinecone: {} } }), "corpus.vectorDb: the embedded engine has no connection to Pinecone (port Corpora)"],
    [
      corpus({ vectorDb: { featureStore: {} } }),
      "corpus.vectorDb: the embedded engine has no connection to Vertex AI Feature Store (port Corpora)"
    ],
    [
      corpus({ vectorDb: { vectorSearch: {} } }),
      "corpus.vectorDb: the embedded engine has no connection to Vertex AI Vector Search (port Corpora)"
    ],
    [
      corpus({ vectorDb: { agentSearch: {} } }),
      "corpus.vectorDb: the embedded engine has no connection to Vertex AI Search (port Corpora)"
    ],
    [
      corpus({ embedding: { model: "text-embedding-005" } }),
      "corpus.embedding.model: the embedded engine has no embedding model of this name (port Embedder)"
    ],
    [
      source({ storage: { uris: ["gs://b/"] } }),
      "sources.s.storage: the embedded engine has no connector for object storage and web addresses (port Connector)"
    ],
    [
      source({ googleDrive: { files: ["1"] } }),
      "sources.s.googleDrive: the embedded engine has no connector for Google Drive (port Connector)"
    ],
    [
      source({ slack: { channels: [{ id: "C1" }], token: secret } }),
      "sources.s.slack: the embedded engine has no connector for Slack (port Connector)"
    ],
    [
      source({ jira: { server: "a.b", email: "a@b", projects: ["P"], token: secret } }),
      "sources.s.jira: the embedded engine has no connector for Jira (port Connector)"
    ],
    [
      source({ sharePoint: { site: "s", drive: "d", clientId: "c", tenantId: "t", clientSecret: secret } }),
      "sources.s.sharePoint: the embedded engine has no connector for SharePoint (port Connector)"
    ],
    [
      source({ local: { path: ".", staging: "gs://b" } }),
      "sources.s.local.staging: the embedded engine has no staging bucket (port ObjectStore)"
    ],
    [
      { ...minimal, parsing: { layout: { processor: `${place}/processors/x` } } },
      "parsing: the embedded engine has no layout parser (port Files)"
    ],
    [{ ...minimal, parsing: { llm: { model: "m" } } }, "parsing: the embedded engine has no language-model parser (port Files)"],
    [{ ...minimal, import: { resultSink: "gs://b/r" } }, "import.resultSink: the embedded engine has no result sink (port ObjectStore)"],
    [
      stages({ retrieve: { rank: { rankService: {} } } }),
      "stages[0].retrieve.rank: the embedded engine has no ranking service (port Retrieval)"
    ],
    [
      stages({ retrieve: {} }, { rank: { llmRanker: {} } }),
      "stages[1].rank: the embedded engine has no language-model ranker (port Ranker)"
    ],
    [
      stages({ retrieve: {} }, { generate: { model: "gemini" } }),
      "stages[1].generate.model: the embedded engine has no hosted models (port Generator)"
    ]
  ])("refuses %j", (input, problem) => {
    expect(problems(input, embedded)).toEqual([problem])
  })

  it("suggests what was meant", () => {
    expect(fitness(definePipeline(stages({ retrieve: {} }, { generate: { model: "extractve" } })), embedded)[0]?.suggestion).toBe(
      "extractive"
    )
    expect(fitness(definePipeline(corpus({ embedding: { model: "lsi" } })), embedded)[0]?.suggestion).toBe("lsa")
  })
})

describe("the vertex engine", () => {
  it("runs what it can", () => {
    expect(problems({
      ...corpus({ vectorDb: { weaviate: {} }, embedding: { model: "text-embedding-005" } }),
      stages: [{ retrieve: { hybrid: {}, rank: { rankService: {} } } }, { generate: { model: "gemini" } }]
    }, vertex)).toEqual([])
  })

  it("knows where a partner's model is", () => {
    const hosted: EngineCapabilities = { ...vertex, abilities: new Set([...vertex.abilities, "generate:hosted"]) }
    const on = (location: string, model: string): PipelineInput => ({
      ...stages({ retrieve: {} }, { chat: { model } }),
      engine: { vertex: { project: "p", location } }
    })
    expect(problems(on("us-east5", "claude-3-5-haiku@20241022"), hosted)).toEqual([])
    expect(problems(on("us-central1", "gemini-2.0-flash"), hosted)).toEqual([])
    expect(problems(on("us-central1", "claude-later@20290101"), hosted)).toEqual([])
    for (const model of ["claude-3-5-haiku@20241022", "anthropic/claude-3-5-haiku@20241022"]) {
      expect(fitness(definePipeline(on("us-central1", model)), hosted)).toEqual([{
        path: ["stages", 1, "chat", "model"],
        rule: "claude-3-5-haiku@20241022 is not available in us-central1",
        fix: "use us-east5 as location, or another model"
      }])
    }
    const elsewhere: PipelineInput = { ...on("us-central1", "claude-3-5-haiku@20241022"), engines: { vertex: { location: "us-east5" } } }
    expect(problems(elsewhere, hosted)).toEqual([])
  })

  it.each<[PipelineInput, string]>([
    [
      { ...stages({ retrieve: {} }), chunking: { strategy: "structure" } },
      "chunking.strategy: the vertex engine has no structure chunking (port Files)"
    ],
    [
      stages({ retrieve: { hybrid: {} } }),
      "stages[0].retrieve.hybrid: the vertex engine has no hybrid search over its managed database (port Retrieval)"
    ],
    [
      stages({ retrieve: { rank: "lexical" } }),
      "stages[0].retrieve.rank: the vertex engine has no lexical ranking inside retrieve (port Retrieval)"
    ],
    [
      stages({ retrieve: { filter: { metadata: { a: "b" } } } }),
      "stages[0].retrieve.filter.metadata: the vertex engine has no metadata filter (port Retrieval)"
    ],
    [
      stages({ retrieve: {} }, { diversify: {} }, { expand: {} }),
      "stages[2].expand: the vertex engine has no way to give the text of its files back (port Files)"
    ],
    [
      { ...stages({ retrieve: {} }), corpus: { displayName: "H", embedding: { openai: { url: "http://h", model: "m", dimensions: 8 } } } },
      "corpus.embedding: the vertex engine has no way to embed through an OpenAI-protocol server (port Embedder)"
    ]
  ])("refuses %j", (input, problem) => {
    expect(problems(input, vertex)).toEqual([problem])
  })
})

describe("overrides", () => {
  const input: PipelineInput = {
    ...minimal,
    chunking: { strategy: "structure" },
    stages: [{ retrieve: { hybrid: {} } }],
    engines: { vertex: { chunking: { strategy: "fixed" }, stages: [{ retrieve: { hybrid: {} } }] } }
  }

  it("are what counts on their engine, and where a problem is placed", () => {
    expect(problems(input, embedded)).toEqual([])
    expect(problems(input, vertex)).toEqual([
      "engines.vertex.stages[0].retrieve.hybrid: the vertex engine has no hybrid search over its managed database (port Retrieval)"
    ])
  })

  it("are shown in the file", () => {
    const { invalid, pipeline } = parsed(`name: h
corpus: { displayName: H }
sources: { docs: { local: { path: . } } }
engines:
  embedded:
    parsing: { llm: { model: m } }
`)
    expect(invalid(fitness(pipeline, embedded)).issues[0]).toMatchObject({ line: 6, column: 14, path: "engines.embedded.parsing" })
  })

  it("refuses rules for what files say of themselves where the engine fetches them by itself", () => {
    const pipeline = definePipeline({
      ...minimal,
      sources: { bucket: { storage: { uris: ["gs://acme/docs/"] } } },
      metadata: { team: { path: "{team}/**" }, year: { property: "year" }, area: { path: "{area}/**", strict: true } }
    } as PipelineInput)
    expect(fitness(pipeline, vertex).filter(({ path }) => path[0] === "metadata").map(({ path, rule }) => [formatPath(path), rule]))
      .toEqual([
        ["metadata.year.property", "cannot be applied to sources.bucket, whose files the vertex engine fetches itself"],
        ["metadata.area.strict", "cannot be applied to sources.bucket, whose files the vertex engine fetches itself"]
      ])
  })
})
