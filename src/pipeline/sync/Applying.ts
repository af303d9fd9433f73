import { Effect, Semaphore } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { joinedRemarks } from "../../domain/Document.ts"
import { asServiceError, type DocumentError, type SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { budgetSpent } from "../../ports/EmbeddingBudget.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerChange, type LedgerEntry, type Scan } from "../../ports/Ledger.ts"
import { describing } from "../../domain/MetadataRules.ts"
import { decide, type Decision, readItem, whyDrifted } from "./Decision.ts"
import { describeAgain, describeWhole, unfitText, writeDescribed, writtenByPeople } from "./Describing.ts"
import { concernsAll, ignoreMissing, messageWithFix, OverBudget } from "./Failures.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { itemName } from "./ItemName.ts"
import type { Handed } from "./ServiceFiles.ts"
import { markerSource, Session, type SyncSource, type Work } from "./Session.ts"

/**
 * Most bytes of items in progress at once, whatever the concurrency: a larger item is processed alone. An item of unknown
 * size counts as `assumedSize`.
 */
const bytesInProgress = 32 * 1024 * 1024
const assumedSize = 256 * 1024

/** Outcome of an item; or `staged`: its bytes are where the engine fetches them, and the import reports the outcome. */
export type Applied =
  | {
    readonly _tag: "settled"
    readonly outcome: FileOutcome
    /** Undefined where the engine does not report it. */
    readonly embeddedTokens: number | undefined
  }
  | { readonly _tag: "staged"; readonly handed: Handed }

type Upload = Extract<Decision, { readonly _tag: "upload" }>
type Failure = StateError | ServiceError | SecretError | OverBudget

/**
 * Makes the function that brings the target in line with one item: decides, records the intent, writes, confirms. A
 * failure of the item is an outcome; the effect fails only for what concerns every item (state, credentials, quota, the
 * budget).
 */
export const makeApply = Effect.fnUntraced(function*(corpus: CorpusName, sources: ReadonlyArray<SyncSource>, scan: Scan) {
  const bytes = yield* Semaphore.make(bytesInProgress)
  const byId = new Map(sources.map((source) => [source.id, source]))
  return (work: Work) => {
    const source = byId.get(work.source)
    return source === undefined
      ? Effect.succeed(settled(work, { outcome: "pending" }))
      : bytes.withPermits(Math.min(bytesInProgress, Math.max(1, work.item.size ?? assumedSize)))(apply(corpus, source, scan, work))
  }
})

const apply = Effect.fnUntraced(function*(
  corpus: CorpusName,
  source: SyncSource,
  scan: Scan,
  work: Work
): Effect.fn.Return<Applied, Failure, Engine | Files | Ledger | Session> {
  const { imports } = yield* Engine
  const decision = yield* decide(work, source.connector, scan)
  switch (decision._tag) {
    case "keep": {
      const { entry, outcome } = decision
      if (entry !== undefined) yield* record(entry, renamed(work, entry))
      return settled(work, outcome)
    }
    case "facts": {
      const { entry, from } = decision
      return yield* updateFacts(work, entry, from, source).pipe(
        Effect.map((unfit) =>
          settled(work, from === undefined ? { outcome: "changed", unfit } : { outcome: "moved", from: from.path, unfit })
        ),
        Effect.catch((error) => fail(work, entry, error))
      )
    }
    case "upload": {
      const { entry } = decision
      const sent: Effect.Effect<Applied, ServiceError | DocumentError | StateError, Engine | Files | Ledger | Session> =
        source.staging !== undefined && imports !== undefined
          ? stage(work, decision, source.staging, imports.objects)
          : upload(corpus, work, decision)
      return yield* sent.pipe(
        Effect.catch((error): Effect.Effect<Applied, Failure, Files | Ledger | Session> =>
          error._tag === "ServiceError" && error.reason === budgetSpent
            ? overBudget(work, entry)
            : error._tag === "DocumentError" && error.skips
            ? refuse(work, entry, error)
            : fail(work, entry, error)
        )
      )
    }
  }
})

const settled = ({ item: { path, size }, source }: Work, outcome: Omit<FileOutcome, "source" | "path">) =>
  ({
    _tag: "settled",
    outcome: { source, path, bytes: size, ...outcome },
    embeddedTokens: 0
  }) satisfies Applied

/** The entry to remove that was recorded under its path's hash until the listing named the path. */
const renamed = ({ known }: Work, entry: LedgerEntry): LedgerEntry | undefined =>
  known !== undefined && known.path !== entry.path ? known : undefined

/** Sets an entry and, where the item has moved, removes the entry of its former path in the same transaction. */
const change = (entry: LedgerEntry, drop: LedgerEntry | undefined): LedgerChange => ({
  put: [entry],
  remove: drop === undefined ? [] : [drop]
})

const record = Effect.fnUntraced(function*(entry: LedgerEntry, drop?: LedgerEntry) {
  const { scope } = yield* Session
  yield* (yield* Ledger).write(scope, change(entry, drop))
})

const markerOf = (pipeline: string, { fingerprint, path, source }: LedgerEntry) => ({
  source: markerSource(pipeline, source),
  pathHash: Fingerprint.pathHash(path),
  fingerprint
})

/** Updates the facts about a file, and returns which metadata rules it breaks. `from` as in {@link Decision}. */
const updateFacts = Effect.fnUntraced(function*(work: Work, entry: LedgerEntry, from: LedgerEntry | undefined, source: SyncSource) {
  if (entry.file === undefined) return undefined
  const { item, known } = work
  const engine = yield* Engine
  const files = yield* Files
  const { parserOf, spec: { pipeline } } = yield* Session
  const parser = parserOf(item)
  const read = readItem(source.connector, item, parser?.maxBytes ?? engine.maxFileBytes).pipe(
    Effect.mapError(asServiceError),
    Effect.flatMap((content) => parser === undefined ? Effect.succeed({ content }) : parser.read(item, content))
  )
  const described = yield* describeAgain(item, from ?? known, entry, read)
  // Files that cannot be changed keep their old marker: should the ledger be lost, the content shows that the file has moved.
  if (engine.immutableFiles !== true) {
    yield* files.update(entry.file, {
      displayName: item.displayName,
      sourceUri: item.uri,
      marker: markerOf(pipeline, entry),
      // `null` removes what the source no longer has.
      metadata: item.metadata ?? null,
      permissions: item.permissions ?? null,
      described
    })
  }
  if (described !== undefined && engine.metadata?.withFiles === false) yield* writeDescribed(entry.file, described)
  yield* record(entry, from ?? renamed(work, entry))
  return unfitText(described)
})

/** Stores an item and records it. */
const upload = Effect.fnUntraced(function*(corpus: CorpusName, work: Work, { content, entry, from, outcome }: Upload) {
  const engine = yield* Engine
  const files = yield* Files
  const ledger = yield* Ledger
  const { parserOf, scope, spec } = yield* Session
  const { displayName, metadata, mimeType, opened, permissions, uri } = work.item
  const changeTo = (file: RagFileName) => change({ ...entry, file }, from ?? renamed(work, entry))
  const made = yield* parserOf(work.item)?.read(work.item, content) ?? Effect.undefined
  const after = engine.metadata?.withFiles === false && spec.metadata !== undefined
    ? { described: yield* describeWhole(work.item, Effect.succeed(made ?? { content })), kept: yield* writtenByPeople(entry.file) }
    : undefined
  if (engine.ledgerWithFiles !== true) yield* record({ ...entry, state: "intent" })
  const { described = after?.described, embedded, embeddedTokens, file, remark } = yield* files.upload({
    corpus,
    displayName,
    content: made?.content ?? content,
    name: itemName(work.item),
    madeMarkdown: made !== undefined,
    sourceUri: uri,
    chunking: spec.chunking,
    cutting: spec.cutting,
    // A service's parser has nothing to do for Markdown that a parser made here.
    parsing: made === undefined ? spec.parsing : { _tag: "default" },
    marker: markerOf(spec.pipeline, entry),
    mimeType: made?.mimeType ?? mimeType,
    metadata: made?.remark === undefined ? metadata : { ...metadata, remark: made.remark },
    permissions,
    opened,
    // Without rules, this removes metadata that earlier rules made.
    describing: after === undefined && engine.metadata !== undefined && (spec.metadata !== undefined || entry.file !== undefined)
      ? describing(spec.metadata ?? {}, work.item.path)
      : undefined,
    replaces: entry.file
  }, { scope, change: changeTo })
  if (after !== undefined) {
    yield* writeDescribed(file.name, after.described, after.kept, true).pipe(
      Effect.mapError((error) => concernsAll(error) ? error : undescribed(error))
    )
  }
  if (engine.ledgerWithFiles !== true) yield* ledger.write(scope, changeTo(file.name))
  const { chunks, tokens } = file
  return {
    ...settled(work, {
      outcome,
      bytes: content.length,
      ...whyDrifted(work),
      remark: joinedRemarks(made?.remark, remark),
      unfit: unfitText(described),
      chunks,
      tokens,
      embedded
    }),
    embeddedTokens
  }
})

/** The intent stays, and the next run checks what is stored. */
const undescribed = (error: ServiceError): ServiceError =>
  new ServiceError({ code: "UNKNOWN", message: `the file is stored, and its metadata may not be: ${error.message}`, fix: error.fix })

/** Most characters of a name, counted from its end: object names have up to 1,024 bytes. */
const longestName = 128

/**
 * Puts the content where the engine fetches it: `{prefix}/{path hash}/{content hash}/{name}`. The service takes the name
 * for the file's, and detects the format by it. Equal content is the same object, so that nothing is sent twice;
 * different content is another object, so that an import sees the change. The path hash also covers the pipeline, its
 * source and the place of its corpus: no other pipeline waits for an object that this one removes.
 */
const stage = Effect.fnUntraced(function*(work: Work, { content, entry, from }: Upload, prefix: string, objects: ObjectStore["Service"]) {
  const { parent } = yield* Engine
  const { parserOf, spec: { pipeline } } = yield* Session
  const { item: { displayName, mimeType, path }, source } = work
  const made = yield* parserOf(work.item)?.read(work.item, content) ?? Effect.undefined
  const owner = Fingerprint.pathHash([parent, markerSource(pipeline, source), path].join("\n"))
  const name = lastSegment(displayName).replace(/[\r\n]/g, " ")
  const uri = [
    prefix.replace(/\/+$/, ""),
    owner,
    made === undefined ? Fingerprint.parse(entry.fingerprint).content : Fingerprint.contentHash(made.content),
    Array.from(made === undefined ? name : `${name}.md`).slice(-longestName).join("")
  ].join("/")
  yield* objects.put(uri, made?.content ?? content, { when: "absent", contentType: made?.mimeType ?? mimeType }).pipe(
    Effect.catchIf(({ code }) => code === "ALREADY_EXISTS", () => Effect.void)
  )
  return { _tag: "staged", handed: { uri, entry, staged: true, from: from ?? renamed(work, entry) } } satisfies Applied
})

/** Skips an item: deletes what the target has of it, and records why in the ledger. */
const refuse = Effect.fnUntraced(function*(work: Work, entry: LedgerEntry, { message, problem }: DocumentError) {
  if (entry.file !== undefined) yield* (yield* Files).delete(entry.file).pipe(ignoreMissing)
  const { file: _, ...rest } = entry
  yield* record({ ...rest, state: "skipped", reason: problem, message })
  return settled(work, { outcome: "skipped", reason: problem, message })
})

/** Undoes the intent. */
const overBudget = Effect.fnUntraced(function*({ known }: Work, entry: LedgerEntry) {
  const { scope } = yield* Session
  yield* (yield* Ledger).write(scope, { remove: [entry], put: known === undefined ? [] : [known] })
  return yield* new OverBudget()
})

/** Records that an item could not be stored. */
const fail = Effect.fnUntraced(function*(work: Work, entry: LedgerEntry, error: ServiceError | DocumentError | StateError) {
  if (error._tag === "StateError" || (error._tag === "ServiceError" && concernsAll(error))) return yield* error
  const [reason, retryable, message] = error._tag === "ServiceError"
    ? [error.code, error.retryable, messageWithFix(error)] as const
    : [error.problem, false, error.message] as const
  // UNKNOWN: it may have been stored all the same. The intent stays, and the next run checks before it sends again.
  const state = reason === "UNKNOWN" ? "intent" : retryable ? "failed" : "quarantined"
  yield* record({ ...entry, state, reason, message })
  return settled(work, { outcome: "failed", reason, message, retryable })
})
