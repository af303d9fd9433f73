import { Result } from "effect"
import * as fc from "fast-check"
import process from "node:process"
import { batchJobToWire, batchSpecToWire } from "../../src/wire/batch/BatchPredictions.ts"
import { catalogModelToWire } from "../../src/wire/models/Catalog.ts"
import { corpusPatchToWire, corpusSpecToWire, corpusToWire } from "../../src/wire/rag/Corpora.ts"
import { deployRequestToWire } from "../../src/wire/models/Deployments.ts"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { engineTierToWire } from "../../src/wire/rag/EngineConfigs.ts"
import {
  deployModelToWire,
  endpointChangeToWire,
  endpointSpecToWire,
  endpointToWire,
  undeployToWire
} from "../../src/wire/models/Endpoints.ts"
import { errorToWire } from "../../src/wire/Errors.ts"
import { augmentResponseToWire, corroborateResponseToWire, factToWire } from "../../src/wire/rag/Facts.ts"
import { ragFileToWire, uploadRequestToWire, uploadResponseToWire } from "../../src/wire/rag/Files.ts"
import { answerEndToWire, answerPieceToWire, answerToWire, groundedQuestionToWire } from "../../src/wire/rag/Grounding.ts"
import { generationResponseToWire, generationToWire, tokenCountToWire } from "../../src/wire/generation/Generations.ts"
import { importRequestToWire } from "../../src/wire/rag/Imports.ts"
import { type AnyMessage, type ApiVersion, fullName } from "../../src/wire/Message.ts"
import { ErrorBody } from "../../src/wire/messages/Rpc.ts"
import { modelSpecToWire, modelToWire } from "../../src/wire/models/Models.ts"
import { defined } from "../../src/wire/Optional.ts"
import { operationToWire } from "../../src/wire/Operations.ts"
import { predictionFromModel } from "../../src/wire/models/Predictions.ts"
import { contextsToWire, retrieveRequestToWire } from "../../src/wire/rag/Retrievals.ts"
import { encodeRequest, encodeResponse, match, type Route, type RouteKey, routes } from "../../src/wire/Routes.ts"
import * as any from "./Arbitraries.ts"
import * as batch from "./BatchArbitraries.ts"
import { generationRequest, generationResponse } from "./GenerationArbitraries.ts"
import * as models from "./ModelArbitraries.ts"
import { clientBindings, lookup, lookupMethod, lookupType } from "./protos/Load.ts"
import { compareTables } from "./protos/Tables.ts"
import { validate } from "./protos/Validate.ts"

/**
 * `npm run check:wire`: the tables against the real protos, and everything that either side can write, generated,
 * against the protos read strictly.
 */
const versions: ReadonlyArray<ApiVersion> = ["v1", "v1beta1"]
const entries = Object.entries(routes) as ReadonlyArray<[RouteKey, Route]> // the table's own keys

const messages = (): ReadonlyArray<AnyMessage> =>
  entries.flatMap(([, route]) => [
    route.query,
    route.response,
    ...(route.body === undefined ? [] : [route.body]),
    ...(route.operation === undefined ? [] : [route.operation.metadata, route.operation.response])
  ]).concat(ErrorBody)

const checkTables = (): ReadonlyArray<string> => versions.flatMap((version) => compareTables(messages(), version))

/** Methods that a version has in another service. What v1 does not have yet is served under v1 all the same. */
const elsewhere: Readonly<Record<ApiVersion, Readonly<Record<string, string>>>> = {
  v1: { "PredictionService.CountTokens": "LlmUtilityService.CountTokens" },
  v1beta1: {}
}

