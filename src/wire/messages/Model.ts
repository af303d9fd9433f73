import { bool, enumeration, int32, int64, list, map, message, of, type Of, oneof, only, string, timestamp, value } from "../Message.ts"
import { ModelContainerSpec } from "./Container.ts"
import { ExplanationSpec } from "./Explanation.ts"
import { PredictSchemata } from "./PublisherModel.ts"
import { EncryptionSpec } from "./RagCorpus.ts"

const exportFormatExportableContent = enumeration("Model.ExportFormat.ExportableContent", [
  "EXPORTABLE_CONTENT_UNSPECIFIED",
  "ARTIFACT",
  "IMAGE"
])

const ExportFormat = message("Model.ExportFormat", {
  id: string,
  exportableContents: list(exportFormatExportableContent)
})

const modelDeploymentResourcesType = enumeration("Model.DeploymentResourcesType", [
  "DEPLOYMENT_RESOURCES_TYPE_UNSPECIFIED",
  "DEDICATED_RESOURCES",
  "AUTOMATIC_RESOURCES",
  "SHARED_RESOURCES"
])

const DeployedModelRef = message("DeployedModelRef", { endpoint: string, deployedModelId: string })

const modelSourceInfoModelSourceType = enumeration("ModelSourceInfo.ModelSourceType", [
  "MODEL_SOURCE_TYPE_UNSPECIFIED",
  "AUTOML",
  "CUSTOM",
  "BQML",
  "MODEL_GARDEN",
  "GENIE",
  "CUSTOM_TEXT_EMBEDDING",
  "MARKETPLACE"
])

const ModelSourceInfo = message("ModelSourceInfo", { sourceType: modelSourceInfoModelSourceType, copy: bool })

const OriginalModelInfo = message("Model.OriginalModelInfo", { model: string })

const ModelGardenSource = message("ModelGardenSource", {
  publicModelName: string,
  versionId: string,
  skipHfModelCache: bool
})

const GenieSource = message("GenieSource", { baseModelUri: string })

const BaseModelSource = message("Model.BaseModelSource", {
  modelGardenSource: oneof("source", of(ModelGardenSource)),
  genieSource: oneof("source", of(GenieSource))
})

const Checkpoint = message("Checkpoint", { checkpointId: string, epoch: int64, step: int64 })

const DataStats = message("Model.DataStats", {
  trainingDataItemsCount: int64,
  validationDataItemsCount: int64,
  testDataItemsCount: int64,
  trainingAnnotationsCount: int64,
  validationAnnotationsCount: int64,
  testAnnotationsCount: int64
})

export const Model = message("Model", {
  name: string,
  versionId: string,
  versionAliases: list(string),
  versionCreateTime: timestamp,
  versionUpdateTime: timestamp,
  displayName: string,
  description: string,
  versionDescription: string,
  defaultCheckpointId: string,
  predictSchemata: of(PredictSchemata),
  metadataSchemaUri: string,
  metadata: value,
  supportedExportFormats: list(of(ExportFormat)),
  trainingPipeline: string,
  containerSpec: of(ModelContainerSpec),
  artifactUri: string,
  supportedDeploymentResourcesTypes: list(modelDeploymentResourcesType),
  supportedInputStorageFormats: list(string),
  supportedOutputStorageFormats: list(string),
  createTime: timestamp,
  updateTime: timestamp,
  deployedModels: list(of(DeployedModelRef)),
  explanationSpec: of(ExplanationSpec),
  etag: string,
  labels: map(string),
  encryptionSpec: of(EncryptionSpec),
  modelSourceInfo: of(ModelSourceInfo),
  originalModelInfo: of(OriginalModelInfo),
  metadataArtifact: string,
  baseModelSource: of(BaseModelSource),
  satisfiesPzs: bool,
  satisfiesPzi: bool,
  checkpoints: list(of(Checkpoint)),
  pipelineJob: only("v1", string),
  dataStats: only("v1", of(DataStats))
})
export type Model = Of<typeof Model>

export const UploadModelRequest = message("UploadModelRequest", {
  parentModel: string,
  modelId: string,
  model: of(Model),
  serviceAccount: string
})
export type UploadModelRequest = Of<typeof UploadModelRequest>
export const UploadModelResponse = message("UploadModelResponse", { model: string, modelVersionId: string })

export const ListModelsRequest = message("ListModelsRequest", { filter: string, pageSize: int32, pageToken: string, readMask: string })
export const ListModelsResponse = message("ListModelsResponse", { models: list(of(Model)), nextPageToken: string })
