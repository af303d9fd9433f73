import type { Effect, Stream } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"
import type { Address } from "./Address.ts"

/** Where a listing goes on: a page token, or after a key when there is no token or it has expired. */
export interface Position {
  readonly token?: string
  readonly after?: string
}

export interface Page {
  readonly events: ReadonlyArray<Listed>
  /** Where the next page begins, in words that outlive the process; absent where there are none. */
  readonly position?: Position
  /** Absent on the last page. */
  readonly next?: Effect.Effect<Page, ServiceError>
}

/** One kind of address. */
export interface Backend {
  /** Whether credentials and the address do. Reads as little as it can. */
  readonly check: (address: Address) => Effect.Effect<void, ServiceError>
  /** The one thing an address names; nothing when there is no such thing, but things may lie under it. */
  readonly one: (address: Address) => Effect.Effect<Listed | undefined, ServiceError>
  /** What lies under an address, from a position of an earlier listing or from the start. */
  readonly page: (address: Address, position: Position) => Effect.Effect<Page, ServiceError>
  readonly read: (item: SourceItem, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError>
}
