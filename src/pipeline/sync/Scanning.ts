import { Effect, Stream } from "effect"
import { type SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import type { Listed, SourceItem } from "../../ports/Connector.ts"
import { Engine } from "../../ports/Engine.ts"
import { Ledger, type LedgerEntry, type QueuedWork, type Scan } from "../../ports/Ledger.ts"
import { isCursorRefused, messageWithFix } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { malformedItem } from "./Guarded.ts"
import { type Increments, makeIncrements, type Start } from "./Increments.ts"
import { ListedPaths } from "./ListedPaths.ts"
import { entriesOf, isServiceEntry } from "./ServiceFiles.ts"
import { badMetadata, encodeWork, overlap, Session, type SyncSource } from "./Session.ts"

/** Sources listed concurrently. */
const concurrency = 4
/** Items compared with the ledger at a time. */
const batchSize = 512

/** The current sources, compared with the ledger. */
export interface Scanned {
  readonly scan: Scan
  /** Where the next run continues, once this one is over. */
  readonly increments: Increments
  /** Files that the engine imported of sources listed from here now, by source: they are replaced by the files uploaded from here. */
  readonly imported: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>
}

/**
 * Lists every source and compares it with the ledger, without reading bytes. Items settled by that are tallied; the
 * others are queued on the scan. The failure of one source affects only that source.
 *
 * @param drift corrections to the ledger, and sources that are listed in full because of them
 */
export const scanSources = Effect.fn("sync.scan")(function*(
  { importOnly, listed }: { readonly listed: ReadonlyArray<SyncSource>; readonly importOnly: ReadonlyArray<{ readonly id: string }> },
  drift: { readonly over: (scan: Scan) => Scan; readonly sources: ReadonlySet<string> }
) {
  const { imports } = yield* Engine
  const ledger = yield* Ledger
  const { retryFailed, scope, showUnchanged, strict, tally } = yield* Session
  const imported = yield* entriesOf(scope, imports === undefined ? [] : listed.map(({ id }) => id), isServiceEntry)
  const scan = drift.over(yield* ledger.scan(scope))
  for (const [source, entries] of imported) yield* scan.see(source, entries.map(({ path }) => path), Fingerprint.pathHash)
  for (const { id } of importOnly) yield* scan.seeAll(id)
  const increments = yield* makeIncrements((source) => retryFailed || showUnchanged || drift.sources.has(source) || imported.has(source))
  // Sources of one kind may list the same files. They are listed in the pipeline's order, so that the first one gets them.
  const kinds = Map.groupBy(listed, ({ connector }) => connector.kind)
  yield* Effect.forEach(kinds.values(), (alike) => scanAlike(alike, scan, increments), { concurrency, discard: true })
  const [empty] = strict ? tally.sources.filter(({ warning }) => warning !== undefined) : []
  if (empty !== undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `sources.${empty.source}: ${empty.warning}`,
      fix: "correct the source, or run without --strict",
      violations: [{ field: `sources.${empty.source}`, description: empty.warning ?? "" }]
    })
  }
  return { scan, increments, imported } satisfies Scanned
})

/** State shared by sources of one kind while they are listed. */
interface Shared {
  /** Whether two of them listed the same file. */
  overlaps: boolean
  /** Whether one of them was not listed, or not completely: a file of it may not have been seen. */
  unsure: boolean
}

/** Lists the sources of one kind, one after the other. */
const scanAlike = Effect.fnUntraced(function*(alike: ReadonlyArray<SyncSource>, scan: Scan, increments: Increments) {
  const { tally } = yield* Session
  const starts: Array<{ readonly source: SyncSource; readonly start: Start }> = []
  for (const source of alike) {
    if (source.rests === true) yield* scan.seeAll(source.id)
    else {
      tally.source(source.id, source.connector.kind)
      starts.push({ source, start: yield* increments.start(source) })
    }
  }
  const shared: Shared | undefined = alike.length < 2 ? undefined : { overlaps: false, unsure: starts.length < alike.length }
  // The changes of one source cannot be compared with a full listing of another.
  const whole = shared !== undefined && starts.some(({ start }) => start.cursor === undefined)
  const startWhole = yield* increments.startWhole
  for (const { source, start } of starts) yield* scanSource(source, whole ? startWhole : start, scan, increments, shared)
  if (shared?.overlaps === true) { for (const { id } of alike) increments.wholeNext(id) }
})