/** Every path of the protos' bindings leads to its route, with every segment another id. */
const checkPaths = (): ReadonlyArray<string> => {
  const problems: Array<string> = []
  /** Methods that pass bytes on have several routes, one for each kind of resource. */
  const sharing = (rpc: string | undefined) => entries.filter(([, route]) => route.rpc === rpc).map(([key]) => key)
  const lead = (verb: string, template: string, key: RouteKey | undefined) => {
    let n = 0
    const path = template.replaceAll(
      /\{[\w.]+=([^}]+)\}/g,
      (_, form: string) => form.replaceAll("**", "*").replaceAll("*", () => `id-${++n}`)
    )
    const found = match(verb, path)
    const expected = key === undefined ? [] : sharing(routes[key].rpc)
    if (found === undefined || (key !== undefined && !expected.includes(found.key))) {
      problems.push(`${verb} ${path} leads to ${found?.key ?? "nothing"}, not ${key ?? "a route"}`)
    }
  }
  for (const version of versions) {
    for (const [key, route] of entries) {
      const method = lookupMethod(version, elsewhere[version][route.rpc] ?? route.rpc)
      // Operations and Locations are mixed in: their bindings are the client's.
      if (method === undefined) {
        if (/^Vertex|^Prediction|^Job|^Model|^Endpoint/.test(route.rpc) && lookupMethod("v1beta1", route.rpc) === undefined) {
          problems.push(`${route.rpc}: no such method in ${version}`)
        }
        continue
      }
      for (const [verb, template, body] of bindingsOf(method)) {
        if (verb !== route.verb) problems.push(`${route.rpc} is ${verb}`)
        if (route.raw !== true && (route.bodyField ?? (route.body === undefined ? undefined : "*")) !== body) {
          problems.push(`${route.rpc}: the body is ${body ?? "none"}`)
        }
        lead(verb, template, key)
      }
      if (route.raw !== true && !fullName(route.response, version).endsWith(method.responseType.replace(/^.*\./, ""))) {
        problems.push(`${route.rpc} answers ${method.responseType}`)
      }
    }
    for (const { path, verb } of clientBindings(version)) {
      if (
        /\/(?:projects\/\*\/locations\/\*(?:\/ragCorpora\/\*(?:\/ragFiles\/\*)?|\/ragEngineConfig)?\/operations\/\*\}|(?:ragCorpora\/\*|ragFiles\/\*|ragEngineConfig|locations\/\*)\}\/operations)/
          .test(path)
      ) {
        lead(verb, path, undefined)
      }
    }
  }
  return problems
}

/** google.api.HttpRule. */
type Rule = { readonly [K in "get" | "post" | "patch" | "delete" | "body"]?: string } & {
  readonly additional_bindings?: Rule | ReadonlyArray<Rule>
}

const bindingsOf = (
  method: { readonly parsedOptions: unknown }
): ReadonlyArray<readonly [verb: string, template: string, body: string | undefined]> => {
  // protobufjs types the parsed options as a record; they are a list of them.
  const options = [method.parsedOptions].flat() as ReadonlyArray<Record<string, Rule>>
  const rule = options.map((option) => option["(google.api.http)"]).find((rule) => rule !== undefined) ?? {}
  return [rule, ...[rule.additional_bindings ?? []].flat()].flatMap((binding) =>
    (["get", "post", "patch", "delete"] as const).flatMap((verb) =>
      binding[verb] === undefined ? [] : [[verb.toUpperCase(), binding[verb], binding.body] as const]
    )
  )
}

type Body = Result.Result<object, ServiceError>
interface Case<A> {
  readonly key: RouteKey
  readonly values: fc.Arbitrary<A>
  readonly write: (value: A, version: ApiVersion) => Body | object
}

const one = <A>(key: RouteKey, values: fc.Arbitrary<A>, write: Case<A>["write"]): Case<unknown> => ({
  key,
  values,
  write: (value, version) => write(value as A, version) // the runner gives what `values` made
})

