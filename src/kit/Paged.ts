import { Effect, Option, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../domain/Errors.ts"
import type { Connector, Listed, SourceItem } from "../ports/Connector.ts"

/** The items found in one step of a listing, and where the listing continues. */
export interface ListedPage<Position> {
  readonly listed: ReadonlyArray<Listed>
  /** Where the next page starts. Absent on the last page. */
  readonly next?: Position | undefined
  /** On the last page: the position from which a later listing finds what changed since. Absent: every listing is complete. */
  readonly since?: Position | undefined
  /** On the last page: whether something could not be seen, so that nothing may be deleted because of this listing. Default false. */
  readonly incomplete?: boolean | undefined
}

/**
 * Cursors for positions of a listing: JSON, with a fingerprint of `of`, which is whatever determines the listing's content. A cursor of
 * another listing is refused with `INVALID_ARGUMENT`, after which the sync lists from the start.
 */
export const cursors = <Position>(of: unknown, position: Schema.Codec<Position, unknown>) => {
  const mark = hash("sha256", JSON.stringify(of)).slice(0, 16)
  const Cursor = Schema.fromJsonString(Schema.Struct({ of: Schema.Literal(mark), at: position }))
  const encode = Schema.encodeSync(Cursor)
  const decode = Schema.decodeUnknownEffect(Cursor)
  return {
    encode: (at: Position): string => encode({ of: mark, at }),
    decode: (cursor: string): Effect.Effect<Position, ServiceError> =>
      Effect.mapBoth(decode(cursor), { onSuccess: ({ at }) => at, onFailure: cursorRefused })
  }
}

/** The error that makes the sync list from the start: the cursor belongs to other settings, or to something that no longer exists. */
export const cursorRefused = (): ServiceError =>
  ServiceError.invalid("cursor", "is not from a listing of this source", "list from the start")

/**
 * A listing made of pages. Each page is followed by a checkpoint, from which an interrupted listing resumes; the last page by `complete`.
 * `Position` is everything that has to be known between two pages: it is stored in cursors as JSON.
 *
 * A cursor of other settings is refused: see {@link cursors}.
 *
 * @example
 * ```ts
 * list: (cursor) => paged({
 *   cursor, of: settings, position: Schema.Struct({ page: Schema.Int }), first: { page: 1 },
 *   page: ({ page }) => Effect.map(http.json("entries", `/entries?page=${page}`, Entries), ({ entries, pages }) => ({
 *     listed: entries.map(asItem),
 *     next: page < pages ? { page: page + 1 } : undefined
 *   }))
 * })
 * ```
 */
export const paged = <Position, E, R = never>(options: {
  readonly cursor: string | undefined
  /** The settings that determine the listing's content. Must have a JSON form. */
  readonly of: unknown
  readonly position: Schema.Codec<Position, unknown>
  readonly first: Position
  readonly page: (position: Position) => Effect.Effect<ListedPage<Position>, E, R>
}): Stream.Stream<Listed, E | ServiceError, R> => {
  const { decode, encode } = cursors(options.of, options.position)
  const start = options.cursor === undefined ? Effect.succeed(options.first) : decode(options.cursor)
  return Stream.unwrap(
    Effect.map(start, (first) =>
      Stream.paginate(first, (position) =>
        Effect.map(
          options.page(position),
          ({ incomplete, listed, next, since }): readonly [ReadonlyArray<Listed>, Option.Option<Position>] => {
            if (next !== undefined) return [[...listed, { _tag: "checkpoint", cursor: encode(next) }], Option.some(next)]
            if (incomplete === true) {
              return [listed, Option.none()]
            }
            return [[...listed, since === undefined ? { _tag: "complete" } : { _tag: "complete", cursor: encode(since) }], Option.none()]
          }
        )))
  )
}

/**
 * A connector whose code is loaded when it is first used, so that a program that only declares the source starts without it. `load` is
 * called once.
 */
export const lazyConnector = (
  facts: Pick<Connector, "kind" | "cursorMisses"> & {
    /** Whether the loaded connector has `hints`. Default false. */
    readonly hints?: boolean
    /** Whether the loaded connector has `settled`. Default false. */
    readonly settles?: boolean
  },
  load: () => Promise<Omit<Connector, "kind" | "cursorMisses">>
): Connector => {
  const { hints, settles, ...said } = facts
  let loading: ReturnType<typeof load> | undefined
  let made: Awaited<ReturnType<typeof load>> | undefined
  const loaded = Effect.promise(async () => made = await (loading ??= load()))
  return {
    ...said,
    ...(hints === true ? { hints: Stream.unwrap(Effect.map(loaded, (made) => made.hints ?? Stream.never)) } : {}),
    ...(settles === true
      ? { settled: (item: SourceItem) => Effect.flatMap(loaded, ({ settled }) => settled?.(item) ?? Effect.succeed(false)) }
      : {}),
    check: Effect.flatMap(loaded, ({ check }) => check),
    list: (cursor) => Stream.unwrap(Effect.map(loaded, ({ list }) => list(cursor))),
    // With very many files, nearly all are read after it is loaded.
    read: (item, maxBytes) => made?.read(item, maxBytes) ?? Stream.unwrap(Effect.map(loaded, ({ read }) => read(item, maxBytes)))
  }
}

/** Fails with `OUT_OF_RANGE` once a stream exceeds `maxBytes`, as `read` must. `what` names the item. */
export const atMost =
  (maxBytes: number, what: string) => <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E | ServiceError, R> =>
    Stream.suspend(() => {
      let length = 0
      return Stream.mapEffect(bytes, (piece) => {
        length += piece.length
        return length > maxBytes
          ? Effect.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${what} is larger than ${maxBytes} bytes` }))
          : Effect.succeed(piece)
      })
    })
