import { Result } from "effect"
import {
  type DeployedModel,
  type DeployModelRequest,
  type Endpoint,
  type EndpointChange,
  EndpointName,
  type EndpointSpec,
  ModelName,
  type UndeployRequest
} from "../../domain/models/Endpoint.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { resourcesFromWire, resourcesToWire } from "./Machines.ts"
import type {
  DeployedModel as WireDeployed,
  DeployModelRequest as WireDeployRequest,
  Endpoint as WireEndpoint,
  UndeployModelRequest
} from "../messages/Endpoint.ts"
import type { Of } from "../Message.ts"
import { fieldMask } from "../FieldMask.ts"
import { defined, required, text } from "../Optional.ts"
import { settingsIn, settingsOf } from "../Settings.ts"

type EndpointField = keyof WireEndpoint
type DeployedField = keyof WireDeployed

const endpointFields: ReadonlyArray<EndpointField> = [
  "name",
  "displayName",
  "description",
  "labels",
  "deployedModels",
  "trafficSplit",
  "createTime",
  "updateTime"
]
/** Fields of an endpoint that only the service sets. */
const endpointOutput: ReadonlyArray<EndpointField> = [
  "etag",
  "modelDeploymentMonitoringJob",
  "dedicatedEndpointDns",
  "satisfiesPzs",
  "satisfiesPzi"
]
const deployedFields: ReadonlyArray<DeployedField> = [
  "id",
  "model",
  "modelVersionId",
  "displayName",
  "dedicatedResources",
  "serviceAccount",
  "createTime"
]
const deployedOutput: ReadonlyArray<DeployedField> = ["privateEndpoints", "status"]

export const endpointSpecToWire = ({ endpointId: _, settings, ...spec }: EndpointSpec): WireEndpoint => ({
  ...settingsIn<WireEndpoint>(settings),
  ...spec
})

export const endpointSpecFromWire = (wire: WireEndpoint, endpointId: string | undefined): EndpointSpec =>
  defined({
    displayName: wire.displayName ?? "",
    description: text(wire.description),
    labels: some(wire.labels),
    settings: settingsOf(wire, [...endpointFields, ...endpointOutput]),
    endpointId: text(endpointId)
  })

const changeable = ["displayName", "description", "labels", "trafficSplit"] as const satisfies ReadonlyArray<
  keyof EndpointChange & EndpointField
>

export const endpointChangeToWire = ({ endpoint: _, ...body }: EndpointChange) => ({
  body: body satisfies WireEndpoint,
  query: { updateMask: Object.keys(defined(body)).join(",") }
})

/** The change of an endpoint. Fields that the mask names are changed, or cleared where the body lacks them. */
export const endpointChangeFromWire = (
  endpoint: EndpointName,
  wire: WireEndpoint,
  updateMask: string | undefined
): Result.Result<EndpointChange, ServiceError> =>
  Result.gen(function*() {
    const paths = fieldMask(yield* required(updateMask, "update_mask"))
    const strange = paths.find((path) => !changeable.some((field) => field === path))
    if (strange !== undefined) {
      return yield* Result.fail(
        ServiceError.invalid(
          "update_mask",
          `${strange.slice(0, 100)} cannot be changed: it takes display_name, description, labels and traffic_split`
        )
      )
    }
    const { description = "", displayName = "", labels = {}, trafficSplit = {} } = wire
    const all = { displayName, description, labels, trafficSplit }
    return { endpoint, ...Object.fromEntries(Object.entries(all).filter(([field]) => paths.includes(field))) }
  })

export const endpointToWire = ({ settings, ...endpoint }: Endpoint): WireEndpoint => ({
  ...settingsIn<WireEndpoint>(settings),
  ...endpoint,
  deployedModels: endpoint.deployedModels.map(deployedModelToWire)
})

export const endpointFromWire = (wire: WireEndpoint): Result.Result<Endpoint, ServiceError> =>
  Result.gen(function*() {
    return defined({
      name: EndpointName.make(yield* required(wire.name, "name")),
      displayName: wire.displayName ?? "",
      description: text(wire.description),
      labels: some(wire.labels),
      deployedModels: yield* Result.all((wire.deployedModels ?? []).map(deployedModelFromWire)),
      trafficSplit: wire.trafficSplit ?? {},
      settings: settingsOf(wire, endpointFields),
      createTime: wire.createTime ?? "",
      updateTime: wire.updateTime ?? ""
    })
  })

export const deployedModelToWire = ({ resources, settings, ...deployed }: Partial<DeployedModel>): WireDeployed => ({
  ...settingsIn<WireDeployed>(settings),
  ...deployed,
  ...(resources === undefined ? {} : { dedicatedResources: resourcesToWire(resources) })
})

const deployedModelFromWire = (wire: WireDeployed): Result.Result<DeployedModel, ServiceError> =>
  Result.gen(function*() {
    return defined({
      id: wire.id ?? "",
      model: ModelName.make(yield* required(wire.model, "model")),
      modelVersionId: text(wire.modelVersionId),
      displayName: text(wire.displayName),
      resources: wire.dedicatedResources === undefined
        ? undefined
        : yield* resourcesFromWire(wire.dedicatedResources, "deployed_model.dedicated_resources"),
      serviceAccount: text(wire.serviceAccount),
      settings: settingsOf(wire, deployedFields),
      createTime: text(wire.createTime)
    })
  })

export const deployModelToWire = ({ endpoint: _, trafficSplit, ...deployed }: DeployModelRequest): WireDeployRequest =>
  defined({ deployedModel: deployedModelToWire(deployed), trafficSplit })

/** Decodes the deployment of a model on an endpoint. Only dedicated machines are supported. */
export const deployModelFromWire = (endpoint: EndpointName, wire: WireDeployRequest): Result.Result<DeployModelRequest, ServiceError> =>
  Result.gen(function*() {
    const { automaticResources, model, sharedResources } = wire.deployedModel ?? {}
    if (automaticResources !== undefined || sharedResources !== undefined) {
      return yield* Result.fail(ServiceError.invalid(
        `deployed_model.${sharedResources === undefined ? "automatic_resources" : "shared_resources"}`,
        "models of the catalog run on dedicated_resources"
      ))
    }
    yield* required(model, "deployed_model.model")
    const { displayName, model: named, resources, serviceAccount } = yield* deployedModelFromWire(wire.deployedModel ?? {})
    const settings = settingsOf(wire.deployedModel ?? {}, [...deployedFields, ...deployedOutput])
    return defined({ endpoint, model: named, displayName, resources, serviceAccount, settings, trafficSplit: some(wire.trafficSplit) })
  })

export const undeployToWire = ({ deployedModelId, trafficSplit }: UndeployRequest): Of<typeof UndeployModelRequest> =>
  defined({ deployedModelId, trafficSplit })

export const undeployFromWire = (endpoint: EndpointName, wire: Of<typeof UndeployModelRequest>): UndeployRequest =>
  defined({ endpoint, deployedModelId: wire.deployedModelId ?? "", trafficSplit: some(wire.trafficSplit) })

const some = <A>(map: Readonly<Record<string, A>> | undefined): Readonly<Record<string, A>> | undefined =>
  map === undefined || Object.keys(map).length === 0 ? undefined : map
