import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { type Known, KnownFiles, listFromStart, makeKnown } from "../tree/Known.ts"
import type { GoogleDriveConfig } from "./GoogleDriveConfig.ts"

const Pairs = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

const Cursor = Schema.fromJsonString(Schema.Struct({
  of: Schema.String,
  tokens: Pairs,
  folders: Pairs,
  queue: Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.String])),
  links: Pairs,
  openLinks: Pairs,
  pinned: Pairs,
  failed: Schema.Boolean,
  files: Schema.optionalKey(KnownFiles)
}))
const decode = Schema.decodeUnknownEffect(Cursor)

/** A folder to be listed. */
export interface Folder {
  readonly id: string
  readonly path: string
  /** The shared drive whose member the account is; "" for none. */
  readonly driveId: string
}

/** How far a listing has come: all that a cursor says. Changed in place as it goes. */
export interface Progress {
  /** Where the feed of changes of each shared drive, and of the account under "", is gone on with. */
  readonly tokens: Map<string, string>
  /** Paths of folders listed already, by id: nothing is listed twice, circles included. */
  readonly folders: Map<string, string>
  /** Folders to be listed, by id. */
  readonly queue: Map<string, Folder>
  /** Targets of shortcuts by the shortcut's id. */
  readonly links: Map<string, string>
  /** Shortcuts to look at when all folders are listed: path by the target's id. */
  readonly openLinks: Map<string, string>
  /** Paths of files that are in no listed folder, by id: named ones and those behind shortcuts. */
  readonly pinned: Map<string, string>
  readonly known: Known
  /** Something could not be listed, so the listing is not complete. */
  failed: boolean
}

export const newProgress = (): Progress => ({
  tokens: new Map(),
  folders: new Map(),
  queue: new Map(),
  links: new Map(),
  openLinks: new Map(),
  pinned: new Map(),
  known: makeKnown([]),
  failed: false
})

const digest = ({ files, folders }: GoogleDriveConfig): string =>
  createHash("sha256").update(JSON.stringify([folders, files])).digest("hex").slice(0, 16)

export const encodeProgress = (config: GoogleDriveConfig, progress: Progress): string => {
  const files = progress.known.entries()
  return JSON.stringify({
    of: digest(config),
    tokens: [...progress.tokens],
    folders: [...progress.folders],
    queue: [...progress.queue.values()].map(({ driveId, id, path }) => [id, path, driveId]),
    links: [...progress.links],
    openLinks: [...progress.openLinks],
    pinned: [...progress.pinned],
    failed: progress.failed,
    ...(files === undefined ? {} : { files })
  })
}

export const decodeProgress = (config: GoogleDriveConfig, cursor: string): Effect.Effect<Progress, ServiceError> =>
  decode(cursor).pipe(
    Effect.filterOrFail(({ of }) => of === digest(config)),
    Effect.mapBoth({
      onFailure: () => listFromStart("is not one of these files' and folders' listing"),
      onSuccess: ({ failed, files, folders, links, openLinks, pinned, queue, tokens }): Progress => ({
        tokens: new Map(tokens),
        folders: new Map(folders),
        queue: new Map(queue.map(([id, path, driveId]) => [id, { id, path, driveId }])),
        links: new Map(links),
        openLinks: new Map(openLinks),
        pinned: new Map(pinned),
        known: makeKnown(files),
        failed
      })
    })
  )
