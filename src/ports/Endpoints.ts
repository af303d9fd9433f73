import { Context, Effect, Stream } from "effect"
import type {
  DeployModelRequest,
  Endpoint,
  EndpointChange,
  EndpointName,
  EndpointSpec,
  Model,
  ModelName,
  ModelSpec,
  Payload,
  UndeployRequest
} from "../domain/models/Endpoint.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { Operation } from "../domain/Operation.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** A page of resources; `filter` in the service's syntax: `labels.team="a"`, `display_name="chat"`. */
export interface ResourceQuery extends PageRequest {
  readonly filter?: string
}

/** A model's answer, with the model's own status, also where it failed. */
export interface Prediction<Body> {
  readonly status: number
  readonly contentType: string
  /** The deployed model that answered, where known. */
  readonly deployedModelId?: string
  readonly body: Body
}

/**
 * Endpoints, the models of a project, and which models are deployed on which endpoints. The rules between them are in
 * `domain/models/EndpointRules.ts`.
 */
export class Endpoints extends Context.Service<Endpoints, {
  readonly uploadModel: (spec: ModelSpec) => Effect.Effect<Model, ServiceError>
  readonly getModel: (name: ModelName) => Effect.Effect<Model, ServiceError>
  readonly listModels: (query: ResourceQuery) => Effect.Effect<Page<Model>, ServiceError>
  /** Deletes every version of a model. Refused while one is deployed. */
  readonly deleteModel: (name: ModelName) => Effect.Effect<void, ServiceError>

  readonly create: (spec: EndpointSpec) => Effect.Effect<Endpoint, ServiceError>
  readonly get: (name: EndpointName) => Effect.Effect<Endpoint, ServiceError>
  readonly list: (query: ResourceQuery) => Effect.Effect<Page<Endpoint>, ServiceError>
  readonly update: (change: EndpointChange) => Effect.Effect<Endpoint, ServiceError>
  /** Deletes an endpoint. Refused while a model is deployed on it. */
  readonly delete: (name: EndpointName) => Effect.Effect<void, ServiceError>

  /** Starts a deployment and returns its operation; follow it through `Operations`. */
  readonly deployModel: (request: DeployModelRequest) => Effect.Effect<Operation, ServiceError>
  readonly undeployModel: (request: UndeployRequest) => Effect.Effect<void, ServiceError>

  /** Passes the payload to the model as it is, and returns its answer as it is. */
  readonly rawPredict: (endpoint: EndpointName, payload: Payload) => Effect.Effect<Prediction<Uint8Array>, ServiceError>
  /** Like `rawPredict`, with the answer as it arrives. Ending the stream ends the call; an answer that breaks off is a failure. */
  readonly streamRawPredict: (
    endpoint: EndpointName,
    payload: Payload
  ) => Effect.Effect<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError>
}>()("sluice/ports/Endpoints") {}

/** Most bytes of a complete answer that are held in memory. */
const largestAnswer = 64 * 1024 * 1024

/** Collects a streamed answer; `what` names it in messages. */
export const whole = (bytes: Stream.Stream<Uint8Array, ServiceError>, what: string): Effect.Effect<Uint8Array, ServiceError> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let length = 0
    return bytes.pipe(
      Stream.runForEach((part) => {
        length += part.length
        parts.push(part)
        return length > largestAnswer
          ? Effect.fail(
            new ServiceError({
              code: "OUT_OF_RANGE",
              message: `${what} answered with more than ${largestAnswer} bytes`,
              fix: "stream the answer"
            })
          )
          : Effect.void
      }),
      Effect.map(() => new Uint8Array(Buffer.concat(parts)))
    )
  })
