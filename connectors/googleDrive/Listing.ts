import { Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { eachOf, joined, KnownFiles, listFromStart, makeKnown, partOf } from "../Tree.ts"
import { Change, type DriveApi, type DriveFile, folderType, shortcutType } from "./DriveApi.ts"
import { permissionReader } from "./DriveItem.ts"
import { type Progress, type Walker, walker, withId } from "./Walk.ts"

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

const newProgress = (): Progress => ({
  tokens: new Map(),
  folders: new Map(),
  queue: new Map(),
  links: new Map(),
  openLinks: new Map(),
  pinned: new Map(),
  known: makeKnown([]),
  failed: false
})

const digest = ({ files, folders }: SettingsOf<"googleDrive">): string =>
  createHash("sha256").update(JSON.stringify([folders, files])).digest("hex").slice(0, 16)

const encodeProgress = (config: SettingsOf<"googleDrive">, progress: Progress): string => {
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

const decodeProgress = (config: SettingsOf<"googleDrive">, cursor: string): Effect.Effect<Progress, ServiceError> =>
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

const readChanges = eachOf(Change)

/**
 * One page of the feed that `driveId` names, and whether there is more. New folders are queued for the walk. Fails with a violation of
 * `cursor` where the feed does not show what happened to which path.
 */
const changesPage = Effect.fnUntraced(function*(
  api: DriveApi,
  walk: Walker,
  progress: Progress,
  driveId: string
): Effect.fn.Return<{ readonly events: ReadonlyArray<Listed>; readonly more: boolean }, ServiceError> {
  const token = progress.tokens.get(driveId) ?? ""
  const { changes: told = [], newStartPageToken, nextPageToken } = yield* api.changes(token, driveId === "" ? undefined : driveId).pipe(
    // Tokens are not documented to expire; one that did is of no more use than one of another account.
    Effect.mapError((error) =>
      error.code === "INVALID_ARGUMENT" || error.code === "NOT_FOUND" || error.code === "PERMISSION_DENIED"
        ? listFromStart("is no longer taken by Drive")
        : error
    )
  )
  if (nextPageToken !== undefined && nextPageToken === token) {
    return yield* ServiceError.internal("the changes of Drive go round in circles")
  }
  const changes = readChanges(told)
  const deleted: Array<Listed> = []
  const offered = new Map<string, readonly [DriveFile, string]>()
  for (const change of changes.good) {
    // The account's own feed repeats the feeds of its shared drives.
    if (driveId === "" && change.file?.driveId !== undefined && progress.tokens.has(change.file.driveId)) continue
    const effect = effectOf(progress, change)
    // Of several changes to one file, the last counts.
    offered.delete(change.fileId ?? "")
    if (effect instanceof ServiceError) return yield* effect
    if (effect === undefined) continue
    for (const path of effect.deleted ?? []) deleted.push({ _tag: "deleted", path })
    if (effect.offered !== undefined) offered.set(effect.offered[0].id, effect.offered)
    if (effect.link !== undefined) walk.link(...effect.link)
    if (effect.folder !== undefined) walk.enqueue(effect.folder)
  }
  // Without files whose folder was deleted after them.
  const here = [...offered.values()].filter(([{ id }]) =>
    !progress.known.remembers() || progress.known.pathOf(id) !== undefined || progress.pinned.has(id)
  )
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

/** What one change means for the listed files. Undefined for files outside the source. */
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
  if (file.mimeType === folderType) {
    return { folder: { id, path: own, driveId: progress.tokens.has(file.driveId ?? "") ? file.driveId ?? "" : "" } }
  }
  if (file.mimeType === shortcutType) return { link: [file, own] }
  known.remove(id)
  known.add(id, own)
  return { ...(path === undefined ? {} : { deleted: [path] }), offered: [file, own] }
}

const isAt = (path: string, folder: string, file: DriveFile): boolean => {
  const wanted = joined(folder, partOf(file.name))
  return path === wanted || path === withId(wanted, file.id)
}

/** Forgets a deleted folder and everything in it; returns the paths of its files. */
const forgetFolder = ({ folders, known }: Progress, gone: string): ReadonlyArray<string> => {
  const ids = known.under(gone)
  const paths = ids.flatMap((id) => known.pathOf(id) ?? [])
  for (const id of ids) known.remove(id)
  for (const [id, path] of folders) if (path === gone || path.startsWith(`${gone}/`)) folders.delete(id)
  return paths
}

/** Lists everything from the start; the rest, from a checkpoint; the changes, from the cursor of a finished listing. */
export const listing = (
  api: DriveApi,
  config: SettingsOf<"googleDrive">,
  cursor: string | undefined
): Stream.Stream<Listed, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const progress = cursor === undefined ? newProgress() : yield* decodeProgress(config, cursor)
    const walk = walker(api, config, permissionReader(api), progress)
    const unfinished = progress.queue.size > 0 || progress.openLinks.size > 0
    const all = cursor === undefined || unfinished
    const feeds = all ? [] : [...progress.tokens.keys()]
    let started = cursor !== undefined

    const step = Effect.gen(function*() {
      const [feed] = feeds
      if (feed !== undefined) {
        const { events, more } = yield* changesPage(api, walk, progress, feed)
        if (!more) feeds.shift()
        return { events, done: false }
      }
      if (started) {
        const events = yield* walk.next
        return { events: events ?? [], done: events === undefined }
      }
      started = true
      return { events: yield* walk.roots(), done: false }
    })

    return Stream.paginate<void, Listed, ServiceError>(undefined, () =>
      Effect.map(step, ({ done, events }): readonly [ReadonlyArray<Listed>, Option.Option<void>] => {
        if (!done) {
          // Changes are read again from where they started, unless all feeds were read to their end without a failure.
          const resumable = walk.settled && feeds.length === 0 && (all || !progress.failed)
          return [
            resumable ? [...events, { _tag: "checkpoint", cursor: encodeProgress(config, progress) }] : events,
            Option.some(undefined)
          ]
        }
        return [progress.failed ? events : [...events, { _tag: "complete", cursor: encodeProgress(config, progress) }], Option.none()]
      }))
  }))
