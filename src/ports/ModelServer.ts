import { Context, type Effect, type Redacted, type Stream } from "effect"
import type { Payload } from "../domain/models/Endpoint.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Prediction } from "./Endpoints.ts"

/** Whatever serves a model at an HTTP address. The address is the operator's choice, never a remote caller's. */
export class ModelServer extends Context.Service<ModelServer, {
  /** Posts the payload as it is, with a key as a bearer token. Any status is an answer, the model's own. */
  readonly post: (
    url: string,
    payload: Payload,
    apiKey?: Redacted.Redacted<string>
  ) => Effect.Effect<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError>
}>()("sluice/ports/ModelServer") {}

/** A model that was called once. */
export interface ProvenModel {
  readonly model: string
  /** Why the call failed; absent where it did not. */
  readonly problem?: string
  /** Of an embedding. */
  readonly dimensions?: number
}

/** A server that speaks OpenAI's protocol, found where such servers are. */
export interface FoundModelServer {
  /** The product whose port it is, or the environment variable that names it. */
  readonly name: string
  /** Base address, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string
  /** Whether it was called with the key of the environment. */
  readonly signed: boolean
  /** Absent: it lists no model that writes. */
  readonly answers: ProvenModel | undefined
  /** Absent: it lists no model that embeds. */
  readonly embeds: ProvenModel | undefined
}
