import { Context, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** Metadata of an object. */
export interface ObjectHead {
  /** Address: `gs://bucket/name`, the name unescaped. */
  readonly uri: string
  /** Changes with every write of the content. */
  readonly revision: string
  /** Size as stored, in bytes. */
  readonly size: number
  readonly contentType?: string
  /** Time of the last change, as in RFC 3339. */
  readonly updated?: string
}

export interface PutOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string
  /** Precondition: nothing is there (`absent`, else `ALREADY_EXISTS`), or this revision is (else `ABORTED`). Default: none. */
  readonly when?: "absent" | { readonly revision: string }
}

/**
 * Objects by address: local files are staged here for an engine that imports, and results are written here. Strongly
 * consistent: an object can be read and listed as soon as it is put. Errors name the bucket and what to do.
 */
export class ObjectStore extends Context.Service<ObjectStore, {
  /**
   * Reads an object's bytes. Fails with `NOT_FOUND`, with `OUT_OF_RANGE` once more than `maxBytes` have arrived, with
   * `ABORTED` if it changed meanwhile.
   */
  readonly get: (uri: string, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError>
  /** Writes an object as a whole: it is visible when this returns; until then the previous one is. */
  readonly put: (
    uri: string,
    body: Uint8Array | Stream.Stream<Uint8Array, ServiceError>,
    options?: PutOptions
  ) => Effect.Effect<ObjectHead, ServiceError>
  /** Lists objects whose address starts with the prefix, in the order of their names. */
  readonly list: (prefix: string) => Stream.Stream<ObjectHead, ServiceError>
  /** Reads an object's metadata. Fails with `NOT_FOUND`. */
  readonly head: (uri: string) => Effect.Effect<ObjectHead, ServiceError>
  /** Deletes an object; succeeds where it does not exist. With a revision, fails with `ABORTED` if another one is there. */
  readonly delete: (uri: string, revision?: string) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/ObjectStore") {}
