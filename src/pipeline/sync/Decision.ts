import { Effect, Schedule } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import type { Connector, SourceItem } from "../../ports/Connector.ts"
import { Engine } from "../../ports/Engine.ts"
import { type LedgerEntry, recoveredPath, type Scan } from "../../ports/Ledger.ts"
import { readAlike } from "../../text/parse/Formats.ts"
import { unreadableOutcome } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { readPieces } from "./Guarded.ts"
import { badMetadata, drifted, overlap, Session, type Work } from "./Session.ts"

/** What to do with an item, given its bytes. Deciding writes nothing, so that `plan` and `run` cannot disagree. */
export type Decision =
  /** The target stays as it is: it is current, the item is known to be unusable, or its bytes cannot be read. */
  | {
    readonly _tag: "keep"
    readonly outcome: Pick<FileOutcome, "outcome" | "reason" | "message" | "retryable">
    /** The item's new ledger entry, where it changes. */
    readonly entry?: LedgerEntry
  }
  /** Same content: only facts about the file change. `from` is the entry of the path it had before, if another. */
  | { readonly _tag: "facts"; readonly entry: LedgerEntry; readonly from?: LedgerEntry }
  | {
    readonly _tag: "upload"
    readonly outcome: "added" | "changed"
    readonly content: Uint8Array
    readonly entry: LedgerEntry
    /** The entry of another path that this upload replaces. */
    readonly from?: LedgerEntry
  }

export const decide = (work: Work, connector: Connector, scan: Scan): Effect.Effect<Decision, StateError, Engine | Session> => {
  const unreadable = (error: ServiceError | SecretError) => Effect.succeed<Decision>({ _tag: "keep", outcome: unreadableOutcome(error) })
  return decideReadable(work, connector, scan).pipe(Effect.catchTags({ ServiceError: unreadable, SecretError: unreadable }))
}

/** Decides like {@link decide}, but fails where the bytes cannot be read. */
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
  // Checked before the bytes are read: a file too young when it was listed may have become old enough.
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

  // The bytes are known to be equal: they need not be read, unless they have to be sent.
  const mayChange = (stored: string): boolean => engine.immutableFiles !== true || Fingerprint.sameFacts(stored, facts)
  if (
    before !== undefined && mayChange(before.facts) &&
    known?.state === "done" && known.revision === item.revision &&
    item.unsettled !== true && before.settings === settings
  ) {
    return { _tag: "facts", entry: entryWith(before.content, known.size) }
  }

  const read = readItem(connector, item, parserOf(item)?.maxBytes ?? engine.maxFileBytes)
  const first = yield* read
  // Programs that save a file empty it first: a stored one that was emptied just now may be about to be written.
  const content = first.length === 0 && item.unsettled === true && known?.file !== undefined
    ? yield* Effect.delay(read, beforeReread)
    : first
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
      // Under a name of another format the same bytes are read differently. The old name of a recovered entry is not known.
      const isAlike = from.path.startsWith(recoveredPath("")) || readAlike(from.path, item.path)
      return stored.settings === settings && mayChange(stored.facts) && isAlike
        ? { _tag: "facts", entry: moved, from }
        : { _tag: "upload", outcome: "changed", content, entry: moved, from }
    }
  }
  return { _tag: "upload", outcome: known?.file === undefined ? "added" : "changed", content, entry }
})

/** Why a file is stored again although the source did not change it. */
export const whyDrifted = ({ known }: Pick<Work, "known">): Pick<FileOutcome, "reason" | "message"> =>
  known?.reason === drifted ? { reason: drifted, message: known.message } : {}

/** How often an item that changes while it is read is read again. */
const rereads = 3
const beforeReread = "200 millis"
const rereading = Schedule.jittered(Schedule.exponential("400 millis"))

/** Reads all of an item's bytes, at most `maxBytes`. */
export const readItem = (
  connector: Connector,
  item: SourceItem,
  maxBytes: number
): Effect.Effect<Uint8Array, ServiceError | SecretError> => {
  const read = Effect.map(
    readPieces(connector, item, maxBytes),
    (parts) => parts.length === 1 && parts[0] !== undefined ? parts[0] : concat(parts)
  )
  // Hardly any item changes meanwhile: a schedule is only made for one that has.
  return Effect.catchIf(
    read,
    isChanging,
    () => Effect.retry(read, { schedule: rereading, times: rereads - 1, while: isChanging }).pipe(Effect.delay(beforeReread))
  )
}

const isChanging = (error: ServiceError | SecretError): boolean => error._tag === "ServiceError" && error.code === "ABORTED"

/** Unlike `Buffer.concat`, never a view of a pool of small buffers, which would be copied whole to another process. */
const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
