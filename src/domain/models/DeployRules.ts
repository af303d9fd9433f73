import type { ServiceError } from "../Errors.ts"
import { type CatalogModel, deployedName, type DeployRequest, hubModelPattern, versionedModelPattern } from "./ModelCatalog.ts"
import { containerRules, nameRules, partnerRules, resourceRules } from "./ResourceRules.ts"
import { type Broken, refusalOf } from "../Rule.ts"

/** What is known of the model to deploy; nothing, for a client that has not looked it up. */
export interface KnownModel {
  readonly model: CatalogModel
  /** Whether it has a licence that this project has not accepted yet. */
  readonly needsEula?: boolean
  /** Whether the hub requires a token for it. */
  readonly gated?: boolean
  readonly fastTryout?: boolean
}

const artifacts = "publisher_model_name"
const resourcesAt = "deploy_config.dedicated_resources"

/** The error of an invalid deployment: the rules for artifacts, names and resources, for the client and for the server. */
export const deployRefusal = (request: DeployRequest, known?: KnownModel): ServiceError | undefined =>
  refusalOf([
    ...artifactRules(request),
    ...nameRules(request.modelDisplayName, "model_config.model_display_name"),
    ...nameRules(request.endpointDisplayName, "endpoint_config.endpoint_display_name"),
    ...idRules(request.endpointUserId, "endpoint_config.endpoint_user_id"),
    ...idRules(request.modelUserId, "model_config.model_user_id"),
    ...(request.container === undefined ? [] : containerRules(request.container, "model_config.container_spec")),
    ...(request.resources === undefined ? [] : resourceRules(request.resources, resourcesAt)),
    ...fastTryoutRules(request),
    ...(known === undefined ? [] : knownRules(request, known))
  ])

const artifactRules = ({ huggingFaceModelId: hub, publisherModelName: catalog }: DeployRequest): ReadonlyArray<Broken> => {
  if ((hub === undefined) === (catalog === undefined)) {
    return [{
      field: artifacts,
      description: "exactly one of publisher_model_name and hugging_face_model_id must be set",
      fix: "name a model of the catalog, or one of the hub"
    }]
  }
  if (catalog !== undefined && !versionedModelPattern.test(catalog)) {
    return [{
      field: artifacts,
      description: "must have the form publishers/{publisher}/models/{model}@{version}",
      fix: "take a name that the list of deployable models shows"
    }]
  }
  return hub === undefined || hubModelPattern.test(hub)
    ? []
    : [{ field: "hugging_face_model_id", description: "must have the form {owner}/{name}" }]
}

/** Ids that callers choose for resources (endpoint.proto, `endpoint_id`). */
export const idRules = (id: string | undefined, field: string): ReadonlyArray<Broken> =>
  id === undefined || /^(?:[1-9][0-9]{0,9}|[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/.test(id)
    ? []
    : [{ field, description: "must be up to 10 digits, or up to 63 lower-case letters, digits and hyphens, from a letter" }]

/** Licence and token give access to a model, and are not part of its configuration. */
const fastTryoutRules = ({ container, fastTryout, modelDisplayName, modelUserId, resources }: DeployRequest): ReadonlyArray<Broken> => {
  const model = container !== undefined || modelDisplayName !== undefined || modelUserId !== undefined
  return fastTryout === true && (model || resources !== undefined)
    ? [{
      field: "deploy_config.fast_tryout_enabled",
      description: `must not be combined with ${
        [...(model ? ["a model configuration"] : []), ...(resources === undefined ? [] : ["a deployment configuration"])].join(" or ")
      }`,
      fix: "leave container_spec, model_display_name, model_user_id and dedicated_resources out, or do without the fast tryout"
    }]
    : []
}

const knownRules = (request: DeployRequest, { fastTryout, gated, model, needsEula }: KnownModel): ReadonlyArray<Broken> => [
  ...(needsEula === true && request.acceptEula !== true
    ? [{
      field: "model_config.accept_eula",
      description: `the licence of ${deployedName(request)} has not been accepted`,
      fix: "read it, and say so: accept_eula, or --accept-eula on the command line"
    }]
    : []),
  ...(gated === true && request.huggingFaceAccessToken === undefined
    ? [{
      field: "model_config.hugging_face_access_token",
      description: `${deployedName(request)} is gated: the hub gives it to accounts that were granted access`,
      fix: "give the access token of such an account"
    }]
    : []),
  ...(request.fastTryout === true && fastTryout === false
    ? [{ field: "deploy_config.fast_tryout_enabled", description: `is not offered for ${deployedName(request)}` }]
    : []),
  ...(request.resources === undefined ? [] : partnerRules(model, request.resources, resourcesAt))
]