/** Every body the client sends. */
const requests: ReadonlyArray<Case<unknown>> = [
  one("createRagCorpus", any.corpusSpec, corpusSpecToWire),
  one("updateRagCorpus", any.corpusPatch, corpusPatchToWire),
  one("uploadRagFile", any.upload, uploadRequestToWire),
  one("importRagFiles", any.importRequest, importRequestToWire),
  one("retrieveContexts", any.retrieval, retrieveRequestToWire),
  ...(["generateContent", "streamGenerateContent"] as const).map((key) =>
    one(key, any.retrieval, ({ query, ...selection }) => groundedQuestionToWire({ question: query, instruction: "answer", selection }))
  ),
  one("createBatchPredictionJob", batch.batchSpec, batchSpecToWire),
  one("cancelBatchPredictionJob", any.text, () => ({})),
  ...(["generateContent", "streamGenerateContent"] as const).map((key) => one(key, generationRequest, generationToWire)),
  one(
    "countTokens",
    generationRequest,
    ({ contents, generationConfig, systemInstruction, tools }) => defined({ contents, generationConfig, systemInstruction, tools })
  ),
  one("deploy", fc.tuple(any.parent, models.deployRequest), ([destination, request]) => deployRequestToWire(destination, request)),
  ...(["checkPublisherModelEula", "acceptPublisherModelEula"] as const).map((key) =>
    one(key, any.word, (publisherModel) => ({ publisherModel }))
  ),
  one("uploadModel", models.modelSpec, modelSpecToWire),
  one("createEndpoint", models.endpointSpec, endpointSpecToWire),
  one("updateEndpoint", models.endpointChange, (change) => endpointChangeToWire(change).body),
  one("endpointPredict", fc.record({ instances: fc.array(any.word, { minLength: 1 }), parameters: any.word }), (request) => request),
  one("deployModel", models.deployModel, deployModelToWire),
  one("undeployModel", models.undeploy, undeployToWire),
  one("waitOperation", any.text, () => ({ timeout: "30s" })),
  one("cancelOperation", any.text, () => ({}))
]

const inAnswer = any.corpusName.chain((corpus) => any.answerOf(corpus))
const contexts = any.corpusName.chain((corpus) => fc.array(any.contextOf(corpus), { maxLength: 5 }))
const tier = fc.constantFrom("scaled" as const, "basic" as const, "unprovisioned" as const, "serverless" as const)
const operationAnswer = fc.tuple(any.operation, any.corpus, any.importRequest, tier)
const writeOperation: (value: typeof operationAnswer extends fc.Arbitrary<infer A> ? A : never, version: ApiVersion) => object = (
  [operation, corpus, request, tier],
  version
) => operationToWire(operation, version, { corpus, request, tier, defaultEmbedding: "publishers/google/models/text-embedding-004" })

const modelAnswer = fc.tuple(
  models.modelOperation,
  fc.record({ endpoint: models.endpoint, deployedModel: models.deployedModel, versionId: any.word }, { requiredKeys: [] })
)