/** Lists one source, from the start where its cursor is refused, and records in the tally how the listing ended. */
const scanSource = Effect.fnUntraced(function*(
  source: SyncSource,
  first: Start,
  scan: Scan,
  increments: Increments,
  shared: Shared | undefined
) {
  const { emit, tally } = yield* Session
  const { id } = source
  let start = first
  const { broken, empty, end, hidden, unlistable } = yield* listSource(source, start, scan, shared).pipe(
    Effect.catchIf(
      (error) => start.cursor !== undefined && isCursorRefused(error),
      Effect.fnUntraced(function*() {
        yield* scan.restart(id)
        tally.restart(id)
        start = yield* increments.startWhole
        return yield* listSource(source, start, scan, shared)
      })
    ),
    Effect.catchTags({
      ServiceError: (error) => Effect.succeed(cutShort(messageWithFix(error))),
      SecretError: ({ message }) => Effect.succeed(cutShort(message))
    })
  )
  const complete = end !== undefined && broken === undefined
  if (shared !== undefined && (!complete || unlistable.length > 0)) shared.unsure = true
  tally.ended(id, complete ? undefined : broken ?? "it ended before everything was listed")
  for (const folder of unlistable) yield* scan.seeUnder(id, folder)
  for (const { before, path } of hidden) yield* scan.seeUnder(id, path, before)
  if (unlistable.length > 0) {
    tally.noted(
      id,
      `what the corpus has of ${foldersText(unlistable)} stays: ${unlistable.length === 1 ? "it" : "they"} could not be listed`
    )
  }
  if (complete && empty && start.cursor === undefined) tally.warned(id, emptyNote(tally.countsOf(id).listed))
  // Items that an incomplete listing did not name may still exist.
  if (!complete) yield* scan.seeAll(id)
  else {
    if (start.cursor !== undefined) yield* countRest(source, scan)
    increments.ended(source, start, end.cursor)
  }
  yield* emit({ type: "listed", source: id, listed: tally.countsOf(id).listed, complete, work: tally.countsOf(id).pending })
})

type Skipped = Extract<Listed, { readonly _tag: "skipped" }>

interface Listing {
  /** End of the listing, with its cursor; absent where it was cut short. */
  readonly end?: { readonly cursor?: string }
  /** Why it was cut short. */
  readonly broken?: string
  /** Folders that could not be listed, while the rest was. */
  readonly unlistable: ReadonlyArray<string>
  /** What the service does not show now. */
  readonly hidden: ReadonlyArray<Skipped>
  /** Whether it offered no items. */
  readonly empty: boolean
}

const cutShort = (broken: string): Listing => ({ broken, unlistable: [], hidden: [], empty: false })

/** Most folders that a note names. */
const namedFolders = 3
const foldersText = (folders: ReadonlyArray<string>): string =>
  folders.length <= namedFolders
    ? folders.join(", ")
    : `${folders.slice(0, namedFolders).join(", ")} and ${folders.length - namedFolders} more folders`

const emptyNote = (passed: number): string =>
  passed === 0
    ? "it is empty: is the path right, and the disk mounted?"
    : `none of the ${plural(passed, "entry", "entries")} in it is used: are include, exclude and the ignore files right?`

/** An engine that keeps only a file's name keeps no permissions either. */
const notForEveryone =
  "some of it is restricted at the source; the service keeps no permissions, so everyone who can read the corpus can read it"

/** Two items cannot be one file of the corpus. */
const duplicateNote = ({ uri }: SourceItem): string =>
  `${uri} has the path of another item that was listed before it; a source has to give each item a path of its own`

