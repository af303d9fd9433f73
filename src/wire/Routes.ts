import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { OperationKind } from "../domain/Operation.ts"
import { type AnyMessage, type ApiVersion, type JsonObject, message, type Message } from "./Message.ts"
import {
  CreateRagCorpusOperationMetadata,
  DeleteOperationMetadata,
  ImportRagFilesOperationMetadata,
  ListOperationsRequest,
  ListOperationsResponse,
  Operation,
  UpdateRagCorpusOperationMetadata,
  UpdateRagEngineConfigOperationMetadata,
  WaitOperationRequest
} from "./messages/Operations.ts"
import { GenerateContentRequest, GenerateContentResponse } from "./messages/GenerateContent.ts"
import {
  AugmentPromptRequest,
  AugmentPromptResponse,
  CorroborateContentRequest,
  CorroborateContentResponse
} from "./messages/Grounding.ts"
import { ListLocationsRequest, ListLocationsResponse, Location } from "./messages/Locations.ts"
import { DeleteRagCorpusRequest, ListRagCorporaRequest, ListRagCorporaResponse, RagCorpus } from "./messages/RagCorpus.ts"
import { RagEngineConfig } from "./messages/RagEngineConfig.ts"
import {
  DeleteRagFileRequest,
  ImportRagFilesRequest,
  ImportRagFilesResponse,
  ListRagFilesRequest,
  ListRagFilesResponse,
  RagFile,
  UploadRagFileRequest,
  UploadRagFileResponse
} from "./messages/RagFile.ts"
import { RetrieveContextsRequest, RetrieveContextsResponse } from "./messages/Retrieval.ts"
import { Empty } from "./messages/Rpc.ts"
import { build, compile, type ParamsOf, parse, type Path } from "./Path.ts"
import { missingIn, write, type WriteOptions } from "./write.ts"

/**
 * Every method of the RAG area, once, for the client and for the server.
 *
 * Client: `path(routes.importRagFiles, "v1beta1", { parent: corpus })`, `encodeQuery`, `encodeRequest`, then
 * `decodeResponse`; a failure's body goes through `errorFromWire` (`Errors.ts`).
 * Server: `match("POST", rawPath)` gives the route's key, the version and the resource names of the path;
 * `tolerant/request.ts` reads query and body; `encodeResponse` writes the answer, `errorToWire` the failure.
 * The files beside this one turn domain values into messages and back: `Corpora`, `Files`, `Imports`, `Retrievals`,
 * `Grounding`, `Facts`, `Operations`, `EngineConfigs`, `Errors`, `Marker`. Nothing here throws; what can go wrong is a
 * `Result` of a `ServiceError`.
 *
 * Plain tables, and not `HttpApi`: the API's verbs (`ragFiles:import`), parameters of several segments, five bindings
 * of one method, bodies that must be read leniently or stay raw, and zero values that are left out each go against it.
 */
export interface Route<Param extends string = string, Query = unknown, Body = unknown, Response = unknown> {
  /** The method in the protos. */
  readonly rpc: string
  readonly verb: "GET" | "POST" | "PATCH" | "DELETE"
  readonly paths: ReadonlyArray<Path>
  readonly query: Message<Query>
  /** Absent: the method takes no body. */
  readonly body?: Message<Body>
  /** The request's field that is the body, where the body is not the whole request. Begins every path of a violation. */
  readonly bodyField?: string
  readonly response: Message<Response>
  readonly stream?: true
  /** What the operation that it answers with is about. */
  readonly operation?: { readonly kind: OperationKind; readonly metadata: AnyMessage; readonly response: AnyMessage }
  /** The type of the parameters; never there. */
  readonly params?: { readonly [K in Param]: string }
}

const nothing = message("google.protobuf.Empty", {})

interface Options<Query, Body, Response> {
  readonly query?: Message<Query>
  readonly body?: Message<Body>
  readonly bodyField?: string
  readonly response: Message<Response>
  readonly stream?: true
  readonly operation?: NonNullable<Route["operation"]>
}

const route = <T extends string, Query = {}, Body = never, Response = never>(
  rpc: string,
  verb: Route["verb"],
  templates: T | ReadonlyArray<T>,
  options: Options<Query, Body, Response>
): Route<ParamsOf<T>, Query, Body, Response> => ({
  rpc,
  verb,
  paths: (typeof templates === "string" ? [templates] : templates).map(compile),
  ...options,
  query: options.query ?? (nothing as Message<Query & object>) // Query is {} when none is given
})

