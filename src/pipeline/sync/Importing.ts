import { Clock, Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import type { ImportedFile, ImportSource } from "../../domain/Import.ts"
import { plural } from "../../domain/Numbers.ts"
import { type Operation, operationError, OperationName } from "../../domain/Operation.ts"
import type { RagFile, RagFileName } from "../../domain/RagFile.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { deleteSuperseded } from "./Deleting.ts"
import { describeByPath, unfitText, writeDescribed, writtenByPeople } from "./Describing.ts"
import { concernsAll, type Held, ignoreMissing } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import {
  countsText,
  entriesOf,
  type Handed,
  type Imported,
  importIntent,
  importOf,
  interrupted,
  isImporting,
  isOurs,
  isOver,
  isServiceEntry,
  nameServiceFiles,
  outcomeOf,
  reconcile,
  serviceEntry,
  uriKey,
  wholeImportIntent,
  wholeSource
} from "./ServiceFiles.ts"
import { Session, type Work } from "./Session.ts"

/** Most files of one import: the service's limit. */
export const importSize = 10_000

/** Milliseconds between two events about a running import. */
const tellEvery = 60_000
/** Files per page of a listing. */
const pageSize = 100
/** Staged objects removed concurrently. */
const concurrency = 16

/** Result of an import by the engine. */
export interface ImportResult {
  readonly outcomes: ReadonlyArray<FileOutcome>
  readonly note: string
  /** Files that the service counted but that cannot be named. Only for sources that the engine lists. */
  readonly unnamed: { readonly added: number; readonly unchanged: number; readonly failed: number }
  /** Files uploaded from here that the import would have replaced, and why it did not. */
  readonly held?: Held
}

/** The engine's imports; without them, calling this is a bug. */
const serviceOf = Effect.flatMap(
  Engine,
  ({ imports }) => imports === undefined ? Effect.die("the engine imports nothing by itself") : Effect.succeed(imports)
)

/** A listed object, to be imported from its own address. */
export const handOver = Effect.fnUntraced(function*({ item, known, source }: Work) {
  const engine = yield* Engine
  const { rules, settingsOf } = yield* Session
  const content = Fingerprint.revisionHash(item.revision)
  return {
    uri: item.uri,
    entry: {
      source,
      path: item.path,
      state: "done",
      revision: item.unsettled === true ? "" : item.revision,
      fingerprint: Fingerprint.format({ content, facts: Fingerprint.factsHash(item, engine, rules), settings: settingsOf(item) }),
      size: item.size,
      file: known?.file
    }
  } satisfies Handed
})

/**
 * Has the engine fetch files of one source, at most {@link importSize}, and accounts for each. The ledger records the
 * import's name with the files requested, so that after an interruption the next run finds out how the import ended.
 * Fails only for what concerns every file.
 */
export const importFiles = Effect.fn("sync.importFiles")(function*(corpus: CorpusName, source: string, handed: ReadonlyArray<Handed>) {
  const ledger = yield* Ledger
  const { scope, spec } = yield* Session
  const note = (operation: string) => ledger.write(scope, { put: handed.map((one) => importIntent(one, operation)) })
  const before = yield* filesAt(corpus, handed)
  yield* note("")
  return yield* startImport(corpus, { _tag: "storage", uris: handed.map(({ uri }) => uri) }).pipe(
    Effect.tap((operation) => note(operation.name)),
    Effect.flatMap((operation) => follow(source, operation, handed.length)),
    Effect.filterOrFail(hasSucceeded, importError),
    Effect.matchEffect({
      onSuccess: Effect.fnUntraced(function*({ operation, results, unread }) {
        const imported = reconcile(handed, before, yield* filesAt(corpus, handed), operation, results)
        const left = yield* settle(handed, imported)
        return {
          outcomes: handed.map(({ entry }, index): FileOutcome => ({
            ...outcomeOf(entry, imported[index]),
            ...(imported[index]?._tag === "there" ? { unfit: unfitText(describeByPath(spec, entry.path)) } : {})
          })),
          note: `the service counted ${countsText(operation.counts)}${unread}${left}`,
          unnamed: none
        } satisfies ImportResult
      }),
      onFailure: Effect.fnUntraced(function*(error) {
        const { code: reason, message, retryable } = yield* ofImport(error)
        // UNKNOWN: it may have started all the same. The intents stay, and the next run checks.
        if (reason !== "UNKNOWN") yield* settle(handed, handed.map(() => ({ _tag: "failed", reason, message, retryable: true })))
        return {
          outcomes: handed.map(({ entry: { path } }): FileOutcome => ({ source, path, outcome: "failed", reason, message, retryable })),
          note: `the service did not import: ${message}`,
          unnamed: none
        } satisfies ImportResult
      })
    })
  )
})

/** The failure of one import; fails where it concerns the whole run. */
const ofImport = (error: ServiceError | StateError): Effect.Effect<ServiceError, ServiceError | StateError> =>
  error._tag === "StateError" || concernsAll(error) ? Effect.fail(error) : Effect.succeed(error)

/**
 * Imports a source that only the engine lists.
 *
 * @param earlier the operation of an import that an earlier run started: it is followed instead
 */
export const importWhole = Effect.fn("sync.importWhole")(
  function*(corpus: CorpusName, id: string, source: ImportSource, earlier: string | undefined) {
    const ledger = yield* Ledger
    const { operations } = yield* serviceOf
    const { scope } = yield* Session
    let before: ReadonlyMap<RagFileName, RagFile> | undefined
    const start = Effect.gen(function*() {
      before = yield* allFiles(corpus)
      yield* ledger.write(scope, { put: [wholeImportIntent(id, "")] })
      const operation = yield* startImport(corpus, source)
      yield* ledger.write(scope, { put: [wholeImportIntent(id, operation.name)] })
      return operation
    })
    // An import that failed meanwhile is started again: the reason may be gone.
    const resume = (name: string) =>
      operations.wait(OperationName.make(name), 0).pipe(
        Effect.catchIf((error): error is ServiceError => error.code === "NOT_FOUND", () => Effect.undefined),
        Effect.flatMap((operation) => operation === undefined || operation.error !== undefined ? start : Effect.succeed(operation))
      )
    return yield* (earlier === undefined ? start : resume(earlier)).pipe(
      Effect.flatMap((operation) => follow(id, operation)),
      Effect.filterOrFail(hasSucceeded, importError),
      Effect.matchEffect({
        onSuccess: (followed) => accountWhole(corpus, id, source, before, followed),
        onFailure: Effect.fnUntraced(function*(error) {
          const { code: reason, message, retryable } = yield* ofImport(error)
          if (reason !== "UNKNOWN") yield* ledger.write(scope, { remove: [wholeImportIntent(id, "")] })
          return {
            outcomes: [{ source: id, path: wholeSource, outcome: "failed", reason, message, retryable }],
            note: "the service did not import it",
            unnamed: none
          } satisfies ImportResult
        })
      })
    )
  }
)

/** Names the files of a finished import as far as they can be identified, and records them in the ledger. */
const accountWhole = Effect.fnUntraced(function*(
  corpus: CorpusName,
  id: string,
  source: ImportSource,
  before: ReadonlyMap<RagFileName, RagFile> | undefined,
  { operation: { counts, partialFailures }, results, unread }: Followed
) {
  const ledger = yield* Ledger
  const { scope } = yield* Session
  const failures = results.length > 0
    ? results.filter(({ status }) => status === "failed").map((result) => failureOf(id, result, partialFailures))
    : partialFailures.map(({ code, message }): FileOutcome => ({
      source: id,
      path: /[a-z]+:\/\/\S+/.exec(message)?.[0] ?? wholeSource,
      outcome: "failed",
      reason: code,
      message
    }))
  const known = (yield* entriesOf(scope, [id], isServiceEntry)).get(id) ?? []
  const after = yield* allFiles(corpus)
  const named = nameServiceFiles({ source, before, after, counts, results, known })
  // Objects in storage are identified by their addresses, whichever side lists them.
  const keeps = source._tag !== "storage"
  const put = keeps ? named.flatMap(({ file, uri }) => file === undefined ? [] : [serviceEntry(id, { file, uri })]) : []
  yield* ledger.write(scope, {
    remove: [wholeImportIntent(id, ""), ...known.filter(({ file }) => file === undefined || !after.has(file))],
    put
  })

  const outcomes = [...failures, ...named.map(({ outcome, uri }): FileOutcome => ({ source: id, path: uri, outcome }))]
  const unnamedOf = (count: number | undefined, ...kinds: ReadonlyArray<FileOutcome["outcome"]>) =>
    Math.max(0, (count ?? 0) - outcomes.filter(({ outcome }) => kinds.includes(outcome)).length)
  const unnamed = {
    added: unnamedOf(counts?.imported, "added", "changed"),
    unchanged: unnamedOf(counts?.skipped, "unchanged"),
    failed: unnamedOf(counts?.failed, "failed")
  }
  const stored = (counts?.imported ?? 0) + (counts?.skipped ?? 0)
  const unknown = keeps && stored > put.length
    ? `; ${stored - put.length} of them cannot be distinguished from other files of the corpus`
    : ""
  return {
    outcomes,
    note: `the service counted ${countsText(counts)}${unread}${unknown}`,
    unnamed,
    held: keeps && failures.length + unnamed.failed === 0 ? yield* deleteOurs(id, stored) : undefined
  } satisfies ImportResult
})

/** Deletes the files of a source that were uploaded from here, once the engine has all of it. */
const deleteOurs = Effect.fnUntraced(function*(id: string, stored: number) {
  const { scope } = yield* Session
  const entries = (yield* entriesOf(scope, [id], isOurs)).get(id)
  if (entries === undefined) return undefined
  // If the source is ever listed from here again, it is listed in full.
  yield* (yield* Ledger).setListing(scope, id, { cursor: "", signature: "", whole: 0, again: [] })
  return yield* deleteSuperseded(entries, stored).pipe(
    Effect.as(undefined),
    Effect.catchTag("Held", Effect.succeed)
  )
})

/**
 * Finds out how imports that an earlier run started have ended. Imports of sources that only the engine lists are not
 * awaited: their operations are returned, by source, for the caller to follow.
 */
export const settleImports = Effect.fn("sync.settleImports")(function*(corpus: CorpusName) {
  const ledger = yield* Ledger
  const { operations } = yield* serviceOf
  const { scope } = yield* Session
  const whole = new Map<string, string>()
  const byOperation = new Map<string, Array<Handed>>()
  yield* ledger.entries(scope, ["intent"]).pipe(
    Stream.filter(isImporting),
    Stream.runForEach((entry) =>
      Effect.sync(() => {
        const { handed, operation } = importOf(entry)
        if (entry.path !== wholeSource) byOperation.set(operation, [...(byOperation.get(operation) ?? []), handed])
        else if (operation !== "") whole.set(entry.source, operation)
      })
    )
  )
  for (const [name, handed] of byOperation) {
    const followed = name === "" ? yield* allImportsOver(corpus) : yield* operations.wait(OperationName.make(name), 0).pipe(
      Effect.flatMap((operation) => follow(handed[0]?.entry.source ?? "", operation, handed.length)),
      Effect.catchIf((error) => !concernsAll(error), () => Effect.undefined)
    )
    yield* settle(
      handed,
      followed === undefined || !hasSucceeded(followed)
        ? handed.map(() => interrupted)
        : reconcile(handed, undefined, yield* filesAt(corpus, handed), followed.operation, followed.results)
    )
  }
  return whole
})

/** Waits for every running import into this corpus: one of them may be this pipeline's, and the next would run beside it. */
const allImportsOver = (corpus: CorpusName) =>
  Stream.unwrap(Effect.map(serviceOf, ({ operations }) => pages(operations.list))).pipe(
    Stream.filter(({ done, kind, target }) => kind === "importFiles" && target === corpus && !done),
    Stream.runForEach((operation) => Effect.ignore(follow("", operation))),
    Effect.as(undefined)
  )

const startImport = Effect.fnUntraced(function*(corpus: CorpusName, source: ImportSource) {
  const files = yield* Files
  const { spec: { chunking, maxEmbeddingRequestsPerMinute, parsing, resultSink: sink } } = yield* Session
  const resultSink = sink === undefined ? undefined : ownSink(sink, yield* Clock.currentTimeMillis)
  const started = yield* files.import({ corpus, source, chunking, parsing, maxEmbeddingRequestsPerMinute, resultSink })
  return { ...started, resultSink: resultSink ?? started.resultSink }
})

/** Number of imports started by this process, so that no two write to one object. */
let importCount = 0

/**
 * The service refuses to overwrite an object: `results.ndjson` becomes `results-20260101T000000123-0.ndjson`. A table
 * takes the rows of many imports.
 */
const ownSink = (sink: string, now: number): string => {
  if (!sink.startsWith("gs://")) return sink
  const stamp = new Date(now).toISOString().replace(/[-:.Z]/g, "")
  return sink.replace(/(\.[^./]*)?$/, (extension) => `-${stamp}-${importCount++}${extension}`)
}

/** A finished import, which may have failed as a whole, and its results by file. */
interface Followed {
  readonly operation: Operation
  readonly results: ReadonlyArray<ImportedFile>
  /** Why the results could not be read, for the note. */
  readonly unread: string
}

const follow = Effect.fnUntraced(
  function*(source: string, started: Operation, files?: number): Effect.fn.Return<Followed, ServiceError, Engine | Session> {
    const { operations, results } = yield* serviceOf
    const { emit } = yield* Session
    let operation = started
    for (;;) {
      yield* emit({ type: "importing", source, operation: operation.name, progress: operation.done ? 100 : operation.progress ?? 0, files })
      if (operation.done) break
      operation = yield* operations.wait(operation.name, tellEvery)
    }
    const sink = operation.resultSink ?? started.resultSink
    if (operation.error !== undefined || sink === undefined) return { operation, results: [], unread: "" }
    // Where results cannot be read, the counts and the corpus have to do.
    return yield* Effect.match(results(sink), {
      onSuccess: (found = []) => ({ operation, results: found, unread: "" }),
      onFailure: ({ message }) => ({ operation, results: [], unread: `; its result could not be read: ${message}` })
    })
  }
)

const hasSucceeded = ({ operation }: Followed): boolean => operation.error === undefined

const importError = ({ operation }: Followed): ServiceError =>
  operationError("import", operation, operation.error === undefined ? undefined : importFixes[operation.error.code])

const importFixes: Partial<Record<ServiceError["code"], string>> = {
  RESOURCE_EXHAUSTED: "run again later; a lower import.maxEmbeddingRequestsPerMinute, or a higher quota of the embedding model, avoids it"
}

/** Files of the corpus that came from these addresses: the newest of each. */
const filesAt = Effect.fnUntraced(function*(corpus: CorpusName, handed: ReadonlyArray<Handed>) {
  const addresses = new Set(handed.map(({ uri }) => uriKey(uri)))
  const newest = new Map<string, RagFile>()
  yield* filesOf(corpus).pipe(Stream.runForEach((file) =>
    Effect.sync(() => {
      const uri = uriKey(file.sourceUri)
      const other = newest.get(uri)
      if (addresses.has(uri) && (other === undefined || other.createTime < file.createTime)) newest.set(uri, file)
    })
  ))
  return newest
})

const allFiles = (corpus: CorpusName) =>
  filesOf(corpus).pipe(Stream.runFold(() => new Map<RagFileName, RagFile>(), (all, file) => all.set(file.name, file)))

const filesOf = (corpus: CorpusName) => Stream.unwrap(Effect.map(Files, (files) => pages((page) => files.list(corpus, page), pageSize)))

/**
 * Records how each file's import ended. A version of ours that was replaced is deleted once the new one is there; so is
 * the staged object, unless the engine has to fetch it once more. Only then is the end recorded: until then a later run
 * settles it again. Returns a note for the report.
 */
const settle = Effect.fnUntraced(function*(handed: ReadonlyArray<Handed>, imported: ReadonlyArray<Imported>) {
  const files = yield* Files
  const ledger = yield* Ledger
  const { scope, spec } = yield* Session
  const note = yield* unstage(handed.filter(({ staged }, index) => staged === true && isOver(imported[index])))
  const put: Array<LedgerEntry> = []
  const remove: Array<LedgerEntry> = []
  for (const [index, { entry, from }] of handed.entries()) {
    const end = imported[index]
    if (end?._tag === "there") {
      const old = entry.file
      const described = describeByPath(spec, entry.path)
      if (described !== undefined) {
        const kept = old === end.file.name ? [] : yield* writtenByPeople(old)
        yield* writeDescribed(end.file.name, described, kept)
      }
      if (old !== undefined && old !== end.file.name) yield* files.delete(old).pipe(ignoreMissing)
      put.push({ ...entry, file: end.file.name })
      if (from !== undefined) remove.push(from)
    } else if (end !== undefined) {
      const { file = entry.file, message, reason, retryable } = end
      put.push({ ...entry, state: retryable ? "failed" : "quarantined", reason, message, file })
    }
  }
  yield* ledger.write(scope, { put, remove })
  return note
})

/** Removes staged objects. A failure to remove them only costs their storage, and is a note. */
const unstage = Effect.fnUntraced(function*(staged: ReadonlyArray<Handed>) {
  const { objects } = yield* serviceOf
  const [, failures] = yield* Effect.partition(staged, ({ uri }) => objects.delete(uri), { concurrency })
  const [first] = failures
  return first === undefined
    ? ""
    : `; ${plural(failures.length, "staged object")} could not be removed: ${first.message}`
})

/** Failure of a file of a source that only the engine lists, from its result. */
const failureOf = (source: string, { message, uri }: ImportedFile, failures: Operation["partialFailures"]): FileOutcome => {
  const failure = failures.find((failure) => failure.message.endsWith(uri))
  return {
    source,
    path: uri,
    outcome: "failed",
    reason: failure?.code ?? "failed",
    message: message ?? failure?.message ?? "the service gives no details"
  }
}

const none = { added: 0, unchanged: 0, failed: 0 }
