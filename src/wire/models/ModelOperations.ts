import { Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import type { DeployedModel, Endpoint } from "../../domain/models/Endpoint.ts"
import { projectNumberOf } from "../../domain/Locations.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Deployment, Operation, OperationKind } from "../../domain/Operation.ts"
import { deployedModelToWire, endpointFromWire, endpointToWire } from "./Endpoints.ts"
import { statusFromWire } from "../Errors.ts"
import type { Any, AnyMessage } from "../Message.ts"
import { DeployPublisherModelResponse, DeployResponse } from "../messages/Deploy.ts"
import { DeployModelResponse, Endpoint as WireEndpoint, UndeployModelResponse } from "../messages/Endpoint.ts"
import { UploadModelResponse } from "../messages/Model.ts"
import {
  CreateEndpointOperationMetadata,
  DeleteOperationMetadata,
  DeployModelOperationMetadata,
  DeployOperationMetadata,
  DeployPublisherModelOperationMetadata,
  type Operation as WireOperation,
  UndeployModelOperationMetadata,
  UploadModelOperationMetadata
} from "../messages/Operations.ts"
import { Empty } from "../messages/Rpc.ts"
import { defined, text } from "../Optional.ts"

/** Parts of an operation's response that its stored row does not have. */
export interface ModelResult {
  /** The endpoint that was created. */
  readonly endpoint?: Endpoint
  /** The model that was deployed on an endpoint. */
  readonly deployedModel?: DeployedModel
  /** Version of the model that was uploaded. */
  readonly versionId?: string
}

export type ModelOperationKind = Extract<
  OperationKind,
  "deploy" | "deployPublisherModel" | "uploadModel" | "deleteModel" | "createEndpoint" | "deleteEndpoint" | "deployModel" | "undeployModel"
>

export const modelMetadataTypes: Readonly<Record<ModelOperationKind, AnyMessage>> = {
  deploy: DeployOperationMetadata,
  deployPublisherModel: DeployPublisherModelOperationMetadata,
  uploadModel: UploadModelOperationMetadata,
  deleteModel: DeleteOperationMetadata,
  createEndpoint: CreateEndpointOperationMetadata,
  deleteEndpoint: DeleteOperationMetadata,
  deployModel: DeployModelOperationMetadata,
  undeployModel: UndeployModelOperationMetadata
}

export const isModelOperation = (kind: OperationKind): kind is ModelOperationKind => Object.hasOwn(modelMetadataTypes, kind)

/** The specific metadata of operations on models. It never contains the hub's token. */
export const modelMetadata = (operation: Operation): object => {
  const { deployment, done, error, kind, target } = operation
  if (kind === "deploy" || kind === "deployPublisherModel") {
    return defined({
      publisherModel: deployment?.publisherModel,
      destination: target,
      projectNumber: projectNumberOf(target)
    })
  }
  if (kind !== "deployModel" && kind !== "createEndpoint") return {}
  const ended = error === undefined ? "SUCCESSFULLY_DEPLOYED" : "FAILED_TO_DEPLOY"
  return { deploymentStage: done ? ended : deployment?.stage ?? "STARTING_DEPLOYMENT" }
}

/** Response of a finished operation, and its type. */
export const modelResponse = (
  kind: ModelOperationKind,
  { deployment = {}, target }: Operation,
  result: ModelResult
): readonly [type: AnyMessage, value: object] => {
  const { endpoint, model, publisherModel } = deployment
  switch (kind) {
    case "deploy":
      return [DeployResponse, defined({ publisherModel, endpoint, model })]
    case "deployPublisherModel":
      return [DeployPublisherModelResponse, defined({ publisherModel, endpoint, model })]
    case "uploadModel":
      return [UploadModelResponse, defined({ model: target, modelVersionId: result.versionId })]
    case "createEndpoint":
      return [WireEndpoint, result.endpoint === undefined ? { name: target } : endpointToWire(result.endpoint)]
    case "deployModel":
      return [DeployModelResponse, {
        deployedModel: result.deployedModel === undefined ? { id: deployment.deployedModelId } : deployedModelToWire(result.deployedModel)
      }]
    case "undeployModel":
      return [UndeployModelResponse, {}]
    case "deleteModel":
    case "deleteEndpoint":
      return [Empty, {}]
  }
}

/** The deployment in an operation's metadata and response. */
export const deploymentFromWire = (
  kind: ModelOperationKind,
  metadata: Any | undefined,
  response: Any | undefined
): Deployment | undefined => {
  const about = read(DeployOperationMetadata, metadata)
  const stage = read(DeployModelOperationMetadata, metadata)?.deploymentStage
  const made = kind === "deploy" || kind === "deployPublisherModel" ? read(DeployResponse, response) : undefined
  const deployed = kind === "deployModel" ? read(DeployModelResponse, response)?.deployedModel : undefined
  const uploaded = kind === "uploadModel" ? read(UploadModelResponse, response)?.model : undefined
  const deployment = defined({
    publisherModel: text(about?.publisherModel) ?? text(made?.publisherModel),
    endpoint: text(made?.endpoint),
    model: text(made?.model) ?? text(deployed?.model) ?? text(uploaded),
    deployedModelId: text(deployed?.id),
    stage: text(stage)
  })
  return isEmpty(deployment) ? undefined : deployment
}

const read = <A>(type: { readonly decode: (json: unknown) => Result.Result<A, unknown> }, value: Any | undefined): A | undefined =>
  value === undefined ? undefined : Result.getOrUndefined(type.decode(value))

/** The endpoint that a finished creation made; fails with the operation's error and all its details. */
export const operationEndpoint = (wire: WireOperation): Result.Result<Endpoint, ServiceError> =>
  outcome(wire, WireEndpoint, "an endpoint").pipe(Result.flatMap(endpointFromWire))

/** Name of the model that a finished upload made. */
export const operationModel = (wire: WireOperation): Result.Result<string, ServiceError> =>
  outcome(wire, UploadModelResponse, "a model").pipe(Result.map(({ model = "" }) => model))

const outcome = <A>(
  wire: WireOperation,
  type: { readonly decode: (json: unknown) => Result.Result<A, unknown> },
  what: string
): Result.Result<A, ServiceError> => {
  if (wire.error !== undefined) return Result.fail(statusFromWire(wire.error))
  const value = read(type, wire.response)
  return value === undefined
    ? Result.fail(ServiceError.internal(`operation ${wire.name ?? ""} ended without ${what}`))
    : Result.succeed(value)
}
