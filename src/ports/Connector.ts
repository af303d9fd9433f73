import type { Effect, Stream } from "effect"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import type { Metadata, Permissions } from "../domain/RagFile.ts"

/** One document of a source. */
export interface SourceItem {
  /** Identity of the item within its source, `/`-separated, NFC: the ledger's key. */
  readonly path: string
  /** Address at which a person can open the item: `file:///…`, `gs://…`, `https://…`. */
  readonly uri: string
  readonly displayName: string
  /**
   * Changes whenever the content may have changed, and is cheap to read: size and mtime, an etag, a revision id. Equal
   * revisions mean equal content, unless the item is `unsettled`.
   */
  readonly revision: string
  /** The revision is too recent to be trusted (modified within 2 s of the scan): the item is read and hashed anyway. */
  readonly unsettled?: boolean | undefined
  /** Size in bytes, where the listing states it. */
  readonly size?: number | undefined
  readonly mimeType?: string | undefined
  readonly metadata?: Metadata | undefined
  readonly permissions?: Permissions | undefined
  /** The item this one is attached to or packed inside, and the path within it. Set by sync; connectors leave it out. */
  readonly within?: { readonly item: SourceItem; readonly path: string } | undefined
  /** Whether its attachments are listed as items of their own. Set by sync; connectors leave it out. */
  readonly opened?: boolean | undefined
}

/** Why a source does not offer an item that it saw. `hidden`: the service has it, but does not show it now. */
export type SkipReason = "ignored" | "unsupported" | "limit" | "link" | "special" | "corrupt" | "encrypted" | "hidden"

/** What a listing yields, in any order; `complete` comes last, and only after a listing that saw everything. */
export type Listed =
  | { readonly _tag: "item"; readonly item: SourceItem }
  /**
   * What the corpus has of a skipped item is deleted, except where the reason is `hidden`: then everything whose path starts with this one
   * stays, with `before` only what comes before that in the order of paths.
   */
  | { readonly _tag: "skipped"; readonly path: string; readonly reason: SkipReason; readonly detail: string; readonly before?: string }
  /**
   * An item, or a folder and everything under it (`a/b/`), could not be examined. Before `complete`, only deletes of what
   * it names are held back; the path of an item must then be one that the connector lists under.
   */
  | { readonly _tag: "failed"; readonly path: string; readonly error: ServiceError }
  /** Increments only: the item is gone at the source. */
  | { readonly _tag: "deleted"; readonly path: string }
  /** Everything up to here was listed: a listing that is cut short resumes from this cursor. */
  | { readonly _tag: "checkpoint"; readonly cursor: string }
  | { readonly _tag: "complete"; readonly cursor?: string | undefined }

/**
 * What a source reports of itself between listings. The listing is the truth: a hint only says when one is worth making.
 * - `watching`: changes are reported from now on. Earlier ones may have been missed.
 * - `changed`: something may have changed.
 * - `blind`: changes are not reported for now, and why.
 */
export type Hint =
  | { readonly _tag: "watching" }
  | { readonly _tag: "changed" }
  | { readonly _tag: "blind"; readonly message: string }

/**
 * A source of documents, made by a function from its configuration. Keeps no state between calls other than the `cursor`
 * it hands out.
 */
export interface Connector {
  /** Kind of the source: `local`, `storage`, `googleDrive`, `slack`, `jira`, `sharePoint`, `git`, `web`, or a custom kind. */
  readonly kind: string
  /** Checks configuration and credentials before any work. */
  readonly check: Effect.Effect<void, ServiceError | SecretError>
  /**
   * Lists everything the source has or, from a cursor, what has changed since. A stream that ends without `complete` was
   * cut short, and nothing is deleted because of it.
   */
  readonly list: (cursor?: string) => Stream.Stream<Listed, ServiceError | SecretError>
  /**
   * Reads the item's bytes. Fails with `OUT_OF_RANGE` once more than `maxBytes` have arrived, with `ABORTED` if the item
   * changed while it was read, with `NOT_FOUND` if it is gone.
   */
  readonly read: (item: SourceItem, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError | SecretError>
  /**
   * Whether the revision of an `unsettled` item can be trusted by now for bytes read after this call: nothing has changed
   * since it was listed, and any later change gives another revision. Absent: never.
   */
  readonly settled?: (item: SourceItem) => Effect.Effect<boolean>
  /** Changes that listings from a cursor leave out, so that only a full listing shows them. Default: none. */
  readonly cursorMisses?: ReadonlyArray<"deletions" | "permissions">
  /** Hints for as long as the stream is read. Absent where a source can only be polled. */
  readonly hints?: Stream.Stream<Hint>
}
