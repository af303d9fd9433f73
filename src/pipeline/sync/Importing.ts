import { Clock, Context, Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import type { ImportedFile, ImportSource } from "../../domain/Import.ts"
import { type Operation, OperationName } from "../../domain/Operation.ts"
import type { RagFile, RagFileName } from "../../domain/RagFile.ts"
import type { FileOutcome, SyncEvent } from "../../domain/Report.ts"
import type { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { concernsAll, ignoreMissing } from "./Applying.ts"
import * as Fingerprint from "./Fingerprint.ts"
import type { ImportOnly } from "./HandOver.ts"
import { countsText, type Handed, type Imported, importing, importingMessage, importingOf, isImporting, reconcile, uriKey } from "./Imported.ts"
import type { Work } from "./Scanning.ts"
import { entriesOf, giveWay, isOurs, isServiceEntry, nameServiceFiles, serviceEntry, wholeSource } from "./ServiceFiles.ts"
import { unstage } from "./Staging.ts"
import type { SyncSpec } from "./SyncSpec.ts"

/** Files of one import, at most: the service's bound. */
export const importSize = 10_000

/** Milliseconds between two words about an import that runs. */
const tellEvery = 60_000
/** Files per page of a listing. */
const pageSize = 100

/** What an import by the engine did, and what its counts say. */
export interface ImportResult {
  readonly outcomes: ReadonlyArray<FileOutcome>
  readonly note: string
  /** Files that the service counted and nobody can name. Import-only sources. */
  readonly unnamed: { readonly added: number; readonly unchanged: number; readonly failed: number }
  /** Files of ours that would have given way to the engine's, and why they did not. */
  readonly held?: { readonly count: number; readonly why: string }
}

/**
 * Has the engine fetch files by itself, and accounts for each. The ledger keeps an import's name with the files it was
 * asked for, so that a run which is cut off is followed by one that looks how the import ended.
 */
export const make = (input: {
  readonly spec: SyncSpec
  readonly corpus: CorpusName
  readonly settings: string
  readonly engine: Engine["Service"]
  readonly imports: NonNullable<Engine["Service"]["imports"]>
  readonly files: Files["Service"]
  readonly ledger: Ledger["Service"]
  readonly scope: string
  /** Lets go what the guard of deletes would hold. */
  readonly yes: boolean
  readonly emit: (event: SyncEvent) => Effect.Effect<void>
}) => {
  const { corpus, emit, engine, files, imports: { objects, operations, results }, ledger, scope, settings, spec, yes } = input
  const services = Context.make(Ledger, ledger).pipe(Context.add(Files, files))
  let sinks = 0

  const follow = Effect.fnUntraced(function*(source: string, started: Operation, count?: number) {
    let operation = started
    for (;;) {
      yield* emit({
        type: "importing",
        source,
        operation: operation.name,
        progress: operation.done ? 100 : operation.progress ?? 0,
        files: count
      })
      if (operation.done) break
      operation = yield* operations.wait(operation.name, tellEvery)
    }
    if (operation.error !== undefined) return yield* new ServiceError(operation.error)
    const sink = operation.resultSink ?? started.resultSink
    return { operation, ...(sink === undefined ? nothingTold : yield* resultsAt(sink)) }
  })

  /** A result that cannot be read leaves us with what the counts and the corpus say. */
  const resultsAt = (sink: string) =>
    results(sink).pipe(Effect.match({
      onSuccess: (found = []) => ({ results: found, unread: "" }),
      onFailure: ({ message }) => ({ results: [], unread: `; its result could not be read: ${message}` })
    }))

  const start = Effect.fnUntraced(function*(source: ImportSource) {
    const { chunking, maxEmbeddingRequestsPerMinute, parsing } = spec
    const resultSink = spec.resultSink === undefined ? undefined : ownSink(spec.resultSink, yield* Clock.currentTimeMillis, sinks++)
    const started = yield* files.import({
      corpus,
      source,
      chunking,
      parsing,
      maxEmbeddingRequestsPerMinute,
      resultSink
    })
    return resultSink === undefined ? started : { ...started, resultSink }
  })

  /** The files of the corpus that came from these addresses: the newest of each. */
  const filesAt = Effect.fnUntraced(function*(handed: ReadonlyArray<Handed>) {
    const found = new Map<string, RagFile>()
    const asked = new Set(handed.map(({ uri }) => uriKey(uri)))
    yield* pages((page) => files.list(corpus, page), pageSize).pipe(Stream.runForEach((file) =>
      Effect.sync(() => {
        const uri = uriKey(file.sourceUri)
        const other = found.get(uri)
        if (asked.has(uri) && (other === undefined || other.createTime < file.createTime)) found.set(uri, file)
      })
    ))
    return found
  })

  const allFiles = pages((page) => files.list(corpus, page), pageSize).pipe(
    Stream.runFold(() => new Map<RagFileName, RagFile>(), (all, file) => all.set(file.name, file))
  )

  const note = (handed: ReadonlyArray<Handed>, operation: string) =>
    ledger.write(scope, { put: handed.map((one) => ({ ...one.entry, state: "intent", reason: importing, message: importingMessage(operation, one) })) })

  /**
   * Writes down how each ended. A version of ours that another took the place of is deleted once that is there; so is
   * what we staged, unless the engine is to fetch it once more. Only then is it written that it is over, for until
   * then a run that follows settles it again. Answers what a reader of the report should know.
   */
  const settle = Effect.fnUntraced(function*(handed: ReadonlyArray<Handed>, ended: ReadonlyArray<Imported>) {
    const over = handed.filter(({ staged }, index) => staged === true && isOver(ended[index]))
    const kept = yield* unstage(objects, over.map(({ uri }) => uri))
    const put: Array<LedgerEntry> = []
    const remove: Array<LedgerEntry> = []
    for (const [index, { entry, from }] of handed.entries()) {
      const end = ended[index]
      if (end?._tag === "there") {
        const old = entry.file
        if (old !== undefined && old !== end.file.name) yield* files.delete(old).pipe(ignoreMissing)
        put.push({ ...entry, file: end.file.name })
        if (from !== undefined) remove.push(from)
      } else if (end !== undefined) {
        const { file = entry.file, message, reason } = end
        put.push({ ...entry, state: end.retryable ? "failed" : "quarantined", reason, message, ...(file === undefined ? {} : { file }) })
      }
    }
    yield* ledger.write(scope, { put, remove })
    return kept === undefined ? "" : `; ${kept.left} staged ${kept.left === 1 ? "object" : "objects"} could not be removed: ${kept.why}`
  })

  /** A listed object, by its own address. */
  const handOver = ({ item, known, source }: Work): Handed => ({
    uri: item.uri,
    entry: {
      source,
      path: item.path,
      state: "done",
      revision: item.unsettled === true ? "" : item.revision,
      fingerprint: Fingerprint.format({
        content: Fingerprint.revisionHash(item.revision),
        facts: Fingerprint.factsHash(item, engine),
        settings
      }),
      size: item.size,
      file: known?.file === undefined ? undefined : known.file
    }
  })

  /** Files of one source, at most {@link importSize}. Fails with what concerns every file only. */
  const importFiles = Effect.fn("sync.importFiles")(function*(
    source: string,
    handed: ReadonlyArray<Handed>
  ): Effect.fn.Return<ImportResult, ServiceError | StateError> {
    const before = yield* filesAt(handed)
    yield* note(handed, "")
    const done = yield* start({ _tag: "storage", uris: handed.map(({ uri }) => uri) }).pipe(
      Effect.tap((operation) => note(handed, operation.name)),
      Effect.flatMap((operation) => follow(source, operation, handed.length)),
      Effect.result
    )
    if (done._tag === "Failure") {
      const error = done.failure
      if (error._tag === "StateError" || concernsAll(error)) return yield* error
      const { code: reason, message, retryable } = error
      const outcomes = handed.map(({ entry: { path } }): FileOutcome => ({ source, path, outcome: "failed", reason, message, retryable }))
      // UNKNOWN: it may have begun all the same. The intents stay, and the next run looks.
      if (reason !== "UNKNOWN") {
        yield* settle(handed, handed.map(() => ({ _tag: "failed", reason, message, retryable: true })))
      }
      return { outcomes, note: `the service did not import: ${message}`, unnamed: none }
    }
    const { operation, results, unread } = done.success
    const ended = reconcile(handed, before, yield* filesAt(handed), operation, results)
    const kept = yield* settle(handed, ended)
    return {
      outcomes: handed.map(({ entry }, index) => outcomeOf(entry, ended[index])),
      note: `the service counted ${countsText(operation.counts)}${unread}${kept}`,
      unnamed: none
    }
  })

  /** A source that only the engine lists. Goes on with the import that an earlier run began. */
  const importWhole = Effect.fn("sync.importWhole")(function*(
    { id, source }: ImportOnly,
    begun: string | undefined
  ): Effect.fn.Return<ImportResult, ServiceError | StateError> {
    const entry: LedgerEntry = { source: id, path: wholeSource, state: "intent", revision: "", fingerprint: "", reason: importing, message: "" }
    let before: ReadonlyMap<RagFileName, RagFile> | undefined
    const fresh = Effect.gen(function*() {
      before = yield* allFiles
      yield* ledger.write(scope, { put: [entry] })
      const operation = yield* start(source)
      yield* ledger.write(scope, { put: [{ ...entry, message: operation.name }] })
      return operation
    })
    const started = begun === undefined ? fresh : operations.wait(OperationName.make(begun), 0).pipe(
      Effect.catchIf((error): error is ServiceError => error.code === "NOT_FOUND", () => fresh)
    )
    const done = yield* Effect.result(Effect.flatMap(started, (operation) => follow(id, operation)))
    if (done._tag === "Failure") {
      const error = done.failure
      if (error._tag === "StateError" || concernsAll(error)) return yield* error
      if (error.code !== "UNKNOWN") yield* ledger.write(scope, { remove: [entry] })
      const { code: reason, message, retryable } = error
      return {
        outcomes: [{ source: id, path: wholeSource, outcome: "failed", reason, message, retryable }],
        note: "the service did not import it",
        unnamed: none
      }
    }
    const { operation: { counts, partialFailures }, results, unread } = done.success
    const failures = results.length > 0
      ? results.filter(({ status }) => status === "failed").map(failureTold(id, partialFailures))
      : partialFailures.map(({ code, message }): FileOutcome => ({
        source: id,
        path: /[a-z]+:\/\/\S+/.exec(message)?.[0] ?? wholeSource,
        outcome: "failed",
        reason: code,
        message
      }))
    const known = (yield* entriesOf(scope, [id], isServiceEntry).pipe(Effect.provide(services))).get(id) ?? []
    const after = yield* allFiles
    const named = nameServiceFiles({ source, before, after, counts, results, known })
    // Objects are known by their addresses, whoever lists them.
    const keeps = source._tag !== "storage"
    const put = keeps ? named.flatMap(({ file, uri }) => file === undefined ? [] : [serviceEntry(id, { file, uri })]) : []
    yield* ledger.write(scope, { remove: [entry, ...known.filter(({ file }) => file === undefined || !after.has(file))], put })
    const outcomes = [...failures, ...named.map(({ outcome, uri }): FileOutcome => ({ source: id, path: uri, outcome }))]
    const unnamed = (count: number | undefined, ...kinds: ReadonlyArray<FileOutcome["outcome"]>) =>
      Math.max(0, (count ?? 0) - outcomes.filter(({ outcome }) => kinds.includes(outcome)).length)
    const left = {
      added: unnamed(counts?.imported, "added", "changed"),
      unchanged: unnamed(counts?.skipped, "unchanged"),
      failed: unnamed(counts?.failed, "failed")
    }
    const there = (counts?.imported ?? 0) + (counts?.skipped ?? 0)
    const held = keeps && failures.length + left.failed === 0 ? yield* takeFromUs(id, there) : undefined
    const unknown = keeps && there > put.length ? `; ${there - put.length} of them cannot be told from other files of the corpus` : ""
    return {
      outcomes,
      note: `the service counted ${countsText(counts)}${unread}${unknown}`,
      unnamed: left,
      held
    }
  })

  /** What we had uploaded of a source goes, once the engine has all of it. */
  const takeFromUs = Effect.fnUntraced(function*(id: string, stored: number) {
    const entries = (yield* entriesOf(scope, [id], isOurs)).get(id)
    if (entries === undefined) return undefined
    // Should we list it again, then all of it.
    yield* ledger.setListing(scope, id, { cursor: "", signature: "", whole: 0, again: [] })
    const why = yield* giveWay({ scope, spec, entries, stored, yes })
    return why === undefined ? undefined : { count: entries.length, why }
  }, Effect.provide(services))

  /**
   * Looks how the imports ended that an earlier run began. Answers those of sources that only the engine lists, which
   * are still to be followed, by source.
   */
  const settleEarlier = Effect.fn("sync.settleImports")(function*() {
    const whole = new Map<string, string>()
    const byOperation = new Map<string, Array<Handed>>()
    yield* ledger.entries(scope, ["intent"]).pipe(Stream.filter(isImporting), Stream.runForEach((entry) =>
      Effect.sync(() => {
        const { message = "", reason: _, ...rest } = entry
        const { operation, staged } = importingOf(message)
        if (entry.path === wholeSource) return void (operation === "" || whole.set(entry.source, operation))
        const done: LedgerEntry = { ...rest, state: "done" }
        byOperation.set(operation, [
          ...(byOperation.get(operation) ?? []),
          staged === undefined ? { uri: entry.path, entry: done } : { uri: staged, entry: done, staged: true }
        ])
      })
    ))
    for (const [name, handed] of byOperation) {
      const ended = name === "" ? yield* allImportsOver : yield* operations.wait(OperationName.make(name), 0).pipe(
        Effect.flatMap((started) => follow(handed[0]?.entry.source ?? "", started, handed.length)),
        Effect.catchIf((error) => !concernsAll(error), () => Effect.void)
      )
      yield* settle(handed, ended === undefined
        ? handed.map(() => interrupted)
        : reconcile(handed, undefined, yield* filesAt(handed), ended.operation, ended.results))
    }
    return whole
  })

  /** Waits for whatever import into this corpus still runs: one of them may be ours, and the next would run beside it. */
  const allImportsOver = pages(operations.list).pipe(
    Stream.filter(({ done, kind, target }) => kind === "importFiles" && target === corpus && !done),
    Stream.runForEach((operation) => Effect.ignore(follow("", operation))),
    Effect.as(undefined)
  )

  return { handOver, importFiles, importWhole, settleEarlier }
}

/** Handed over again: what the service has by then, it skips. */
const interrupted: Imported = {
  _tag: "failed",
  reason: "interrupted",
  message: "an earlier run ended before its import was known to be over",
  retryable: true
}

const isOver = (ended: Imported | undefined): boolean => ended?._tag === "there" || ended?.retryable === false

const nothingTold = { results: [], unread: "" }

/** Why a file of a source that only the engine lists was not taken, as its result tells. */
const failureTold = (source: string, failures: Operation["partialFailures"]) => ({ message, uri }: ImportedFile): FileOutcome => {
  const failure = failures.find((failure) => failure.message.endsWith(uri))
  return { source, path: uri, outcome: "failed", reason: failure?.code ?? "failed", message: message ?? failure?.message ?? "the service says no more" }
}

const none = { added: 0, unchanged: 0, failed: 0 }

const outcomeOf = ({ file, path, size, source }: LedgerEntry, ended: Imported | undefined): FileOutcome => {
  const base = { source, path, bytes: size }
  if (ended === undefined) return { ...base, outcome: "pending" }
  // Under an address of its own, the new version of a staged file is another file to the service.
  if (ended._tag === "there") return { ...base, outcome: ended.outcome === "added" && file !== undefined ? "changed" : ended.outcome }
  const { message, reason, retryable } = ended
  return { ...base, outcome: "failed", reason, message, retryable }
}

/** The service refuses to write over an object: `results.ndjson` becomes `results-20260101T000000123-0.ndjson`. Tables take rows of many imports. */
const ownSink = (sink: string, now: number, index: number): string => {
  if (!sink.startsWith("gs://")) return sink
  const stamp = new Date(now).toISOString().replace(/[-:.Z]/g, "")
  return sink.replace(/(\.[^./]*)?$/, (extension) => `-${stamp}-${index}${extension}`)
}
