import { Effect, Stream } from "effect"
import { defined } from "../../domain/Defined.ts"
import type { DocumentError, SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import { describing, unfit } from "../../domain/MetadataRules.ts"
import type { Counts, FileOutcome, Others, SyncEvent } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, type Scan } from "../../ports/Ledger.ts"
import type { Raw } from "../../text/Prepared.ts"
import { prepareBy } from "../../text/PrepareBy.ts"
import { TextPool } from "../../text/TextPool.ts"
import { decide, type Decision, whyDrifted } from "./Decision.ts"
import { findMissing } from "./Deleting.ts"
import { schemaChanges, unfitText } from "./Describing.ts"
import { findOthers, joinsNote, replacesNote } from "./Diff.ts"
import { driftNotes, findDrift, lostDrift, noDrift } from "./Drift.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { itemName } from "./ItemName.ts"
import { scanSources } from "./Scanning.ts"
import { entriesOf, isOurs } from "./ServiceFiles.ts"
import { decodeWork, filesText, makeSession, Session, type SyncSource, type SyncSpec, type Work } from "./Session.ts"
import { checkSources, importOnlyNote, isHandedOver } from "./Sources.ts"
import { findGenerations, type GenerationStatus, generationsStatus, scopeOf } from "./Generations.ts"
import { type Change, emptyScope, findCandidate, findLost, findTarget, foundNote, type Target, takesOverNote } from "./Target.ts"

/** One line of a plan: what a run would do with one item. */
export type PlanItem =
  | ({ readonly type: "file" } & FileOutcome)
  | { readonly type: "delete"; readonly source: string; readonly path: string; readonly held: boolean }

