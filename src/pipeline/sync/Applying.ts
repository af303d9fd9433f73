import { Effect, Semaphore } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { DocumentError, SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import { budgetSpent } from "../../ports/EmbeddingBudget.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { Files } from "../../ports/Files.ts"
import type { Ledger, LedgerChange, LedgerEntry, Scan } from "../../ports/Ledger.ts"
import { decide } from "./Decision.ts"
import { driftOf } from "./Drift.ts"
import * as Fingerprint from "./Fingerprint.ts"
import type { Work } from "./Scanning.ts"
import type { Handed } from "./Imported.ts"
import { stage, stagedUri } from "./Staging.ts"
import { markerSource, type SyncSource, type SyncSpec } from "./SyncSpec.ts"

/** Bytes of items under way at once, whatever the concurrency. */
const bytesInFlight = 128 * 1024 * 1024
const assumedSize = 1024 * 1024

export interface Applied {
  readonly outcome: FileOutcome
  /** Undefined where the engine does not tell. */
  readonly embeddedTokens: number | undefined
}

/** The item was not stored: nothing is left of what the run may embed. It is as it was before. */
export interface OverBudget {
  readonly overBudget: true
}

/** The item's bytes are where the engine fetches them; what becomes of it, the import tells. */
export interface Staged {
  readonly staged: Handed
}

/**
 * Brings the target in line with one item: decides, notes the intent, writes, confirms. A failure of the item is an
 * outcome; only what concerns every item (state, credentials, quota) fails the effect.
 */
export const make = Effect.fnUntraced(function*(input: {
  readonly spec: SyncSpec
  readonly sources: ReadonlyArray<SyncSource>
  readonly corpus: CorpusName
  readonly scan: Scan
  readonly settings: string
  readonly retryFailed: boolean
  readonly engine: Engine["Service"]
  readonly files: Files["Service"]
  readonly ledger: Ledger["Service"]
  readonly scope: string
}) {
  const { corpus, engine, files, ledger, scope, spec } = input
  /** Sets an entry; `drop` is one that goes in the same breath: the path a moved item had. */
  const record = (entry: LedgerEntry, drop?: LedgerEntry) =>
    ledger.write(scope, { put: [entry], remove: drop === undefined ? undefined : [drop] })
  const sources = new Map(input.sources.map((source) => [source.id, source]))
  const bytes = yield* Semaphore.make(bytesInFlight)

  const facts = Effect.fnUntraced(function*(work: Work, entry: LedgerEntry, from: LedgerEntry | undefined) {
    if (entry.file === undefined) return
    const { item } = work
    // What cannot be changed keeps its old marker: should the ledger be lost, its content tells that it has moved.
    if (engine.immutableFiles !== true) {
      yield* files.update(entry.file, {
        displayName: item.displayName,
        sourceUri: item.uri,
        marker: markerOf(entry),
        // What the source does not say any more does not hold any more.
        metadata: item.metadata ?? null,
        permissions: item.permissions ?? null
      })
    }
    yield* record(entry, from)
  })

  const markerOf = (entry: LedgerEntry) => ({
    source: markerSource(spec.pipeline, entry.source),
    pathHash: Fingerprint.pathHash(entry.path),
    fingerprint: entry.fingerprint
  })

  /** Stores the item and records it; `drop` as in {@link record}. */
  const upload = Effect.fnUntraced(function*(work: Work, content: Uint8Array, entry: LedgerEntry, drop: LedgerEntry | undefined) {
    const { item } = work
    const change = (file: RagFileName): LedgerChange => ({ put: [{ ...entry, file }], remove: drop === undefined ? undefined : [drop] })
    if (engine.ledgerWithFiles !== true) yield* record({ ...entry, state: "intent" })
    const uploaded = yield* files.upload({
      corpus,
      displayName: item.displayName,
      content,
      sourceUri: item.uri,
      chunking: spec.chunking,
      parsing: spec.parsing,
      marker: markerOf(entry),
      mimeType: item.mimeType,
      metadata: item.metadata,
      permissions: item.permissions,
      opened: item.opened === true ? true : undefined,
      replaces: entry.file
    }, { scope, change })
    if (engine.ledgerWithFiles !== true) yield* ledger.write(scope, change(uploaded.file.name))
    return uploaded
  })

  /** The item is not taken: what the target held of it goes, and the ledger remembers why. */
  const refuse = Effect.fnUntraced(function*(entry: LedgerEntry, error: DocumentError) {
    if (entry.file !== undefined) yield* files.delete(entry.file).pipe(ignoreMissing)
    const { file: _, ...rest } = entry
    yield* record({ ...rest, state: "skipped", reason: error.problem, message: error.message })
  })

  const apply = Effect.fnUntraced(function*(
    work: Work
  ): Effect.fn.Return<Applied | Staged | OverBudget, StateError | ServiceError | SecretError> {
    const { item, source } = work
    const { connector, staging } = sources.get(source) ?? {}
    const base = { source, path: item.path, bytes: item.size }
    const plain = (outcome: FileOutcome): Applied => ({ outcome, embeddedTokens: 0 })
    if (connector === undefined) return plain({ ...base, outcome: "pending" })

    const decision = yield* decide({
      work,
      connector,
      scan: input.scan,
      settings: input.settings,
      engine,
      retryFailed: input.retryFailed
    })
    switch (decision._tag) {
      case "unchanged":
        if (decision.stale) yield* record(decision.entry, renamed(work, decision.entry))
        return plain({ ...base, outcome: "unchanged" })
      case "settled": {
        const { entry, outcome } = decision
        if (decision.stale) yield* record(entry, renamed(work, entry))
        return plain({
          ...base,
          outcome,
          ...(entry.reason === undefined ? {} : { reason: entry.reason }),
          ...(entry.message === undefined ? {} : { message: entry.message })
        })
      }
      case "unreadable":
        return plain({ ...base, outcome: decision.outcome, ...whyUnreadable(decision.error) })
      case "facts": {
        const { entry, from } = decision
        const done = yield* Effect.result(facts(work, entry, from ?? renamed(work, entry)))
        if (done._tag === "Failure") return yield* failed(base, entry, done.failure)
        return plain({
          ...base,
          outcome: from === undefined ? "changed" : "moved",
          ...(from === undefined ? {} : { from: from.path })
        })
      }
      case "upload": {
        const { content, entry, from } = decision
        if (staging !== undefined && engine.imports !== undefined) {
          const uri = stagedUri(staging, { pipeline: spec.pipeline, parent: engine.parent }, entry, item.displayName)
          const put = yield* Effect.result(stage(engine.imports.objects, uri, content, item.mimeType))
          if (put._tag === "Failure") return yield* failed(base, entry, put.failure)
          const other = from ?? renamed(work, entry)
          return { staged: { uri, entry, staged: true, from: other } }
        }
        const sent = yield* Effect.result(upload(work, content, entry, from ?? renamed(work, entry)))
        if (sent._tag === "Success") {
          const { embedded, embeddedTokens, file, remark } = sent.success
          return {
            outcome: {
              ...base,
              outcome: decision.outcome,
              bytes: content.length,
              ...driftOf(work),
              ...(remark === undefined ? {} : { remark }),
              ...(file.chunks === undefined ? {} : { chunks: file.chunks }),
              ...(file.tokens === undefined ? {} : { tokens: file.tokens }),
              ...(embedded === undefined ? {} : { embedded })
            },
            embeddedTokens
          }
        }
        if (sent.failure._tag === "ServiceError" && sent.failure.reason === budgetSpent) {
          yield* ledger.write(scope, { remove: [entry], put: work.known === undefined ? [] : [work.known] })
          return { overBudget: true }
        }
        if (sent.failure._tag === "DocumentError" && sent.failure.skips) {
          yield* refuse(entry, sent.failure)
          return plain({ ...base, outcome: "skipped", reason: sent.failure.problem, message: sent.failure.message })
        }
        return yield* failed(base, entry, sent.failure)
      }
    }
  })

  const failed = Effect.fnUntraced(function*(
    base: Pick<FileOutcome, "source" | "path">,
    entry: LedgerEntry,
    error: ServiceError | DocumentError | StateError
  ): Effect.fn.Return<Applied, StateError | ServiceError> {
    if (error._tag === "StateError" || (error._tag === "ServiceError" && concernsAll(error))) return yield* error
    const retryable = error._tag === "ServiceError" && error.retryable
    const why = { reason: error._tag === "ServiceError" ? error.code : error.problem, message: error.message }
    // UNKNOWN: it may be stored all the same. The intent stays, and the next run looks before it sends again.
    const state = why.reason === "UNKNOWN" ? "intent" : retryable ? "failed" : "quarantined"
    yield* record({ ...entry, state, ...why })
    return { outcome: { ...base, outcome: "failed", ...why, retryable }, embeddedTokens: 0 }
  })

  return (work: Work) =>
    bytes.withPermits(Math.min(bytesInFlight, Math.max(1, work.item.size ?? assumedSize)))(apply(work))
})

/** The entry that waited under its path's hash for the listing to name it. */
const renamed = (work: Work, entry: LedgerEntry): LedgerEntry | undefined =>
  work.known !== undefined && work.known.path !== entry.path ? work.known : undefined

/** Errors that the next file would meet too: the run ends, and what was not reached is pending. */
export const concernsAll = (error: ServiceError): boolean =>
  error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED" || error.code === "RESOURCE_EXHAUSTED" ||
  error.code === "CANCELLED" || (error.code === "FAILED_PRECONDITION" && error.violations === undefined)

export const ignoreMissing = <A, R>(effect: Effect.Effect<A, ServiceError, R>): Effect.Effect<void, ServiceError, R> =>
  Effect.catchIf(Effect.asVoid(effect), (error) => error.code === "NOT_FOUND", () => Effect.void)

export const whyUnreadable = (error: ServiceError | SecretError): Pick<FileOutcome, "reason" | "message" | "retryable"> => {
  if (error._tag === "SecretError") return { reason: "secret", message: error.message, retryable: true }
  const reason = error.code === "NOT_FOUND" ? "gone" : error.code === "OUT_OF_RANGE" ? "limit" : error.code
  return { reason, message: error.message, retryable: error.retryable || error.code === "PERMISSION_DENIED" }
}
