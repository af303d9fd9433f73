import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decodeResponse, encodeQuery, encodeRequest, match, path, routes } from "../../src/wire/Routes.ts"
import * as any from "./Arbitraries.ts"

const file = fc.tuple(any.parent, any.id, any.id).map(([parent, c, f]) => `${parent}/ragCorpora/${c}/ragFiles/${f}`)

describe("paths", () => {
  it("lead back to the names they were made of, whatever legal characters are in those", () =>
    fc.assert(fc.property(file, fc.constantFrom("v1" as const, "v1beta1" as const), (name, version) => {
      const made = Result.getOrThrow(path(routes.getRagFile, version, { name }))
      expect(made).toMatch(/^[\x21-\x7e]+$/)
      expect(match("GET", made)).toEqual({ key: "getRagFile", version, params: { name }, upload: false })
    })))

  it("are not made of ids with `/` or `:`, dot segments, or characters that end a path", () => {
    for (const id of ["a/b", "a:b", "", ".", "..", "a?b", "a#b", "a\nb"]) {
      const made = path(routes.getRagCorpus, "v1", { name: `projects/p/locations/l/ragCorpora/${id}` })
      expect(Result.isFailure(made) && made.failure.code).toBe("INVALID_ARGUMENT")
    }
  })

  it.each(["a%2Fb", "a%3Ab", "a:b", "%2e%2e", "%", "a%0Ab"])("do not match with the id %s", (id) => {
    expect(match("GET", `/v1/projects/p/locations/l/ragCorpora/${id}`)).toBeUndefined()
  })

  it("take domain-scoped projects, encoded or not", () => {
    for (const project of ["example.com:p", "example.com%3Ap"]) {
      expect(match("GET", `/v1/projects/${project}/locations/l/ragCorpora/1`)?.params).toEqual({
        name: "projects/example.com:p/locations/l/ragCorpora/1"
      })
    }
  })

  it.each([
    ["POST", "/upload/v1/projects/p/locations/l/ragCorpora/1/ragFiles:upload", "uploadRagFile", true],
    ["POST", "/upload/v1beta1/projects/p/locations/l/ragCorpora/1/ragFiles:import", "importRagFiles", true],
    ["POST", "/v1/projects/p/locations/l/ragCorpora/1/ragFiles:upload", "uploadRagFile", false],
    ["GET", "/ui/projects/p/locations/l/operations", "listOperations", false],
    ["GET", "/ui/projects/p/locations/l/operations/1", "getOperation", false],
    ["POST", "/v1/projects/p/locations/l/ragCorpora/1/ragFiles/2/operations/3:cancel", "cancelOperation", false],
    ["POST", "/v1/projects/p/locations/l/endpoints/1/operations/3:wait", "waitOperation", false],
    ["DELETE", "/v1/projects/p/locations/l/operations/3", "deleteOperation", false],
    ["POST", "/v1/projects/p/locations/l:retrieveContexts", "retrieveContexts", false],
    ["POST", "/v1beta1/projects/p/locations/l/:retrieveContexts", "retrieveContexts", false],
    ["POST", "/v1beta1/projects/p/locations/l/:askContexts", "askContexts", false],
    ["POST", "/v1/projects/p/locations/l/publishers/google/models/m@001:generateContent", "generateContent", false],
    ["POST", "/v1/publishers/google/models/m%40001:streamGenerateContent", "streamGenerateContent", false],
    ["POST", "/v1/projects/p/locations/l/endpoints/5:generateContent", "generateContent", false],
    ["GET", "/v1/projects/p/locations", "listLocations", false],
    ["GET", "/v1/projects/p/locations/l", "getLocation", false]
  ])("%s %s is %s", (verb, raw, key, upload) => {
    expect(match(verb, raw)).toMatchObject({ key, upload })
  })

  it.each([
    ["GET", "/v2/projects/p/locations/l/ragCorpora"],
    ["GET", "/projects/p/locations/l/ragCorpora"],
    ["PUT", "/v1/projects/p/locations/l/ragCorpora/1"],
    ["POST", "/v1/projects/p/locations/l:unknown"],
    ["POST", "/v1/projects/p/locations/l/ragCorpora/1/ragFiles:unknown"],
    ["GET", "/v1/projects/p/locations/l/ragCorpora/"],
    ["GET", ""]
  ])("%s %s is no method", (verb, raw) => {
    expect(match(verb, raw)).toBeUndefined()
  })

  it("never throw on anything that can stand in a request line", () =>
    fc.assert(fc.property(fc.string({ unit: "binary" }), (raw) => void match("GET", `/v1/projects/${raw}`))))
})

it("a query leaves zero values out", () => {
  expect(encodeQuery(routes.listRagCorpora, { pageSize: 0, pageToken: "" })).toBe("")
  expect(encodeQuery(routes.listRagCorpora, { pageSize: 5, pageToken: "a b&c" })).toBe("?pageSize=5&pageToken=a%20b%26c")
  expect(encodeQuery(routes.deleteRagCorpus, { force: true })).toBe("?force=true")
  expect(encodeQuery(routes.streamGenerateContent, {}, { alt: "sse" })).toBe("?alt=sse")
})

it("a request says what the older API version does not have, instead of leaving it out", () => {
  const made = encodeRequest(routes.createRagCorpus, "v1", { displayName: "d", vectorDbConfig: { weaviate: {} } })
  expect(Result.isFailure(made) && made.failure.violations).toEqual([
    { field: "vectorDbConfig.weaviate", description: "does not exist in v1 of the API" }
  ])
})

describe("answers are read loosely", () => {
  it("unknown fields are ignored and unknown enum values survive", () => {
    const read = decodeResponse(routes.getRagCorpus, {
      name: "projects/p/locations/l/ragCorpora/1",
      fromTheFuture: { a: [1] },
      corpusStatus: { state: "DREAMING", mood: 3 }
    })
    expect(Result.getOrThrow(read)).toEqual({ name: "projects/p/locations/l/ragCorpora/1", corpusStatus: { state: "DREAMING" } })
  })

  it("enums by number, int64 by number, an Any of an unknown type", () => {
    expect(Result.getOrThrow(decodeResponse(routes.getRagFile, { sizeBytes: 12, fileStatus: { state: 1 } }))).toEqual({
      sizeBytes: "12",
      fileStatus: { state: "ACTIVE" }
    })
    const operation = { name: "o", metadata: { "@type": "type.googleapis.com/x.Y", z: [1] } }
    expect(Result.getOrThrow(decodeResponse(routes.getOperation, operation))).toEqual(operation)
  })

  it("timestamps keep their microseconds", () => {
    const createTime = "2026-01-02T03:04:05.678901Z"
    expect(Result.getOrThrow(decodeResponse(routes.getRagFile, { createTime }))).toEqual({ createTime })
  })

  it("what is not the message is an error that names the place and not the value", () => {
    const read = decodeResponse(routes.getRagCorpus, { displayName: { secret: "hunter2" } })
    expect(Result.isFailure(read) && read.failure.message).toMatch(/displayName/)
    expect(Result.isFailure(read) && read.failure.message).not.toMatch(/hunter2/)
    expect(Result.isFailure(decodeResponse(routes.getRagCorpus, "<html>"))).toBe(true)
  })
})
