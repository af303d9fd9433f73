import { Duration, Result } from "effect"
import { describe, expect, it } from "vitest"
import { commonSettings } from "../../../../src/pipeline/definition/SourceSettings.ts"
import { definePipeline } from "../../../../src/pipeline/definition/DefinePipeline.ts"
import { decode } from "../../../../src/pipeline/definition/Decode.ts"
import { PipelineInvalid } from "../../../../src/pipeline/definition/PipelineInvalid.ts"
import type { Definition } from "../../../../src/pipeline/definition/Definition.ts"
import { forEngine, sectionPath } from "../../../../src/pipeline/definition/ForEngine.ts"
import { minimal, secret, withSource, withVectorDb } from "./Support.ts"

const decoded = (written: unknown): Definition => Result.getOrThrow(decode(written))

describe("a decoded pipeline", () => {
  it("has every default", () => {
    expect(decoded(minimal)).toEqual({
      name: "handbook",
      engine: { _tag: "embedded" },
      hooks: {},
      notify: [],
      engines: {},
      tests: [],
      corpus: { displayName: "Handbook", vectorDb: { _tag: "managed" } },
      sources: { docs: { _tag: "local", path: "./docs", include: [], exclude: [], hidden: false, followLinks: false } },
      chunking: { strategy: "fixed", size: 1024, overlap: 200 },
      parsing: { _tag: "default" },
      import: {
        archives: false,
        maxEmbeddingRequestsPerMinute: 1000,
        maxDelete: { _tag: "percent", percent: 10 },
        budget: {},
        onFileError: "continue",
        retries: 5
      },
      stages: [{ _tag: "retrieve" }, { _tag: "generate", model: { _tag: "extractive" } }]
    })
  })

  it("has the rates of the service where none is given", () => {
    const parsing = { layout: { processor: "projects/p/locations/us/processors/x" } }
    expect(decoded({ ...minimal, parsing }).parsing).toMatchObject({ _tag: "layout", maxRequestsPerMinute: 120 })
    expect(decoded({ ...minimal, parsing: { llm: { model: "m" } } }).parsing).toMatchObject({ maxRequestsPerMinute: 5000 })
    expect(decoded({ ...minimal, stages: [{ retrieve: { hybrid: {} } }] }).stages[0]).toMatchObject({ hybrid: { alpha: 0.5 } })
  })

  it.each([
    ["5M", 5_000_000],
    ["1.5M", 1_500_000],
    ["200k", 200_000],
    ["12", 12],
    [12, 12]
  ])("reads the amount %j as %d", (embeddedTokens, tokens) => {
    expect(decoded({ ...minimal, import: { budget: { embeddedTokens } } }).import.budget.embeddedTokens).toBe(tokens)
  })

  it.each([["10%", { _tag: "percent", percent: 10 }], ["25", { _tag: "count", count: 25 }], [25, { _tag: "count", count: 25 }]])(
    "reads the delete limit %j",
    (maxDelete, limit) => expect(decoded({ ...minimal, import: { maxDelete } }).import.maxDelete).toEqual(limit)
  )

  it.each([["25MB", 25_000_000], ["25MiB", 26_214_400], ["1 kB", 1000], [512, 512]])("reads the size %j", (maxFileSize, bytes) => {
    expect(decoded(withSource({ local: { path: ".", maxFileSize } })).sources["s"]).toMatchObject({ maxFileSize: bytes })
  })

  it.each([["30s", 30], ["5m", 300], ["2h", 7200], ["1d", 86_400]])("reads the duration %s", (poll, seconds) => {
    const source = decoded(withSource({ storage: { uris: ["gs://b/"], poll } })).sources["s"]
    const poll_ = source === undefined ? undefined : commonSettings(source).poll
    expect(poll_ === undefined ? undefined : Duration.toSeconds(poll_)).toBe(seconds)
  })

  it("puts vector search names that the service's documentation swaps where they belong", () => {
    const index = "projects/p/locations/l/indexes/1"
    const indexEndpoint = "projects/p/locations/l/indexEndpoints/2"
    const right = { _tag: "vectorSearch", index, indexEndpoint }
    expect(decoded(withVectorDb({ vectorSearch: { index, indexEndpoint } })).corpus.vectorDb).toEqual(right)
    expect(decoded(withVectorDb({ vectorSearch: { index: indexEndpoint, indexEndpoint: index } })).corpus.vectorDb).toEqual(right)
    expect(decoded(withVectorDb({ vectorSearch: { index: indexEndpoint } })).corpus.vectorDb).toEqual({
      _tag: "vectorSearch",
      indexEndpoint
    })
  })

  it("tells a SharePoint name from an id", () => {
    const site = { site: "Handbook", clientId: "c", tenantId: "t", clientSecret: secret }
    expect(decoded(withSource({ sharePoint: { ...site, drive: "Documents", folderPath: "/a" } })).sources["s"])
      .toMatchObject({ drive: { name: "Documents" }, folder: { path: "/a" } })
    expect(decoded(withSource({ sharePoint: { ...site, driveId: "b!1", folderId: "01" } })).sources["s"])
      .toMatchObject({ drive: { id: "b!1" }, folder: { id: "01" } })
  })
})

