import { Arbitrary, Schema } from "effect"
import { it as effectIt } from "@effect/vitest"
import { describe, expect, it } from "vitest"
import { definePipeline, type PipelineInput } from "../../../../src/pipeline/definition/DefinePipeline.ts"
import { pipelineHash, printPipeline, writtenPipeline } from "../../../../src/pipeline/definition/Print.ts"
import { minimal, secret } from "../schema/Support.ts"
import { parsed } from "./Support.ts"

const place = "projects/acme/locations/us-central1"
const sharePoint = { site: "Handbook", clientId: "c", tenantId: "t", clientSecret: secret }
const openai = { url: "http://h/v1", model: "m", apiKey: secret }

const engines = ["embedded", { vertex: { project: "acme", location: "us-central1", quotaProject: "12", requestsPerMinute: 600 } }] as const
const databases = [
  "managed",
  { weaviate: { httpEndpoint: "https://w.example", collectionName: "Kb", apiKey: secret } },
  { pinecone: {} },
  { featureStore: { featureView: `${place}/featureOnlineStores/s/featureViews/v` } },
  { vectorSearch: { index: `${place}/indexEndpoints/2`, indexEndpoint: `${place}/indexes/1` } },
  { agentSearch: { servingConfig: `${place}/collections/c/engines/e/servingConfigs/s` } }
] as const
const sources = [
  { local: { path: "./docs", include: ["**/*.md"], maxFileSize: "25MB", poll: "90s", hidden: true } },
  { storage: { uris: ["gs://b/"], poll: "1d" } },
  { googleDrive: { files: ["1"] } },
  { slack: { channels: [{ id: "C1", start: "2026-01-01T00:00:00Z" }], token: secret } },
  { jira: { server: "a.b", email: "a@b", queries: ["labels = kb"], token: secret } },
  { sharePoint: { ...sharePoint, drive: "Documents", folderId: "1" } },
  { sharePoint: { ...sharePoint, driveId: "b!1", folderPath: "/x" } }
] as const
const parsings = ["default", { layout: { processor: `${place}/processors/p` } }, { llm: { model: "m" } }] as const
const models = ["extractive", "gemini-2.0-flash", { openai }] as const
const ranks = ["lexical", { rankService: {} }, { llmRanker: { model: "m" } }] as const
const limits = ["10%", "0.5%", 0, "20"] as const

/** Text that is not blank, among it what YAML and substitution might take for something else. */
const Text = Schema.Union([
  Schema.String.check(Schema.makeFilter((text) => text.trim() !== "" && text.isWellFormed())),
  Schema.Literals([
    "${HOME}",
    "$${x}",
    "null",
    "yes",
    "12",
    "0x1F",
    "~",
    "- a",
    "a: b # c",
    "*x",
    "<<",
    "!t",
    "\ttab",
    "a\n\n  b\n",
    " lead",
    "é\u0301\u2028",
    "\uE07B",
    "`",
    "''",
    "\"",
    "%"
  ])
])

const Draw = Schema.Struct({ text: Text, other: Text, pick: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5000 })) })

const drawn = ({ other, pick, text }: typeof Draw.Type): PipelineInput => {
  const one = <T>(choices: ReadonlyArray<T>, salt: number): T => choices[(pick + salt * 7) % choices.length]!
  return {
    name: "p",
    engine: one(engines, 1),
    corpus: {
      displayName: text.slice(0, 100).trim() === "" ? "x" : text.slice(0, 100),
      description: other,
      vectorDb: one(databases, 2),
      embedding: one([{ model: `text-embedding-${pick}` }, { openai: { ...openai, dimensions: 8 } }], 3)
    },
    sources: {
      a: one(sources, 4),
      [`s${pick}`]: one(sources, 5),
      l: { local: { path: text, include: [other.replaceAll(/[[{(]/g, "\\$&")] } }
    },
    parsing: one(parsings, 6),
    import: { maxDelete: one(limits, 7), budget: { embeddedTokens: "1.5M" } },
    stages: [
      { retrieve: { topK: pick + 1, filter: { minSimilarity: pick / 7, metadata: { [text]: other } }, rank: one(ranks, 8) } },
      { rank: one(ranks, 9) },
      { diversify: { lambda: 1 / (pick + 1) } },
      { expand: one([{}, { before: 2 }, { to: "section", maxTokens: 900 }, { to: "file" }] as const, 12) },
      { generate: { model: one(models, 10), instruction: text } }
    ],
    engines: { vertex: { vectorDb: one(databases, 11) } }
  }
}

describe("printPipeline", () => {
  effectIt.prop("loads to the same value, and prints the same again", [Arbitrary.schema(Draw)], ([draw]) => {
    const pipeline = definePipeline(drawn(draw))
    const text = printPipeline(pipeline)
    const loaded = parsed(text, { HOME: "/root" }).pipeline
    expect(loaded).toEqual(pipeline)
    expect(printPipeline(loaded)).toBe(text)
    expect(definePipeline(writtenPipeline(pipeline) as PipelineInput)).toEqual(pipeline)
  })
})

describe("pipelineHash", () => {
  it("is the same for the same meaning", () => {
    const spelt = definePipeline({
      sources: { docs: { local: { hidden: false, path: "./docs" } } },
      chunking: { overlap: 200, size: 1024 },
      corpus: { vectorDb: "managed", displayName: "Handbook" },
      name: "handbook"
    })
    expect(pipelineHash(spelt)).toBe(pipelineHash(definePipeline(minimal)))
  })

  it("changes with any setting, and with the order of stages", () => {
    const hashes = [
      minimal,
      { ...minimal, name: "other" },
      { ...minimal, chunking: { size: 1025 } },
      { ...minimal, stages: [{ retrieve: {} }, { rank: "lexical" }, { rank: { rankService: {} } }] },
      { ...minimal, stages: [{ retrieve: {} }, { rank: { rankService: {} } }, { rank: "lexical" }] }
    ].map((input) => pipelineHash(definePipeline(input as PipelineInput)))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