const data = "VertexRagDataService."
const location = "projects/*/locations/*"
const corpus = "projects/*/locations/*/ragCorpora/*"
const file = "projects/*/locations/*/ragCorpora/*/ragFiles/*"
/** Wherever an operation hangs: it is known by its last segment. */
const operation = "projects/*/locations/*/**/operations/*"

const models = [
  "{model=projects/*/locations/*/publishers/*/models/*}",
  "{model=projects/*/locations/*/endpoints/*}",
  "{model=publishers/*/models/*}",
  "{model=endpoints/*}"
] as const

export const routes = {
  createRagCorpus: route(`${data}CreateRagCorpus`, "POST", `{parent=${location}}/ragCorpora`, {
    body: RagCorpus,
    bodyField: "rag_corpus",
    response: Operation,
    operation: { kind: "createCorpus", metadata: CreateRagCorpusOperationMetadata, response: RagCorpus }
  }),
  listRagCorpora: route(`${data}ListRagCorpora`, "GET", `{parent=${location}}/ragCorpora`, {
    query: ListRagCorporaRequest,
    response: ListRagCorporaResponse
  }),
  getRagCorpus: route(`${data}GetRagCorpus`, "GET", `{name=${corpus}}`, { response: RagCorpus }),
  updateRagCorpus: route(`${data}UpdateRagCorpus`, "PATCH", `{name=${corpus}}`, {
    body: RagCorpus,
    bodyField: "rag_corpus",
    response: Operation,
    operation: { kind: "updateCorpus", metadata: UpdateRagCorpusOperationMetadata, response: RagCorpus }
  }),
  deleteRagCorpus: route(`${data}DeleteRagCorpus`, "DELETE", `{name=${corpus}}`, {
    query: DeleteRagCorpusRequest,
    response: Operation,
    operation: { kind: "deleteCorpus", metadata: DeleteOperationMetadata, response: Empty }
  }),

  /** Without `/upload` before it, the JSON twin: the request alone, and no bytes. */
  uploadRagFile: route(`${data}UploadRagFile`, "POST", `{parent=${corpus}}/ragFiles:upload`, {
    body: UploadRagFileRequest,
    response: UploadRagFileResponse
  }),
  importRagFiles: route(`${data}ImportRagFiles`, "POST", `{parent=${corpus}}/ragFiles:import`, {
    body: ImportRagFilesRequest,
    response: Operation,
    operation: { kind: "importFiles", metadata: ImportRagFilesOperationMetadata, response: ImportRagFilesResponse }
  }),
  listRagFiles: route(`${data}ListRagFiles`, "GET", `{parent=${corpus}}/ragFiles`, {
    query: ListRagFilesRequest,
    response: ListRagFilesResponse
  }),
  getRagFile: route(`${data}GetRagFile`, "GET", `{name=${file}}`, { response: RagFile }),
  deleteRagFile: route(`${data}DeleteRagFile`, "DELETE", `{name=${file}}`, {
    query: DeleteRagFileRequest,
    response: Operation,
    operation: { kind: "deleteFile", metadata: DeleteOperationMetadata, response: Empty }
  }),

  getRagEngineConfig: route(`${data}GetRagEngineConfig`, "GET", `{name=${location}/ragEngineConfig}`, {
    response: RagEngineConfig
  }),
  updateRagEngineConfig: route(`${data}UpdateRagEngineConfig`, "PATCH", `{name=${location}/ragEngineConfig}`, {
    body: RagEngineConfig,
    bodyField: "rag_engine_config",
    response: Operation,
    operation: {
      kind: "updateEngineConfig",
      metadata: UpdateRagEngineConfigOperationMetadata,
      response: RagEngineConfig
    }
  }),

  retrieveContexts: route("VertexRagService.RetrieveContexts", "POST", `{parent=${location}}:retrieveContexts`, {
    body: RetrieveContextsRequest,
    response: RetrieveContextsResponse
  }),
  augmentPrompt: route("VertexRagService.AugmentPrompt", "POST", `{parent=${location}}:augmentPrompt`, {
    body: AugmentPromptRequest,
    response: AugmentPromptResponse
  }),
  corroborateContent: route("VertexRagService.CorroborateContent", "POST", `{parent=${location}}:corroborateContent`, {
    body: CorroborateContentRequest,
    response: CorroborateContentResponse
  }),

  generateContent: route("PredictionService.GenerateContent", "POST", models.map((model) => `${model}:generateContent` as const), {
    body: GenerateContentRequest,
    response: GenerateContentResponse
  }),
  streamGenerateContent: route(
    "PredictionService.StreamGenerateContent",
    "POST",
    models.map((model) => `${model}:streamGenerateContent` as const),
    { body: GenerateContentRequest, response: GenerateContentResponse, stream: true }
  ),

  getOperation: route("Operations.GetOperation", "GET", `{name=${operation}}`, { response: Operation }),
  listOperations: route("Operations.ListOperations", "GET", `{name=${location}/**}/operations`, {
    query: ListOperationsRequest,
    response: ListOperationsResponse
  }),
  cancelOperation: route("Operations.CancelOperation", "POST", `{name=${operation}}:cancel`, { body: Empty, response: Empty }),
  waitOperation: route("Operations.WaitOperation", "POST", `{name=${operation}}:wait`, {
    query: WaitOperationRequest,
    body: WaitOperationRequest,
    response: Operation
  }),
  deleteOperation: route("Operations.DeleteOperation", "DELETE", `{name=${operation}}`, { response: Empty }),

  listLocations: route("Locations.ListLocations", "GET", "{name=projects/*}/locations", {
    query: ListLocationsRequest,
    response: ListLocationsResponse
  }),
  getLocation: route("Locations.GetLocation", "GET", `{name=${location}}`, { response: Location })
}

