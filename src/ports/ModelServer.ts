import { Context, type Effect, type Redacted, type Stream } from "effect"
import type { Payload } from "../domain/models/Endpoint.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Prediction } from "./Endpoints.ts"

/** Whatever serves a model at an HTTP address. The address is the operator's choice, never a remote caller's. */
export class ModelServer extends Context.Service<ModelServer, {
  /** Posts the payload as it is, with a key as a bearer token. Any status is an answer, the model's own. */
  readonly post: (url: string, payload: Payload, apiKey?: Redacted.Redacted<string>) => Effect.Effect<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError>
}>()("sluice/ports/ModelServer") {}
