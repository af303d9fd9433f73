import { Effect, Stream } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Counts, FileOutcome, Others, SyncEvent } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { TextPool } from "../../text/TextPool.ts"
import { whyUnreadable } from "./Applying.ts"
import { decide, type Decision } from "./Decision.ts"
import { gone } from "./Deleting.ts"
import { driftNotes, driftOf, findDrift, noDrift } from "./Drift.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { checkSources, importOnlyNote, isHandedOver } from "./HandOver.ts"
import { makeIncrements } from "./Increments.ts"
import { joinsNote, othersIn, replacesNote } from "./Others.ts"
import { decodeWork, scanSources, type Work } from "./Scanning.ts"
import { entriesOf, filesText, isOurs, isServiceEntry } from "./ServiceFiles.ts"
import type { SyncSpec } from "./SyncSpec.ts"
import { findScope, scopeOf, takesOverNote } from "./Renaming.ts"
import { settingsOf } from "./Sync.ts"
import { Tally } from "./Tally.ts"
import { type Change, findBuilding, findTarget } from "./Target.ts"

/** One line of a plan: what a run would do with one item. */
export type PlanItem =
  | ({ readonly type: "file" } & FileOutcome)
  | { readonly type: "delete"; readonly source: string; readonly path: string; readonly held: boolean }

/** What a run would do. Nothing was written to the target. */
export interface Plan {
  readonly corpus: {
    readonly action: "create" | "keep" | "update" | "replace"
    readonly changes: ReadonlyArray<Change>
    /** Whose files are in it, where a run would be the pipeline's first in there, or would put another in its place. */
    readonly others?: Others
  }
  /** As a run would report it; `deleted` and `held` are what it would delete and hold. */
  readonly totals: Counts
  readonly chunks: number
  readonly tokens: number
  /** Texts that would be embedded, each once: not those whose embeddings are known. Where the engine does not tell, all. */
  readonly embeddings: number
  readonly embeddedTokens: number
  /** As they are sent, in batches that are full; 0 where embedding runs in the process. */
  readonly embeddingRequests: number
  /** At the configured rates; 0 where nothing limits. */
  readonly minutes: number
  /** Of what would be embedded, where the pipeline says what a million tokens cost; in its currency. */
  readonly cost?: number
  /** Sources whose files only the service lists: what a run would add of them is not known, and not in `totals`. */
  readonly unknown: ReadonlyArray<string>
  /** Sources that could not be listed to their end: what is said of them is not all. */
  readonly incomplete: ReadonlyArray<string>
  /** Listings that were cut short, and why deletes would be held. */
  readonly warnings: ReadonlyArray<string>
}

/** What a plan shows, and the rates its costs are told at. */
export interface PlanOptions {
  /** Requests a minute, from which follows how long embedding would take. */
  readonly maxEmbeddingRequestsPerMinute: number
  /** Of embedding, in the currency you think in. Default: no cost is told. */
  readonly pricePerMillionTokens?: number
  /** Counts quarantined items as to be tried again. Default false. */
  readonly retryFailed?: boolean
  /** Lists everything, and shows unchanged files too. */
  readonly all?: boolean
  /** Fails where a source has nothing in it. Default: a warning. */
  readonly strict?: boolean
  /** Called with each file as it is decided. */
  readonly observe?: (item: PlanItem) => Effect.Effect<void>
  /** How far the plan has come, as a run would tell it. */
  readonly progress?: (event: SyncEvent) => Effect.Effect<void>
}

