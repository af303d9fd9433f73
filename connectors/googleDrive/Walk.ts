import { Effect, Result } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { eachOf, isolated, joined, type Known, partOf } from "../Tree.ts"
import { type DriveApi, DriveFile, folderType, shortcutType } from "./DriveApi.ts"
import { itemOf, skipOf } from "./DriveItem.ts"

/** Most folders in one query. */
const groupSize = 25
/** Most files requested at the same time. */
const concurrency = 8

/** A folder to be listed. */
interface Folder {
  readonly id: string
  readonly path: string
  /** The shared drive of the folder, if the account is a member of it; otherwise "". */
  readonly driveId: string
}

/** The progress of a listing: everything that a cursor contains. Mutated as the listing proceeds. */
export interface Progress {
  /** The change token of each shared drive, and of the account under "", from which its feed continues. */
  readonly tokens: Map<string, string>
  /** Paths of folders listed already, by id: nothing is listed twice, circles included. */
  readonly folders: Map<string, string>
  /** Folders still to be listed, by id. */
  readonly queue: Map<string, Folder>
  /** Targets of shortcuts by the shortcut's id. */
  readonly links: Map<string, string>
  /** Paths of shortcuts to resolve once all folders are listed, by the target's id. */
  readonly openLinks: Map<string, string>
  /** Paths of files that are in no listed folder, by id: configured files and targets of shortcuts. */
  readonly pinned: Map<string, string>
  readonly known: Known
  /** Whether something could not be listed, so that the listing is not complete. */
  failed: boolean
}

type PermissionsOf = (file: DriveFile) => Effect.Effect<Permissions, ServiceError>

const readFiles = eachOf(DriveFile)

/** The events of one page. */
type Events = ReadonlyArray<Listed>

/** A group of folders that is being listed. */
interface Group {
  readonly folders: ReadonlyMap<string, Folder>
  readonly token?: string
  /** Names already used in these folders. */
  readonly taken: Set<string>
}

