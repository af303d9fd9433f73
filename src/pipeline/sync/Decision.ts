import { Effect } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Connector } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry, Scan } from "../../ports/Ledger.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { readItem } from "./Reading.ts"
import { overlap, type Work } from "./Scanning.ts"

/** What an item's bytes call for. Made by looking only, so that `plan` and `run` cannot disagree. */
export type Decision =
  /** The target is right; the ledger's entry may want its new revision. */
  | { readonly _tag: "unchanged"; readonly entry: LedgerEntry; readonly stale: boolean }
  /** Known not to be taken, and nothing that decided so has changed. */
  | { readonly _tag: "settled"; readonly outcome: "skipped" | "quarantined"; readonly entry: LedgerEntry; readonly stale: boolean }
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
  /** The bytes cannot be had. */
  | { readonly _tag: "unreadable"; readonly outcome: "skipped" | "failed"; readonly error: ServiceError | SecretError }

export const decide = Effect.fnUntraced(function*(input: {
  readonly work: Work
  readonly connector: Connector
  readonly scan: Scan
  readonly settings: string
  readonly engine: Engine["Service"]
  readonly retryFailed: boolean
}): Effect.fn.Return<Decision, StateError> {
  const { engine, scan, settings, work: { item, known, source } } = input
  const facts = Fingerprint.factsHash(item, engine)
  const before = known === undefined ? undefined : Fingerprint.parse(known.fingerprint)
  const entryWith = (content: string, size: number | undefined): LedgerEntry => ({
    source,
    path: item.path,
    state: "done",
    revision: item.unsettled === true ? "" : item.revision,
    fingerprint: Fingerprint.format({ content, facts, settings }),
    size,
    file: known?.file === undefined ? undefined : known.file
  })

  // The bytes are known to be the same: nothing to read, unless they have to be sent.
  if (
    engine.immutableFiles !== true &&
    known?.state === "done" && before !== undefined && known.revision === item.revision &&
    item.unsettled !== true && before.settings === settings
  ) {
    return { _tag: "facts", entry: entryWith(before.content, known.size) }
  }

  const read = yield* Effect.result(readItem(input.connector, item, engine.maxFileBytes))
  if (read._tag === "Failure") {
    const gone = read.failure._tag === "ServiceError" &&
      (read.failure.code === "NOT_FOUND" || read.failure.code === "OUT_OF_RANGE")
    return { _tag: "unreadable", outcome: gone ? "skipped" : "failed", error: read.failure }
  }
  const content = read.success
  const hash = Fingerprint.contentHash(content)
  const entry = entryWith(hash, content.length)
  const stale = known === undefined || known.revision !== entry.revision || known.path !== entry.path

  if (known !== undefined && before !== undefined && before.content === hash && before.settings === settings) {
    switch (known.state) {
      case "done":
        if (before.facts === facts) return { _tag: "unchanged", entry, stale }
        if (engine.immutableFiles !== true) return { _tag: "facts", entry }
        break
      case "skipped":
        if (known.reason === overlap) break
        return { _tag: "settled", outcome: "skipped", entry: { ...known, ...pathAndRevision(entry) }, stale }
      case "quarantined":
        if (!input.retryFailed) {
          return { _tag: "settled", outcome: "quarantined", entry: { ...known, ...pathAndRevision(entry) }, stale }
        }
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
      return stored.settings === settings && (engine.immutableFiles !== true || stored.facts === facts)
        ? { _tag: "facts", entry: moved, from }
        : { _tag: "upload", outcome: "changed", content, entry: moved, from }
    }
  }
  return { _tag: "upload", outcome: known?.file === undefined ? "added" : "changed", content, entry }
})

const pathAndRevision = ({ path, revision }: LedgerEntry) => ({ path, revision })