/** Looks at sources, ledger and target and says what `sync` would do, by the same decisions. */
export const plan = Effect.fn("plan")(function*(
  spec: SyncSpec,
  options: PlanOptions
): Effect.fn.Return<Plan, ServiceError | StateError | SecretError, Corpora | Files | Engine | Ledger | TextPool> {
  const engine = yield* Engine
  const ledger = yield* Ledger
  const pool = yield* TextPool
  const files = yield* Files
  const observe = options.observe ?? (() => Effect.void)
  const progress = options.progress ?? (() => Effect.void)
  const { all = false, retryFailed = false } = options
  const settings = settingsOf(engine, spec)
  const tally = new Tally()
  let tokens = 0
  let uploads = 0
  let embeddings = 0
  let embeddedTokens = 0
  /** Texts counted as to be embedded: each is embedded once. The first 52 bits of their hashes. */
  const counted = new Set<number>()
  let handedOver = 0
  let estimated = 0

  const own = yield* findScope(spec)
  const renamed = own === scopeOf(engine, spec.pipeline) ? undefined : Object.values(yield* ledger.count(own)).reduce((sum, n) => sum + n, 0)
  const sources = yield* checkSources(own, spec, engine)
  const target = yield* findTarget(own, spec.corpus)
  const replaced = target._tag === "found" && target.changes.some((change) => change.forcesReplacement)
  const adopted = target._tag === "found" && target.adopted && !replaced
  // Of a corpus yet to be made, or found by its name, the ledger knows nothing, whatever it remembers of another.
  const building = replaced ? yield* findBuilding(own, spec.corpus) : undefined
  const scope = building?.fits === true ? building.scope : target._tag === "missing" || replaced || adopted ? `${own}#new` : own
  const met = replaced ? yield* othersIn(target.corpus.name, spec, own) : undefined
  const drift = target._tag === "found" && !replaced ? yield* findDrift(scope, target.corpus.name, spec, !adopted) : noDrift
  const others = met ?? drift.joins

  const held = (ids: ReadonlyArray<{ readonly id: string }>, wanted: typeof isOurs) =>
    engine.imports === undefined ? Effect.succeed(new Map<string, ReadonlyArray<LedgerEntry>>()) : entriesOf(scope, ids.map(({ id }) => id), wanted)
  const imported = yield* held(sources.listed, isServiceEntry)
  const uploaded = adopted ? new Map([...drift.strays].filter(([source]) => sources.importOnly.some(({ id }) => id === source))) : yield* held(sources.importOnly.filter(({ source }) => source._tag !== "storage"), isOurs)

  const tell = (outcome: FileOutcome, settle: boolean) => {
    if (settle) tally.settled(outcome, 0)
    return Effect.andThen(progress({ type: "file", ...outcome }), observe({ type: "file", ...outcome }))
  }

  return yield* Effect.gen(function*() {
    const scan = drift.over(yield* ledger.scan(scope))
    const increments = yield* makeIncrements({
      scope,
      settings,
      missesFor: 0,
      everything: (source) => all || retryFailed || drift.sources.has(source) || imported.has(source)
    })
    for (const [source, entries] of imported) yield* scan.see(source, entries.map(({ path }) => path), Fingerprint.pathHash)
    yield* scanSources(sources.listed, {
      scan,
      tally,
      settings,
      engine,
      retryFailed,
      increments,
      tellUnchanged: all,
      strict: options.strict ?? false,
      emit: (event) => Effect.andThen(progress(event), event.type === "file" ? observe(event) : Effect.void)
    })
    yield* Effect.forEach(sources.importOnly, ({ id }) => scan.seeAll(id), { discard: true })
    const byId = new Map(sources.listed.map((source) => [source.id, source]))

    yield* scan.queued.pipe(
      Stream.mapEffect(
        Effect.fnUntraced(function*(text) {
          const work = decodeWork(text)
          const source = byId.get(work.source)
          if (source === undefined) return
          if (isHandedOver(source, work.item)) {
            handedOver += 1
            estimated += estimatedChunks(work.item.size ?? 0, spec.chunking)
            return yield* tell({ source: work.source, path: work.item.path, outcome: work.known?.file === undefined ? "added" : "changed", ...driftOf(work) }, true)
          }
          const decision = yield* decide({ work, connector: source.connector, scan, settings, engine, retryFailed })
          if (decision._tag !== "upload") return yield* tell(outcomeOf(work, decision), true)
          const base = { source: work.source, path: work.item.path, bytes: decision.content.length }
          const prepared = yield* Effect.result(pool.prepare({
            content: decision.content,
            name: work.item.path,
            chunking: spec.chunking,
            opened: work.item.opened === true ? true : undefined,
            mimeType: work.item.mimeType
          }))
          if (prepared._tag === "Failure") {
            if (prepared.failure._tag === "ServiceError") return yield* prepared.failure
            const { message, problem, skips } = prepared.failure
            return yield* tell({ ...base, outcome: skips ? "skipped" : "failed", reason: problem, message }, true)
          }
          if (source.staging === undefined) uploads += 1
          const { chunks } = prepared.success
          tokens += prepared.success.tokens
          const unknown = yield* files.unembedded?.(chunks.map(({ text }) => text)) ?? Effect.succeed(chunks.map((_, at) => at))
          for (const at of unknown) {
            const chunk = chunks[at]
            if (chunk === undefined) continue
            if (files.unembedded !== undefined) {
              const key = Number.parseInt(Fingerprint.contentHash(Buffer.from(chunk.text)).slice(0, 13), 16)
              if (counted.has(key)) continue
              counted.add(key)
            }
            embeddings += 1
            embeddedTokens += chunk.tokens
          }
          yield* tell({
            ...base,
            outcome: decision.outcome,
            chunks: chunks.length,
            tokens: prepared.success.tokens,
            ...whyChanged(work, decision.entry),
            ...driftOf(work)
          }, true)
        }),
        { concurrency: spec.concurrency ?? engine.concurrency, unordered: true }
      ),
      Stream.runDrain
    )

    const missing = yield* gone(scope, spec, scan, false)
    const heldSources = new Set(missing.filter((g) => g.held !== undefined).map((g) => g.source))
    // What the corpus holds nothing of is forgotten, not deleted.
    yield* scan.missing.pipe(Stream.filter(({ file }) => file !== undefined), Stream.runForEach((entry) => {
      const held = heldSources.has(entry.source)
      tally.add(entry.source, held ? "held" : "deleted", 1)
      return observe({ type: "delete", source: entry.source, path: entry.path, held })
    }))

    const changes = target._tag === "found" ? target.changes : []
    const requests = engine.remoteEmbedding ? (engine.embeddingRequests?.(embeddings) ?? embeddings) + estimated : 0
    const result: Plan = {
      corpus: {
        action: target._tag === "missing" ? "create" : replaced ? "replace" : changes.length > 0 ? "update" : "keep",
        changes,
        others
      },
      totals: tally.totals,
      chunks: tally.chunks,
      tokens,
      embeddings,
      embeddedTokens,
      embeddingRequests: requests,
      cost: options.pricePerMillionTokens === undefined ? undefined : embeddedTokens * options.pricePerMillionTokens / 1_000_000,
      unknown: sources.importOnly.map(({ id }) => id),
      minutes: Math.max(
        requests / options.maxEmbeddingRequestsPerMinute,
        engine.uploadsPerMinute === undefined ? 0 : uploads / engine.uploadsPerMinute
      ),
      incomplete: tally.sources.flatMap(({ error, source }) => error === undefined ? [] : [source]),
      warnings: [
        ...(renamed === undefined ? [] : [takesOverNote(spec.renamedFrom ?? "", renamed)]),
        ...(others === undefined ? [] : [(replaced ? replacesNote : joinsNote)(`"${spec.corpus.displayName}"`, others)]),
        ...(handedOver === 0 ? [] : [
          `${handedOver} files are fetched by the service itself: what it will cut and embed is estimated from their size (${estimated} chunks)`
        ]),
        ...sources.importOnly.map((source) => `${source.id}: ${importOnlyNote(source)}`),
        ...[...uploaded].map(([source, { length }]) => `${source}: ${filesText(length)} stored from here would give way once the service has imported everything`),
        ...[...imported].map(([source, { length }]) => `${source}: ${filesText(length)} that the service imported would give way to what is stored from here`),
        ...tally.sources.flatMap(({ error, source }) =>
          error === undefined ? [] : [`${source}: the listing was cut short (${error}); nothing of it would be deleted`]
        ),
        ...tally.sources.flatMap(({ source, warning }) => warning === undefined ? [] : [`${source}: ${warning}`]),
        ...tally.sources.flatMap(({ note, source }) => note === undefined ? [] : [`${source}: ${note}`]),
        ...driftNotes(drift).map(([source, note]) => `${source}: ${note}`),
        ...missing.flatMap(({ held, source }) => (held === undefined ? [] : [`${source}: ${held}`]))
      ]
    }
    return result
  }).pipe(Effect.scoped)
})

