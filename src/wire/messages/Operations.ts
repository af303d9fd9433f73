import { any, type AnyMessage, bool, duration, int32, int64, list, message, of, oneof, type Of, string, timestamp } from "../Message.ts"
import { RagCorpus } from "./RagCorpus.ts"
import { RagEngineConfig } from "./RagEngineConfig.ts"
import { ImportRagFilesConfig, ImportRagFilesResponse } from "./RagFile.ts"
import { Empty, Status } from "./Rpc.ts"

const GenericOperationMetadata = message("GenericOperationMetadata", {
  partialFailures: list(of(Status)),
  createTime: timestamp,
  updateTime: timestamp
})

const generic = { genericMetadata: of(GenericOperationMetadata) }

export const CreateRagCorpusOperationMetadata = message("CreateRagCorpusOperationMetadata", generic)
export const UpdateRagCorpusOperationMetadata = message("UpdateRagCorpusOperationMetadata", generic)
export const UpdateRagEngineConfigOperationMetadata = message("UpdateRagEngineConfigOperationMetadata", generic)
export const DeleteOperationMetadata = message("DeleteOperationMetadata", generic)
export const ImportRagFilesOperationMetadata = message("ImportRagFilesOperationMetadata", {
  ...generic,
  ragCorpusId: int64,
  importRagFilesConfig: of(ImportRagFilesConfig),
  progressPercentage: int32
})

const metadata: ReadonlyArray<AnyMessage> = [
  CreateRagCorpusOperationMetadata,
  UpdateRagCorpusOperationMetadata,
  UpdateRagEngineConfigOperationMetadata,
  DeleteOperationMetadata,
  ImportRagFilesOperationMetadata
]

const responses: ReadonlyArray<AnyMessage> = [RagCorpus, RagEngineConfig, ImportRagFilesResponse, Empty]

export const Operation = message("google.longrunning.Operation", {
  name: string,
  metadata: any(() => metadata),
  done: bool,
  error: oneof("result", of(Status)),
  response: oneof("result", any(() => responses))
})
export type Operation = Of<typeof Operation>

export const ListOperationsRequest = message("google.longrunning.ListOperationsRequest", {
  filter: string,
  pageSize: int32,
  pageToken: string
})
export const ListOperationsResponse = message("google.longrunning.ListOperationsResponse", {
  operations: list(of(Operation)),
  nextPageToken: string
})
export const WaitOperationRequest = message("google.longrunning.WaitOperationRequest", { timeout: duration })
