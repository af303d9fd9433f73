import { readFileSync } from "node:fs"
import { Ajv } from "ajv"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { pipelinePage } from "../../../../scripts/pipeline-page.ts"
import { pipelineJsonSchema } from "../../../../src/pipeline/definition/JsonSchema.ts"
import { pipelineHash, writtenPipeline } from "../../../../src/pipeline/definition/Print.ts"
import { minimal, withSource, withStages, withVectorDb } from "../schema/Support.ts"
import { parsed } from "./Support.ts"

const repository = new URL("../../../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, repository), "utf8")

const validate = new Ajv({ strict: false, allErrors: true }).compile(pipelineJsonSchema())

describe("pipelines/pipeline.schema.json", () => {
  it("is current: write it again with sluice schema > pipelines/pipeline.schema.json", () => {
    expect(read("pipelines/pipeline.schema.json")).toBe(`${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`)
  })

  it("describes every key, for editors to show", () => {
    const missing: Array<string> = []
    const visit = (schema: unknown, path: string): void => {
      if (typeof schema !== "object" || schema === null) return
      if ("properties" in schema && typeof schema.properties === "object") {
        for (const [key, property] of Object.entries(schema.properties ?? {})) {
          const at = `${path}.${key}`
          if (!("description" in property || "$ref" in property || key === "$schema")) missing.push(at)
          visit(property, at)
        }
      }
      if ("items" in schema) visit(schema.items, `${path}[]`)
      for (const inner of ["patternProperties", "anyOf"]) {
        if (inner in schema) { for (const part of Object.values((schema as Record<string, object>)[inner] ?? {})) visit(part, path) }
      }
    }
    visit(pipelineJsonSchema(), "")
    expect(missing).toEqual([])
  })
})

describe("docs/pipeline.md", () => {
  it("is current: write it again with npm run schema", () => {
    expect(read("docs/pipeline.md")).toBe(pipelinePage())
  })
})

describe("the quickstart pipeline", () => {
  const text = read("pipelines/quickstart.yaml")

  it("is valid for us and for editors", () => {
    const { pipeline } = parsed(text)
    expect(validate(parse(text))).toBe(true)
    expect(validate(writtenPipeline(pipeline))).toBe(true)
    expect(pipelineHash(pipeline)).toHaveLength(64)
  })
})

describe("editors", () => {
  it.each([
    [minimal],
    [{ ...minimal, $schema: "./pipeline.schema.json" }],
    [{ ...minimal, name: "${NAME}", engine: { vertex: { project: "${P}", location: "${L:-us-central1}" } } }],
    [{ ...minimal, engine: "${ENGINE}", chunking: { strategy: "${S}", size: "${SIZE}" }, import: { maxDelete: "${D}" } }],
    [withSource({ local: { path: ".", hidden: "${H}", poll: "${POLL}" } })],
    [withStages({ retrieve: { hybrid: { alpha: "${ALPHA}" } } })],
    [{ ...minimal, engines: { vertex: { stages: [{ retrieve: {} }] } } }]
  ])("take %j", (written) => {
    expect(validate(written)).toBe(true)
  })

  it.each([
    [{ ...minimal, chunking: { sizes: 3 } }],
    [{ ...minimal, chunking: { size: "512" } }],
    [{ ...minimal, chunking: { size: 0 } }],
    [{ ...minimal, chunking: { strategy: "fixd" } }],
    [{ ...minimal, name: "a b" }],
    [{ ...minimal, engines: { vertex: { chunking: { size: 0 } } } }],
    [withVectorDb({ weaviate: {}, pinecone: {} })],
    [withVectorDb({})],
    [withVectorDb({ pinecone: { apiKey: "pc-123" } })],
    [withSource({ storage: { uris: [] } })],
    [withStages({ retrieve: {}, generate: {} })]
  ])("mark %j", (written) => {
    expect(validate(written)).toBe(false)
  })
})
