import type { Stream } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"

/** A method of gRPC that is about the server itself, and none of the routes. */
export interface OwnMethod {
  /** Probes call it, and have no token. */
  readonly open: boolean
  /** It takes any number of messages, and answers each. Otherwise it takes one. */
  readonly stream: boolean
  /** Begins a call: what it says to each of its messages, once or from time to time. */
  readonly begin: () => (message: Uint8Array) => Stream.Stream<Uint8Array, ServiceError>
}

/** By path: `/grpc.health.v1.Health/Check`. */
export type OwnMethods = ReadonlyMap<string, OwnMethod>
