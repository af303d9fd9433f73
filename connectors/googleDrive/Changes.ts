import { Effect } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { eachOf } from "../tree/EachOf.ts"
import { joined, partOf } from "../tree/FileName.ts"
import { listFromStart } from "../tree/Known.ts"
import type { DriveApi } from "./DriveApi.ts"
import { Change, type DriveFile, folderType, shortcutType } from "./DriveFile.ts"
import type { Progress } from "./Progress.ts"
import { type Walker, withId } from "./Walk.ts"

const readChanges = eachOf(Change)

/**
 * One page of the feed that `driveId` names, and whether there is more. Folders that turn up are left to be walked.
 * Fails with a violation of `cursor` where the feed does not tell what became of which path.
 */
export const changesPage = Effect.fnUntraced(function*(
  api: DriveApi,
  walk: Walker,
  progress: Progress,
  driveId: string
): Effect.fn.Return<{ readonly events: ReadonlyArray<Listed>; readonly more: boolean }, ServiceError> {
  const token = progress.tokens.get(driveId) ?? ""
  const { changes: told = [], newStartPageToken, nextPageToken } = yield* api.changes(token, driveId === "" ? undefined : driveId).pipe(
    // Tokens are not documented to end; one that did is of no more use than one of another account.
    Effect.mapError((error) =>
      error.code === "INVALID_ARGUMENT" || error.code === "NOT_FOUND" || error.code === "PERMISSION_DENIED"
        ? listFromStart("is no longer taken by Drive")
        : error
    )
  )
  if (nextPageToken !== undefined && nextPageToken === token) return yield* ServiceError.internal("the changes of Drive go round in circles")
  const changes = readChanges(told)
  const deleted: Array<Listed> = []
  const offered = new Map<string, readonly [DriveFile, string]>()
  for (const change of changes.good) {
    // The account's own feed repeats what the feeds of its shared drives say.
    if (driveId === "" && change.file?.driveId !== undefined && progress.tokens.has(change.file.driveId)) continue
    const effect = effectOf(progress, change)
    // What comes twice counts as it came last.
    offered.delete(change.fileId ?? "")
    if (effect instanceof ServiceError) return yield* effect
    if (effect === undefined) continue
    for (const path of effect.deleted ?? []) deleted.push({ _tag: "deleted", path })
    if (effect.offered !== undefined) offered.set(effect.offered[0].id, effect.offered)
    if (effect.link !== undefined) walk.link(...effect.link)
    if (effect.folder !== undefined) walk.enqueue(effect.folder)
  }
  // Without those whose folder went after them.
  const here = [...offered.values()].filter(([{ id }]) => !progress.known.remembers() || progress.known.pathOf(id) !== undefined || progress.pinned.has(id))
  const events = [...deleted, ...yield* walk.offerAll(here), ...walk.odd(changes.odd)]
  progress.tokens.set(driveId, nextPageToken ?? newStartPageToken ?? token)
  return { events, more: nextPageToken !== undefined }
})

interface Consequence {
  readonly deleted?: ReadonlyArray<string>
  readonly offered?: readonly [DriveFile, string]
  readonly link?: readonly [shortcut: DriveFile, path: string]
  readonly folder?: { readonly id: string; readonly path: string; readonly driveId: string }
}

/** What one change means, told from what was listed. Nothing for what lies elsewhere. */
const effectOf = (progress: Progress, { changeType, driveId, file, fileId, removed }: Change): Consequence | ServiceError | undefined => {
  const { folders, known, links, pinned } = progress
  if (!known.remembers()) return listFromStart("is of more files than a cursor remembers, and something changed")
  if (changeType === "drive") {
    if (driveId !== undefined && progress.tokens.has(driveId)) return listFromStart("is older than a change to a whole shared drive")
    return undefined
  }
  const id = fileId ?? file?.id ?? ""
  const gone = removed === true || file === undefined || file.trashed === true
  if (links.has(id)) return listFromStart("is older than a change to a shortcut")
  const folder = folders.get(id)
  if (folder !== undefined) {
    if (!gone || pinned.size > 0) return listFromStart("is older than a change to a folder")
    return { deleted: forgetFolder(progress, folder) }
  }
  const path = pinned.get(id) ?? known.pathOf(id)
  const parent = folders.get(file?.parents?.[0] ?? "")
  if (gone || (parent === undefined && !pinned.has(id))) {
    pinned.delete(id)
    known.remove(id)
    return path === undefined ? undefined : { deleted: [path] }
  }
  if (path !== undefined && (pinned.has(id) || isAt(path, parent ?? "", file))) return { offered: [file, path] }
  const wanted = joined(parent ?? "", partOf(file.name))
  const own = known.idAt(wanted) === undefined ? wanted : withId(wanted, id)
  if (file.mimeType === folderType) return { folder: { id, path: own, driveId: progress.tokens.has(file.driveId ?? "") ? file.driveId ?? "" : "" } }
  if (file.mimeType === shortcutType) return { link: [file, own] }
  known.remove(id)
  known.add(id, own)
  return { ...(path === undefined ? {} : { deleted: [path] }), offered: [file, own] }
}

const isAt = (path: string, folder: string, file: DriveFile): boolean => {
  const wanted = joined(folder, partOf(file.name))
  return path === wanted || path === withId(wanted, file.id)
}

/** The paths of what was in a folder that is gone. */
const forgetFolder = ({ folders, known }: Progress, gone: string): ReadonlyArray<string> => {
  const ids = known.under(gone)
  const paths = ids.flatMap((id) => known.pathOf(id) ?? [])
  for (const id of ids) known.remove(id)
  for (const [id, path] of folders) if (path === gone || path.startsWith(`${gone}/`)) folders.delete(id)
  return paths
}
