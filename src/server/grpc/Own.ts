import type { Stream } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"

/** A gRPC method about the server itself, which is not one of the routes. */
export interface OwnMethod {
  /** Whether it needs no token: probes have none. */
  readonly open: boolean
  /** Whether it accepts any number of messages, and answers each; otherwise it accepts one. */
  readonly stream: boolean
  /** Starts a call. Returns a function from each message to the stream of its answers. */
  readonly begin: () => (message: Uint8Array) => Stream.Stream<Uint8Array, ServiceError>
}

/** Methods by their path: `/grpc.health.v1.Health/Check`. */
export type OwnMethods = ReadonlyMap<string, OwnMethod>
