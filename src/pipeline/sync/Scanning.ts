import { Effect, Stream } from "effect"
import { type SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import type { SyncEvent } from "../../domain/Report.ts"
import type { Listed, SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry, QueuedWork, Scan } from "../../ports/Ledger.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { type Increments, isCursorRefused, type Start } from "./Increments.ts"
import type { SyncSource, SyncSpec } from "./SyncSpec.ts"
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

interface Scanning {
  readonly scan: Scan
  readonly tally: Tally
  readonly settings: string
  readonly engine: Engine["Service"]
  readonly retryFailed: boolean
  readonly increments: Increments
  readonly emit: (event: SyncEvent) => Effect.Effect<void>
  /** Tells of each unchanged item too, of which there may be very many. */
  readonly tellUnchanged?: boolean
  /** Fails where a source has nothing in it. */
  readonly strict?: boolean
  /** Keeps entries of what is another source's. Absent: nothing is written. */
  readonly remember?: (entries: ReadonlyArray<LedgerEntry>) => Effect.Effect<void, StateError>
}

/** Why a file is skipped that another source of the pipeline lists too. */
export const overlap = "overlap"

/**
 * Lists every source and compares what it says with the ledger, reading no bytes. Settled items are tallied;
 * the others are queued on the scan. One source's failure is its own.
 */
export const scanSources = Effect.fn("sync.scan")(function*(sources: SyncSpec["sources"], scanning: Scanning) {
  const { emit, increments, scan, tally } = scanning
  const one = Effect.fnUntraced(function*(source: SyncSource, begun: Start, shared: Shared | undefined) {
    const { id } = source
    let start = begun
    let found = yield* Effect.result(listSource(source, start, scanning, shared))
    if (found._tag === "Failure" && start.cursor !== undefined && isCursorRefused(found.failure)) {
      yield* scan.restart(id)
      tally.restart(id)
      start = yield* increments.anew
      found = yield* Effect.result(listSource(source, start, scanning, shared))
    }
    if (found._tag === "Failure" && found.failure._tag === "StateError") return yield* found.failure
    const { bounded, broken, empty, end }: Listing = found._tag === "Success" ? found.success : { broken: found.failure.message, bounded: [], empty: false }
    const complete = end !== undefined && broken === undefined
    if (shared !== undefined && (!complete || bounded.length > 0)) shared.unsure = true
    tally.ended(id, { complete, error: complete ? undefined : broken ?? "it ended before everything was listed" })
    for (const folder of bounded) yield* scan.seeUnder(id, folder)
    if (bounded.length > 0) tally.noted(id, `what the corpus has of ${named(bounded)} stays: ${bounded.length === 1 ? "it" : "they"} could not be listed`)
    if (complete && empty && start.cursor === undefined) tally.warned(id, emptyNote(tally.countsOf(id).listed))
    // What a cut-short listing did not name may still be there.
    if (!complete) yield* scan.seeAll(id)
    else {
      if (start.cursor !== undefined) yield* countRest(source, scanning)
      increments.told(source, start, end.cursor)
    }
    yield* emit({ type: "listed", source: id, listed: tally.countsOf(id).listed, complete, work: tally.countsOf(id).pending })
  })
  // Sources of one kind may list the same files. They are listed in the pipeline's order, so that the first has them.
  const kinds = Map.groupBy(sources, ({ connector }) => connector.kind)
  yield* Effect.forEach(kinds.values(), Effect.fnUntraced(function*(alike) {
    const listed: Array<{ readonly source: SyncSource; readonly start: Start }> = []
    for (const source of alike) {
      if (source.rests === true) yield* scan.seeAll(source.id)
      else {
        tally.source(source.id, source.connector.kind)
        listed.push({ source, start: yield* increments.begin(source) })
      }
    }
    const shared: Shared | undefined = alike.length < 2 ? undefined : { overlaps: false, unsure: listed.length < alike.length }
    // What one tells by its changes alone cannot be held against what another lists whole.
    const whole = shared !== undefined && listed.some(({ start }) => start.cursor === undefined)
    const anew = yield* increments.anew
    for (const { source, start } of listed) yield* one(source, whole ? anew : start, shared)
    if (shared?.overlaps === true) for (const { id } of alike) increments.forget(id)
  }), { concurrency: listingConcurrency, discard: true })
  const [empty] = scanning.strict === true ? tally.sources.filter(({ warning }) => warning !== undefined) : []
  if (empty !== undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `sources.${empty.source}: ${empty.warning}`,
      fix: "correct the source, or run without --strict",
      violations: [{ field: `sources.${empty.source}`, description: empty.warning ?? "" }]
    })
  }
})