/** Lists a source once, comparing it with the ledger a batch at a time. */
const listSource = Effect.fnUntraced(function*(
  { connector, id }: SyncSource,
  { cursor, retries }: Start,
  scan: Scan,
  shared: Shared | undefined
): Effect.fn.Return<Listing, ServiceError | SecretError | StateError, Engine | Ledger | Session> {
  const engine = yield* Engine
  const { emit, tally } = yield* Session
  let listed = 0
  let restricted = false
  let empty = true
  let broken: string | undefined
  let end: Listing["end"]
  const unlistable: Array<string> = []
  const hidden: Array<Skipped> = []
  /** Number of files that another source has, by that source. */
  const elsewhere = new Map<string, number>()

  const settle = (outcome: FileOutcome) => {
    listed += 1
    tally.listedOutcome(outcome)
    return emit({ type: "file", ...outcome })
  }

  /** Of a whole listing: what changes since a cursor may well have the path of something else by now. */
  const paths = cursor === undefined ? new ListedPaths() : undefined

  /** Items that a batch leaves listed, by path: of an item listed twice the last listing counts. */
  const itemsOf = Effect.fnUntraced(function*(batch: ReadonlyArray<Listed>) {
    const items = new Map<string, SourceItem>()
    const forget = Effect.fnUntraced(function*(path: string) {
      items.delete(path)
      paths?.forget(path)
      if (!(yield* scan.forget(id, path))) return
      tally.listed(id, -1)
      tally.queued(id, -1)
      listed -= 1
    })
    for (const event of batch) {
      switch (event._tag) {
        case "item":
          empty = false
          if (paths?.isTaken(event.item.path, event.item.uri) === true) {
            yield* settle({
              source: id,
              path: event.item.path,
              outcome: "skipped",
              reason: "duplicate",
              message: duplicateNote(event.item)
            })
            break
          }
          items.delete(event.item.path)
          items.set(event.item.path, event.item)
          restricted ||= event.item.permissions?.public === false
          break
        case "skipped":
          if (event.reason === "hidden") hidden.push(event)
          // No longer offered: treated as if it were not listed any more.
          else if (cursor !== undefined) yield* forget(event.path)
          yield* settle({ source: id, path: event.path, outcome: "skipped", reason: event.reason, message: event.detail })
          break
        case "failed": {
          const { error, path } = event
          const { code: reason, reason: why, retryable } = error
          const message = messageWithFix(error)
          empty = false
          if (path.endsWith("/")) unlistable.push(path)
          else if ((yield* scan.see(id, [path], Fingerprint.pathHash))[0] === undefined && why !== malformedItem) {
            broken ??= `${path}: ${message}`
          }
          yield* settle({ source: id, path, outcome: "failed", reason, message, retryable })
          break
        }
        case "deleted":
          yield* forget(event.path)
          break
        case "checkpoint":
          break
        case "complete":
          end = event
      }
    }
    return [...items.values()]
  })

  const take = Effect.fnUntraced(function*(batch: ReadonlyArray<Listed>) {
    const items = yield* itemsOf(batch)
    const { others, unchanged, unsettled } = yield* compareItems(id, items, scan, shared, settle)
    for (const owner of others) elsewhere.set(owner, (elsewhere.get(owner) ?? 0) + 1)
    const queued = unsettled.length === 0 ? 0 : yield* scan.queue(unsettled)
    tally.listed(id, unchanged + queued)
    tally.add(id, "unchanged", unchanged)
    tally.queued(id, queued)
    listed += unchanged + queued
    yield* emit({ type: "listing", source: id, listed })
  })

  yield* Stream.fromIterable(retries).pipe(
    Stream.map((item): Listed => ({ _tag: "item", item })),
    Stream.concat(connector.list(cursor)),
    Stream.grouped(batchSize),
    Stream.runForEach(take)
  )
  for (const [owner, count] of elsewhere) {
    if (owner !== id) tally.noted(id, `${plural(count, "file is", "files are")} listed by source ${owner} too, and stored once`)
  }
  if (restricted && engine.immutableFiles === true) tally.noted(id, notForEveryone)
  return { broken, empty, end, hidden, unlistable }
})

