import { idRules } from "./DeployRules.ts"
import {
  type DeployModelRequest,
  type Endpoint,
  type EndpointChange,
  type EndpointSpec,
  type Model,
  type ModelSpec,
  newcomer,
  type TrafficSplit,
  type UndeployRequest
} from "./Endpoint.ts"
import { ServiceError } from "../Errors.ts"
import { labelRules } from "./Labels.ts"
import { type CatalogModel, publisherModelPattern } from "./ModelCatalog.ts"
import { containerRules, nameRules, partnerRules, resourceRules } from "./ResourceRules.ts"
import { type Broken, refusalOf } from "../Rule.ts"

const required = (value: string, field: string): ReadonlyArray<Broken> =>
  value === "" ? [{ field, description: "Required field is not set." }] : nameRules(value, field)

export const endpointRefusal = ({ displayName, endpointId, labels }: EndpointSpec): ServiceError | undefined =>
  refusalOf([
    ...required(displayName, "endpoint.display_name"),
    ...idRules(endpointId, "endpoint_id"),
    ...labelRules(labels, "endpoint.labels")
  ])

/** The error of an invalid change of an endpoint; if the endpoint is known, its new split is checked against its models. */
export const endpointChangeRefusal = ({ displayName, labels, trafficSplit }: EndpointChange, known?: Endpoint): ServiceError | undefined =>
  refusalOf([
    ...(displayName === undefined ? [] : required(displayName, "endpoint.display_name")),
    ...labelRules(labels, "endpoint.labels"),
    ...(trafficSplit === undefined ? [] : splitRules(trafficSplit, known?.deployedModels.map(({ id }) => id)))
  ])

export const uploadRefusal = (spec: ModelSpec): ServiceError | undefined =>
  refusalOf([
    ...required(spec.displayName, "model.display_name"),
    ...labelRules(spec.labels, "model.labels"),
    ...(spec.modelId === undefined || /^[a-z][a-z0-9_-]{0,62}$/.test(spec.modelId)
      ? []
      : [{ field: "model_id", description: "must be up to 63 lower-case letters, digits, hyphens and underscores, from a letter" }]),
    ...(spec.parentModel === undefined || isModelName(spec.parentModel)
      ? []
      : [{ field: "parent_model", description: "must have the form projects/{project}/locations/{location}/models/{model}" }]),
    ...(spec.publicModelName === undefined || publisherModelPattern.test(spec.publicModelName)
      ? []
      : [{
        field: "model.base_model_source.model_garden_source.public_model_name",
        description: "must have the form publishers/{publisher}/models/{model}"
      }]),
    ...(spec.publicModelName === undefined && spec.container === undefined
      ? [{
        field: "model",
        description: "must say what it is made of: base_model_source or container_spec",
        fix: "name a model of the catalog, or the image that serves it"
      }]
      : []),
    ...(spec.container === undefined ? [] : containerRules(spec.container, "model.container_spec"))
  ])

const isModelName = (name: string): boolean => /^projects\/[^/]+\/locations\/[^/]+\/models\/[^/]+$/.test(name)

/**
 * The error of an invalid deployment on an endpoint. If the endpoint is known, the split is checked against its models;
 * if the model was made of a known partner's model, the machine is checked against the recommended ones.
 */
export const deployModelRefusal = (
  request: DeployModelRequest,
  known: { readonly endpoint?: Endpoint; readonly base?: CatalogModel } = {}
): ServiceError | undefined => {
  const { displayName, model, resources, trafficSplit } = request
  const at = "deployed_model.dedicated_resources"
  return refusalOf([
    ...(isModelName(model)
      ? []
      : [{ field: "deployed_model.model", description: "must have the form projects/{project}/locations/{location}/models/{model}" }]),
    ...nameRules(displayName, "deployed_model.display_name"),
    ...(resources === undefined ? [] : resourceRules(resources, at)),
    ...(trafficSplit === undefined
      ? []
      : splitRules(
        trafficSplit,
        known.endpoint === undefined ? undefined : [newcomer, ...known.endpoint.deployedModels.map(({ id }) => id)]
      )),
    ...(known.base === undefined || resources === undefined ? [] : partnerRules(known.base, resources, at))
  ])
}

