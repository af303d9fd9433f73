import { Effect, Semaphore, Stream } from "effect"
import { hash } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type SecretError, ServiceError, type StateError } from "../domain/Errors.ts"
import type { Connector, Listed, SkipReason, SourceItem } from "../ports/Connector.ts"
import { Engine } from "../ports/Engine.ts"
import { type ContentsRecord, Ledger } from "../ports/Ledger.ts"
import { isArchiveName, mayHoldFiles } from "../text/containers/Kinds.ts"
import { formatOfName } from "../text/parse/Formats.ts"
import type { Opened, Part } from "../text/Prepared.ts"
import { TextPool } from "../text/TextPool.ts"
import { readItem } from "./sync/Decision.ts"
import { itemName } from "./sync/ItemName.ts"

/** Most bytes of opened files kept on disk; the file being processed is kept whatever its size. */
const spoolBytes = 1024 * 1024 * 1024

/** Files opened concurrently. */
const concurrency = 4

/** Raised whenever the same file may open to different parts. */
const openerVersion = 1

/** What a file that may contain files was found to contain. */
interface Contents extends Opened {
  /** Why it could not be opened; absent where it could. */
  readonly refused?: { readonly reason: SkipReason; readonly message: string }
}

const decodeContents = ({ contents }: ContentsRecord): Contents => JSON.parse(contents) as Contents // `remember` wrote it

/**
 * Lists attachments of mail and files packed in archives as items of their own, beneath the path of the file that
 * contains them, so that plan, run and watch treat them like any other file. The revision of a part is the hash of its
 * bytes: when a file changes, only the changed parts are read. The contents of a file are recorded with its revision, and
 * an unchanged file is neither read nor opened.
 *
 * A mail stays an item beside its attachments. An archive, like a folder, is not an item; parts of it that cannot be
 * taken are reported by name.
 */