export type Routes = typeof routes
export type RouteKey = keyof Routes

export type Params<R> = R extends Route<infer P, infer _Q, infer _B, infer _R> ? { readonly [K in P]: string } : never

/** The path of a call, from `/`; names are checked against the form the method takes. */
export const path = <P extends string>(
  route: Route<P, unknown, unknown, unknown>,
  version: ApiVersion,
  params: { readonly [K in P]: string },
  prefix: "" | "upload" = ""
): Result.Result<string, ServiceError> =>
  Result.map(build(route.paths, params), (rest) => `${prefix === "" ? "" : "/upload"}/${version}/${rest}`)

export interface Match {
  readonly key: RouteKey
  readonly version: ApiVersion
  /** Resource names: `parent`, `name` or `model`. */
  readonly params: Readonly<Record<string, string>>
  readonly upload: boolean
}

/** `[upload/][v1|v1beta1]/rest`; listing operations is also bound to `/ui/…`, which has no version. */
const prefix = /^\/(?:(upload)\/)?(?:(v1|v1beta1)\/|ui\/(?:(v1|v1beta1)\/)?)/

const table = Object.entries(routes) as ReadonlyArray<[RouteKey, Route]> // the keys are those of the table

/** Which method a path (raw, without query) is for; undefined when there is none. */
export const match = (verb: string, rawPath: string): Match | undefined => {
  const start = prefix.exec(rawPath)
  if (start === null) return undefined
  const rest = rawPath.slice(start[0].length)
  for (const [key, route] of table) {
    if (route.verb !== verb) continue
    for (const path of route.paths) {
      const params = parse(path, rest)
      if (params !== undefined) {
        const version = start[2] ?? start[3]
        return { key, params, version: version === "v1" ? "v1" : "v1beta1", upload: start[1] !== undefined }
      }
    }
  }
  return undefined
}

/** The query of a call, with its `?`; empty when there is none. */
export const encodeQuery = <Q>(route: Route<string, Q, unknown, unknown>, query: Q & object, more: Readonly<Record<string, string>> = {}): string => {
  const values = Object.entries({ ...write(route.query, query, { version: "v1beta1" }), ...more })
  const text = values.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`).join("&")
  return text === "" ? "" : `?${text}`
}

/** The body of a call, refused when the API version does not have a field of it. */
export const encodeRequest = <B>(
  route: Route<string, never, B, unknown> | Route<string, unknown, B, unknown>,
  version: ApiVersion,
  body: B & object
): Result.Result<JsonObject, ServiceError> => {
  const message = route.body ?? nothing
  const missing = missingIn(message, body, version)
  return missing === undefined
    ? Result.succeed(write(message, body, { version }))
    : Result.fail(ServiceError.invalid(missing, `does not exist in ${version} of the API`, "use v1beta1"))
}

/** The body of an answer, as the service writes it. */
export const encodeResponse = <R>(route: Route<string, unknown, unknown, R>, response: R & object, options: WriteOptions): JsonObject =>
  write(route.response, response, options)

/** What the service answered: unknown fields ignored, unknown enum values kept. */
export const decodeResponse = <R>(route: Route<string, unknown, unknown, R>, json: unknown): Result.Result<R, ServiceError> =>
  Result.mapError(route.response.decode(json), (issues) =>
    ServiceError.internal(
      `the service's answer to ${route.rpc} could not be read: ${issues.map((i) => `${i.path}: ${i.message}`).join("; ")}`
    ))
