import { Effect, Option, Result, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { eachOf, joined, type Known, KnownFiles, listFromStart, makeKnown, partOf } from "../Tree.ts"
import { DriveItem, itemFields, offered, permissionsOf, skipOf } from "./DriveItem.ts"
import type { Graph } from "./Graph.ts"
import { type Place, resolvePlace } from "./ResolveSite.ts"
import { listPages, type PagesProgress } from "./SitePages.ts"

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

/** The path of a folder, and whether its contents belong to the source. */
interface FolderPlace {
  readonly path: string
  readonly inside: boolean
}

/** The progress of a listing: everything that a cursor contains. Mutated as the listing proceeds. */
interface Progress extends PagesProgress {
  /** The delta's next page; once it was `read`, where the next delta starts. */
  at: string
  read: boolean
  readonly folders: Map<string, FolderPlace>
  readonly known: Known
}

const newProgress = (at: string): Progress => ({
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

const encodeProgress = (place: Place, progress: Progress, finished: boolean): string => {
  const files = progress.known.entries()
  return JSON.stringify({
    of: digest(place),
    at: progress.at,
    // After the end of a listing, a cursor lists changes.
    full: progress.full && !finished,
    read: progress.read && !finished,
    folders: [...progress.folders].map(([id, { inside, path }]) => [id, path, inside]),
    pages: [...progress.pages].map(([id, [path, revision]]) => [id, path, revision]),
    failed: progress.failed,
    ...(files === undefined ? {} : { files })
  })
}

const decodeProgress = (place: Place, cursor: string): Effect.Effect<Progress, ServiceError> =>
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

const readItems = eachOf(DriveItem)

/** Most levels of folders: deeper than SharePoint's longest path (400 characters) allows. */
const maxDepth = 200

/** The first page of the delta of the whole library: libraries have no delta of single folders. */
const firstDelta = ({ driveId }: Place): string => `/drives/${driveId}/root/delta?$select=${itemFields}&$top=500`

/** The next page of a library's delta, as events; updates `progress`. */
const deltaPage = Effect.fnUntraced(function*(
  graph: Graph,
  config: SettingsOf<"sharePoint">,
  place: Place,
  progress: Progress
): Effect.fn.Return<ReadonlyArray<Listed>, ServiceError> {
  const { folders, full, known } = progress
  const { delta, next, value: told } = yield* graph.page("the listing of the library", progress.at, Schema.Unknown).pipe(
    Effect.mapError((error) =>
      error.reason === "resyncRequired" || error.reason === "syncStateNotFound" || error.status === 410
        ? listFromStart("has ended: the library no longer tells what changed since then")
        : error
    )
  )

  const items = readItems(told)

  /** The place of a folder. Folders mostly come before their contents; one that did not is requested. */
  const placeOf: (id: string, depth?: number) => Effect.Effect<FolderPlace | undefined, ServiceError> = Effect.fnUntraced(
    function*(id: string, depth = 0): Effect.fn.Return<FolderPlace | undefined, ServiceError> {
      const found = folders.get(id)
      if (found !== undefined) return found
      if (depth > maxDepth) return yield* ServiceError.internal("the library's folders go round in circles")
      const item = yield* graph.get("a folder of the library", `/drives/${place.driveId}/items/${id}?$select=${itemFields}`, DriveItem)
        .pipe(
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
        )
      return item === undefined ? undefined : yield* placed(item, depth + 1)
    }
  )

  const placed = Effect.fnUntraced(function*(item: DriveItem, depth = 0): Effect.fn.Return<FolderPlace | undefined, ServiceError> {
    const made = yield* located(item, depth)
    if (made !== undefined) folders.set(item.id, made)
    return made
  })

  const located = Effect.fnUntraced(function*(item: DriveItem, depth: number): Effect.fn.Return<FolderPlace | undefined, ServiceError> {
    const chosen = place.folderId === undefined || place.folderId === item.id
    if (item.root !== undefined) return { path: "", inside: chosen }
    const parent = yield* placeOf(item.parentReference?.id ?? "", depth)
    return parent === undefined ? undefined : { path: joined(parent.path, partOf(item.name ?? "")), inside: chosen || parent.inside }
  })

  const folderChanged = Effect.fnUntraced(function*(item: DriveItem): Effect.fn.Return<ReadonlyArray<Listed>, ServiceError> {
    const before = folders.get(item.id)
    if (item.deleted !== undefined) {
      if (before === undefined || full) return []
      if (!known.remembers()) return yield* tooMany
      const gone = known.under(before.path).flatMap((id) => remove(id))
      for (const [id, { path }] of folders) if (path === before.path || path.startsWith(`${before.path}/`)) folders.delete(id)
      return gone
    }
    const after = yield* before === undefined ? placed(item) : located(item, 0)
    return before === undefined || before.path === after?.path ? [] : yield* listFromStart("is older than a change to a folder")
  })

  const remove = (id: string): ReadonlyArray<Listed> => {
    const path = known.pathOf(id)
    // Another file may have taken its place since.
    const gone = path !== undefined && known.idAt(path) === id
    known.remove(id)
    return gone ? [{ _tag: "deleted", path }] : []
  }

  // Of several changes to one item, the last counts.
  const events: Array<Listed> = []
  const files: Array<readonly [DriveItem, string]> = []
  for (const item of new Map(items.good.map((each) => [each.id, each])).values()) {
    if (item.root !== undefined || item.folder !== undefined || folders.has(item.id)) {
      events.push(...yield* folderChanged(item))
      continue
    }
    if (!full && !known.remembers()) return yield* tooMany
    const parent = item.deleted === undefined ? yield* placeOf(item.parentReference?.id ?? "") : undefined
    // In a listing of everything too: what was listed by an earlier page may be elsewhere by now.
    if (parent === undefined || !parent.inside) {
      events.push(...remove(item.id))
      continue
    }
    const path = joined(parent.path, partOf(item.name ?? ""))
    if (known.pathOf(item.id) !== path) {
      events.push(...remove(item.id))
      known.add(item.id, path)
    }
    files.push([item, path])
  }
  const wanted: typeof files = []
  for (const [item, path] of files) {
    const skipped = skipOf(item, path, config.maxFileSize)
    if (skipped === undefined) wanted.push([item, path])
    else events.push(skipped)
  }
  const permissions = yield* permissionsOf(
    graph,
    wanted.map(([{ id }, name]) => ({ name, at: `/drives/${place.driveId}/items/${id}` })),
    config.tenantId
  )
  for (const [index, readers] of permissions.entries()) {
    const [item, path] = wanted[index] ?? []
    if (item === undefined || path === undefined) continue
    if (Result.isSuccess(readers)) events.push(offered(item, path, place.driveId, readers.success))
    else if (readers.failure.code === "NOT_FOUND") {
      // Deleted since the page was made.
      events.push(...full ? [] : remove(item.id))
    } else {
      progress.failed = true
      events.push({ _tag: "failed", path, error: readers.failure })
    }
  }
  for (const name of items.odd) {
    progress.failed = true
    events.push({
      _tag: "failed",
      path: name,
      error: new ServiceError({ code: "DATA_LOSS", message: `SharePoint returned ${name} in an unknown form` })
    })
  }
  if (next === undefined && delta === undefined) {
    return yield* ServiceError.internal("the listing of the library ended without a link to continue from")
  }
  progress.at = next ?? delta ?? progress.at
  progress.read = next === undefined
  return events
})

const tooMany = Effect.fail(listFromStart("is of more files than a cursor remembers, and something changed"))

/** Lists everything from the start; the rest, from a checkpoint; the changes, from the cursor of a finished listing. */
export const listing = (graph: Graph, config: SettingsOf<"sharePoint">, cursor: string | undefined): Stream.Stream<Listed, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const place = yield* resolvePlace(graph, config)
    const progress = cursor === undefined ? newProgress(firstDelta(place)) : yield* decodeProgress(place, cursor)

    const end = (events: ReadonlyArray<Listed>): ReadonlyArray<Listed> =>
      progress.failed ? events : [...events, { _tag: "complete", cursor: encodeProgress(place, progress, true) }]

    return Stream.paginate<void, Listed, ServiceError>(
      undefined,
      () =>
        Effect.gen(function*(): Effect.fn.Return<readonly [ReadonlyArray<Listed>, Option.Option<void>], ServiceError> {
          if (progress.read) return [end(place.pages ? yield* listPages(graph, config, place, progress) : []), Option.none()]
          const events = yield* deltaPage(graph, config, place, progress)
          // Changes are read again from where they started, if any of them could not be taken.
          const resumable = progress.full || !progress.failed
          return [
            resumable ? [...events, { _tag: "checkpoint", cursor: encodeProgress(place, progress, false) }] : events,
            Option.some(undefined)
          ]
        })
    )
  }))
