import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import type { LedgerEntry, Scan } from "../../ports/Ledger.ts"
import { deleteSuperseded } from "./Deleting.ts"
import { handOver, importFiles, type ImportResult, importSize, importWhole } from "./Importing.ts"
import type { Handed } from "./ServiceFiles.ts"
import { decodeWork, Session } from "./Session.ts"
import { importOnlyNote, isHandedOver, type Sources } from "./Sources.ts"
import type { Stop } from "./Stop.ts"

/** Has the engine import the files that it fetches itself: one import after the other, as a corpus accepts one at a time. */
export const importAll = Effect.fnUntraced(function*(
  corpus: CorpusName,
  { importOnly, listed }: Sources,
  running: ReadonlyMap<string, string>,
  scan: Scan,
  staged: ReadonlyMap<string, ReadonlyArray<Handed>>,
  stop: Stop
) {
  const session = yield* Session
  const { tally } = session
  for (const source of listed) {
    if (source.imports === undefined && source.staging === undefined) continue
    const handed = source.staging !== undefined
      ? Stream.fromIterable(staged.get(source.id) ?? [])
      : scan.queued.pipe(
        Stream.map(decodeWork),
        Stream.filter((work) => work.source === source.id && isHandedOver(source, work.item, session)),
        Stream.mapEffect(handOver)
      )
    yield* handed.pipe(
      Stream.grouped(importSize),
      Stream.runForEach((files) => account(source.id, importFiles(corpus, source.id, files), (outcome) => tally.settled(outcome, 0), stop))
    )
  }
  for (const source of importOnly) {
    tally.noted(source.id, importOnlyNote(source))
    yield* account(
      source.id,
      importWhole(corpus, source.id, source.source, running.get(source.id)),
      (outcome) => tally.listedOutcome(outcome),
      stop
    )
  }
})

/**
 * Runs one import, unless the run has stopped, and accounts for its outcomes.
 *
 * @param count adds an outcome to the tally: of a file that a listing had queued, or of one that no listing named
 */
const account = Effect.fnUntraced(function*<R>(
  source: string,
  importing: Effect.Effect<ImportResult, ServiceError | StateError, R>,
  count: (outcome: FileOutcome) => void,
  stop: Stop
) {
  const { emit, spec, tally } = yield* Session
  if (stop.ended !== undefined) return
  const { held, note, outcomes, unnamed } = yield* importing
  tally.noted(source, note)
  if (held !== undefined) tally.held(source, held.count, held.why)
  for (const outcome of outcomes) {
    count(outcome)
    yield* emit({ type: "file", ...outcome })
  }
  tally.counted(source, unnamed)
  tally.untold ||= unnamed.added > 0 || outcomes.some(({ outcome }) => outcome === "added" || outcome === "changed")
  if (spec.onFileError === "stop" && (unnamed.failed > 0 || outcomes.some(({ outcome }) => outcome === "failed"))) stop.ended = "stopped"
}, (effect, _source, _importing, _count, stop) => Effect.catch(effect, (error) => Effect.sync(() => stop.fail(error))))

/** Deletes the files that the engine had imported of a source that is listed from here now, once all listed files are stored. */
export const replaceImported = Effect.fnUntraced(function*(source: string, entries: ReadonlyArray<LedgerEntry>) {
  const { tally } = yield* Session
  const { added, changed, failed, moved, unchanged } = tally.countsOf(source)
  const files = `${plural(entries.length, "file")} that the service had imported`
  if (!tally.isComplete(source) || failed > 0) return tally.noted(source, `${files} stay until all listed files are stored`)
  yield* deleteSuperseded(entries, added + changed + moved + unchanged).pipe(
    Effect.map(() => tally.noted(source, `${files} were replaced by the files uploaded from here`)),
    Effect.catchTag("Held", ({ count, why }) => Effect.sync(() => tally.held(source, count, why)))
  )
})