/**
 * Compares listed items with the ledger. Settles those that need no look at the bytes, and returns the rest: the number
 * of unchanged items, work for those whose bytes decide, and the sources of those that another source listed first.
 */
const compareItems = Effect.fnUntraced(function*(
  source: string,
  items: ReadonlyArray<SourceItem>,
  scan: Scan,
  shared: Shared | undefined,
  settle: (outcome: FileOutcome) => Effect.Effect<void>
) {
  const engine = yield* Engine
  const ledger = yield* Ledger
  const { emit, readOnly, retryFailed, rules, scope, settingsOf, showUnchanged } = yield* Session
  const known = yield* scan.see(source, items.map(({ path }) => path), Fingerprint.pathHash)
  const listedBy = shared === undefined ? [] : yield* scan.listedBy(source, items.map(addressOf))
  const others: Array<string> = []
  const overlaps: Array<LedgerEntry> = []
  const unsettled: Array<QueuedWork> = []
  let unchanged = 0
  for (const [index, item] of items.entries()) {
    const { path, revision } = item
    const entry = known[index]
    const owner = listedBy[index] ?? source
    if (shared !== undefined && (owner !== source || (entry?.reason === overlap && shared.unsure))) {
      shared.overlaps = true
      others.push(owner)
      const message = owner === source ? (entry?.message ?? "") : `listed by source ${owner}`
      // A file stored for this source belongs to the other source now, where that has none yet, or is to be deleted.
      if (entry?.file !== undefined) yield* scan.forget(source, entry.path)
      else if (entry?.message !== message) {
        overlaps.push({ source, path, state: "skipped", revision, fingerprint: Fingerprint.none, reason: overlap, message })
      }
      yield* settle({ source, path, outcome: "skipped", reason: overlap, message })
      continue
    }
    const outcome = entry === undefined
      ? undefined
      : compare(item, entry, settingsOf(item), Fingerprint.factsHash(item, engine, rules), retryFailed)
    if (outcome === undefined) unsettled.push({ source, path, work: encodeWork({ source, item, known: entry }) })
    else if (outcome === "unchanged") {
      unchanged += 1
      if (showUnchanged) yield* emit({ type: "file", source, path, outcome })
    } else yield* settle({ source, path, outcome, reason: entry?.reason, message: entry?.message })
  }
  if (overlaps.length > 0 && !readOnly) yield* ledger.write(scope, { put: overlaps })
  return { others, unchanged, unsettled }
})

/** Identifies a file at one revision, whichever source lists it. */
const addressOf = ({ revision, uri }: SourceItem): string => `${uri}\n${revision}`

/** Outcome of an item that needs no reading, or undefined. */
const compare = (
  item: SourceItem,
  entry: LedgerEntry,
  settings: string,
  facts: string,
  retryFailed: boolean
): "unchanged" | "skipped" | "quarantined" | undefined => {
  if (item.revision !== entry.revision || item.unsettled === true) return undefined
  const known = Fingerprint.parse(entry.fingerprint)
  if (known.settings !== settings) return undefined
  switch (entry.state) {
    case "done":
      return known.facts === facts ? "unchanged" : undefined
    case "skipped":
      return entry.reason === overlap ? undefined : "skipped"
    case "quarantined":
      return retryFailed || (entry.reason === badMetadata && known.facts !== facts) ? undefined : "quarantined"
    case "failed":
    case "intent":
      return undefined
  }
}

/** Counts the unchanged items that a listing of changes leaves out, from the ledger. */
const countRest = Effect.fnUntraced(function*({ connector, id }: SyncSource, scan: Scan) {
  const { tally } = yield* Session
  const { done = 0, failed = 0, intent = 0, quarantined = 0, skipped = 0 } = yield* scan.seeRest(id)
  tally.counted(id, { unchanged: done, skipped, quarantined, failed: failed + intent })
  const { cursorMisses = [] } = connector
  if (cursorMisses.length > 0) {
    tally.noted(id, `only what changed was listed; ${cursorMisses.join(" and ")} show when everything is listed next`)
  }
})
