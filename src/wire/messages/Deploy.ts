import { bool, deprecated, enumeration, int64, list, map, message, of, type Of, oneof, only, string } from "../Message.ts"
import { ModelContainerSpec } from "./Container.ts"
import { DedicatedResources } from "./Machine.ts"

const CustomModel = message("DeployRequest.CustomModel", { gcsUri: oneof("model_source", string) })

const ModelConfig = message("DeployRequest.ModelConfig", {
  acceptEula: bool,
  huggingFaceAccessToken: string,
  huggingFaceCacheEnabled: bool,
  modelDisplayName: string,
  containerSpec: of(ModelContainerSpec),
  modelUserId: string
})

const pscAutomationState = enumeration("PSCAutomationState", [
  "PSC_AUTOMATION_STATE_UNSPECIFIED",
  "PSC_AUTOMATION_STATE_SUCCESSFUL",
  "PSC_AUTOMATION_STATE_FAILED"
])

const PSCAutomationConfig = message("PSCAutomationConfig", {
  projectId: string,
  network: string,
  ipAddress: string,
  forwardingRule: string,
  state: pscAutomationState,
  errorMessage: string
})

export const PrivateServiceConnectConfig = message("PrivateServiceConnectConfig", {
  enablePrivateServiceConnect: bool,
  projectAllowlist: list(string),
  pscAutomationConfigs: list(of(PSCAutomationConfig)),
  enableSecurePrivateServiceConnect: only("v1beta1", bool),
  serviceAttachment: string
})

const EndpointConfig = message("DeployRequest.EndpointConfig", {
  endpointDisplayName: string,
  dedicatedEndpointEnabled: deprecated(bool),
  dedicatedEndpointDisabled: bool,
  privateServiceConnectConfig: only("v1beta1", of(PrivateServiceConnectConfig)),
  endpointUserId: string
})

const DeployConfig = message("DeployRequest.DeployConfig", {
  dedicatedResources: of(DedicatedResources),
  fastTryoutEnabled: bool,
  systemLabels: map(string)
})

export const DeployRequest = message("DeployRequest", {
  publisherModelName: oneof("artifacts", string),
  huggingFaceModelId: oneof("artifacts", string),
  customModel: only("v1beta1", oneof("artifacts", of(CustomModel))),
  destination: string,
  modelConfig: of(ModelConfig),
  endpointConfig: of(EndpointConfig),
  deployConfig: of(DeployConfig)
})
export type DeployRequest = Of<typeof DeployRequest>

/** Request of the method that preceded `:deploy`; older clients still call it. */
export const DeployPublisherModelRequest = message("DeployPublisherModelRequest", {
  model: string,
  destination: string,
  endpointDisplayName: string,
  dedicatedResources: of(DedicatedResources),
  modelDisplayName: string,
  huggingFaceAccessToken: string,
  acceptEula: bool
})
export type DeployPublisherModelRequest = Of<typeof DeployPublisherModelRequest>

const deployed = { publisherModel: string, endpoint: string, model: string }
export const DeployResponse = message("DeployResponse", deployed)
export const DeployPublisherModelResponse = message("DeployPublisherModelResponse", deployed)

export const CheckPublisherModelEulaAcceptanceRequest = message("CheckPublisherModelEulaAcceptanceRequest", { publisherModel: string })
export const AcceptPublisherModelEulaRequest = message("AcceptPublisherModelEulaRequest", { publisherModel: string })
export const PublisherModelEulaAcceptance = message("PublisherModelEulaAcceptance", {
  projectNumber: int64,
  publisherModel: string,
  publisherModelEulaAcked: bool
})