/** What a run would do. Nothing was written to the target. */
export interface Plan {
  readonly corpus: {
    /** `candidate`: another one is built beside it. */
    readonly action: "create" | "keep" | "update" | "replace" | "candidate"
    readonly changes: ReadonlyArray<Change>
    /** The corpora that the pipeline has: the one that serves, a candidate, those kept to go back to. */
    readonly generations: ReadonlyArray<GenerationStatus>
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
  /** At the configured rates, or of text recognition where that takes longer; 0 where nothing limits. */
  readonly minutes: number
  /** Pages and pictures in which text would be recognised; what is found in them is not in `chunks` and `tokens`. */
  readonly recognised: number
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
  /** What building a candidate, or going on with it, would do. Default: what would be done to the corpus that serves. */
  readonly candidate?: boolean
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
  const { candidate, key, live } = yield* findGenerations(spec)
  const own = live?.scope ?? key
  const sources = yield* checkSources((options.candidate === true ? candidate?.scope : undefined) ?? own, spec)
  const target = yield* findTarget(live, spec.corpus)
  const replaced = options.candidate === true || isReplaced(target)
  const building = replaced ? yield* findCandidate(candidate, spec) : undefined
  const { all: showUnchanged = false, observe = () => Effect.void, progress = () => Effect.void, retryFailed, strict } = options
  const session = yield* makeSession(
    spec,
    building?.fits === true ? building.generation.scope : target._tag === "missing" || replaced || target.adopted ? emptyScope(own) : own,
    {
      retryFailed,
      strict,
      showUnchanged,
      readOnly: true,
      observe: (event) => Effect.andThen(progress(event), event.type === "file" ? observe(event) : Effect.void)
    }
  )
  const { scope, tally } = session

  return yield* Effect.gen(function*() {
    const engine = yield* Engine
    const ledger = yield* Ledger
    const lost = replaced ? undefined : yield* findLost(target, spec.corpus)
    const drift = target._tag === "missing"
      ? lost === undefined ? noDrift : lostDrift(spec, lost)
      : replaced
      ? noDrift
      : yield* findDrift(target.corpus.name, !target.adopted)
    const others = isReplaced(target) && target._tag === "found" ? yield* findOthers(own, target.corpus.name, spec) : drift.joins
    // What we stored of sources that are the service's now.
    const filled = engine.imports === undefined ? [] : sources.importOnly.flatMap(({ id, source }) => source._tag === "storage" ? [] : [id])
    const uploaded = target._tag === "found" && target.adopted
      ? new Map([...drift.strays].filter(([source]) => filled.includes(source)))
      : yield* entriesOf(scope, filled, isOurs)
    const { imported, scan } = yield* scanSources(sources, drift)

    const costs = new Costs()
    const byId = new Map(sources.listed.map((source) => [source.id, source]))
    yield* scan.queued.pipe(
      Stream.mapEffect(
        Effect.fnUntraced(function*(text) {
          const work = decodeWork(text)
          const source = byId.get(work.source)
          if (source === undefined) return
          const outcome = yield* preview(work, source, scan, costs)
          tally.settled(outcome, 0)
          yield* session.emit({ type: "file", ...outcome })
        }),
        { concurrency: spec.concurrency ?? engine.concurrency, unordered: true }
      ),
      Stream.runDrain
    )

    const missing = yield* findMissing(scan)
    // What the corpus holds nothing of is forgotten, not deleted.
    yield* scan.missing.pipe(
      Stream.filter(({ file }) => file !== undefined),
      Stream.runForEach(({ path, source }) => {
        const held = missing.some((one) => one.source === source && one.held !== undefined)
        tally.add(source, held ? "held" : "deleted", 1)
        return observe({ type: "delete", source, path, held })
      })
    )

    const renamed = key === scopeOf(engine, spec.pipeline)
      ? undefined
      : Object.values(yield* ledger.count(own)).reduce((sum, n) => sum + n, 0)
    const changes = target._tag === "missing"
      ? []
      : [...target.changes, ...(replaced ? [] : yield* schemaChanges(target.corpus.name, spec))]
    const { embeddedTokens, embeddings, estimatedChunks, handedOver, recognised, tokens, uploads } = costs
    const requests = engine.remoteEmbedding ? (engine.embeddingRequests?.(embeddings) ?? embeddings) + estimatedChunks : 0
    const { pricePerMillionTokens } = options
    const notes = (of: "error" | "warning" | "note") =>
      tally.sources.flatMap((report) => report[of] === undefined ? [] : [[report.source, report[of]] as const])
    return defined<Plan>({
      corpus: defined<Plan["corpus"]>({
        action: options.candidate === true
          ? "candidate"
          : target._tag === "missing" && lost === undefined
          ? "create"
          : replaced
          ? "replace"
          : changes.length > 0
          ? "update"
          : "keep",
        changes,
        generations: yield* generationsStatus(spec),
        others
      }),
      totals: tally.totals,
      chunks: tally.chunks,
      tokens,
      embeddings,
      embeddedTokens,
      embeddingRequests: requests,
      cost: pricePerMillionTokens === undefined ? undefined : embeddedTokens * pricePerMillionTokens / 1_000_000,
      unknown: sources.importOnly.map(({ id }) => id),
      minutes: Math.max(
        requests / options.maxEmbeddingRequestsPerMinute,
        engine.uploadsPerMinute === undefined ? 0 : uploads / engine.uploadsPerMinute,
        recognised * secondsPerPicture / 60
      ),
      recognised,
      incomplete: notes("error").map(([source]) => source),
      warnings: [
        ...(lost === undefined ? [] : [foundNote(lost.place, lost.files.length)]),
        ...(renamed === undefined ? [] : [takesOverNote(spec.renamedFrom ?? "", renamed)]),
        ...(others === undefined ? [] : [(replaced ? replacesNote : joinsNote)(`"${spec.corpus.displayName}"`, others)]),
        ...(handedOver === 0 ? [] : [
          `${handedOver} files are fetched by the service itself: what it will cut and embed is estimated from their size (${estimatedChunks} chunks)`
        ]),
        ...(recognised === 0 ? [] : [
          `text is recognised in ${
            recognised === 1 ? "1 page or picture" : `${recognised} pages and pictures`
          }, some ${secondsPerPicture} s each: what is found there is not counted`
        ]),
        ...sources.importOnly.map((source) => `${source.id}: ${importOnlyNote(source)}`),
        ...[...uploaded].map(([source, { length }]) =>
          `${source}: ${filesText(length)} stored from here would give way once the service has imported everything`
        ),
        ...[...imported].map(([source, { length }]) =>
          `${source}: ${filesText(length)} that the service imported would give way to what is stored from here`
        ),
        ...notes("error").map(([source, error]) => `${source}: the listing was cut short (${error}); nothing of it would be deleted`),
        ...[...notes("warning"), ...notes("note"), ...driftNotes(drift)].map(([source, note]) => `${source}: ${note}`),
        ...missing.flatMap(({ held, source }) => (held === undefined ? [] : [`${source}: ${held}`]))
      ]
    })
  }).pipe(Effect.scoped, Effect.provideService(Session, session))
})

/** Whether a run would build a new corpus in the place of the one that is there. */
const isReplaced = (target: Target): boolean => target._tag === "found" && target.changes.some((change) => change.forcesReplacement)

/** What the uploads of a plan would cost, counted as they are found. */
class Costs {
  tokens = 0
  uploads = 0
  embeddings = 0
  embeddedTokens = 0
  /** Pages and pictures that text recognition would go through. */
  recognised = 0
  /** Files that the service fetches itself, and what it would cut of them. */
  handedOver = 0
  estimatedChunks = 0
  /** The first 52 bits of the hashes of texts that are counted. */
  readonly #counted = new Set<number>()

