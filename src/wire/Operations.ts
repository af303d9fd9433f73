import { Result } from "effect"
import { codeOfGrpc } from "../domain/Codes.ts"
import type { Corpus } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { DataSchema, FileMetadata } from "../domain/FileMetadata.ts"
import type { Context, RetrievalRequest } from "../domain/Retrieval.ts"
import type { ImportRequest } from "../domain/Import.ts"
import { type ImportCounts, type Operation, type OperationKind, OperationName, type PartialFailure } from "../domain/Operation.ts"
import { corpusFromWire, corpusToWire } from "./rag/Corpora.ts"
import { engineTierToWire, type EngineTier } from "./rag/EngineConfigs.ts"
import { statusFromWire, statusToWire } from "./Errors.ts"
import { dataSchemaToWire, fileMetadataToWire } from "./rag/FileMetadata.ts"
import { sinkObject } from "./rag/ImportResults.ts"
import { importConfigToWire, sinkOf } from "./rag/Imports.ts"
import { type Any, type AnyMessage, type ApiVersion, type Json, type Of, typeUrl } from "./Message.ts"
import {
  AsyncRetrieveContextsOperationMetadata,
  BatchCreateRagDataSchemasOperationMetadata,
  BatchCreateRagMetadataOperationMetadata,
  CreateRagCorpusOperationMetadata,
  DeleteOperationMetadata,
  ImportRagFilesOperationMetadata,
  type Operation as WireOperation,
  UpdateRagCorpusOperationMetadata,
  UpdateRagEngineConfigOperationMetadata
} from "./messages/Operations.ts"
import { RagCorpus } from "./messages/RagCorpus.ts"
import { ImportRagFilesResponse } from "./messages/RagFile.ts"
import { AsyncRetrieveContextsResponse } from "./messages/AskContexts.ts"
import { BatchCreateRagDataSchemasResponse, BatchCreateRagMetadataResponse } from "./messages/RagMetadata.ts"
import { RagEngineConfig } from "./messages/RagEngineConfig.ts"
import { Empty } from "./messages/Rpc.ts"
import {
  deploymentFromWire,
  isModelOperation,
  modelMetadata,
  modelMetadataTypes,
  modelResponse,
  type ModelResult
} from "./models/ModelOperations.ts"
import { defined } from "./Optional.ts"
import { lastSegment, orderedContextsToWire } from "./rag/Retrievals.ts"

/** Parts of an operation's response that its stored row does not have. */
export interface OperationResult extends ModelResult {
  /** The corpus that a finished creation or update made. */
  readonly corpus?: Corpus
  /** Embedding model shown for a corpus that named none: see `corpusToWire`. */
  readonly defaultEmbedding?: string
  /** The request of an import. */
  readonly request?: ImportRequest
  /** The tier that an update of the engine's configuration set. */
  readonly tier?: EngineTier
  /** The contexts that a retrieval found. */
  readonly contexts?: ReadonlyArray<Context>
  /** Settings of a retrieval that decide the order of its contexts. */
  readonly ordered?: Pick<RetrievalRequest, "hybrid" | "rank">
  /** The data schemas that were made. */
  readonly schemas?: ReadonlyArray<DataSchema>
  /** The metadata of files that was made. */
  readonly metadata?: ReadonlyArray<FileMetadata>
}

/**
 * An operation as the service returns it. Its name starts with its target: `{corpus}/operations/{id}`. Files that an import
 * could not store are partial failures beside a normal response, even where no file was stored. The target of
 * `updateEngineConfig` is the location of the configuration.
 */