/** Every body the server answers. */
const responses: ReadonlyArray<Case<unknown>> = [
  ...([
    "deploy",
    "deployPublisherModel",
    "uploadModel",
    "deleteModel",
    "createEndpoint",
    "deleteEndpoint",
    "deployModel",
    "undeployModel",
    "getOperation"
  ] as const)
    .map((key) => one(key, modelAnswer, ([operation, result], version) => operationToWire(operation, version, result))),
  one("getPublisherModel", models.catalogModel, (model) => catalogModelToWire(model)),
  one(
    "listPublisherModels",
    fc.array(models.catalogModel, { maxLength: 3 }),
    (found) => ({ publisherModels: found.map((model) => catalogModelToWire(model)), nextPageToken: "2" })
  ),
  ...(["checkPublisherModelEula", "acceptPublisherModelEula"] as const).map((key) =>
    one(key, any.word, (publisherModel) => ({ projectNumber: "123", publisherModel, publisherModelEulaAcked: true }))
  ),
  one("getModel", models.model, modelToWire),
  one("listModels", fc.array(models.model, { maxLength: 3 }), (found) => ({ models: found.map(modelToWire), nextPageToken: "2" })),
  ...(["getEndpoint", "updateEndpoint"] as const).map((key) => one(key, models.endpoint, endpointToWire)),
  one(
    "endpointPredict",
    fc.record({ predictions: fc.array(any.word), metadata: any.word }),
    (answer) => Result.getOrThrow(predictionFromModel(200, JSON.stringify(answer)))
  ),
  one(
    "listEndpoints",
    fc.array(models.endpoint, { maxLength: 3 }),
    (found) => ({ endpoints: found.map(endpointToWire), nextPageToken: "2" })
  ),
  ...([
    "createRagCorpus",
    "updateRagCorpus",
    "deleteRagCorpus",
    "importRagFiles",
    "deleteRagFile",
    "updateRagEngineConfig",
    "deleteBatchPredictionJob",
    "getOperation",
    "waitOperation"
  ] as const)
    .map((key) => one(key, operationAnswer, writeOperation)),
  one("listOperations", operationAnswer, (value, version) => ({ operations: [writeOperation(value, version)], nextPageToken: "2" })),
  one("getRagCorpus", any.corpus, (corpus) => corpusToWire(corpus, "publishers/google/models/text-embedding-004")),
  one(
    "listRagCorpora",
    fc.array(any.corpus, { maxLength: 3 }),
    (corpora) => ({ ragCorpora: corpora.map((corpus) => corpusToWire(corpus)) })
  ),
  one("getRagFile", any.ragFile, ragFileToWire),
  one("listRagFiles", fc.array(any.ragFile, { maxLength: 3 }), (files) => ({ ragFiles: files.map(ragFileToWire), nextPageToken: "2" })),
  one("uploadRagFile", fc.oneof(any.ragFile, any.serviceError, any.documentError), uploadResponseToWire),
  one("retrieveContexts", contexts, contextsToWire),
  ...(["generateContent", "streamGenerateContent"] as const).flatMap((key) => [
    one(key, inAnswer, (answer) => answerToWire(answer, { question: "q", responseId: "r", createTime: "2026-01-01T00:00:00.000001Z" })),
    one(key, inAnswer, (answer) => answerEndToWire(answer)),
    one(key, any.word, (piece) => answerPieceToWire(piece, { model: "model", responseId: "r" }))
  ]),
  ...(["generateContent", "streamGenerateContent"] as const).map((key) => one(key, generationResponse, generationResponseToWire)),
  one(
    "countTokens",
    fc.nat({ max: 1_000_000 }),
    (totalTokens) => tokenCountToWire({ totalTokens, totalBillableCharacters: totalTokens * 4 })
  ),
  one(
    "augmentPrompt",
    contexts,
    (found) =>
      augmentResponseToWire(
        { contents: [{ role: "user", parts: [{ text: "question" }] }] },
        found.map((context) => factToWire("question", context))
      )
  ),
  one("corroborateContent", any.word, (text) => corroborateResponseToWire(text, 0, [{ start: 0, end: text.length, facts: [0], score: 0 }])),
  ...(["createBatchPredictionJob", "getBatchPredictionJob"] as const).map((key) => one(key, batch.batchJob, batchJobToWire)),
  one(
    "listBatchPredictionJobs",
    fc.array(batch.batchJob, { maxLength: 3 }),
    (jobs) => ({ batchPredictionJobs: jobs.map(batchJobToWire), nextPageToken: "2" })
  ),
  one("cancelBatchPredictionJob", any.text, () => ({})),
  one(
    "getRagEngineConfig",
    fc.tuple(any.parent, tier),
    ([parent, tier], version) => engineTierToWire(`${parent}/ragEngineConfig`, tier, version)
  ),
  one("getLocation", any.parent, (name) => ({ name, locationId: "l", displayName: "L" })),
  one("listLocations", any.parent, (name) => ({ locations: [{ name }] })),
  one("cancelOperation", any.text, () => ({})),
  one("deleteOperation", any.text, () => ({}))
]

