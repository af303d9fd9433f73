import {
  bool,
  deprecated,
  double,
  duration,
  enumeration,
  int32,
  list,
  map,
  message,
  of,
  type Of,
  oneof,
  only,
  string,
  timestamp
} from "../Message.ts"
import { PrivateServiceConnectConfig } from "./Deploy.ts"
import { ExplanationSpec } from "./Explanation.ts"
import { AutomaticResources, DedicatedResources } from "./Machine.ts"
import { EncryptionSpec } from "./RagCorpus.ts"
import { BigQueryDestination } from "./Sources.ts"

const fullFineTunedResourcesDeploymentType = enumeration("FullFineTunedResources.DeploymentType", [
  "DEPLOYMENT_TYPE_UNSPECIFIED",
  "DEPLOYMENT_TYPE_EVAL",
  "DEPLOYMENT_TYPE_PROD"
])

const FullFineTunedResources = message("FullFineTunedResources", {
  deploymentType: fullFineTunedResourcesDeploymentType,
  modelInferenceUnitCount: int32
})

const PrivateEndpoints = message("PrivateEndpoints", {
  predictHttpUri: string,
  explainHttpUri: string,
  healthHttpUri: string,
  serviceAttachment: string
})

const FasterDeploymentConfig = message("FasterDeploymentConfig", { fastTryoutEnabled: bool })

const RolloutOptions = message("RolloutOptions", {
  maxUnavailableReplicas: oneof("max_unavailable", int32),
  maxUnavailablePercentage: oneof("max_unavailable", int32),
  maxSurgeReplicas: oneof("max_surge", int32),
  maxSurgePercentage: oneof("max_surge", int32),
  previousDeployedModel: string,
  revisionNumber: int32
})

const DeployedModelStatus = message("DeployedModel.Status", {
  message: string,
  lastUpdateTime: timestamp,
  availableReplicaCount: int32
})

const DraftModelSpeculation = message("SpeculativeDecodingSpec.DraftModelSpeculation", { draftModel: string })

const NgramSpeculation = message("SpeculativeDecodingSpec.NgramSpeculation", { ngramSize: int32 })

const SpeculativeDecodingSpec = message("SpeculativeDecodingSpec", {
  draftModelSpeculation: oneof("speculation", of(DraftModelSpeculation)),
  ngramSpeculation: oneof("speculation", of(NgramSpeculation)),
  speculativeTokenCount: int32
})

export const DeployedModel = message("DeployedModel", {
  dedicatedResources: oneof("prediction_resources", of(DedicatedResources)),
  automaticResources: oneof("prediction_resources", of(AutomaticResources)),
  sharedResources: oneof("prediction_resources", string),
  fullFineTunedResources: only("v1beta1", oneof("prediction_resources", of(FullFineTunedResources))),
  id: string,
  model: string,
  modelVersionId: string,
  displayName: string,
  createTime: timestamp,
  explanationSpec: of(ExplanationSpec),
  disableExplanations: bool,
  serviceAccount: string,
  enableContainerLogging: only("v1beta1", bool),
  disableContainerLogging: bool,
  enableAccessLogging: bool,
  privateEndpoints: of(PrivateEndpoints),
  fasterDeploymentConfig: of(FasterDeploymentConfig),
  rolloutOptions: only("v1beta1", of(RolloutOptions)),
  status: of(DeployedModelStatus),
  systemLabels: map(string),
  checkpointId: string,
  speculativeDecodingSpec: of(SpeculativeDecodingSpec)
})
export type DeployedModel = Of<typeof DeployedModel>

const PredictRequestResponseLoggingConfig = message("PredictRequestResponseLoggingConfig", {
  enabled: bool,
  samplingRate: double,
  bigqueryDestination: of(BigQueryDestination),
  requestResponseLoggingSchemaVersion: only("v1beta1", string),
  enableOtelLogging: only("v1beta1", bool)
})

const ClientConnectionConfig = message("ClientConnectionConfig", { inferenceTimeout: duration })

const RagConfig = message("GenAiAdvancedFeaturesConfig.RagConfig", { enableRag: bool })

const GenAiAdvancedFeaturesConfig = message("GenAiAdvancedFeaturesConfig", { ragConfig: of(RagConfig) })

export const Endpoint = message("Endpoint", {
  name: string,
  displayName: string,
  description: string,
  deployedModels: list(of(DeployedModel)),
  trafficSplit: map(int32),
  etag: string,
  labels: map(string),
  createTime: timestamp,
  updateTime: timestamp,
  encryptionSpec: of(EncryptionSpec),
  network: string,
  enablePrivateServiceConnect: deprecated(bool),
  privateServiceConnectConfig: of(PrivateServiceConnectConfig),
  modelDeploymentMonitoringJob: string,
  predictRequestResponseLoggingConfig: of(PredictRequestResponseLoggingConfig),
  dedicatedEndpointEnabled: bool,
  dedicatedEndpointDns: string,
  clientConnectionConfig: of(ClientConnectionConfig),
  satisfiesPzs: bool,
  satisfiesPzi: bool,
  genAiAdvancedFeaturesConfig: of(GenAiAdvancedFeaturesConfig),
  privateModelServerEnabled: bool
})
export type Endpoint = Of<typeof Endpoint>

/** Query of a request whose body is the endpoint. */
export const CreateEndpointRequest = message("CreateEndpointRequest", { endpointId: string })
/** Query of a request whose body is the endpoint. */
export const UpdateEndpointRequest = message("UpdateEndpointRequest", {
  /** A field mask, which JSON writes as one string. */
  updateMask: string
})
export const ListEndpointsRequest = message("ListEndpointsRequest", {
  filter: string,
  pageSize: int32,
  pageToken: string,
  readMask: string,
  orderBy: only("v1", string)
})
export const ListEndpointsResponse = message("ListEndpointsResponse", { endpoints: list(of(Endpoint)), nextPageToken: string })

export const DeployModelRequest = message("DeployModelRequest", { deployedModel: of(DeployedModel), trafficSplit: map(int32) })
export type DeployModelRequest = Of<typeof DeployModelRequest>
export const DeployModelResponse = message("DeployModelResponse", { deployedModel: of(DeployedModel) })

export const UndeployModelRequest = message("UndeployModelRequest", { deployedModelId: string, trafficSplit: map(int32) })
export const UndeployModelResponse = message("UndeployModelResponse", {})