describe("definePipeline", () => {
  it("fills in defaults", () => {
    expect(definePipeline(minimal)).toEqual(decoded(minimal))
  })

  it("throws everything that is wrong, by its path", () => {
    const attempt = () => definePipeline({ ...minimal, name: "", chunking: { size: 10, overlap: 10 } })
    expect(attempt).toThrow(PipelineInvalid)
    expect(attempt).toThrow(/name\n[\s\S]*chunking\.overlap\n {2}must be less than size \(10\)/)
  })

  it("does not compile with stages out of order, or with two alternatives", () => {
    // @ts-expect-error generate needs retrieve before it
    expect(() => definePipeline({ ...minimal, stages: [{ generate: {} }] })).toThrow(PipelineInvalid)
    // @ts-expect-error rank cannot come after generate
    expect(() => definePipeline({ ...minimal, stages: [{ retrieve: {} }, { generate: {} }, { rank: "lexical" }] })).toThrow(PipelineInvalid)
    // @ts-expect-error one vector database
    expect(() => definePipeline({ ...minimal, corpus: { displayName: "H", vectorDb: { pinecone: {}, weaviate: {} } } })).toThrow(
      PipelineInvalid
    )
  })
})

describe("forEngine", () => {
  const pipeline = definePipeline({
    ...minimal,
    chunking: { strategy: "structure", size: 400, overlap: 80 },
    engines: {
      vertex: { project: "acme", location: "us-central1", chunking: { size: 512, overlap: 64 }, stages: [{ retrieve: { topK: 3 } }] }
    }
  })

  it("leaves the pipeline as it is on its own engine", () => {
    expect(Result.getOrThrow(forEngine(pipeline))).toEqual({ ...pipeline, engines: {} })
  })

  it("puts a section of the engine in the place of the pipeline's own, whole", () => {
    const onVertex = Result.getOrThrow(forEngine(pipeline, "vertex"))
    expect(onVertex.engine).toEqual({ _tag: "vertex", project: "acme", location: "us-central1" })
    expect(onVertex.chunking).toEqual({ strategy: "fixed", size: 512, overlap: 64 })
    expect(onVertex.stages).toEqual([{ _tag: "retrieve", topK: 3 }])
    expect(onVertex.parsing).toEqual(pipeline.parsing)
    expect(sectionPath(pipeline, "vertex", "chunking")).toEqual(["engines", "vertex", "chunking"])
    expect(sectionPath(pipeline, "vertex", "vectorDb")).toEqual(["corpus", "vectorDb"])
  })

  it("takes what the engines say of the service before the engine's own", () => {
    const own = {
      project: "acme",
      location: "us-central1",
      baseUrl: "http://127.0.0.1:8686",
      quotaProject: "payer",
      requestsPerMinute: 600
    }
    const hosted = definePipeline({ ...minimal, engine: { vertex: own }, engines: { vertex: { requestsPerMinute: 1200 } } })
    expect(Result.getOrThrow(forEngine(hosted, "vertex")).engine).toEqual({ _tag: "vertex", ...own, requestsPerMinute: 1200 })
    expect(Result.getOrThrow(forEngine({ ...hosted, engines: {} })).engine).toEqual({ _tag: "vertex", ...own })
  })

  it("says which settings the engine lacks", () => {
    const problems = Result.match(forEngine(definePipeline(minimal), "vertex"), { onSuccess: () => [], onFailure: (problems) => problems })
    expect(problems.map(({ rule }) => rule)).toEqual(["the vertex engine needs a project", "the vertex engine needs a location"])
  })
})