  /** @param distinct equal texts are embedded together */
  embed({ text, tokens }: { readonly text: string; readonly tokens: number }, distinct: boolean): void {
    if (distinct) {
      const key = Number.parseInt(Fingerprint.contentHash(Buffer.from(text)).slice(0, 13), 16)
      if (this.#counted.has(key)) return
      this.#counted.add(key)
    }
    this.embeddings += 1
    this.embeddedTokens += tokens
  }
}

/** What a run would do with an item whose bytes decide. */
const preview = Effect.fnUntraced(function*(work: Work, source: SyncSource, scan: Scan, costs: Costs) {
  const files = yield* Files
  const pool = yield* TextPool
  const session = yield* Session
  const { parserOf, spec: { chunking, cutting, metadata } } = session
  const { item, known } = work
  const rules = metadata === undefined ? undefined : describing(metadata, item.path)
  if (isHandedOver(source, item, session)) {
    costs.handedOver += 1
    costs.estimatedChunks += estimateChunks(item.size ?? 0, chunking)
    return {
      source: source.id,
      path: item.path,
      outcome: known?.file === undefined ? "added" : "changed",
      ...whyDrifted(work)
    } satisfies FileOutcome
  }
  const decision = yield* decide(work, source.connector, scan)
  if (decision._tag !== "upload") return outcomeOf(work, decision)
  const { content, entry, outcome } = decision
  const base = { source: source.id, path: item.path, bytes: content.length }
  const read: Effect.Effect<Pick<Raw, "content" | "name" | "mimeType">, DocumentError | ServiceError> =
    parserOf(item)?.read(item, content) ?? Effect.succeed({ content, name: itemName(item), mimeType: item.mimeType })
  return yield* Effect.flatMap(
    read,
    ({ content, mimeType, name }) =>
      prepareBy(pool, { content, name, mimeType, chunking, counts: true, opened: item.opened, properties: rules?.properties }, cutting)
  ).pipe(
    Effect.flatMap(Effect.fnUntraced(function*({ chunks, properties = {}, tokens, waits = 0 }) {
      const described = rules?.describe(properties)
      if (described?.fails === true) return yield* unfit(described)
      if (source.staging === undefined) costs.uploads += 1
      costs.tokens += tokens
      costs.recognised += waits
      const unknown = yield* files.unembedded?.(chunks.map(({ text }) => text)) ?? Effect.succeed(chunks.map((_, at) => at))
      for (const at of unknown) {
        const chunk = chunks[at]
        if (chunk !== undefined) costs.embed(chunk, files.unembedded !== undefined)
      }
      return {
        ...base,
        outcome,
        chunks: chunks.length,
        tokens,
        unfit: unfitText(described),
        ...whyChanged(work, entry),
        ...whyDrifted(work)
      } satisfies FileOutcome
    })),
    Effect.catchTag(
      "DocumentError",
      ({ message, problem, skips }) =>
        Effect.succeed<FileOutcome>({ ...base, outcome: skips ? "skipped" : "failed", reason: problem, message })
    )
  )
})

/** Of a page of text on one processor. */
const secondsPerPicture = 5

/** Of plain text in a Latin script; who does not read the bytes cannot know better. */
const bytesPerToken = 4
const estimateChunks = (bytes: number, { overlap, size }: SyncSpec["chunking"]): number =>
  Math.max(1, Math.ceil(bytes / bytesPerToken / (size - overlap)))

/** Why something is stored again, or its facts brought up to date: `content`, `settings` or `facts`. Nothing for what is new. */
const whyChanged = ({ known }: Work, entry: LedgerEntry): Pick<FileOutcome, "reason" | "message"> => {
  if (known?.file === undefined || known.state !== "done") return {}
  const before = Fingerprint.parse(known.fingerprint)
  const now = Fingerprint.parse(entry.fingerprint)
  if (before.content !== now.content) return { reason: "content", message: "its content has changed" }
  if (before.settings !== now.settings) return { reason: "settings", message: "parsing, chunking or embedding has changed" }
  if (before.facts === now.facts) return {}
  return Fingerprint.sameFacts(before.facts, now.facts)
    ? { reason: "metadata", message: "metadata rules have changed" }
    : { reason: "facts", message: "its name, address, metadata or permissions have changed" }
}

const outcomeOf = (work: Work, decision: Exclude<Decision, { readonly _tag: "upload" }>): FileOutcome => {
  const base = { source: work.source, path: work.item.path }
  if (decision._tag === "keep") return { ...base, ...decision.outcome }
  const { entry, from } = decision
  return from === undefined
    ? { ...base, outcome: "changed", chunks: 0, ...whyChanged(work, entry) }
    : { ...base, outcome: "moved", from: from.path }
}
