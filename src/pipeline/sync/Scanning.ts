import { Effect, Stream } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { SyncEvent } from "../../domain/Report.ts"
import type { Listed, SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry, Scan } from "../../ports/Ledger.ts"
import * as Fingerprint from "./Fingerprint.ts"
import type { SyncSpec } from "./SyncSpec.ts"
import type { Tally } from "./Tally.ts"

/** An item that the listing alone could not settle, and what the ledger had for it. */
export interface Work {
  readonly source: string
  readonly item: SourceItem
  readonly known?: LedgerEntry
}

/** Work waits on disk between listing and applying, as JSON. It is our own and needs no schema. */
export const encodeWork = (work: Work): string => JSON.stringify(work)
export const decodeWork = (text: string): Work => JSON.parse(text) as Work

/** Items compared with the ledger in one go. */
const batchSize = 512

/**
 * Lists every source and compares what it says with the ledger, reading no bytes. Settled items are tallied;
 * the others are queued on the scan. One source's failure is its own.
 */
export const scanSources = Effect.fn("sync.scan")(function*(input: {
  readonly sources: SyncSpec["sources"]
  readonly scan: Scan
  readonly tally: Tally
  readonly settings: string
  readonly engine: Engine["Service"]
  readonly retryFailed: boolean
  readonly emit: (event: SyncEvent) => Effect.Effect<void>
}) {
  const { emit, engine, scan, settings, sources, tally } = input
  yield* Effect.forEach(sources, ({ connector, id }) => {
    let listed = 0
    let work = 0
    let complete = false
    let broken: string | undefined
    tally.source(id, connector.kind)

    const take = Effect.fnUntraced(function*(batch: ReadonlyArray<Listed>) {
      const items: Array<SourceItem> = []
      for (const event of batch) {
        switch (event._tag) {
          case "item":
            items.push(event.item)
            break
          case "skipped":
            tally.listed(id, 1)
            listed += 1
            yield* settle({ source: id, path: event.path, outcome: "skipped", reason: event.reason, message: event.detail })
            break
          case "failed":
            tally.listed(id, 1)
            listed += 1
            broken ??= `${event.path}: ${event.error.message}`
            yield* settle({
              source: id,
              path: event.path,
              outcome: "failed",
              reason: event.error.code,
              message: event.error.message,
              retryable: event.error.retryable
            })
            break
          case "deleted":
            break
          case "complete":
            complete = true
        }
      }
      const known = yield* scan.see(id, items.map(({ path }) => path), Fingerprint.pathHash)
      const unsettled: Array<string> = []
      let unchanged = 0
      tally.listed(id, items.length)
      listed += items.length
      for (const [index, item] of items.entries()) {
        const entry = known[index]
        const settled = entry === undefined ? undefined : compare(item, entry, settings, engine, input.retryFailed)
        if (settled === undefined) {
          unsettled.push(encodeWork({ source: id, item, ...(entry === undefined ? {} : { known: entry }) }))
        } else if (settled === "unchanged") unchanged += 1
        else {
          yield* settle({
            source: id,
            path: item.path,
            outcome: settled,
            ...(entry?.reason === undefined ? {} : { reason: entry.reason }),
            ...(entry?.message === undefined ? {} : { message: entry.message })
          })
        }
      }
      if (unsettled.length > 0) yield* scan.queue(unsettled)
      tally.add(id, "unchanged", unchanged)
      tally.queued(id, unsettled.length)
      work += unsettled.length
      yield* emit({ type: "listing", source: id, listed })
    })

    const settle = (outcome: Parameters<Tally["outcome"]>[0]) => {
      tally.outcome(outcome)
      return emit({ type: "file", ...outcome })
    }

    return connector.list().pipe(
      Stream.grouped(batchSize),
      Stream.runForEach(take),
      Effect.catchTags({
        ServiceError: (error: ServiceError) => Effect.sync(() => void (broken = error.message)),
        SecretError: (error: SecretError) => Effect.sync(() => void (broken = error.message))
      }),
      Effect.andThen(Effect.suspend(() => {
        const whole = complete && broken === undefined
        tally.ended(id, { complete: whole, ...(broken === undefined ? {} : { error: broken }) })
        // What a cut-short listing did not name may still be there.
        const keep: Effect.Effect<void, StateError> = whole ? Effect.void : scan.seeAll(id)
        return Effect.andThen(keep, emit({ type: "listed", source: id, listed, complete: whole, work }))
      }))
    )
  }, { concurrency: listingConcurrency, discard: true })
})

const listingConcurrency = 4

/** What the listing settles without reading the item, or undefined. */
const compare = (
  item: SourceItem,
  entry: LedgerEntry,
  settings: string,
  engine: Engine["Service"],
  retryFailed: boolean
): "unchanged" | "skipped" | "quarantined" | undefined => {
  if (item.revision !== entry.revision || item.unsettled === true) return undefined
  const known = Fingerprint.parse(entry.fingerprint)
  if (known.settings !== settings) return undefined
  switch (entry.state) {
    case "done":
      return known.facts === Fingerprint.factsHash(item, engine) ? "unchanged" : undefined
    case "skipped":
      return "skipped"
    case "quarantined":
      return retryFailed ? undefined : "quarantined"
    case "failed":
    case "intent":
      return undefined
  }
}
