import { bool, deprecated, enumeration, int32, list, map, message, of, type Of, oneof, only, optional, string } from "../Message.ts"
import { ModelContainerSpec } from "./Container.ts"
import { AutomaticResources, DedicatedResources } from "./Machine.ts"

const publisherModelOpenSourceCategory = enumeration("PublisherModel.OpenSourceCategory", [
  "OPEN_SOURCE_CATEGORY_UNSPECIFIED",
  "PROPRIETARY",
  "GOOGLE_OWNED_OSS_WITH_GOOGLE_CHECKPOINT",
  "THIRD_PARTY_OWNED_OSS_WITH_GOOGLE_CHECKPOINT",
  "GOOGLE_OWNED_OSS",
  "THIRD_PARTY_OWNED_OSS"
])

const ResourceReference = message("PublisherModel.ResourceReference", {
  uri: oneof("reference", string),
  resourceName: oneof("reference", string),
  useCase: deprecated(oneof("reference", string)),
  description: deprecated(oneof("reference", string))
})

const Parent = message("PublisherModel.Parent", { displayName: string, reference: of(ResourceReference) })

const Documentation = message("PublisherModel.Documentation", { title: string, content: string })

const ViewRestApi = message("PublisherModel.CallToAction.ViewRestApi", {
  documentations: list(of(Documentation)),
  title: string
})

const RegionalResourceReferences = message("PublisherModel.CallToAction.RegionalResourceReferences", {
  references: map(of(ResourceReference)),
  title: string,
  resourceTitle: optional(string),
  resourceUseCase: optional(string),
  resourceDescription: optional(string)
})

const OpenNotebooks = message("PublisherModel.CallToAction.OpenNotebooks", {
  notebooks: list(of(RegionalResourceReferences))
})

const OpenFineTuningPipelines = message("PublisherModel.CallToAction.OpenFineTuningPipelines", {
  fineTuningPipelines: list(of(RegionalResourceReferences))
})

const LargeModelReference = message("LargeModelReference", { name: string })

const DeployMetadata = message("PublisherModel.CallToAction.Deploy.DeployMetadata", {
  labels: map(string),
  sampleRequest: string
})

const Deploy = message("PublisherModel.CallToAction.Deploy", {
  dedicatedResources: oneof("prediction_resources", of(DedicatedResources)),
  automaticResources: oneof("prediction_resources", of(AutomaticResources)),
  sharedResources: oneof("prediction_resources", string),
  modelDisplayName: string,
  largeModelReference: of(LargeModelReference),
  containerSpec: of(ModelContainerSpec),
  artifactUri: string,
  deployTaskName: optional(string),
  deployMetadata: of(DeployMetadata),
  title: string,
  publicArtifactUri: string
})

const DeployVertex = message("PublisherModel.CallToAction.DeployVertex", { multiDeployVertex: list(of(Deploy)) })

const DeployGke = message("PublisherModel.CallToAction.DeployGke", { gkeYamlConfigs: list(string) })

const CallToAction = message("PublisherModel.CallToAction", {
  viewRestApi: of(ViewRestApi),
  openNotebook: of(RegionalResourceReferences),
  openNotebooks: of(OpenNotebooks),
  createApplication: of(RegionalResourceReferences),
  openFineTuningPipeline: of(RegionalResourceReferences),
  openFineTuningPipelines: of(OpenFineTuningPipelines),
  openPromptTuningPipeline: of(RegionalResourceReferences),
  openGenie: of(RegionalResourceReferences),
  deploy: of(Deploy),
  multiDeployVertex: only("v1beta1", of(DeployVertex)),
  deployGke: of(DeployGke),
  openGenerationAiStudio: of(RegionalResourceReferences),
  requestAccess: of(RegionalResourceReferences),
  openEvaluationPipeline: of(RegionalResourceReferences)
})

const publisherModelLaunchStage = enumeration("PublisherModel.LaunchStage", [
  "LAUNCH_STAGE_UNSPECIFIED",
  "EXPERIMENTAL",
  "PRIVATE_PREVIEW",
  "PUBLIC_PREVIEW",
  "GA"
])

const publisherModelVersionState = enumeration("PublisherModel.VersionState", [
  "VERSION_STATE_UNSPECIFIED",
  "VERSION_STATE_STABLE",
  "VERSION_STATE_UNSTABLE"
])

export const PredictSchemata = message("PredictSchemata", {
  instanceSchemaUri: string,
  parametersSchemaUri: string,
  predictionSchemaUri: string
})

/** A model of the catalog: its description, and the actions it supports. */
export const PublisherModel = message("PublisherModel", {
  name: string,
  versionId: string,
  openSourceCategory: publisherModelOpenSourceCategory,
  parent: only("v1beta1", of(Parent)),
  supportedActions: of(CallToAction),
  frameworks: list(string),
  launchStage: publisherModelLaunchStage,
  versionState: publisherModelVersionState,
  publisherModelTemplate: string,
  predictSchemata: of(PredictSchemata)
})
export type PublisherModel = Of<typeof PublisherModel>

const publisherModelView = enumeration("PublisherModelView", [
  "PUBLISHER_MODEL_VIEW_UNSPECIFIED",
  "PUBLISHER_MODEL_VIEW_BASIC",
  "PUBLISHER_MODEL_VIEW_FULL",
  "PUBLISHER_MODEL_VERSION_VIEW_BASIC"
])

export const ListPublisherModelsRequest = message("ListPublisherModelsRequest", {
  filter: string,
  pageSize: int32,
  pageToken: string,
  view: publisherModelView,
  orderBy: string,
  languageCode: string,
  listAllVersions: bool
})
export const ListPublisherModelsResponse = message("ListPublisherModelsResponse", {
  publisherModels: list(of(PublisherModel)),
  nextPageToken: string
})

export const GetPublisherModelRequest = message("GetPublisherModelRequest", {
  languageCode: string,
  view: publisherModelView,
  isHuggingFaceModel: bool,
  huggingFaceToken: string,
  includeEquivalentModelGardenModelDeploymentConfigs: only("v1beta1", bool)
})
