import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Effect, Layer, Stream } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { type ObjectHead, ObjectStore } from "../../../ports/ObjectStore.ts"
import { type BucketFolders, bucketPath, pathIn } from "./BucketPath.ts"

export interface FolderObjectStoreOptions extends BucketFolders {
  /** Whether `file:///…` is allowed too. It is for programs run by this machine's user, never for remote callers. Default false. */
  readonly files?: boolean
}

/** Bytes that are read at a time. */
const pieceSize = 256 * 1024

/** Start of the name of an object that is not completely written yet. */
const unfinished = ".sluice-tmp-"

/**
 * Flags for reading. A link at a resolved path appeared there later and is not followed; a named pipe would block until
 * it has a writer.
 */
const reading = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

interface Place {
  /** The folder that the address is relative to. */
  readonly root: string
  readonly key: string
  /** Address of the folder itself. */
  readonly base: string
  readonly path: string
}

/** Stores objects as files: a bucket is a folder, and `/` in a name makes a folder in it. Links to places outside are not followed. */
export const make = ({ buckets, closed, files = false }: FolderObjectStoreOptions): ObjectStore["Service"] => {
  const folders = { buckets, closed }

  const placeOf = (uri: string): Place | ServiceError => {
    if (files && uri.startsWith("file:///")) {
      const path = attempted(() => fileURLToPath(uri))
      const key = path?.split(sep).filter((part) => part !== "").join("/") ?? ""
      const real = path === undefined ? undefined : pathIn(sep, key)
      return real === undefined ? noObject(uri) : { root: sep, key, base: "file:///", path: real }
    }
    const found = bucketPath(folders, uri)
    if (found === undefined) return unmapped(uri, files)
    return found instanceof ServiceError ? found : { ...found, base: `gs://${found.bucket}/` }
  }

  /** Path of the file for an object's address. */
  const pathOf = (uri: string): Effect.Effect<string, ServiceError> => {
    const at = placeOf(uri)
    if (at instanceof ServiceError) return Effect.fail(at)
    return at.path === at.root || uri.endsWith("/") ? Effect.fail(noObject(uri)) : Effect.succeed(at.path)
  }

  const attempt = <A>(uri: string, body: () => Promise<A>): Effect.Effect<A, ServiceError> =>
    Effect.tryPromise({ try: body, catch: (cause) => failure(uri, cause) })

  const head = (uri: string): Effect.Effect<ObjectHead, ServiceError> =>
    Effect.flatMap(pathOf(uri), (path) => attempt(uri, () => headOf(uri, path)))

  return ObjectStore.of({
    head,
    get: (uri, maxBytes) =>
      Stream.unwrap(Effect.gen(function*() {
        const path = yield* pathOf(uri)
        const handle = yield* Effect.acquireRelease(
          attempt(uri, () => openFile(uri, path)),
          (handle) => Effect.promise(() => handle.close())
        )
        return Stream.unfold(0, (length) =>
          attempt(uri, () => handle.read(Buffer.allocUnsafe(pieceSize), 0, pieceSize)).pipe(
            Effect.flatMap(({ buffer, bytesRead }) => {
              if (bytesRead === 0) return Effect.undefined
              return length + bytesRead > maxBytes
                ? Effect.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${uri} is larger than ${maxBytes} bytes` }))
                : Effect.succeed([new Uint8Array(buffer.buffer, buffer.byteOffset, bytesRead), length + bytesRead] as const)
            })
          ))
      })),
    put: Effect.fn("ObjectStore.put")(function*(uri, body, { when } = {}) {
      const path = yield* pathOf(uri)
      const parts = Stream.isStream(body) ? body : Stream.succeed(body)
      const temporary = join(dirname(path), `${unfinished}${randomUUID()}`)
      yield* attempt(uri, () => mkdir(dirname(path), { recursive: true }))
      const write = Effect.gen(function*() {
        const handle = yield* Effect.acquireRelease(
          attempt(uri, () => open(temporary, "wx")),
          (handle) => Effect.promise(() => handle.close())
        )
        yield* Stream.runForEach(parts, (part) => attempt(uri, () => handle.writeFile(part)))
        yield* attempt(uri, () => handle.sync())
      }).pipe(Effect.scoped)
      const publish = Effect.gen(function*() {
        if (when === "absent") return yield* attempt(uri, () => link(temporary, path))
        if (when !== undefined && (yield* head(uri)).revision !== when.revision) return yield* changed(uri)
        yield* attempt(uri, () => rename(temporary, path))
      })
      yield* Effect.andThen(write, publish).pipe(Effect.ensuring(Effect.promise(() => rm(temporary, { force: true }))))
      return yield* head(uri)
    }),
    list: (prefix) =>
      Stream.unwrap(Effect.gen(function*() {
        const at = placeOf(prefix)
        if (at instanceof ServiceError) return yield* at
        const inFolder = prefix.endsWith("/") || at.key === ""
        const folder = inFolder ? at.key : at.key.slice(0, Math.max(0, at.key.lastIndexOf("/")))
        const listed = placeOf(`${at.base}${folder}`)
        if (listed instanceof ServiceError) return yield* listed
        const names = yield* attempt(prefix, () => namesIn(listed.path))
        const keys = names.map((name) => (folder === "" ? name : `${folder.replace(/\/$/, "")}/${name}`))
        return Stream.fromIterable(keys.filter((key) => key.startsWith(at.key)).toSorted(byBytes)).pipe(
          Stream.mapEffect((key) => head(at.base === "file:///" ? pathToFileURL(sep + key).href : at.base + key))
        )
      })),
    delete: Effect.fn("ObjectStore.delete")(function*(uri, revision) {
      const path = yield* pathOf(uri)
      if (revision !== undefined && (yield* head(uri)).revision !== revision) return yield* changed(uri)
      yield* attempt(uri, () => rm(path, { force: true }))
    })
  })
}

export const layer = (options: FolderObjectStoreOptions): Layer.Layer<ObjectStore> => Layer.succeed(ObjectStore, make(options))

/** Names of the files under a folder, `/`-separated; empty where the folder does not exist. */
const namesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return []
    throw cause
  })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith(unfinished))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + (folder.endsWith(sep) ? 0 : 1)).split(sep).join("/"))
}

/** Compares names by their bytes, as object storage orders them. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Opens a regular file; refuses anything else. */
const openFile = async (uri: string, path: string): Promise<FileHandle> => {
  const handle = await open(path, reading)
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw ServiceError.notFound(uri)
}

const headOf = async (uri: string, path: string): Promise<ObjectHead> => {
  const found = await lstat(path, { bigint: true })
  if (!found.isFile()) throw ServiceError.notFound(uri)
  return {
    uri,
    revision: `${found.ino}-${found.mtimeNs}-${found.size}`,
    size: Number(found.size),
    updated: found.mtime.toISOString()
  }
}

const attempted = <A>(body: () => A): A | undefined => {
  try {
    return body()
  } catch {
    return undefined
  }
}

const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined)

const failure = (uri: string, cause: unknown): ServiceError => {
  if (cause instanceof ServiceError) return cause
  switch (codeOf(cause)) {
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
      return ServiceError.notFound(uri)
    case "EEXIST":
      return new ServiceError({ code: "ALREADY_EXISTS", message: `${uri} is there already` })
    case "EACCES":
    case "ELOOP":
    case "EPERM":
    case "EROFS":
      return new ServiceError({ code: "PERMISSION_DENIED", message: `${uri} may not be read or written by this process` })
    case "ENOSPC":
    case "EDQUOT":
      return new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${uri} cannot be written: the disk is full`,
        fix: "free some space"
      })
    default:
      return ServiceError.internal(`${uri} cannot be read or written`, cause)
  }
}

const noObject = (uri: string): ServiceError => ServiceError.invalid("uri", `${uri} is no object's address`)

const changed = (uri: string): ServiceError => new ServiceError({ code: "ABORTED", message: `${uri} changed meanwhile` })

const unmapped = (uri: string, files: boolean): ServiceError =>
  new ServiceError({
    code: "PERMISSION_DENIED",
    message: `${/^[a-z0-9]+:\/\/[^/?#]*/i.exec(uri)?.[0] ?? "that address"} is no bucket that is mapped to a folder here`,
    fix: files
      ? "name a local file, or map the bucket with --bucket NAME=FOLDER"
      : "map it with --bucket NAME=FOLDER, or start with --allow-remote for Cloud Storage"
  })
