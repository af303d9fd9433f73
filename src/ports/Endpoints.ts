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

/** `filter` as the service takes it: `labels.team="a"`, `display_name="chat"`. */
export interface ResourceQuery extends PageRequest {
  readonly filter?: string
}

/** What a model answered. Its status is its own, also where it failed. */
export interface Prediction<Body> {
  readonly status: number
  readonly contentType: string
  /** Which of the endpoint's models it was, where that is known. */
  readonly deployedModelId?: string
  readonly body: Body
}

/** Endpoints, the models of a project, and which of those serve on which. Rules relate them: see `domain/models/EndpointRules.ts`. */
export class Endpoints extends Context.Service<Endpoints, {
  readonly uploadModel: (spec: ModelSpec) => Effect.Effect<Model, ServiceError>
  readonly getModel: (name: ModelName) => Effect.Effect<Model, ServiceError>
  readonly listModels: (query: ResourceQuery) => Effect.Effect<Page<Model>, ServiceError>
  /** Every version of it. Refused while one is deployed. */
  readonly deleteModel: (name: ModelName) => Effect.Effect<void, ServiceError>

  readonly create: (spec: EndpointSpec) => Effect.Effect<Endpoint, ServiceError>
  readonly get: (name: EndpointName) => Effect.Effect<Endpoint, ServiceError>
  readonly list: (query: ResourceQuery) => Effect.Effect<Page<Endpoint>, ServiceError>
  readonly update: (change: EndpointChange) => Effect.Effect<Endpoint, ServiceError>
  /** Refused while a model is deployed on it. */
  readonly delete: (name: EndpointName) => Effect.Effect<void, ServiceError>

  /** Returns once the operation has begun; follow it through `Operations`. */
  readonly deployModel: (request: DeployModelRequest) => Effect.Effect<Operation, ServiceError>
  readonly undeployModel: (request: UndeployRequest) => Effect.Effect<void, ServiceError>

  /** The payload goes to the model as it is, and so does the answer come back. */
  readonly rawPredict: (endpoint: EndpointName, payload: Payload) => Effect.Effect<Prediction<Uint8Array>, ServiceError>
  /** The answer as it comes. Ending the stream ends the call; one that breaks off is a failure. */
  readonly streamRawPredict: (
    endpoint: EndpointName,
    payload: Payload
  ) => Effect.Effect<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError>
}>()("sluice/ports/Endpoints") {}

/** Bytes of a whole answer that is held in memory. */
const largestAnswer = 64 * 1024 * 1024

/** All of a streamed answer; `what` names it in messages. */
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
