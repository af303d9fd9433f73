import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DocumentError, ServiceError } from "../../src/domain/Errors.ts"
import {
  corpusFromWire,
  corpusPatchFromWire,
  corpusPatchToWire,
  corpusSpecFromWire,
  corpusSpecToWire,
  corpusToWire
} from "../../src/wire/rag/Corpora.ts"
import { engineTierFromWire, engineTierToWire } from "../../src/wire/rag/EngineConfigs.ts"
import { errorFromWire, errorToWire, statusFromWire, statusToWire } from "../../src/wire/Errors.ts"
import {
  ragFileFromWire,
  ragFileToWire,
  uploadRequestFromWire,
  uploadRequestToWire,
  uploadResponseFromWire,
  uploadResponseToWire
} from "../../src/wire/rag/Files.ts"
import { answerFromWire, answerToWire, groundedQuestionFromWire, groundedQuestionToWire } from "../../src/wire/rag/Grounding.ts"
import { importRequestFromWire, importRequestToWire } from "../../src/wire/rag/Imports.ts"
import { operationCorpus, operationFromWire, operationToWire } from "../../src/wire/Operations.ts"
import { contextsFromWire, contextsToWire, retrieveRequestFromWire, retrieveRequestToWire } from "../../src/wire/rag/Retrievals.ts"
import { routes } from "../../src/wire/Routes.ts"
import * as any from "./Arbitraries.ts"
import { answered, sent } from "./OverTheWire.ts"

const always = <A>(values: fc.Arbitrary<A>, check: (value: A) => void): void =>
  fc.assert(fc.property(values, (value) => void check(value)), { numRuns: 150 })

const ok = Result.getOrThrow
const parent = "projects/p/locations/l"

describe("what the client sends is what the server reads", () => {
  it("a corpus to make", () =>
    always(
      any.corpusSpec,
      (spec) => expect(ok(Result.flatMap(sent(routes.createRagCorpus, corpusSpecToWire(spec)), corpusSpecFromWire))).toEqual(spec)
    ))

  it("a corpus's changes", () =>
    always(
      any.corpusPatch,
      (patch) => expect(ok(Result.flatMap(sent(routes.updateRagCorpus, corpusPatchToWire(patch)), corpusPatchFromWire))).toEqual(patch)
    ))

  it("a file and its mark", () =>
    always(fc.tuple(any.corpusName, any.upload), ([corpus, upload]) => {
      const read = Result.gen(function*() {
        return yield* uploadRequestFromWire(corpus, yield* sent(routes.uploadRagFile, yield* uploadRequestToWire(upload)), {
          content: new Uint8Array()
        })
      })
      // A mark is a pipeline's, which opens mail and archives itself.
      expect(ok(read)).toEqual({ corpus, ...upload, content: new Uint8Array(), opened: upload.marker === undefined ? undefined : true })
    }))

  it("an import of every source", () =>
    always(any.importRequest, (request) => {
      const read = Result.gen(function*() {
        return yield* importRequestFromWire(request.corpus, yield* sent(routes.importRagFiles, yield* importRequestToWire(request)))
      })
      expect(ok(read)).toEqual(request)
    }))

  it("a retrieval", () =>
    always(any.retrieval, (request) => {
      const read = Result.gen(function*() {
        return yield* retrieveRequestFromWire(parent, yield* sent(routes.retrieveContexts, yield* retrieveRequestToWire(request)))
      })
      expect(ok(read)).toEqual(request)
    }))

  it("a grounded question", () =>
    always(fc.tuple(any.retrieval, any.word), ([{ query, ...selection }, instruction]) => {
      const question = { question: query, instruction, selection }
      const read = Result.gen(function*() {
        return yield* groundedQuestionFromWire(parent, yield* sent(routes.generateContent, yield* groundedQuestionToWire(question)))
      })
      expect(ok(read)).toEqual(question)
    }))
})

