import { Result } from "effect"
import {
  type DeployedModel,
  type DeployModelRequest,
  type Endpoint,
  EndpointName,
  type EndpointSpec,
  ModelName,
  type UndeployRequest
} from "../domain/Endpoint.ts"
import { ServiceError } from "../domain/Errors.ts"
import { resourcesFromWire, resourcesToWire } from "./Machines.ts"
import type {
  DeployedModel as WireDeployed,
  DeployModelRequest as WireDeployRequest,
  Endpoint as WireEndpoint,
  UndeployModelRequest
} from "./messages/Endpoint.ts"
import type { Of } from "./Message.ts"
import { defined, required, text } from "./optional.ts"

export const endpointSpecToWire = ({ endpointId: _, ...spec }: EndpointSpec): WireEndpoint => spec

export const endpointSpecFromWire = (wire: WireEndpoint, endpointId: string | undefined): EndpointSpec =>
  defined({
    displayName: wire.displayName ?? "",
    description: text(wire.description),
    labels: some(wire.labels),
    endpointId: text(endpointId)
  })

export const endpointToWire = (endpoint: Endpoint): WireEndpoint => ({
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
      createTime: wire.createTime ?? "",
      updateTime: wire.updateTime ?? ""
    })
  })

export const deployedModelToWire = ({ resources, ...deployed }: DeployedModel): WireDeployed =>
  resources === undefined ? deployed : { ...deployed, dedicatedResources: resourcesToWire(resources) }

export const deployedModelFromWire = (wire: WireDeployed): Result.Result<DeployedModel, ServiceError> =>
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
      createTime: text(wire.createTime)
    })
  })

export const deployModelToWire = ({ endpoint: _, model, resources, trafficSplit, ...rest }: DeployModelRequest): WireDeployRequest =>
  defined({
    deployedModel: deployedFields({ ...rest, model, ...(resources === undefined ? {} : { dedicatedResources: resourcesToWire(resources) }) }),
    trafficSplit
  })

const deployedFields = (fields: WireDeployed): WireDeployed => fields

/** A model that is not on machines of its own, this server would have nothing to say about. */
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
    return defined({ endpoint, model: named, displayName, resources, serviceAccount, trafficSplit: some(wire.trafficSplit) })
  })

export const undeployToWire = ({ deployedModelId, trafficSplit }: UndeployRequest): Of<typeof UndeployModelRequest> =>
  defined({ deployedModelId, trafficSplit })

export const undeployFromWire = (endpoint: EndpointName, wire: Of<typeof UndeployModelRequest>): UndeployRequest =>
  defined({ endpoint, deployedModelId: wire.deployedModelId ?? "", trafficSplit: some(wire.trafficSplit) })

const some = <A>(map: Readonly<Record<string, A>> | undefined): Readonly<Record<string, A>> | undefined =>
  map === undefined || Object.keys(map).length === 0 ? undefined : map