export const makeContainers = Effect.fnUntraced(function*(input: {
  readonly scope: string
  readonly archives: boolean
  /** Most bytes of a file that is opened. */
  readonly maxBytes: number
  /** Whether to record the contents of files; a plan does not. */
  readonly remembers: boolean
  /** Whether a file is not opened although it may contain files. Default: no file is. */
  readonly isWhole?: ((item: SourceItem) => boolean) | undefined
  /** Settings that determine which parts are taken out of a file. */
  readonly settings: string
}) {
  const { archives, isWhole = () => false, maxBytes, remembers, scope } = input
  const engine = yield* Engine
  const ledger = yield* Ledger
  const pool = yield* TextPool
  const signature = hash("sha256", JSON.stringify([openerVersion, archives, maxBytes, input.settings, engine.signature]), "hex").slice(
    0,
    32
  )
  const spool = yield* Effect.acquireRelease(Effect.sync(() => new Spool()), (spool) => Effect.promise(() => spool.close()))
  const one = yield* Semaphore.make(1)

  /** Reads a file and takes out the files it contains. */
  const open = Effect.fnUntraced(function*(connector: Connector, item: SourceItem): Effect.fn.Return<Contents, ServiceError | SecretError> {
    const content = yield* readItem(connector, item, maxBytes)
    const into = yield* Effect.promise(() => spool.begin(keyOf(connector, item)))
    const opened = yield* Effect.result(pool.open({ content, name: nameOf(item), archives, into, mimeType: item.mimeType }))
    if (opened._tag === "Success") {
      yield* Effect.promise(() => spool.end(keyOf(connector, item), opened.success.parts))
      return opened.success
    }
    yield* Effect.promise(() => spool.end(keyOf(connector, item), []))
    if (opened.failure._tag === "ServiceError") return yield* opened.failure
    const { message, problem } = opened.failure
    const reason = problem === "encrypted" || problem === "unsupported" || problem === "corrupt"
      ? problem
      : problem === "crash"
      ? "corrupt"
      : "limit"
    return { kind: kindOf(item), parts: [], refused: { reason, message } }
  })

  return (connector: Connector, id: string): Connector => {
    const remember = (path: string, record: ContentsRecord | undefined) =>
      remembers ? ledger.setContents(scope, id, path, record).pipe(Effect.mapError(asServiceError)) : Effect.void

    /** The listing of an item: itself, or its parts. */
    const expand = Effect.fnUntraced(
      function*(
        item: SourceItem,
        known: ContentsRecord | undefined,
        isIncrement: boolean
      ): Effect.fn.Return<ReadonlyArray<Listed>, ServiceError | SecretError> {
        const itself: Listed = { _tag: "item", item }
        const before = known === undefined ? undefined : decodeContents(known)
        const kept = before === undefined ? [] : partsOf(item, before)
        let contents = before
        if (before === undefined || known?.revision !== item.revision || known.signature !== signature || item.unsettled === true) {
          if (item.size !== undefined && item.size > maxBytes) contents = tooLarge(item, maxBytes)
          else {
            const opened = yield* Effect.result(open(connector, item))
            if (opened._tag === "Failure") {
              const error = opened.failure
              if (
                error._tag === "SecretError" || error.code === "UNAUTHENTICATED" || error.code === "UNAVAILABLE" ||
                error.code === "RESOURCE_EXHAUSTED"
              ) return yield* error
              if (error.code !== "OUT_OF_RANGE") {
                // Known contents stay. If a mail cannot be read, that is reported when it is stored.
                if (!isArchiveName(nameOf(item))) return [itself, ...kept]
                return [
                  ...kept,
                  error.code === "NOT_FOUND"
                    ? { _tag: "skipped", path: item.path, reason: "special", detail: "gone since it was listed" }
                    : { _tag: "failed", path: `${item.path}/`, error }
                ]
              }
              contents = tooLarge(item, maxBytes)
            } else contents = opened.success
          }
          if (contents.refused !== undefined && before !== undefined) contents = { ...contents, parts: before.parts }
          yield* remember(item.path, { revision: item.revision, signature, contents: JSON.stringify(contents) })
        }
        if (contents === undefined) return [itself]
        const { kind, refused } = contents
        const now = partsOf(item, contents)
        const here = new Set(now.map((event) => "path" in event ? event.path : event._tag === "item" ? event.item.path : ""))
        const gone = !isIncrement ?
          [] :
          kept.flatMap((event): ReadonlyArray<Listed> =>
            event._tag === "item" && !here.has(event.item.path) ? [{ _tag: "deleted", path: event.item.path }] : []
          )
        return [
          ...(kind !== "archive"
            ? [{ _tag: "item", item: kind === "mail" && refused === undefined ? { ...item, opened: true } : item } as const]
            : isIncrement
            ? [{ _tag: "deleted", path: item.path } as const]
            : []),
          ...(refused === undefined || kind !== "archive"
            ? []
            : [{ _tag: "skipped", path: item.path, reason: refused.reason, detail: refused.message } as const]),
          ...now,
          ...gone
        ]
      }
    )

    /** The listing of a file that is gone, with its parts. */
    const without = Effect.fnUntraced(function*(event: Listed & { readonly path: string }, known: ContentsRecord | undefined) {
      if (known === undefined) return [event]
      yield* remember(event.path, undefined)
      return [event, ...decodeContents(known).parts.map((part): Listed => ({ _tag: "deleted", path: `${event.path}/${part.path}` }))]
    })

    const list = (cursor?: string): Stream.Stream<Listed, ServiceError | SecretError> => {
      const isIncrement = cursor !== undefined
      const seen = new Set<string>()
      const pathOf = (event: Listed): string | undefined =>
        event._tag === "item"
          ? (mayHoldFiles(nameOf(event.item), event.item.mimeType, archives) && !isWhole(event.item) ? event.item.path : undefined)
          : isIncrement && (event._tag === "deleted" || event._tag === "skipped")
          ? event.path
          : undefined
      const take = Effect.fnUntraced(function*(events: ReadonlyArray<Listed>) {
        const paths = [...new Set(events.flatMap((event) => pathOf(event) ?? []))]
        const complete = events.some(({ _tag }) => _tag === "complete")
        if (paths.length === 0 && !complete) return [events] as const
        const records = yield* ledger.contents(scope, id, paths).pipe(Effect.mapError(asServiceError))
        const known = new Map(paths.map((path, at) => [path, records[at]]))
        const all = yield* Effect.forEach(events, (event): Effect.Effect<ReadonlyArray<Listed>, ServiceError | SecretError> => {
          const path = pathOf(event)
          if (path === undefined) return Effect.succeed([event])
          if (event._tag === "item") {
            seen.add(path)
            return expand(event.item, known.get(path), isIncrement)
          }
          return "path" in event ? without(event, known.get(path)) : Effect.succeed([event])
        }, { concurrency })
        if (complete && !isIncrement && remembers) yield* ledger.keepContents(scope, id, seen).pipe(Effect.mapError(asServiceError))
        return [all.flat()] as const
      })
      return connector.list(cursor).pipe(Stream.mapArrayEffect(take), Stream.flattenIterable)
    }

    const read = (item: SourceItem, limit: number): Stream.Stream<Uint8Array, ServiceError | SecretError> => {
      const { within } = item
      if (within === undefined) return connector.read(item, limit)
      if (item.size !== undefined && item.size > limit) {
        return Stream.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${item.path}: ${item.size} bytes, more than ${limit}` }))
      }
      const kept = Effect.promise(() => spool.read(keyOf(connector, within.item), item.revision))
      return Stream.fromEffect(Effect.gen(function*() {
        const found = yield* kept
        if (found !== undefined) return found
        return yield* one.withPermits(1)(Effect.gen(function*() {
          const found = yield* kept
          if (found !== undefined) return found
          yield* open(connector, within.item)
          return (yield* kept) ??
            (yield* new ServiceError({ code: "NOT_FOUND", message: `${item.path} is not in ${within.item.path} any more` }))
        }))
      }))
    }

    return { ...connector, list, read }
  }
})

/** Archives have no format that is read: one is known by its path, or by its display name where no other name tells anything. */
const nameOf = (item: SourceItem): string => {
  if (isArchiveName(item.path)) return item.path
  const name = itemName(item)
  return formatOfName(name) === undefined && isArchiveName(item.displayName) ? item.displayName : name
}

const keyOf = ({ kind }: Connector, { path, revision, uri }: SourceItem): string => JSON.stringify([kind, path, uri, revision])

/** Kind of a file that could not be opened, by its name. */
const kindOf = (item: SourceItem): Contents["kind"] => isArchiveName(nameOf(item)) ? "archive" : "document"

const tooLarge = (item: SourceItem, maxBytes: number): Contents => ({
  kind: kindOf(item),
  parts: [],
  refused: {
    reason: "limit",
    message: `${
      item.size === undefined ? "" : `${item.size} bytes, `
    }more than ${maxBytes}, so that it is not opened; import.limits.maxBytes`
  }
})

/** Contents of a file, as its source would list them. */
const partsOf = (item: SourceItem, { parts }: Contents): ReadonlyArray<Listed> =>
  parts.map((part): Listed => {
    const path = `${item.path}/${part.path}`
    return part.refused === undefined
      ? { _tag: "item", item: partItem(item, part, path) }
      : { _tag: "skipped", path, reason: part.refused.reason, detail: part.refused.message }
  })

const partItem = (item: SourceItem, part: Part, path: string): SourceItem => ({
  path,
  uri: `${item.uri}#${encodeURI(part.path)}`,
  displayName: `${item.displayName}/${part.path}`,
  revision: part.hash,
  size: part.size,
  metadata: { ...item.metadata, partOf: item.displayName },
  within: { item, path: part.path },
  mimeType: part.mimeType,
  opened: part.opened,
  permissions: item.permissions
})

const asServiceError = (error: StateError): ServiceError => new ServiceError({ code: "INTERNAL", message: error.message })

/** Files taken out of other files, kept on disk: they are listed now and stored later. */
class Spool {
  #root: Promise<string> | undefined
  /** By the file that contains them, oldest first. */
  readonly #opened = new Map<string, { readonly folder: string; bytes: number }>()
  #bytes = 0

  /** Creates the folder for the contents of a file. */
  async begin(key: string): Promise<string> {
    await this.#forget(key)
    const root = await (this.#root ??= mkdtemp(join(tmpdir(), "sluice-")))
    const folder = await mkdtemp(join(root, "f"))
    this.#opened.set(key, { folder, bytes: 0 })
    return folder
  }

  /** Marks the contents of a file as written, and removes those of other files where there are too many bytes. */
  async end(key: string, parts: ReadonlyArray<Part>): Promise<void> {
    const opened = this.#opened.get(key)
    if (opened === undefined) return
    opened.bytes = parts.reduce((sum, { size }) => sum + size, 0)
    this.#bytes += opened.bytes
    for (const other of this.#opened.keys()) {
      if (this.#bytes <= spoolBytes) return
      if (other !== key) await this.#forget(other)
    }
  }

  /** Bytes of a part; `undefined` where they are not kept. */
  async read(key: string, digest: string): Promise<Uint8Array | undefined> {
    const opened = this.#opened.get(key)
    // The hash comes from our own opener; still, a tampered queue must not lead to other files.
    return opened === undefined || !/^[0-9a-f]{32}$/.test(digest)
      ? undefined
      : await readFile(join(opened.folder, digest)).catch(() => undefined)
  }

  async close(): Promise<void> {
    if (this.#root !== undefined) await rm(await this.#root, { recursive: true, force: true })
  }

  async #forget(key: string): Promise<void> {
    const opened = this.#opened.get(key)
    if (opened === undefined) return
    this.#opened.delete(key)
    this.#bytes -= opened.bytes
    await rm(opened.folder, { recursive: true, force: true })
  }
}