describe("what the server answers is what the client reads", () => {
  it("a corpus, also from its deprecated fields alone", () =>
    always(any.corpus, (corpus) => {
      expect(ok(Result.flatMap(answered(routes.getRagCorpus, corpusToWire(corpus)), corpusFromWire))).toEqual(corpus)
      const { vectorDbConfig: _, ...old } = corpusToWire(corpus)
      expect(ok(corpusFromWire(old))).toEqual(corpus)
    }))

  it("a corpus in v1, without what only v1beta1 has", () =>
    always(any.corpus, ({ filesCount: _, ...corpus }) => {
      fc.pre(corpus.vectorDb._tag !== "weaviate" && corpus.vectorDb._tag !== "featureStore")
      const { holds, hybrid, search } = corpus.options ?? {}
      fc.pre(holds === undefined && hybrid === undefined && search?._tag !== "vectorSearch")
      expect(ok(Result.flatMap(answered(routes.getRagCorpus, corpusToWire(corpus), "v1"), corpusFromWire))).toEqual(corpus)
    }))

  it("a file", () =>
    always(any.ragFile, (file) => {
      expect(ok(Result.flatMap(answered(routes.getRagFile, ragFileToWire(file)), ragFileFromWire))).toEqual(file)
      expect(ok(Result.flatMap(answered(routes.getRagFile, ragFileToWire(file), "v1beta1", true), ragFileFromWire))).toEqual(file)
    }))

  it("an upload, or why there is none", () => {
    always(
      any.ragFile,
      (file) => expect(ok(Result.flatMap(answered(routes.uploadRagFile, uploadResponseToWire(file)), uploadResponseFromWire))).toEqual(file)
    )
    always(any.documentError, (error) => {
      const read = Result.flatMap(answered(routes.uploadRagFile, uploadResponseToWire(error)), uploadResponseFromWire)
      const failure = Result.isFailure(read) ? read.failure : undefined
      expect(failure).toBeInstanceOf(DocumentError)
      expect(failure).toHaveProperty("problem", error.problem)
      expect(failure?.message).toBe(error.message)
    })
  })

  it("contexts", () =>
    always(
      any.corpusName.chain((corpus) => fc.tuple(fc.constant(corpus), fc.array(any.contextOf(corpus)))),
      ([corpus, contexts]) =>
        expect(contextsFromWire(corpus, ok(answered(routes.retrieveContexts, contextsToWire(contexts))))).toEqual(contexts)
    ))

  it("an answer, its citations and what they support", () =>
    always(
      any.corpusName.chain((corpus) => fc.tuple(fc.constant(corpus), any.answerOf(corpus))),
      ([corpus, answer]) =>
        expect(ok(answerFromWire(corpus, "?", ok(answered(routes.generateContent, answerToWire(answer)))))).toEqual(answer)
    ))

  it("an operation", () =>
    always(fc.tuple(any.operation, any.corpus), ([operation, corpus]) => {
      const wire = ok(answered(routes.getOperation, operationToWire(operation, "v1beta1", { corpus })))
      expect(ok(operationFromWire(wire))).toEqual({
        ...operation,
        name: operation.kind === "updateEngineConfig"
          ? operation.name.replace("/operations/", "/ragEngineConfig/operations/")
          : operation.name
      })
      if (operation.done && operation.error === undefined && operation.kind === "createCorpus") {
        expect(ok(operationCorpus(wire))).toEqual(corpus)
      }
    }))

  it("the engine's tier", () => {
    for (const version of ["v1", "v1beta1"] as const) {
      for (const tier of ["scaled", "basic", "unprovisioned"] as const) {
        const config = engineTierToWire(`${parent}/ragEngineConfig`, tier, version)
        expect(ok(Result.flatMap(answered(routes.getRagEngineConfig, config, version), engineTierFromWire))).toBe(tier)
      }
    }
  })

  it("an error of another service, with its reason as ErrorInfo requires it", () => {
    const reasons = {
      insufficient_quota: "INSUFFICIENT_QUOTA",
      rateLimitExceeded: "RATE_LIMIT_EXCEEDED",
      "invalid-request.error": "INVALID_REQUEST_ERROR",
      [`overloaded_${"x".repeat(80)}`]: `OVERLOADED_${"X".repeat(52)}`,
      "429": undefined,
      "": undefined
    }
    for (const [reason, expected] of Object.entries(reasons)) {
      const { body, status } = errorToWire(new ServiceError({ code: "UNAVAILABLE", message: "busy", reason }))
      expect(errorFromWire(status, body).reason).toBe(expected)
    }
  })

  it("an error", () =>
    always(any.serviceError, (error) => {
      const { body, status } = errorToWire(error)
      const fields = ({ code, fix, message, reason, retryAfter, violations }: typeof error) => ({
        code,
        fix,
        message,
        reason,
        retryAfter,
        violations
      })
      expect(fields(errorFromWire(status, JSON.parse(JSON.stringify(body))))).toEqual(fields(error))
      expect(fields(errorFromWire(status, [JSON.parse(JSON.stringify(body))]))).toEqual(fields(error))
      expect(fields(statusFromWire(statusToWire(error)))).toEqual(fields(error))
    }))
})