/** Lists what `progress` has not seen yet, a page at a time. */
export const walker = (api: DriveApi, config: SettingsOf<"googleDrive">, permissionsOf: PermissionsOf, progress: Progress) => {
  let group: Group | undefined

  const fail = (path: string, error: ServiceError): Listed => {
    progress.failed = true
    return { _tag: "failed", path, error }
  }

  /** The events of a file at its path; a failure affects only this file. */
  const offer = (file: DriveFile, path: string): Effect.Effect<Listed, ServiceError> => {
    const skipped = skipOf(file, path, config.maxFileSize)
    if (skipped !== undefined) return Effect.succeed(skipped)
    return Effect.map(
      isolated(permissionsOf(file)),
      (permissions) => Result.isFailure(permissions) ? fail(path, permissions.failure) : itemOf(file, path, permissions.success)
    )
  }

  const offerAll = (files: ReadonlyArray<readonly [file: DriveFile, path: string]>) =>
    Effect.forEach(files, ([file, path]) => offer(file, path), { concurrency })

  /** Starts the feed of a shared drive before anything in it is listed. Returns false for an account that is not a member. */
  const follow = Effect.fnUntraced(function*(driveId: string): Effect.fn.Return<boolean, ServiceError> {
    if (progress.tokens.has(driveId)) return true
    const token = yield* api.startToken(driveId === "" ? undefined : driveId).pipe(
      Effect.catchIf(({ code }) => driveId !== "" && (code === "NOT_FOUND" || code === "PERMISSION_DENIED"), () => Effect.undefined)
    )
    if (token === undefined) return false
    // The earliest of several requested at the same time.
    if (!progress.tokens.has(driveId)) progress.tokens.set(driveId, token)
    return true
  })

  /** A file by its id, requested once changes to it are followed, and the drive to query for its contents. */
  const fetch = Effect.fnUntraced(function*(id: string): Effect.fn.Return<readonly [DriveFile, string], ServiceError> {
    const file = yield* api.file(id)
    const driveId = file.driveId ?? ""
    if (progress.tokens.has(driveId)) return [file, driveId]
    return (yield* follow(driveId)) ? [yield* api.file(id), driveId] : [file, ""]
  })

  const roots = Effect.fnUntraced(function*(): Effect.fn.Return<Events, ServiceError> {
    yield* follow("")
    const ids = [...new Set([...config.folders, ...config.files])]
    const found = yield* Effect.forEach(ids, (id) => Effect.map(isolated(fetch(id)), (result) => [id, result] as const), { concurrency: 4 })
    const taken = new Set<string>()
    const files: Array<readonly [DriveFile, string]> = []
    const events: Array<Listed> = []
    for (const [id, result] of found) {
      if (Result.isFailure(result)) {
        events.push(fail(id, result.failure))
        continue
      }
      const [file, driveId] = result.success
      const wrong = wrongRoot(file, id, config)
      if (wrong !== undefined) {
        events.push(fail(id, wrong))
        continue
      }
      const path = unique("", file, taken)
      if (file.mimeType === folderType) progress.queue.set(file.id, { id: file.id, path, driveId })
      else {
        progress.pinned.set(file.id, path)
        files.push([file, path])
      }
    }
    return [...events, ...yield* offerAll(files)]
  })

  const nextGroup = (): Group => {
    const folders = new Map<string, Folder>()
    let driveId: string | undefined
    for (const folder of progress.queue.values()) {
      driveId ??= folder.driveId
      if (folder.driveId === driveId) folders.set(folder.id, folder)
      if (folders.size === groupSize) break
    }
    return { folders, taken: new Set() }
  }

  const page = Effect.fnUntraced(function*(current: Group): Effect.fn.Return<Events, ServiceError> {
    const members = [...current.folders.values()]
    const driveId = members[0]?.driveId
    const result = yield* isolated(api.children([...current.folders.keys()], driveId === "" ? undefined : driveId, current.token))
    if (Result.isFailure(result)) return refused(current, members, result.failure)
    const { files = [], incompleteSearch, nextPageToken } = result.success
    const children = readFiles(files)
    if (nextPageToken !== undefined && nextPageToken === current.token) {
      return refused(current, members, ServiceError.internal("the listing of a Drive folder goes round in circles"))
    }
    const offered: Array<readonly [DriveFile, string]> = []
    for (const file of children.good) {
      const parent = current.folders.get(file.parents?.[0] ?? "") ?? (members.length === 1 ? members[0] : undefined)
      if (parent === undefined || file.trashed === true) continue
      const path = unique(parent.path, file, current.taken)
      if (file.mimeType === folderType) enqueue({ id: file.id, path, driveId: parent.driveId })
      else if (file.mimeType === shortcutType) link(file, path)
      else if (!progress.pinned.has(file.id)) {
        progress.known.add(file.id, path)
        offered.push([file, path])
      }
    }
    const events = yield* offerAll(offered)
    const cut = incompleteSearch === true
      ? [fail(members[0]?.path ?? "", new ServiceError({ code: "UNAVAILABLE", message: "Drive's search was incomplete" }))]
      : []
    if (nextPageToken === undefined) close(members)
    else group = { ...current, token: nextPageToken }
    return [...events, ...cut, ...odd(children.odd)]
  })

  /** Events for files of an unknown shape. */
  const odd = (names: ReadonlyArray<string>): Events =>
    names.map((name) => fail(name, new ServiceError({ code: "DATA_LOSS", message: `Drive returned ${name} in an unknown form` })))

  /**
   * Events for a refused query. One bad folder does not cost the others of its query; a folder deleted during the listing is not a failure.
   */
  const refused = (current: Group, members: ReadonlyArray<Folder>, error: ServiceError): Events => {
    const [only] = members
    if (only !== undefined && members.length > 1) {
      group = { folders: new Map([[only.id, only]]), taken: new Set() }
      return []
    }
    close(members)
    const gone = error.code === "NOT_FOUND" && !config.folders.includes(only?.id ?? "") && current.token === undefined
    return gone || only === undefined ? [] : [fail(only.path, error)]
  }

  const close = (members: ReadonlyArray<Folder>): void => {
    for (const { id, path } of members) {
      progress.folders.set(id, path)
      progress.queue.delete(id)
    }
    group = undefined
  }

  const enqueue = (folder: Folder): void => {
    if (!progress.folders.has(folder.id) && !progress.queue.has(folder.id)) progress.queue.set(folder.id, folder)
  }

  const link = (file: DriveFile, path: string): void => {
    const target = file.shortcutDetails?.targetId
    if (target === undefined) return
    progress.links.set(file.id, target)
    if (!progress.openLinks.has(target)) progress.openLinks.set(target, path)
  }

  /** Resolves shortcuts. Last, since only then are the contents of all folders known. */
  const links = Effect.fnUntraced(function*(): Effect.fn.Return<Events, ServiceError> {
    const some = [...progress.openLinks].slice(0, groupSize)
    const found = yield* Effect.forEach(some, ([id, path]) => Effect.map(isolated(fetch(id)), (result) => [id, path, result] as const), {
      concurrency
    })
    const events: Array<Listed> = []
    const offered: Array<readonly [DriveFile, string]> = []
    for (const [id, path, result] of found) {
      progress.openLinks.delete(id)
      const skip = (detail: string): void => void events.push({ _tag: "skipped", path, reason: "link", detail })
      if (Result.isFailure(result)) {
        if (result.failure.code === "NOT_FOUND" || result.failure.code === "PERMISSION_DENIED") {
          skip("what the shortcut leads to is gone, or not shared with this account")
        } else events.push(fail(path, result.failure))
        continue
      }
      const [file, driveId] = result.success
      const listed = progress.folders.has(id) || progress.pinned.has(id) || progress.folders.has(file.parents?.[0] ?? "")
      if (file.trashed === true) skip("what the shortcut leads to is in the trash")
      else if (file.mimeType === shortcutType) skip("a shortcut to a shortcut is not followed")
      else if (listed) skip("what the shortcut leads to is listed where it lies")
      else if (file.mimeType === folderType) enqueue({ id, path, driveId })
      else {
        progress.pinned.set(id, path)
        offered.push([file, path])
      }
    }
    return [...events, ...yield* offerAll(offered)]
  })

  return {
    roots,
    offerAll,
    odd,
    link,
    enqueue,
    /** The next page of what is left; undefined when nothing is. */
    next: Effect.suspend((): Effect.Effect<Events | undefined, ServiceError> => {
      if (progress.queue.size > 0) return page(group ??= nextGroup())
      return progress.openLinks.size > 0 ? links() : Effect.undefined
    }),
    /** Whether `progress` is complete, so that a cursor may be made of it. */
    get settled() {
      return group === undefined
    }
  }
}

export type Walker = ReturnType<typeof walker>

/** The path of a file in a folder. Drive allows equal names: later files append their id. */
const unique = (folder: string, file: DriveFile, taken: Set<string>): string => {
  const path = joined(folder, partOf(file.name))
  const own = taken.has(path) ? withId(path, file.id) : path
  taken.add(own)
  return own
}

export const withId = (path: string, id: string): string => `${path} (${id})`

/**
 * The error where the file with this id is not what the configuration says; undefined where it is. An alias such as `root` differs from the
 * file's own id.
 */
export const wrongRoot = (file: DriveFile, id: string, config: SettingsOf<"googleDrive">): ServiceError | undefined => {
  const folder = file.mimeType === folderType
  if (file.trashed === true) {
    return new ServiceError({
      code: "NOT_FOUND",
      message: `Drive ${folder ? "folder" : "file"} ${id} is in the trash`,
      fix: "restore it, or take it out of the source"
    })
  }
  if (config.folders.includes(id) === folder) return undefined
  return folder
    ? ServiceError.invalid("files", `${id} is a folder`, "write it under folders")
    : ServiceError.invalid("folders", `${id} is not a folder`, "write it under files")
}
