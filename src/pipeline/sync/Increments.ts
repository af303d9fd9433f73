import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Counts } from "../../domain/Report.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import { Ledger, type ListingRecord } from "../../ports/Ledger.ts"
import type { SyncSource } from "./SyncSpec.ts"

/** Milliseconds after which everything is listed again, whatever a cursor tells: no feed of changes is trusted for ever. */
const wholeEvery = 24 * 3_600_000
/** Items kept beside a cursor, to be tried again. With more, the cursor stays where it was. */
const mostAgain = 1_000

/** Where the listing of a source begins. */
export interface Start {
  /** Absent: with everything. */
  readonly cursor?: string
  /** Listed before, and not taken then. */
  readonly again: ReadonlyArray<SourceItem>
  /** When the last listing of everything began, or this one. */
  readonly whole: number
}

/** Lists from where the last run ended, where that is as good as listing everything. */
export interface Increments {
  readonly begin: (source: SyncSource) => Effect.Effect<Start, StateError>
  /** The start in the place of one whose cursor was refused. */
  readonly anew: Effect.Effect<Start>
  /** The listing of a source was told to its end. */
  readonly told: (source: SyncSource, start: Start, cursor: string | undefined) => void
  /** The source is to be listed whole the next time too. */
  readonly forget: (source: string) => void
  /** An item was listed and could not be taken. */
  readonly failed: (source: string, item: SourceItem) => void
  /**
   * The next run goes on from where each listing ended. Only called when every item has had its outcome and every
   * delete was made: until then the old cursor stands, from which all of it is told again.
   */
  readonly commit: (countsOf: (source: string) => Counts) => Effect.Effect<void, StateError>
}

/**
 * A cursor is gone on from when the source and everything that decides how it is stored are as they were, and the last
 * listing of everything is not too old: a day; for connectors whose cursors miss something, `missesFor` milliseconds.
 *
 * @param everything Sources to be listed whole, because of what is known otherwise.
 */
export const makeIncrements = Effect.fnUntraced(function*(input: {
  readonly scope: string
  readonly settings: string
  readonly missesFor: number
  readonly everything: (source: string) => boolean
}): Effect.fn.Return<Increments, never, Ledger> {
  const { everything, missesFor, scope, settings } = input
  const ledger = yield* Ledger
  const ended = new Map<string, Omit<ListingRecord, "again">>()
  const open = new Map<string, Array<SourceItem>>()
  const whole = new Set<string>()
  const signatureOf = ({ settings: own = "" }: SyncSource): string => hash("sha256", `${own}\n${settings}`).slice(0, 32)
  const anew = Effect.map(Clock.currentTimeMillis, (whole): Start => ({ again: [], whole }))

  return {
    anew,
    begin: Effect.fnUntraced(function*(source) {
      const record = source.settings === undefined || everything(source.id) ? undefined : yield* ledger.listing(scope, source.id)
      const start = yield* anew
      const { cursorMisses = [] } = source.connector
      const lasts = cursorMisses.length === 0 ? wholeEvery : Math.min(wholeEvery, missesFor)
      if (record === undefined || record.signature !== signatureOf(source) || start.whole - record.whole >= lasts) return start
      // Written by commit.
      return { cursor: record.cursor, again: record.again.map((item) => JSON.parse(item) as SourceItem), whole: record.whole }
    }),
    told: (source, { whole }, cursor) => {
      if (cursor !== undefined && source.settings !== undefined) ended.set(source.id, { cursor, signature: signatureOf(source), whole })
    },
    forget: (source) => void whole.add(source),
    failed: (source, item) => {
      const items = open.get(source)
      if (items === undefined) open.set(source, [item])
      else if (items.length <= mostAgain) items.push(item)
    },
    commit: Effect.fnUntraced(function*(countsOf) {
      for (const source of whole) {
        const before = yield* ledger.listing(scope, source)
        if (before !== undefined && before.signature !== "") yield* ledger.setListing(scope, source, { ...before, signature: "" })
      }
      for (const [source, record] of ended) {
        if (whole.has(source)) continue
        const again = open.get(source) ?? []
        const { failed, held, pending } = countsOf(source)
        // A failure that is not ours to try again was only told of by the listing.
        if (pending > 0 || held > 0 || failed > again.length || again.length > mostAgain) continue
        const before = yield* ledger.listing(scope, source)
        const next: ListingRecord = { ...record, again: again.map((item) => JSON.stringify(item)) }
        if (JSON.stringify(before) !== JSON.stringify(next)) yield* ledger.setListing(scope, source, next)
      }
    })
  }
})

/** Whether a connector cannot tell what changed since a cursor. */
export const isCursorRefused = (error: ServiceError | SecretError | StateError): boolean =>
  error._tag === "ServiceError" && error.code === "INVALID_ARGUMENT" && error.violations?.[0]?.field === "cursor"
