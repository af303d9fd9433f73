import { Result } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { metadataFilterToWire } from "../../src/wire/rag/MetadataFilter.ts"
import { key } from "./Arbitraries.ts"
import { checkWire } from "./CheckWire.ts"
import { seedsOf } from "../support/Seeds.ts"
import { lookupType } from "./protos/Load.ts"
import { compareTables } from "./protos/Tables.ts"
import { validate } from "./protos/Validate.ts"
import { deprecated, enumeration, int32, list, message, of, oneof, string } from "../../src/wire/Message.ts"

it("tables, paths and every body either side writes are right against the real protos", () => {
  expect(checkWire(seedsOf("SLUICE_WIRE_RUNS", 15, 200))).toEqual([])
})

it("keys of metadata are none that the filter language has as words", () => {
  // With this seed, such a word is among the first 500 keys unless it is left out.
  const keys = fc.sample(key, { numRuns: 500, seed: 22 })
  expect(keys.filter((key) => Result.isFailure(metadataFilterToWire({ metadata: { [key]: "x" } })))).toEqual([])
})

it("the strict reader finds what is wrong", () => {
  const corpus = lookupType("google.cloud.aiplatform.v1beta1.RagCorpus")
  const request = (json: object) => validate(corpus, json, { version: "v1beta1", request: { inPath: [], partial: false } })
  expect(request({ displayName: "d" })).toEqual([])
  expect(request({ display_name: "d" })).toHaveLength(2)
  expect(request({ displayName: 1 })).toEqual(["displayName: 1 is no string"])
  expect(request({ displayName: "d", name: "n" })).toEqual(["name: OUTPUT_ONLY field in a request"])
  expect(request({ displayName: "d", ragVectorDbConfig: {} })).toEqual(["ragVectorDbConfig: deprecated field in a request"])
  expect(request({ displayName: "d", vectorDbConfig: { pinecone: {}, weaviate: {} } })).toEqual([
    "vectorDbConfig.weaviate: one-of vectorDb is set by pinecone"
  ])
  const response = (json: object) => validate(corpus, json, { version: "v1beta1" })
  expect(response({ displayName: "", ragFilesCount: 0 })).toHaveLength(2)
  expect(response({ createTime: "2026-01-01" })).toEqual(["createTime: not a google.protobuf.Timestamp"])
  expect(response({ corpusStatus: { state: "GONE" } })).toHaveLength(1)
  expect(validate(lookupType("google.longrunning.Operation"), { metadata: { "@type": "type.googleapis.com/nothing" } }, { version: "v1" }))
    .toHaveLength(1)
})

it("the comparison of tables finds what differs", () => {
  const wrong = message("RagCorpus", {
    vectorDbConfig: of(message("RagVectorDbConfig", {})),
    vertexAiSearchConfig: oneof("backend_config", string),
    displayName: int32,
    description: list(string),
    corpusStatus: of(message("CorpusStatus", { state: enumeration("CorpusStatus.State", ["UNKNOWN", "ACTIVE"]), errorStatus: string })),
    createTime: deprecated(string),
    color: string
  })
  const problems = compareTables([wrong], "v1").join("\n")
  for (
    const problem of [
      "vectorDbConfig: belongs to backend_config",
      "vertexAiSearchConfig: is message, not string",
      "displayName: is string, not int32",
      "description: list or not",
      "state: ACTIVE is 2",
      "createTime: is timestamp, not string",
      "color: not in v1",
      "RagVectorDbConfig.pinecone: missing in the table"
    ]
  ) expect(problems).toContain(problem)
})
