import { Result } from "effect"
import { EndpointName, type Model, ModelName, type ModelSpec } from "../../domain/models/Endpoint.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { containerFromWire, containerToWire } from "./Machines.ts"
import type { Model as WireModel, UploadModelRequest } from "../messages/Model.ts"
import { defined, required, text } from "../Optional.ts"
import { settingsIn, settingsOf } from "../Settings.ts"

const fields: ReadonlyArray<keyof WireModel> = [
  "name",
  "versionId",
  "displayName",
  "description",
  "labels",
  "containerSpec",
  "artifactUri",
  "baseModelSource",
  "deployedModels",
  "createTime",
  "updateTime",
  // The same for every model.
  "supportedDeploymentResourcesTypes",
  "modelSourceInfo"
]
/** Fields of a model that only the service sets. */
const output: ReadonlyArray<keyof WireModel> = [
  "versionCreateTime",
  "versionUpdateTime",
  "supportedExportFormats",
  "trainingPipeline",
  "supportedInputStorageFormats",
  "supportedOutputStorageFormats",
  "etag",
  "originalModelInfo",
  "metadataArtifact",
  "satisfiesPzs",
  "satisfiesPzi",
  "checkpoints"
]

export const modelSpecToWire = (spec: ModelSpec): UploadModelRequest =>
  defined({
    parentModel: spec.parentModel,
    modelId: spec.modelId,
    model: defined({
      ...settingsIn<WireModel>(spec.settings),
      displayName: spec.displayName,
      description: spec.description,
      labels: spec.labels,
      containerSpec: spec.container === undefined ? undefined : containerToWire(spec.container),
      artifactUri: spec.artifactUri,
      baseModelSource: sourceToWire(spec)
    })
  })

const sourceToWire = ({ publicModelName, publicModelVersion }: Pick<ModelSpec, "publicModelName" | "publicModelVersion">) =>
  publicModelName === undefined ? undefined : { modelGardenSource: defined({ publicModelName, versionId: publicModelVersion }) }

export const modelSpecFromWire = ({ model = {}, modelId, parentModel }: UploadModelRequest): ModelSpec => {
  const source = model.baseModelSource?.modelGardenSource
  return defined({
    displayName: model.displayName ?? "",
    description: text(model.description),
    labels: model.labels === undefined || Object.keys(model.labels).length === 0 ? undefined : model.labels,
    publicModelName: text(source?.publicModelName),
    publicModelVersion: text(source?.versionId),
    container: model.containerSpec === undefined ? undefined : containerFromWire(model.containerSpec),
    artifactUri: text(model.artifactUri),
    settings: settingsOf(model, [...fields, ...output]),
    modelId: text(modelId),
    parentModel: text(parentModel)
  })
}

/** A model as the service returns it: without its container, which is for input only (model.proto). */
export const modelToWire = ({ container: _, publicModelName, publicModelVersion, settings, ...model }: Model): WireModel => ({
  ...settingsIn<WireModel>(settings),
  ...model,
  supportedDeploymentResourcesTypes: ["DEDICATED_RESOURCES"],
  ...defined({
    modelSourceInfo: publicModelName === undefined ? undefined : { sourceType: "MODEL_GARDEN" },
    baseModelSource: sourceToWire(defined({ publicModelName, publicModelVersion }))
  })
})

export const modelFromWire = (wire: WireModel): Result.Result<Model, ServiceError> =>
  Result.map(required(wire.name, "name"), (name) => {
    const source = wire.baseModelSource?.modelGardenSource
    return defined({
      name: ModelName.make(name),
      versionId: text(wire.versionId),
      displayName: wire.displayName ?? "",
      description: text(wire.description),
      labels: wire.labels,
      container: wire.containerSpec === undefined ? undefined : containerFromWire(wire.containerSpec),
      artifactUri: text(wire.artifactUri),
      publicModelName: text(source?.publicModelName),
      publicModelVersion: text(source?.versionId),
      deployedModels: (wire.deployedModels ?? []).flatMap(({ deployedModelId = "", endpoint = "" }) =>
        endpoint === "" ? [] : [{ endpoint: EndpointName.make(endpoint), deployedModelId }]
      ),
      settings: settingsOf(wire, fields),
      createTime: wire.createTime ?? "",
      updateTime: wire.updateTime ?? ""
    })
  })
