import {
  any,
  type AnyMessage,
  bool,
  duration,
  enumeration,
  int32,
  int64,
  list,
  message,
  of,
  oneof,
  type Of,
  string,
  timestamp
} from "../Message.ts"
import { AsyncRetrieveContextsResponse } from "./AskContexts.ts"
import { DeployPublisherModelResponse, DeployResponse } from "./Deploy.ts"
import { DeployModelResponse, Endpoint, UndeployModelResponse } from "./Endpoint.ts"
import { UploadModelResponse } from "./Model.ts"
import { RagCorpus } from "./RagCorpus.ts"
import { RagEngineConfig } from "./RagEngineConfig.ts"
import { BatchCreateRagDataSchemasResponse, BatchCreateRagMetadataResponse } from "./RagMetadata.ts"
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
export const AsyncRetrieveContextsOperationMetadata = message("AsyncRetrieveContextsOperationMetadata", generic)
export const BatchCreateRagDataSchemasOperationMetadata = message("BatchCreateRagDataSchemasOperationMetadata", generic)
export const BatchCreateRagMetadataOperationMetadata = message("BatchCreateRagMetadataOperationMetadata", generic)
export const ImportRagFilesOperationMetadata = message("ImportRagFilesOperationMetadata", {
  ...generic,
  ragCorpusId: int64,
  importRagFilesConfig: of(ImportRagFilesConfig),
  progressPercentage: int32
})

const deployment = { ...generic, publisherModel: string, destination: string, projectNumber: int64 }
export const DeployOperationMetadata = message("DeployOperationMetadata", { ...deployment, modelId: string })
export const DeployPublisherModelOperationMetadata = message("DeployPublisherModelOperationMetadata", deployment)

const staged = {
  ...generic,
  deploymentStage: enumeration("DeploymentStage", {
    DEPLOYMENT_STAGE_UNSPECIFIED: 0,
    STARTING_DEPLOYMENT: 5,
    PREPARING_MODEL: 6,
    CREATING_SERVING_CLUSTER: 7,
    ADDING_NODES_TO_CLUSTER: 8,
    GETTING_CONTAINER_IMAGE: 9,
    STARTING_MODEL_SERVER: 3,
    FINISHING_UP: 4,
    DEPLOYMENT_TERMINATED: 10,
    SUCCESSFULLY_DEPLOYED: 11,
    FAILED_TO_DEPLOY: 12
  })
}
export const CreateEndpointOperationMetadata = message("CreateEndpointOperationMetadata", staged)
export const DeployModelOperationMetadata = message("DeployModelOperationMetadata", staged)
export const UndeployModelOperationMetadata = message("UndeployModelOperationMetadata", generic)
export const UploadModelOperationMetadata = message("UploadModelOperationMetadata", generic)

const metadata: ReadonlyArray<AnyMessage> = [
  DeployOperationMetadata,
  DeployPublisherModelOperationMetadata,
  CreateEndpointOperationMetadata,
  DeployModelOperationMetadata,
  UndeployModelOperationMetadata,
  UploadModelOperationMetadata,
  CreateRagCorpusOperationMetadata,
  UpdateRagCorpusOperationMetadata,
  UpdateRagEngineConfigOperationMetadata,
  DeleteOperationMetadata,
  AsyncRetrieveContextsOperationMetadata,
  BatchCreateRagDataSchemasOperationMetadata,
  BatchCreateRagMetadataOperationMetadata,
  ImportRagFilesOperationMetadata
]

const responses: ReadonlyArray<AnyMessage> = [
  RagCorpus,
  RagEngineConfig,
  ImportRagFilesResponse,
  AsyncRetrieveContextsResponse,
  BatchCreateRagDataSchemasResponse,
  BatchCreateRagMetadataResponse,
  Empty,
  DeployResponse,
  DeployPublisherModelResponse,
  Endpoint,
  DeployModelResponse,
  UndeployModelResponse,
  UploadModelResponse
]

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
