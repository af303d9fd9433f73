import { Effect, Option, Result, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"
import { type Address, folderOf, overlapOf } from "./Address.ts"

/** Where a listing continues: a page token, or after a key when there is no token or it has expired. */
export interface Position {
  readonly token?: string
  readonly after?: string
}

export interface Page {
  readonly events: ReadonlyArray<Listed>
  /** Where the next page starts, in a form that outlives the process; absent where the backend has none. */
  readonly position?: Position
  /** Absent on the last page. */
  readonly next?: Effect.Effect<Page, ServiceError>
}

/** The implementation of one kind of address. */
export interface Backend {
  /** Checks that credentials and the address work, reading as little as possible. */
  readonly check: (address: Address) => Effect.Effect<void, ServiceError>
  /** The object that an address names; undefined when there is none, although objects may lie under it. */
  readonly one: (address: Address) => Effect.Effect<Listed | undefined, ServiceError>
  /** The objects under an address, from a position of an earlier listing or from the start. */
  readonly page: (address: Address, position: Position) => Effect.Effect<Page, ServiceError>
  readonly read: (item: SourceItem, maxBytes: number) => Stream.Stream<Uint8Array, ServiceError>
}

/** Most single objects requested at the same time. */
const concurrency = 8
/** Single objects between two checkpoints. */
const batchSize = 64

/** How far a listing has come. `at` counts through the addresses, then through `folders`. */
const Progress = Schema.Struct({
  at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /** Indexes of addresses that name no object and so are listed as folders, after all others. */
  folders: Schema.Array(Schema.Int),
  /** Whether something could not be listed, so that the listing will not be complete. */
  failed: Schema.Boolean,
  /** Position inside the address at `at`; absent at its start. */
  position: Schema.optionalKey(Schema.Struct({
    token: Schema.optionalKey(Schema.String),
    after: Schema.optionalKey(Schema.String)
  }))
})
type Progress = typeof Progress.Type

const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ of: Schema.String, ...Progress.fields })))

interface Step {
  readonly events: ReadonlyArray<Listed>
  /** The progress after this step; absent at the end. */
  readonly to?: Progress
  /** The rest of the current address. */
  readonly next?: Page["next"]
}

/**
 * All objects that the addresses name, a page at a time, each object once. An address that cannot be listed is a `failed` event, and the
 * others go on; only bad credentials end the stream.
 */
export const listing = (
  addresses: ReadonlyArray<Address>,
  backendOf: (address: Address) => Backend,
  cursor: string | undefined
): Stream.Stream<Listed, ServiceError> => {
  const of = createHash("sha256").update(JSON.stringify(addresses.map(({ text, under }) => [text, under]))).digest("hex").slice(0, 16)
  const overlap = overlapOf(addresses)

  const step = (from: Progress, next: Page["next"]): Effect.Effect<Step, ServiceError> => {
    const { at, failed, folders } = from
    const first = addresses[at]
    if (first !== undefined) return first.under ? page(from, first, next, first.text) : singles(from)
    const owner = addresses[folders[at - addresses.length] ?? -1]
    if (owner !== undefined) return page(from, folderOf(owner), next, owner.text)
    return Effect.succeed({ events: failed ? [] : [{ _tag: "complete" }] })
  }

  /** A page of the objects under an address, which messages call `name`. */
  const page = Effect.fnUntraced(
    function*(from: Progress, address: Address, next: Page["next"], name: string): Effect.fn.Return<Step, ServiceError> {
      const { at, failed, folders } = from
      const result = yield* isolated(next ?? backendOf(address).page(address, from.position ?? {}))
      const failedHere = (error: ServiceError): Step => ({
        events: [{ _tag: "failed", path: name, error }],
        to: { at: at + 1, folders, failed: true }
      })
      if (Result.isFailure(result)) return failedHere(result.failure)
      const found = result.success
      if (name !== address.text && from.position === undefined && found.events.length === 0 && found.next === undefined) {
        return failedHere(ServiceError.notFound(name, "correct the address, or end it with / if it is an empty folder"))
      }
      const seen = overlap(folders, at)
      const events = found.events.filter((event) => !seen(pathOf(event)))
      return found.next === undefined
        ? { events, to: { at: at + 1, folders, failed } }
        : { events, to: { at, folders, failed, position: found.position ?? {} }, next: found.next }
    }
  )

  /** The next addresses of single objects, several at the same time. */
  const singles = Effect.fnUntraced(function*({ at, failed, folders }: Progress): Effect.fn.Return<Step, ServiceError> {
    let end = at
    while (end < addresses.length && end - at < batchSize && addresses[end]?.under === false) end++
    const found = yield* Effect.forEach(
      addresses.slice(at, end),
      (address, index): Effect.Effect<Found, ServiceError> =>
        overlap(folders, at + index)(address.text)
          ? Effect.succeed({ events: [] })
          : Effect.map(isolated(backendOf(address).one(address)), (result): Found =>
            Result.isFailure(result)
              ? { events: [{ _tag: "failed", path: address.text, error: result.failure }], failed: true }
              : result.success === undefined
              ? { events: [], folder: at + index }
              : { events: [result.success] }),
      { concurrency }
    )
    return {
      events: found.flatMap(({ events }) => events),
      to: {
        at: end,
        folders: [...folders, ...found.flatMap(({ folder }) => folder === undefined ? [] : [folder])],
        failed: failed || found.some((each) => each.failed === true)
      }
    }
  })

  const checkpoint = (progress: Progress): Listed => ({ _tag: "checkpoint", cursor: JSON.stringify({ of, ...progress }) })

  const start = cursor === undefined
    ? Effect.succeed<Progress>({ at: 0, folders: [], failed: false })
    : decodeCursor(cursor).pipe(
      Effect.filterOrFail((decoded) => decoded.of === of),
      Effect.mapError(() => ServiceError.invalid("cursor", "is not from a listing of these addresses", "list from the start"))
    )

  return Stream.unwrap(
    Effect.map(
      start,
      (from) =>
        Stream.paginate<Step, Listed, ServiceError>(
          { events: [], to: from },
          ({ next, to = from }) =>
            Effect.map(step(to, next), (done) => [
              done.to === undefined || !resumable(done.to) ? done.events : [...done.events, checkpoint(done.to)],
              done.to === undefined ? Option.none() : Option.some(done)
            ])
        )
    )
  )
}

interface Found {
  readonly events: ReadonlyArray<Listed>
  readonly folder?: number
  readonly failed?: boolean
}

/** Whether the listing can resume here: inside an address without positions, it would list the start again. */
const resumable = ({ position }: Progress): boolean =>
  position === undefined || position.token !== undefined || position.after !== undefined

/** Confines a failure to one address, except where credentials are refused: then no other address will work either. */
const isolated = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<Result.Result<A, ServiceError>, ServiceError> =>
  Effect.map(effect, (value): Result.Result<A, ServiceError> => Result.succeed(value)).pipe(
    Effect.catchIf((error) => error.code !== "UNAUTHENTICATED", (error) => Effect.succeed(Result.fail(error)))
  )

const pathOf = (event: Listed): string => event._tag === "item" ? event.item.path : "path" in event ? event.path : ""