export const operationToWire = (operation: Operation, apiVersion: ApiVersion, result: OperationResult = {}): WireOperation => {
  // v1 lacks the types of these operations, but shows them all the same.
  const version = ["deployPublisherModel", "createDataSchemas", "createFileMetadata"].includes(operation.kind) ? "v1beta1" : apiVersion
  const metadata = {
    genericMetadata: {
      partialFailures: operation.partialFailures.map(statusToWire),
      createTime: operation.createTime,
      updateTime: operation.updateTime
    },
    ...(operation.kind === "importFiles" ? importMetadata(operation, result.request) : {}),
    ...(isModelOperation(operation.kind) ? modelMetadata(operation) : {})
  }
  return defined({
    name: `${operation.target}${hangsFrom(operation.kind)}/operations/${lastSegment(operation.name)}`,
    metadata: any(metadataTypes[operation.kind], version, metadata),
    done: operation.done,
    error: operation.done && operation.error !== undefined ? statusToWire(operation.error) : undefined,
    response: operation.done && operation.error === undefined ? responseOf(operation, version, result) : undefined
  })
}

/** Decodes an operation that a service returned. */
export const operationFromWire = (wire: WireOperation): Result.Result<Operation, ServiceError> => {
  const { error, metadata, name = "", response } = wire
  if (name === "") return Result.fail(ServiceError.internal("the service answered an operation without a name"))
  const place = name.slice(0, Math.max(0, name.lastIndexOf("/operations/")))
  const kind = kindOf(metadata, place)
  if (kind === undefined) {
    return Result.fail(ServiceError.internal(`the service answered an operation of a kind not known here: ${name}`))
  }
  const known = metadata === undefined ? {} : Result.getOrElse(
    ImportRagFilesOperationMetadata.decode(metadata),
    (): Of<typeof ImportRagFilesOperationMetadata> => ({})
  )
  const generic = known.genericMetadata
  return Result.succeed(defined({
    name: OperationName.make(name),
    kind,
    target: place.slice(0, place.length - hangsFrom(kind).length),
    done: wire.done ?? false,
    progress: kind === "importFiles" ? known.progressPercentage ?? 0 : undefined,
    error: error === undefined ? undefined : { code: codeOfGrpc(error.code), message: error.message ?? "" },
    partialFailures: (generic?.partialFailures ?? []).map(
      ({ code, message = "" }): PartialFailure => ({ code: codeOfGrpc(code), message })
    ),
    counts: kind === "importFiles" && response !== undefined ? countsOf(response) : undefined,
    resultSink: kind === "importFiles" ? sinkOf(known.importRagFilesConfig ?? {}) : undefined,
    deployment: isModelOperation(kind) ? deploymentFromWire(kind, metadata, response) : undefined,
    createTime: generic?.createTime ?? "",
    updateTime: generic?.updateTime ?? ""
  }))
}

/** The corpus that a finished creation or update made; fails with the operation's error and all its details. */
export const operationCorpus = (wire: WireOperation): Result.Result<Corpus, ServiceError> => {
  if (wire.error !== undefined) return Result.fail(statusFromWire(wire.error))
  const corpus = wire.response === undefined ? undefined : Result.getOrUndefined(RagCorpus.decode(wire.response))
  return corpus === undefined
    ? Result.fail(ServiceError.internal(`operation ${wire.name ?? ""} ended without a corpus`))
    : corpusFromWire(corpus)
}

const metadataTypes: Readonly<Record<OperationKind, AnyMessage>> = {
  createCorpus: CreateRagCorpusOperationMetadata,
  updateCorpus: UpdateRagCorpusOperationMetadata,
  deleteCorpus: DeleteOperationMetadata,
  importFiles: ImportRagFilesOperationMetadata,
  deleteFile: DeleteOperationMetadata,
  retrieveContexts: AsyncRetrieveContextsOperationMetadata,
  createDataSchemas: BatchCreateRagDataSchemasOperationMetadata,
  deleteDataSchemas: DeleteOperationMetadata,
  createFileMetadata: BatchCreateRagMetadataOperationMetadata,
  deleteFileMetadata: DeleteOperationMetadata,
  updateEngineConfig: UpdateRagEngineConfigOperationMetadata,
  ...modelMetadataTypes,
  deleteBatchJob: DeleteOperationMetadata
}

const engineConfig = "/ragEngineConfig"

const hangsFrom = (kind: OperationKind): string => (kind === "updateEngineConfig" ? engineConfig : "")

