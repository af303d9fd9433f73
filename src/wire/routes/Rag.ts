import {
  AskContextsRequest,
  AskContextsResponse,
  AsyncRetrieveContextsRequest,
  AsyncRetrieveContextsResponse
} from "../messages/AskContexts.ts"
import {
  AsyncRetrieveContextsOperationMetadata,
  BatchCreateRagDataSchemasOperationMetadata,
  BatchCreateRagMetadataOperationMetadata,
  CreateRagCorpusOperationMetadata,
  DeleteOperationMetadata,
  ImportRagFilesOperationMetadata,
  Operation,
  UpdateRagCorpusOperationMetadata,
  UpdateRagEngineConfigOperationMetadata
} from "../messages/Operations.ts"
import {
  AugmentPromptRequest,
  AugmentPromptResponse,
  CorroborateContentRequest,
  CorroborateContentResponse
} from "../messages/Grounding.ts"
import { DeleteRagCorpusRequest, ListRagCorporaRequest, ListRagCorporaResponse, RagCorpus } from "../messages/RagCorpus.ts"
import { RagEngineConfig } from "../messages/RagEngineConfig.ts"
import {
  DeleteRagFileRequest,
  ImportRagFilesRequest,
  ImportRagFilesResponse,
  ListRagFilesRequest,
  ListRagFilesResponse,
  RagFile,
  UploadRagFileRequest,
  UploadRagFileResponse
} from "../messages/RagFile.ts"
import {
  BatchCreateRagDataSchemasRequest,
  BatchCreateRagDataSchemasResponse,
  BatchCreateRagMetadataRequest,
  BatchCreateRagMetadataResponse,
  BatchDeleteRagDataSchemasRequest,
  BatchDeleteRagMetadataRequest,
  CreateRagDataSchemaQuery,
  CreateRagMetadataQuery,
  ListRagDataSchemasRequest,
  ListRagDataSchemasResponse,
  ListRagMetadataRequest,
  ListRagMetadataResponse,
  RagDataSchema,
  RagMetadata
} from "../messages/RagMetadata.ts"
import { RetrieveContextsRequest, RetrieveContextsResponse } from "../messages/Retrieval.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, route } from "../Route.ts"

const data = "VertexRagDataService."
const corpus = "projects/*/locations/*/ragCorpora/*"
const file = "projects/*/locations/*/ragCorpora/*/ragFiles/*"
const schema = "projects/*/locations/*/ragCorpora/*/ragDataSchemas/*"
const metadata = "projects/*/locations/*/ragCorpora/*/ragFiles/*/ragMetadata/*"

/** Routes of corpora, their files, and retrieval from them. */
export const ragRoutes = {
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

  /** Uploads a file. Without the prefix `/upload` it is the JSON variant: the request alone, without bytes. */
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

  createRagDataSchema: route(`${data}CreateRagDataSchema`, "POST", `{parent=${corpus}}/ragDataSchemas`, {
    query: CreateRagDataSchemaQuery,
    body: RagDataSchema,
    bodyField: "rag_data_schema",
    response: RagDataSchema
  }),
  batchCreateRagDataSchemas: route(`${data}BatchCreateRagDataSchemas`, "POST", `{parent=${corpus}}/ragDataSchemas:batchCreate`, {
    body: BatchCreateRagDataSchemasRequest,
    response: Operation,
    operation: {
      kind: "createDataSchemas",
      metadata: BatchCreateRagDataSchemasOperationMetadata,
      response: BatchCreateRagDataSchemasResponse
    }
  }),
  getRagDataSchema: route(`${data}GetRagDataSchema`, "GET", `{name=${schema}}`, { response: RagDataSchema }),
  listRagDataSchemas: route(`${data}ListRagDataSchemas`, "GET", `{parent=${corpus}}/ragDataSchemas`, {
    query: ListRagDataSchemasRequest,
    response: ListRagDataSchemasResponse
  }),
  deleteRagDataSchema: route(`${data}DeleteRagDataSchema`, "DELETE", `{name=${schema}}`, { response: Empty }),
  batchDeleteRagDataSchemas: route(`${data}BatchDeleteRagDataSchemas`, "POST", `{parent=${corpus}}/ragDataSchemas:batchDelete`, {
    body: BatchDeleteRagDataSchemasRequest,
    response: Operation,
    operation: { kind: "deleteDataSchemas", metadata: DeleteOperationMetadata, response: Empty }
  }),

  createRagMetadata: route(`${data}CreateRagMetadata`, "POST", `{parent=${file}}/ragMetadata`, {
    query: CreateRagMetadataQuery,
    body: RagMetadata,
    bodyField: "rag_metadata",
    response: RagMetadata
  }),
  batchCreateRagMetadata: route(`${data}BatchCreateRagMetadata`, "POST", `{parent=${file}}/ragMetadata:batchCreate`, {
    body: BatchCreateRagMetadataRequest,
    response: Operation,
    operation: { kind: "createFileMetadata", metadata: BatchCreateRagMetadataOperationMetadata, response: BatchCreateRagMetadataResponse }
  }),
  updateRagMetadata: route(`${data}UpdateRagMetadata`, "PATCH", `{name=${metadata}}`, {
    body: RagMetadata,
    bodyField: "rag_metadata",
    response: RagMetadata
  }),
  getRagMetadata: route(`${data}GetRagMetadata`, "GET", `{name=${metadata}}`, { response: RagMetadata }),
  listRagMetadata: route(`${data}ListRagMetadata`, "GET", `{parent=${file}}/ragMetadata`, {
    query: ListRagMetadataRequest,
    response: ListRagMetadataResponse
  }),
  deleteRagMetadata: route(`${data}DeleteRagMetadata`, "DELETE", `{name=${metadata}}`, { response: Empty }),
  batchDeleteRagMetadata: route(`${data}BatchDeleteRagMetadata`, "POST", `{parent=${file}}/ragMetadata:batchDelete`, {
    body: BatchDeleteRagMetadataRequest,
    response: Operation,
    operation: { kind: "deleteFileMetadata", metadata: DeleteOperationMetadata, response: Empty }
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
  asyncRetrieveContexts: route("VertexRagService.AsyncRetrieveContexts", "POST", `{parent=${location}}:asyncRetrieveContexts`, {
    body: AsyncRetrieveContextsRequest,
    response: Operation,
    operation: { kind: "retrieveContexts", metadata: AsyncRetrieveContextsOperationMetadata, response: AsyncRetrieveContextsResponse }
  }),
  askContexts: route("VertexRagService.AskContexts", "POST", `{parent=${location}}:askContexts`, {
    body: AskContextsRequest,
    response: AskContextsResponse
  }),
  augmentPrompt: route("VertexRagService.AugmentPrompt", "POST", `{parent=${location}}:augmentPrompt`, {
    body: AugmentPromptRequest,
    response: AugmentPromptResponse
  }),
  corroborateContent: route("VertexRagService.CorroborateContent", "POST", `{parent=${location}}:corroborateContent`, {
    body: CorroborateContentRequest,
    response: CorroborateContentResponse
  })
}