/** What sources of one kind share while they are listed. */
interface Shared {
  /** Two of them listed the same file. */
  overlaps: boolean
  /** One of them was not listed, or not to its end: a file of it may not have been met. */
  unsure: boolean
}

interface Listing {
  /** Absent where the listing was cut short. */
  readonly end?: { readonly cursor?: string }
  readonly broken?: string
  /** Folders that could not be listed; the rest was. */
  readonly bounded: ReadonlyArray<string>
  /** It offered nothing. */
  readonly empty: boolean
}

/** Folders named where several could not be listed. */
const namedFolders = 3
const named = (folders: ReadonlyArray<string>): string =>
  folders.length <= namedFolders ? folders.join(", ") : `${folders.slice(0, namedFolders).join(", ")} and ${folders.length - namedFolders} more folders`

const emptyNote = (passed: number): string =>
  passed === 0
    ? "there is nothing in it: is the path right, and the disk mounted?"
    : `none of the ${passed === 1 ? "1 entry" : `${passed} entries`} in it is taken: are include, exclude and the ignore files right?`

/** One listing of a source, compared with the ledger a batch at a time. */
const listSource = Effect.fnUntraced(function*(
  { connector, id }: SyncSource,
  { again, cursor }: Start,
  { emit, engine, remember = () => Effect.void, retryFailed, scan, settings, tally, tellUnchanged = false }: Scanning,
  shared: Shared | undefined
): Effect.fn.Return<Listing, ServiceError | SecretError | StateError> {
  let listed = 0
  let restricted = false
  let end: Listing["end"]
  let broken: string | undefined
  let empty = true
  const bounded: Array<string> = []
  /** Files that another source has, by that source. */
  const elsewhere = new Map<string, number>()

  const settle = (outcome: Parameters<Tally["outcome"]>[0]) => {
    tally.outcome(outcome)
    return emit({ type: "file", ...outcome })
  }

  const take = Effect.fnUntraced(function*(batch: ReadonlyArray<Listed>) {
    // By path: what comes twice counts as it came last.
    const items = new Map<string, SourceItem>()
    const forget = Effect.fnUntraced(function*(path: string) {
      items.delete(path)
      if (!(yield* scan.forget(id, path))) return
      tally.listed(id, -1)
      tally.queued(id, -1)
      listed -= 1
    })
    for (const event of batch) {
      switch (event._tag) {
        case "item":
          empty = false
          items.delete(event.item.path)
          items.set(event.item.path, event.item)
          restricted ||= event.item.permissions?.public === false
          break
        case "skipped":
          // No longer offered: as if it were not listed any more.
          if (cursor !== undefined) yield* forget(event.path)
          tally.listed(id, 1)
          listed += 1
          yield* settle({ source: id, path: event.path, outcome: "skipped", reason: event.reason, message: event.detail })
          break
        case "failed":
          tally.listed(id, 1)
          listed += 1
          empty = false
          if (event.path.endsWith("/")) bounded.push(event.path)
          else if ((yield* scan.see(id, [event.path], Fingerprint.pathHash))[0] === undefined) {
            broken ??= `${event.path}: ${event.error.message}`
          }
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
          yield* forget(event.path)
          break
        case "checkpoint":
          break
        case "complete":
          end = event
      }
    }
    const known = yield* scan.see(id, [...items.keys()], Fingerprint.pathHash)
    const listedBy = shared === undefined ? [] : yield* scan.listedBy(id, [...items.values()].map(addressOf))
    const others: Array<LedgerEntry> = []
    const unsettled: Array<QueuedWork> = []
    let unchanged = 0
    let settled = 0
    for (const [index, item] of [...items.values()].entries()) {
      const entry = known[index]
      const owner = listedBy[index] ?? id
      if (shared !== undefined && (owner !== id || (entry?.reason === overlap && shared.unsure))) {
        shared.overlaps = true
        settled += 1
        elsewhere.set(owner, (elsewhere.get(owner) ?? 0) + 1)
        const message = owner === id ? (entry?.message ?? "") : `listed by source ${owner}`
        // What is stored for this source is no longer its own: the other's, where that has none yet, or to be deleted.
        if (entry?.file !== undefined) yield* scan.forget(id, entry.path)
        else if (entry?.message !== message) {
          const fingerprint = Fingerprint.format({ content: "", facts: "", settings: "" })
          others.push({ source: id, path: item.path, state: "skipped", revision: item.revision, fingerprint, reason: overlap, message })
        }
        yield* settle({ source: id, path: item.path, outcome: "skipped", reason: overlap, message })
        continue
      }
      const outcome = entry === undefined ? undefined : compare(item, entry, settings, engine, retryFailed)
      if (outcome === undefined) {
        const work = encodeWork({ source: id, item, known: entry })
        unsettled.push({ source: id, path: item.path, work })
      } else if (outcome === "unchanged") {
        unchanged += 1
        if (tellUnchanged) yield* emit({ type: "file", source: id, path: item.path, outcome })
      } else {
        settled += 1
        yield* settle({
          source: id,
          path: item.path,
          outcome,
          reason: entry?.reason === undefined ? undefined : entry.reason,
          message: entry?.message === undefined ? undefined : entry.message
        })
      }
    }
    if (others.length > 0) yield* remember(others)
    const queued = unsettled.length === 0 ? 0 : yield* scan.queue(unsettled)
    tally.listed(id, unchanged + settled + queued)
    tally.add(id, "unchanged", unchanged)
    tally.queued(id, queued)
    listed += unchanged + settled + queued
    yield* emit({ type: "listing", source: id, listed })
  })

  yield* Stream.fromIterable(again).pipe(
    Stream.map((item): Listed => ({ _tag: "item", item })),
    Stream.concat(connector.list(cursor)),
    Stream.grouped(batchSize),
    Stream.runForEach(take)
  )
  for (const [owner, count] of elsewhere) if (owner !== id) tally.noted(id, `${count === 1 ? "1 file is" : `${count} files are`} listed by source ${owner} too, and put once`)
  if (restricted && engine.immutableFiles === true) tally.noted(id, notForEveryone)
  return { bounded, empty, end, broken }
})

/** A listing of changes leaves out what stayed as it was, which the ledger knows. */
const countRest = Effect.fnUntraced(function*({ connector, id }: SyncSource, { scan, tally }: Scanning) {
  const { done = 0, failed = 0, intent = 0, quarantined = 0, skipped = 0 } = yield* scan.seeRest(id)
  tally.counted(id, { unchanged: done, skipped, quarantined, failed: failed + intent })
  const { cursorMisses = [] } = connector
  if (cursorMisses.length > 0) tally.noted(id, `only what changed was listed; ${cursorMisses.join(" and ")} show when everything is listed next`)
})

/** An engine that keeps no fact but a file's name keeps no permissions either. */
const notForEveryone = "not all of it is for everyone at the source; the service keeps no permissions, so that whoever may read the corpus reads it"

const listingConcurrency = 4

/** The same file at the same moment, whoever lists it. */
const addressOf = ({ revision, uri }: SourceItem): string => `${uri}\n${revision}`

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
      return entry.reason === overlap ? undefined : "skipped"
    case "quarantined":
      return retryFailed ? undefined : "quarantined"
    case "failed":
    case "intent":
      return undefined
  }
}
