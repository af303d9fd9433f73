import type { Effect, Stream } from "effect"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import type { Metadata, Permissions } from "../domain/RagFile.ts"

/** One document a source has. */
export interface SourceItem {
  /** The item's identity within the source, `/`-separated, NFC: the key of the ledger. */
  readonly path: string
  /** Where a person opens it: `file:///…`, `gs://…`, `https://…`. */
  readonly uri: string
  readonly displayName: string
  /**
   * Changes whenever the content may have changed, and is cheap to know: size and mtime, an etag, a revision id.
   * Equal revisions mean equal content, unless `unsettled`.
   */
  readonly revision: string
  /** The revision is too young to be trusted (modified within 2 s of the scan): read and hash anyway. */
  readonly unsettled?: boolean | undefined
  /** Bytes, where the listing tells. */
  readonly size?: number | undefined
  readonly mimeType?: string | undefined
  readonly metadata?: Metadata | undefined
  readonly permissions?: Permissions | undefined
  /** Attached to another item or packed inside it: that item, and the path within. Set by sync; a connector is not asked for it. */
  readonly within?: { readonly item: SourceItem; readonly path: string } | undefined
  /** What is attached to it is listed as items of its own. Set by sync. */
  readonly opened?: boolean | undefined
}

/** Why a source does not offer an item that it saw. */
export type SkipReason = "ignored" | "unsupported" | "limit" | "link" | "special" | "corrupt" | "encrypted"

/** What a listing yields, in any order; `complete` comes last, and only after a listing that saw everything. */
export type Listed =
  | { readonly _tag: "item"; readonly item: SourceItem }
  | { readonly _tag: "skipped"; readonly path: string; readonly reason: SkipReason; readonly detail: string }
  /**
   * An item, or a folder and all that is under it (`a/b/`), could not be looked at. Before `complete` it holds only the
   * deletes of what it names; an item's path must then be one that the connector lists under.
   */
  | { readonly _tag: "failed"; readonly path: string; readonly error: ServiceError }
  /** Increments only: the item is gone at the source. */
  | { readonly _tag: "deleted"; readonly path: string }
  /** Everything up to here was listed: from this cursor a listing that is cut short goes on. */
  | { readonly _tag: "checkpoint"; readonly cursor: string }
  | { readonly _tag: "complete"; readonly cursor?: string | undefined }

/**
 * What a source tells of itself between listings. The listing is the truth: a hint only says when one is worth making.
 * - `watching`: from now on changes are told. What came before may have been missed.
 * - `changed`: something may have.
 * - `blind`: changes are not told for now, and why.
 */
export type Hint =
  | { readonly _tag: "watching" }
  | { readonly _tag: "changed" }
  | { readonly _tag: "blind"; readonly message: string }

/**
 * A source of documents. Made by a function from its configuration; holds no state between calls but what
 * `cursor` says.
 */
export interface Connector {
  /** `local`, `storage`, `googleDrive`, `slack`, `jira`, `sharePoint`, `git`, `web`, or one's own. */
  readonly kind: string
  /** Checks configuration and credentials, before any work. */
  readonly check: Effect.Effect<void, ServiceError | SecretError>
  /**
   * Everything the source has, or, from a cursor, what changed since. A stream that ends without `complete` was cut
   * short, and nothing is deleted on its word.
   */
  readonly list: (cursor?: string) => Stream.Stream<Listed, ServiceError | SecretError>
  /**
   * The item's bytes. Fails with `OUT_OF_RANGE` once more than `maxBytes` came, with `ABORTED` if the item changed
   * while it was read, with `NOT_FOUND` if it is gone.
   */
  readonly read: (item: SourceItem, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError | SecretError>
  /**
   * Whether the revision of an `unsettled` item holds by now for bytes that are read after this: nothing has changed since
   * it was listed, and whatever still changes gives another revision. Absent: it never does.
   */
  readonly settled?: (item: SourceItem) => Effect.Effect<boolean>
  /**
   * What listings from a complete one's cursor leave out, so that only one of everything tells it. Default: nothing.
   */
  readonly cursorMisses?: ReadonlyArray<"deletions" | "permissions">
  /** Hints for as long as someone listens. Absent where a source can only be polled. */
  readonly hints?: Stream.Stream<Hint>
}
