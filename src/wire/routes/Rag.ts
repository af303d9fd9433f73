import {
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
import { RetrieveContextsRequest, RetrieveContextsResponse } from "../messages/Retrieval.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, route } from "../Route.ts"

const data = "VertexRagDataService."
const corpus = "projects/*/locations/*/ragCorpora/*"
const file = "projects/*/locations/*/ragCorpora/*/ragFiles/*"

/** Corpora, their files, and what is retrieved from them. */
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
  })
}