/** In JSON and back: what goes over the wire is text. */
const overTheWire = (body: object): unknown => JSON.parse(JSON.stringify(body))

const checkRequest = ({ key, write }: Case<unknown>, value: unknown, version: ApiVersion): ReadonlyArray<string> => {
  const route: Route = routes[key]
  const made = write(value, version)
  const body = Result.isResult(made) ? made : Result.succeed(made)
  const encoded = Result.flatMap(body as Body, (message) => encodeRequest(route, version, message))
  if (Result.isFailure(encoded)) {
    // Some of what can be asked for exists in v1beta1 only, and the client says so instead of sending it.
    return version === "v1" && encoded.failure.message.includes("does not exist in v1") ? [] : [encoded.failure.message]
  }
  const type = lookupType(fullName(route.body ?? route.response, version))
  return validate(type, overTheWire(encoded.success), {
    version,
    request: { inPath: ["parent", "name", "model", "endpoint"], partial: route.verb === "PATCH" }
  })
}

const checkResponse = ({ key, write }: Case<unknown>, value: unknown, version: ApiVersion): ReadonlyArray<string> => {
  const route: Route = routes[key]
  const message = write(value, version)
  return [true, false].flatMap((enumNumbers) => {
    const json = overTheWire(encodeResponse(route, message, { version, enumNumbers }))
    return validate(lookupType(fullName(route.response, version)), json, { version })
  })
}

const checkError = (error: ServiceError): ReadonlyArray<string> => {
  const { body, status } = errorToWire(error, { service: "aiplatform.googleapis.com" })
  const { code, status: name, ...rest } = (overTheWire(body) as { readonly error: Record<string, unknown> }).error
  return [
    ...(code === status && name === error.code ? [] : ["the body's code is not the answer's"]),
    ...validate(lookupType("google.rpc.Status"), { code: 3, ...rest }, { version: "v1" })
  ]
}

const run = <A>(name: string, values: fc.Arbitrary<A>, runs: number, check: (value: A) => ReadonlyArray<string>): ReadonlyArray<string> => {
  const result = fc.check(
    fc.property(values, (value) => {
      const problems = check(value)
      if (problems.length > 0) throw new Error(problems.join("\n"))
    }),
    { numRuns: runs }
  )
  return result.failed ? [`${name}: ${fc.defaultReportMessage(result) ?? ""}`] : []
}

/** Whether the protos of a version have what the method answers; methods come to v1 later, and are served there all the same. */
const exists = (key: RouteKey, version: ApiVersion): boolean => {
  const { body, response }: Route = routes[key]
  return [response, ...(body === undefined ? [] : [body])].every((message) => lookup(fullName(message, version)) !== null)
}

/** What is wrong; `runs` values of every kind. */
export const checkWire = (runs: number): ReadonlyArray<string> => [
  ...checkTables(),
  ...checkPaths(),
  ...versions.flatMap((version) => [
    ...requests.filter((each) => exists(each.key, version)).flatMap((each) =>
      run(`${version} ${each.key} request`, each.values, runs, (value) => checkRequest(each, value, version))
    ),
    ...responses.filter((each) => exists(each.key, version)).flatMap((each) =>
      run(`${version} ${each.key} response`, each.values, runs, (value) => checkResponse(each, value, version))
    )
  ]),
  ...run("error", any.serviceError, runs, checkError)
]

if (import.meta.main) {
  const runs = Number(process.argv[2] ?? 200)
  const start = performance.now()
  const problems = checkWire(runs)
  const bodies = (requests.length + responses.length) * versions.length * runs
  console.log(
    problems.length === 0
      ? `the wire is right: ${entries.length} methods, ${bodies} bodies in ${((performance.now() - start) / 1000).toFixed(1)} s`
      : problems.join("\n")
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}