/** Of plain text in a Latin script; who does not read the bytes cannot know better. */
const bytesPerToken = 4
const estimatedChunks = (bytes: number, { overlap, size }: SyncSpec["chunking"]): number =>
  Math.max(1, Math.ceil(bytes / bytesPerToken / (size - overlap)))

/** Why something is stored again, or its facts brought up to date: `content`, `settings` or `facts`. Nothing for what is new. */
const whyChanged = ({ known }: Work, entry: LedgerEntry): Pick<FileOutcome, "reason" | "message"> => {
  if (known?.file === undefined || known.state !== "done") return {}
  const before = Fingerprint.parse(known.fingerprint)
  const now = Fingerprint.parse(entry.fingerprint)
  if (before.content !== now.content) return { reason: "content", message: "its content has changed" }
  if (before.settings !== now.settings) return { reason: "settings", message: "parsing, chunking or embedding has changed" }
  return before.facts === now.facts ? {} : { reason: "facts", message: "its name, address, metadata or permissions have changed" }
}

const outcomeOf = (work: Work, decision: Exclude<Decision, { readonly _tag: "upload" }>): FileOutcome => {
  const base = { source: work.source, path: work.item.path }
  switch (decision._tag) {
    case "unchanged":
      return { ...base, outcome: "unchanged" }
    case "settled":
      return {
        ...base,
        outcome: decision.outcome,
        ...(decision.entry.reason === undefined ? {} : { reason: decision.entry.reason }),
        ...(decision.entry.message === undefined ? {} : { message: decision.entry.message })
      }
    case "facts":
      return decision.from === undefined
        ? { ...base, outcome: "changed", chunks: 0, ...whyChanged(work, decision.entry) }
        : { ...base, outcome: "moved", from: decision.from.path }
    case "unreadable":
      return { ...base, outcome: decision.outcome, ...whyUnreadable(decision.error) }
  }
}
