import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { type Known, KnownFiles, listFromStart, makeKnown } from "../tree/Known.ts"
import type { Place } from "./ResolveSite.ts"

const Cursor = Schema.fromJsonString(Schema.Struct({
  of: Schema.String,
  at: Schema.String.check(Schema.isStartingWith("/")),
  full: Schema.Boolean,
  read: Schema.Boolean,
  folders: Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.Boolean])),
  pages: Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.String])),
  failed: Schema.Boolean,
  files: Schema.optionalKey(KnownFiles)
}))
const decode = Schema.decodeUnknownEffect(Cursor)

/** Where a folder is, and whether what lies in it belongs to the source. */
export interface FolderPlace {
  readonly path: string
  readonly inside: boolean
}

/** How far a listing has come: all that a cursor says. Changed in place as it goes. */
export interface Progress {
  /** The delta's next page; once it was `read`, where the next delta begins. */
  at: string
  read: boolean
  /** A listing of everything, as against one of changes. */
  readonly full: boolean
  readonly folders: Map<string, FolderPlace>
  readonly known: Known
  /** The site's pages: path and revision by id. */
  readonly pages: Map<string, readonly [path: string, revision: string]>
  /** Something could not be listed, so the listing is not complete. */
  failed: boolean
}

export const newProgress = (at: string): Progress => ({
  at,
  read: false,
  full: true,
  folders: new Map(),
  known: makeKnown([]),
  pages: new Map(),
  failed: false
})

const digest = (place: Place): string =>
  createHash("sha256").update(JSON.stringify([place.siteId, place.driveId, place.folderId ?? null])).digest("hex").slice(0, 16)

export const encodeProgress = (place: Place, progress: Progress, finished: boolean): string => {
  const files = progress.known.entries()
  return JSON.stringify({
    of: digest(place),
    at: progress.at,
    // From the end of a listing on, a cursor tells changes.
    full: progress.full && !finished,
    read: progress.read && !finished,
    folders: [...progress.folders].map(([id, { inside, path }]) => [id, path, inside]),
    pages: [...progress.pages].map(([id, [path, revision]]) => [id, path, revision]),
    failed: progress.failed,
    ...(files === undefined ? {} : { files })
  })
}

export const decodeProgress = (place: Place, cursor: string): Effect.Effect<Progress, ServiceError> =>
  decode(cursor).pipe(
    Effect.filterOrFail(({ of }) => of === digest(place)),
    Effect.mapBoth({
      onFailure: () => listFromStart("is not one of this library's listing"),
      onSuccess: ({ at, failed, files, folders, full, pages, read }): Progress => ({
        at,
        read,
        full,
        folders: new Map(folders.map(([id, path, inside]) => [id, { path, inside }])),
        known: makeKnown(files),
        pages: new Map(pages.map(([id, path, revision]) => [id, [path, revision]])),
        failed
      })
    })
  )
