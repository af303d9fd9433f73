import { Effect, Schedule } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import type { Connector, SourceItem } from "../../ports/Connector.ts"
import { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry, Scan } from "../../ports/Ledger.ts"
import { unreadableOutcome } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { readPieces } from "./Guarded.ts"
import { badMetadata, drifted, overlap, Session, type Work } from "./Session.ts"

/** What an item's bytes call for. Made by looking only, so that `plan` and `run` cannot disagree. */
export type Decision =
  /** The target stays as it is: it is right, the item is known not to be taken, or its bytes cannot be read. */
  | {
    readonly _tag: "keep"
    readonly outcome: Pick<FileOutcome, "outcome" | "reason" | "message" | "retryable">
    /** What the ledger is to have of it, where that is new. */
    readonly entry?: LedgerEntry
  }
  /** Same content: only facts about the file change. `from` where it had another path. */
  | { readonly _tag: "facts"; readonly entry: LedgerEntry; readonly from?: LedgerEntry }
  | {
    readonly _tag: "upload"
    readonly outcome: "added" | "changed"
    readonly content: Uint8Array
    readonly entry: LedgerEntry
    /** An entry under another path that this upload takes the place of. */
    readonly from?: LedgerEntry
  }

export const decide = (work: Work, connector: Connector, scan: Scan): Effect.Effect<Decision, StateError, Engine | Session> => {
  const unreadable = (error: ServiceError | SecretError) => Effect.succeed<Decision>({ _tag: "keep", outcome: unreadableOutcome(error) })
  return decideReadable(work, connector, scan).pipe(Effect.catchTags({ ServiceError: unreadable, SecretError: unreadable }))
}

/** {@link decide}, which fails where the bytes cannot be read. */
const decideReadable = Effect.fnUntraced(function*(
  { item, known, source }: Work,
  connector: Connector,
  scan: Scan
): Effect.fn.Return<Decision, ServiceError | SecretError | StateError, Engine | Session> {
  const engine = yield* Engine
  const { parserOf, retryFailed, rules, settingsOf } = yield* Session
  const settings = settingsOf(item)
  const facts = Fingerprint.factsHash(item, engine, rules)
  const before = known === undefined ? undefined : Fingerprint.parse(known.fingerprint)
  // Asked before the bytes are read: by then the file that was young when it was listed may have grown old enough.
  const settled = item.unsettled !== true ||
    (item.within === undefined && connector.settled !== undefined && (yield* connector.settled(item)))
  const entryWith = (content: string, size: number | undefined): LedgerEntry => ({
    source,
    path: item.path,
    state: "done",
    revision: settled ? item.revision : "",
    fingerprint: Fingerprint.format({ content, facts, settings }),
    size,
    file: known?.file
  })

  // The bytes are known to be the same: nothing to read, except where they have to be sent.
  const mayChange = (stored: string): boolean => engine.immutableFiles !== true || Fingerprint.sameFacts(stored, facts)
  if (
    before !== undefined && mayChange(before.facts) &&
    known?.state === "done" && known.revision === item.revision &&
    item.unsettled !== true && before.settings === settings
  ) {
    return { _tag: "facts", entry: entryWith(before.content, known.size) }
  }

  const content = yield* readItem(connector, item, parserOf(item)?.maxBytes ?? engine.maxFileBytes)
  const hash = Fingerprint.contentHash(content)
  const entry = entryWith(hash, content.length)
  const stale = known === undefined || known.revision !== entry.revision || known.path !== entry.path

  if (known !== undefined && before !== undefined && before.content === hash && before.settings === settings) {
    const stays = (outcome: "skipped" | "quarantined"): Decision => ({
      _tag: "keep",
      outcome: { outcome, reason: known.reason, message: known.message },
      entry: stale ? { ...known, path: entry.path, revision: entry.revision } : undefined
    })
    switch (known.state) {
      case "done":
        if (before.facts === facts) return { _tag: "keep", outcome: { outcome: "unchanged" }, entry: stale ? entry : undefined }
        if (mayChange(before.facts)) return { _tag: "facts", entry }
        break
      case "skipped":
        if (known.reason !== overlap) return stays("skipped")
        break
      case "quarantined":
        if (!retryFailed && (known.reason !== badMetadata || before.facts === facts)) return stays("quarantined")
        break
      case "failed":
      case "intent":
    }
  }

  if ((known === undefined || known.reason === overlap) && (yield* scan.mayMove(content.length))) {
    const from = yield* scan.claim(hash)
    if (from?.file !== undefined) {
      const moved: LedgerEntry = { ...entry, file: from.file }
      const stored = Fingerprint.parse(from.fingerprint)
      return stored.settings === settings && mayChange(stored.facts)
        ? { _tag: "facts", entry: moved, from }
        : { _tag: "upload", outcome: "changed", content, entry: moved, from }
    }
  }
  return { _tag: "upload", outcome: known?.file === undefined ? "added" : "changed", content, entry }
})

/** Why a file is stored again that the source did not change. */
export const whyDrifted = ({ known }: Pick<Work, "known">): Pick<FileOutcome, "reason" | "message"> =>
  known?.reason === drifted ? { reason: drifted, message: known.message } : {}

/** An item that changes while it is read is read again, this often. */
const rereads = 3
const rereading = Schedule.jittered(Schedule.exponential("200 millis"))

/** The whole of an item's bytes, bounded by `maxBytes`. */
export const readItem = (
  connector: Connector,
  item: SourceItem,
  maxBytes: number
): Effect.Effect<Uint8Array, ServiceError | SecretError> => {
  const read = Effect.map(
    readPieces(connector, item, maxBytes),
    (parts) => parts.length === 1 && parts[0] !== undefined ? parts[0] : concat(parts)
  )
  // Nearly all do not change meanwhile, and need no schedule.
  return Effect.catchIf(read, isChanging, (error) => {
    let again: typeof read = Effect.fail(error)
    const once = Effect.suspend(() => {
      const now = again
      again = read
      return now
    })
    return Effect.retry(once, { schedule: rereading, times: rereads, while: isChanging })
  })
}

const isChanging = (error: ServiceError | SecretError): boolean => error._tag === "ServiceError" && error.code === "ABORTED"

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
