import { Context, type Effect, type Redacted, type Stream } from "effect"
import type { Payload } from "../domain/models/Endpoint.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Prediction } from "./Endpoints.ts"

/** Calls servers of models by HTTP. The address is the operator's choice, never a remote caller's. */
export class ModelServer extends Context.Service<ModelServer, {
  /** Posts the payload unchanged, with the key as a bearer token. Any status counts as an answer, the model's own. */
  readonly post: (
    url: string,
    payload: Payload,
    apiKey?: Redacted.Redacted<string>
  ) => Effect.Effect<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError>
}>()("sluice/ports/ModelServer") {}

/** A model that was called once, to see whether it works. */
export interface ProvenModel {
  readonly model: string
  /** Why the call failed; absent where it succeeded. */
  readonly problem?: string
  /** Dimensions of the embedding it returned. */
  readonly dimensions?: number
}

/** A server that speaks OpenAI's protocol, found at one of the usual addresses. */
export interface FoundModelServer {
  /** The product that uses this port, or the environment variable that names the server. */
  readonly name: string
  /** Base address, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string
  /** Whether it was called with the key of the environment. */
  readonly signed: boolean
  /** A model that generates text. Absent: the server lists none. */
  readonly answers: ProvenModel | undefined
  /** A model that embeds. Absent: the server lists none. */
  readonly embeds: ProvenModel | undefined
}
