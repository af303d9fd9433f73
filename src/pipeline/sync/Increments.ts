import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import type { StateError } from "../../domain/Errors.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import { Ledger, type ListingRecord } from "../../ports/Ledger.ts"
import { Session, type SyncSource } from "./Session.ts"

/** Milliseconds after which everything is listed again, whatever the cursor: no change feed is trusted for ever. */
const wholeEvery = 24 * 3_600_000
/** Most items kept beside a cursor for retry. With more, the cursor stays where it was. */
const mostRetries = 1_000

/** Where the listing of a source starts. */
export interface Start {
  /** Cursor to list from; absent: everything is listed. */
  readonly cursor?: string
  /** Items that an earlier run listed and could not store. */
  readonly retries: ReadonlyArray<SourceItem>
  /** When the last full listing started, in milliseconds since the epoch; for a full listing, now. */
  readonly whole: number
}

/** Incremental listings: they continue from where the last run ended, where that is as good as listing everything. */
export interface Increments {
  readonly start: (source: SyncSource) => Effect.Effect<Start, StateError>
  /** A start that lists everything, used where a cursor was refused. */
  readonly startWhole: Effect.Effect<Start>
  /** Records that the listing of a source reached its end. */
  readonly ended: (source: SyncSource, start: Start, cursor: string | undefined) => void
  /** Has the source listed in full the next time too. */
  readonly wholeNext: (source: string) => void
  /** Records that an item was listed and could not be stored. */
  readonly failed: (source: string, item: SourceItem) => void
  /**
   * Stores the cursors, so that the next run continues from where each listing ended. Only called when every item has its
   * outcome and every delete was made: until then the old cursor stays, and everything after it is listed again.
   */
  readonly commit: Effect.Effect<void, StateError>
}

/**
 * Makes incremental listings. A cursor is used if the source and everything that determines how it is stored are
 * unchanged, and the last full listing is recent enough: a day, or `missesFor` milliseconds for connectors whose cursors
 * miss something.
 *
 * @param isWhole whether a source has to be listed in full for another reason
 */
export const makeIncrements = Effect.fnUntraced(function*(
  isWhole: (source: string) => boolean
): Effect.fn.Return<Increments, never, Ledger | Session> {
  const ledger = yield* Ledger
  const { missesFor, rules = "", scope, settings, tally } = yield* Session
  const listings = new Map<string, Omit<ListingRecord, "again">>()
  const failures = new Map<string, Array<SourceItem>>()
  const whole = new Set<string>()
  const signatureOf = ({ settings: own = "" }: SyncSource): string => hash("sha256", `${own}\n${settings}${rules}`).slice(0, 32)
  const startWhole = Effect.map(Clock.currentTimeMillis, (whole): Start => ({ retries: [], whole }))

  return {
    startWhole,
    start: Effect.fnUntraced(function*(source) {
      const start = yield* startWhole
      if (source.settings === undefined || isWhole(source.id)) return start
      const record = yield* ledger.listing(scope, source.id)
      const { cursorMisses = [] } = source.connector
      const lasts = cursorMisses.length === 0 ? wholeEvery : Math.min(wholeEvery, missesFor)
      if (record === undefined || record.signature !== signatureOf(source) || start.whole - record.whole >= lasts) return start
      // Written by commit.
      return { cursor: record.cursor, retries: record.again.map((item) => JSON.parse(item) as SourceItem), whole: record.whole }
    }),
    ended: (source, { whole }, cursor) => {
      if (cursor !== undefined && source.settings !== undefined) listings.set(source.id, { cursor, signature: signatureOf(source), whole })
    },
    wholeNext: (source) => void whole.add(source),
    failed: (source, item) => {
      const items = failures.get(source)
      if (items === undefined) failures.set(source, [item])
      else if (items.length <= mostRetries) items.push(item)
    },
    commit: Effect.gen(function*() {
      for (const source of whole) {
        const before = yield* ledger.listing(scope, source)
        if (before !== undefined && before.signature !== "") yield* ledger.setListing(scope, source, { ...before, signature: "" })
      }
      for (const [source, listing] of listings) {
        if (whole.has(source)) continue
        const retries = failures.get(source) ?? []
        const { failed, held, pending } = tally.countsOf(source)
        // A failure without an item to retry came from the listing itself.
        if (pending > 0 || held > 0 || failed > retries.length || retries.length > mostRetries) continue
        const before = yield* ledger.listing(scope, source)
        const next: ListingRecord = { ...listing, again: retries.map((item) => JSON.stringify(item)) }
        if (JSON.stringify(before) !== JSON.stringify(next)) yield* ledger.setListing(scope, source, next)
      }
    })
  }
})
