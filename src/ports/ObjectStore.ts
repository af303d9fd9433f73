import { Context, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** What is known of an object without reading it. */
export interface ObjectHead {
  /** `gs://bucket/name`, the name as it is. */
  readonly uri: string
  /** Changes with every write of the content. */
  readonly revision: string
  /** Bytes as stored. */
  readonly size: number
  readonly contentType?: string
  /** RFC 3339. */
  readonly updated?: string
}

export interface PutOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string
  /** What must be there: `absent` (else `ALREADY_EXISTS`), or this revision (else `ABORTED`). Default: whatever is. */
  readonly when?: "absent" | { readonly revision: string }
}

/**
 * Objects by address: where local files are staged for an engine that imports, and where results are put. Consistent:
 * what was put is read and listed at once. Errors name the bucket and what to do.
 */
export class ObjectStore extends Context.Service<ObjectStore, {
  /** The bytes. Fails with `NOT_FOUND`, with `OUT_OF_RANGE` once more than `maxBytes` came, `ABORTED` if it changed. */
  readonly get: (uri: string, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError>
  /** Writes a whole object: it is there when this returns, and until then what was there before is. */
  readonly put: (
    uri: string,
    body: Uint8Array | Stream.Stream<Uint8Array, ServiceError>,
    options?: PutOptions
  ) => Effect.Effect<ObjectHead, ServiceError>
  /** Every object whose address begins so, in the order of their names. */
  readonly list: (prefix: string) => Stream.Stream<ObjectHead, ServiceError>
  /** Fails with `NOT_FOUND`. */
  readonly head: (uri: string) => Effect.Effect<ObjectHead, ServiceError>
  /** Also succeeds when there is none. With a revision, fails with `ABORTED` if another is there. */
  readonly delete: (uri: string, revision?: string) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/ObjectStore") {}