/** @param ids the ids that may be used; unknown where absent */
const splitRules = (split: TrafficSplit, ids: ReadonlyArray<string> | undefined): ReadonlyArray<Broken> => {
  const entries = Object.entries(split)
  const sum = entries.reduce((sum, [, percent]) => sum + percent, 0)
  return [
    ...entries.flatMap(([id, percent]) => [
      ...(Number.isInteger(percent) && percent >= 0 && percent <= 100
        ? []
        : [{ field: `traffic_split[${id}]`, description: "must be a whole number of percent, 0 to 100" }]),
      ...(ids === undefined || ids.includes(id)
        ? []
        : [{
          field: `traffic_split[${id}]`,
          description: "no model with this id is deployed on the endpoint",
          fix: ids.includes(newcomer) ? `"${newcomer}" stands for the model being deployed` : "name models that are deployed there"
        }])
    ]),
    ...(entries.length === 0 || sum === 100 ? [] : [{ field: "traffic_split", description: `must sum to 100, not ${sum}` }])
  ]
}

/** The endpoint's split after a deployment: what was asked for, with the newcomer's id in its place. */
export const splitWith = (endpoint: Endpoint, asked: TrafficSplit | undefined, id: string): TrafficSplit =>
  asked === undefined || Object.keys(asked).length === 0
    ? endpoint.trafficSplit
    : Object.fromEntries(Object.entries(asked).map(([key, percent]) => [key === newcomer ? id : key, percent]))

/**
 * Why a model is not undeployed: it must be there, and be without traffic, by the endpoint's split or by the one asked
 * for. The last model on an endpoint goes with all its traffic.
 */
export const undeployRefusal = (request: UndeployRequest, endpoint?: Endpoint): ServiceError | undefined => {
  const { deployedModelId, trafficSplit = {} } = request
  if (deployedModelId === "") return ServiceError.invalid("deployed_model_id", "Required field is not set.")
  const others = endpoint?.deployedModels.filter(({ id }) => id !== deployedModelId).map(({ id }) => id)
  if (endpoint !== undefined && others?.length === endpoint.deployedModels.length) {
    return ServiceError.notFound(`deployed model ${deployedModelId} of ${endpoint.name}`, "see what is deployed: sluice endpoints list")
  }
  const last = others?.length === 0
  if (last) return undefined
  const stays = trafficSplit[deployedModelId] ?? 0
  const broken = [
    ...splitRules(trafficSplit, others === undefined ? undefined : [...others, deployedModelId]),
    ...(stays === 0 ? [] : [{ field: `traffic_split[${deployedModelId}]`, description: "the model that goes cannot have traffic" }])
  ]
  if (broken.length > 0) return refusalOf(broken)
  const carried = endpoint?.trafficSplit[deployedModelId] ?? 0
  if (carried === 0 || Object.keys(trafficSplit).length > 0) return undefined
  return new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `deployed model ${deployedModelId} of ${endpoint?.name ?? "the endpoint"} carries ${carried}% of its traffic`,
    fix: "say in traffic_split where that goes: percents of the models that stay, which sum to 100"
  })
}

/** The endpoint's split after an undeployment. */
export const splitWithout = (endpoint: Endpoint, { deployedModelId, trafficSplit = {} }: UndeployRequest): TrafficSplit => {
  if (endpoint.deployedModels.length <= 1) return {}
  const split = Object.keys(trafficSplit).length > 0 ? trafficSplit : endpoint.trafficSplit
  return Object.fromEntries(Object.entries(split).filter(([id]) => id !== deployedModelId))
}

/** A model must be undeployed before its endpoint, or the model itself, can be deleted. */
export const deleteRefusal = (
  { deployedModels, name }: Pick<Endpoint | Model, "name"> & { readonly deployedModels: ReadonlyArray<object> }
): ServiceError | undefined =>
  deployedModels.length === 0 ? undefined : new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${name} has ${deployedModels.length === 1 ? "a deployed model" : `${deployedModels.length} deployed models`}`,
    fix: "undeploy first: sluice models undeploy"
  })
