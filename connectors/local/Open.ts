import { Clock, Effect, Stream } from "effect"
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs"
import { open as openFile } from "node:fs/promises"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Connector, SourceItem } from "../../src/ports/Connector.ts"
import { asServiceError, isYoung, pathOfAddress, revisionOf, walk } from "./Walk.ts"
import { watchFolder } from "./Watch.ts"

/** Bytes of one read of a large file; smaller files are read at once. */
const pieceSize = 1024 * 1024

/** The implementation of `local`, loaded when it is first connected. */
export const open = (config: SettingsOf<"local">, context: { readonly dataDir?: string }): Omit<Connector, "kind"> => {
  const check = Effect.suspend(() => {
    const stats = statSync(config.path, { throwIfNoEntry: false })
    return stats?.isDirectory() === true ? Effect.void : Effect.fail(
      new ServiceError({
        code: "NOT_FOUND",
        message: `${config.path} is ${stats === undefined ? "not there" : "not a folder"}`,
        fix: "correct the source's path, or create the folder"
      })
    )
  })
  return {
    check,
    list: () =>
      Stream.unwrap(Effect.gen(function*() {
        const folders = walk(config, { now: yield* Clock.currentTimeMillis, dataDir: context.dataDir })
        // One part at a time: a chunk of thousands of parts would walk the whole tree at once, and keep it in memory.
        return Stream.fromIteratorSucceed(guarded(folders, config.path), 1).pipe(
          Stream.mapEffect((part) => part.error === undefined ? Effect.as(Effect.yieldNow, part.listed) : Effect.fail(part.error)),
          Stream.flatMap(Stream.fromIterable),
          // If the folder disappeared in the meantime, its files would look deleted.
          Stream.concat(Stream.fromEffect(Effect.as(check, { _tag: "complete" as const })))
        )
      })),
    read: (item, maxBytes) => readFile(item, maxBytes, config.followLinks),
    settled: (item) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const stats = statSync(pathOfAddress(item.uri), { bigint: true, throwIfNoEntry: false })
        return stats !== undefined && revisionOf(stats) === item.revision && !isYoung(stats, now)
      }),
    hints: watchFolder(config, context)
  }
}

function* guarded(folders: ReturnType<typeof walk>, root: string) {
  try {
    for (const listed of folders) yield { listed }
  } catch (cause) {
    yield { error: asServiceError(cause, root) }
  }
}

/** A file's bytes. Fails where it is not the same file before and after. */
export const readFile = (item: SourceItem, maxBytes: number, followLinks: boolean): Stream.Stream<Uint8Array, ServiceError> => {
  const notRead = (cause: unknown) => asServiceError(cause, item.path)
  return (item.size ?? Infinity) <= pieceSize
    // A small file is read from the page cache faster than a thread could be asked to read it.
    ? Stream.fromEffect(Effect.try({ try: () => readSmall(item, maxBytes, followLinks), catch: notRead }))
    : Stream.fromIterableEffect(Effect.tryPromise({ try: () => readLarge(item, maxBytes, followLinks), catch: notRead }))
}

/**
 * Flags to open a file with. A file that has become a link since it was listed is not followed: it could lead anywhere. One that has become
 * a pipe or a device is opened without waiting for its other end, and refused by {@link assertFile}.
 */
const flags = (followLinks: boolean): number =>
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (followLinks ? 0 : constants.O_NOFOLLOW ?? 0)

const assertFile = (item: SourceItem, stats: BigIntStats): void => {
  if (!stats.isFile()) throw new ServiceError({ code: "NOT_FOUND", message: `${item.path} is not a file any more` })
}

const readSmall = (item: SourceItem, maxBytes: number, followLinks: boolean): Uint8Array => {
  const fd = openSync(pathOfAddress(item.uri), flags(followLinks))
  try {
    const before = fstatSync(fd, { bigint: true })
    assertFile(item, before)
    if (before.size > maxBytes) throw tooLarge(item, maxBytes)
    const bytes = Buffer.allocUnsafe(Number(before.size))
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) read = readSync(fd, bytes, length, bytes.length - length, null)
    assertSame(item, before, fstatSync(fd, { bigint: true }), length)
    return bytes
  } finally {
    closeSync(fd)
  }
}

const readLarge = async (item: SourceItem, maxBytes: number, followLinks: boolean): Promise<ReadonlyArray<Uint8Array>> => {
  const handle = await openFile(pathOfAddress(item.uri), flags(followLinks))
  try {
    const before = await handle.stat({ bigint: true })
    assertFile(item, before)
    if (before.size > maxBytes) throw tooLarge(item, maxBytes)
    const parts: Array<Uint8Array> = []
    let length = 0
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceSize)
      const { bytesRead } = await handle.read(piece, 0, piece.length)
      if (bytesRead === 0) break
      length += bytesRead
      if (length > maxBytes) throw tooLarge(item, maxBytes)
      parts.push(piece.subarray(0, bytesRead))
    }
    assertSame(item, before, await handle.stat({ bigint: true }), length)
    return parts
  } finally {
    await handle.close()
  }
}

const assertSame = (item: SourceItem, before: BigIntStats, after: BigIntStats, length: number): void => {
  if (revisionOf(before) === revisionOf(after) && BigInt(length) === after.size) return
  throw new ServiceError({ code: "ABORTED", message: `${item.path} changed while it was read` })
}

const tooLarge = (item: SourceItem, maxBytes: number) =>
  new ServiceError({ code: "OUT_OF_RANGE", message: `${item.path} is larger than ${maxBytes} bytes` })