/** Kind of an operation, by the type of its metadata. All deletions share one type, and are distinguished by the parent in the name. */
const kindOf = (metadata: Any | undefined, place: string): OperationKind | undefined => {
  const type = metadata?.["@type"]
  const url = (kind: OperationKind) => [typeUrl(metadataTypes[kind], "v1"), typeUrl(metadataTypes[kind], "v1beta1")]
  const kinds = Object.keys(metadataTypes) as ReadonlyArray<OperationKind> // the keys are those of the table
  const kind = kinds.find((kind) => type !== undefined && url(kind).includes(type))
  return kind !== undefined && metadataTypes[kind] === DeleteOperationMetadata
    ? deletes.find(([, collection]) => place.includes(`/${collection}/`))?.[0] ?? kind
    : kind
}

const deletes: ReadonlyArray<readonly [OperationKind, string]> = [
  ["deleteFile", "ragFiles"],
  ["deleteCorpus", "ragCorpora"],
  ["deleteEndpoint", "endpoints"],
  ["deleteModel", "models"],
  ["deleteBatchJob", "batchPredictionJobs"]
]

const any = (type: AnyMessage, version: ApiVersion, value: object): Any => ({
  "@type": typeUrl(type, version),
  // Messages are JSON, which the type of an interface without an index signature does not express.
  ...(value as Readonly<Record<string, Json>>)
})

const importMetadata = (operation: Operation, request: ImportRequest | undefined) => {
  const id = /\/ragCorpora\/(\d+)/.exec(operation.target)?.[1]
  return defined({
    ragCorpusId: id,
    importRagFilesConfig: request === undefined ? undefined : importConfigToWire(request),
    progressPercentage: operation.progress
  })
}

const responseOf = (operation: Operation, version: ApiVersion, result: OperationResult): Any => {
  if (isModelOperation(operation.kind)) {
    const [type, value] = modelResponse(operation.kind, operation, result)
    return any(type, version, value)
  }
  switch (operation.kind) {
    case "createCorpus":
    case "updateCorpus":
      return any(RagCorpus, version, result.corpus === undefined ? {} : corpusToWire(result.corpus, result.defaultEmbedding))
    case "importFiles":
      return any(ImportRagFilesResponse, version, {
        importedRagFilesCount: String(operation.counts?.imported ?? 0),
        failedRagFilesCount: String(operation.counts?.failed ?? 0),
        skippedRagFilesCount: String(operation.counts?.skipped ?? 0),
        ...failuresPath(result.request?.failureSink)
      })
    case "retrieveContexts":
      return any(AsyncRetrieveContextsResponse, version, orderedContextsToWire(result.contexts ?? [], result.ordered ?? {}))
    case "createDataSchemas":
      return any(BatchCreateRagDataSchemasResponse, version, { ragDataSchemas: (result.schemas ?? []).map(dataSchemaToWire) })
    case "createFileMetadata":
      return any(BatchCreateRagMetadataResponse, version, { ragMetadata: (result.metadata ?? []).map(fileMetadataToWire) })
    case "updateEngineConfig":
      return any(RagEngineConfig, version, engineTierToWire(`${operation.target}${engineConfig}`, result.tier ?? "basic", version))
    case "deleteCorpus":
    case "deleteFile":
    case "deleteDataSchemas":
    case "deleteFileMetadata":
    case "deleteBatchJob":
      return any(Empty, version, {})
  }
}

const failuresPath = (sink: string | undefined): Of<typeof ImportRagFilesResponse> => {
  if (sink === undefined) return {}
  return sink.startsWith("bq://")
    ? { partialFailuresBigqueryTable: sink }
    : { partialFailuresGcsPath: sinkObject(sink, "partial_failures") }
}

const countsOf = (response: Any): ImportCounts => {
  const counts = Result.getOrElse(ImportRagFilesResponse.decode(response), (): Of<typeof ImportRagFilesResponse> => ({}))
  return {
    imported: Number(counts.importedRagFilesCount ?? 0),
    failed: Number(counts.failedRagFilesCount ?? 0),
    skipped: Number(counts.skippedRagFilesCount ?? 0)
  }
}
