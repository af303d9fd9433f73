import { Effect, Stream } from "effect"
import { defined } from "../../domain/Defined.ts"
import type { DocumentError, SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import { describing, unfit } from "../../domain/MetadataRules.ts"
import { plural } from "../../domain/Numbers.ts"
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
import { type Scanned, scanSources } from "./Scanning.ts"
import { entriesOf, isOurs } from "./ServiceFiles.ts"
import { decodeWork, makeSession, Session, type SyncSource, type SyncSpec, type Work } from "./Session.ts"
import { checkSources, importOnlyNote, isHandedOver, type Sources } from "./Sources.ts"
import { findGenerations, type GenerationStatus, generationsStatus, pipelineKeyOf } from "./Generations.ts"
import { type Change, emptyScope, findCandidate, findLost, findTarget, foundNote, type Target, takesOverNote } from "./Target.ts"

/** A line of a plan: what a run would do with one item. */
export type PlanItem =
  | ({ readonly type: "file" } & FileOutcome)
  | { readonly type: "delete"; readonly source: string; readonly path: string; readonly held: boolean }

/** What a run would do. Making a plan writes nothing to the target. */
export interface Plan {
  readonly corpus: {
    /** What a run does with the corpus; `candidate`: builds another one beside it. */
    readonly action: "create" | "keep" | "update" | "replace" | "candidate"
    readonly changes: ReadonlyArray<Change>
    /** The pipeline's corpora: the live one, a candidate, and those kept to roll back to. */
    readonly generations: ReadonlyArray<GenerationStatus>
    /** Files of others in the corpus, where the run would be the pipeline's first there, or would replace the corpus. */
    readonly others?: Others
  }
  /** Counts as a run would report them; `deleted` and `held` are what it would delete and hold. */
  readonly totals: Counts
  readonly chunks: number
  readonly tokens: number
  /**
   * Number of texts that would be embedded, equal ones counted once, without those whose embeddings are known. Where the
   * engine does not report that, all texts.
   */
  readonly embeddings: number
  readonly embeddedTokens: number
  /** Number of requests to the embedder, in full batches; 0 where embedding runs in the process. */
  readonly embeddingRequests: number
  /** Minutes at the configured rates, or of text recognition where that takes longer; 0 where nothing limits. */
  readonly minutes: number
  /** Pages and pictures in which text would be recognised; text found there is not in `chunks` and `tokens`. */
  readonly recognised: number
  /** Cost of embedding, where the pipeline has a price per million tokens; in its currency. */
  readonly cost?: number
  /** Sources whose files only the service lists: what a run would add of them is unknown, and not in `totals`. */
  readonly unknown: ReadonlyArray<string>
  /** Sources that could not be listed completely: the plan does not cover all of them. */
  readonly incomplete: ReadonlyArray<string>
  /** Warnings about the plan, such as listings that were cut short, and reasons to hold deletes. */
  readonly warnings: ReadonlyArray<string>
}

/** Options of a plan. */
export interface PlanOptions {
  /** Requests per minute, from which the time for embedding is computed. */
  readonly maxEmbeddingRequestsPerMinute: number
  /** Price of embedding a million tokens, in any currency. Default: no cost is computed. */
  readonly pricePerMillionTokens?: number
  /** Counts quarantined items as to be retried. Default false. */
  readonly retryFailed?: boolean
  /** Lists everything, and shows unchanged files too. Default false. */
  readonly all?: boolean
  /** Fails where a source is empty. Default: a warning. */
  readonly strict?: boolean
  /** Plans to build a candidate, or to continue one. Default: plans for the live corpus. */
  readonly candidate?: boolean
  /** Called with each file as it is decided. */
  readonly observe?: (item: PlanItem) => Effect.Effect<void>
  /** Called with the plan's progress, in the events of a run. */
  readonly progress?: (event: SyncEvent) => Effect.Effect<void>
}

/** Compares sources, ledger and target, and returns what `sync` would do, by the same decisions. */
export const plan = Effect.fn("plan")(function*(
  spec: SyncSpec,
  options: PlanOptions
): Effect.fn.Return<Plan, ServiceError | StateError | SecretError, Corpora | Files | Engine | Ledger | TextPool> {
  const { candidate, live, pipelineKey } = yield* findGenerations(spec)
  const own = live?.scope ?? pipelineKey
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
  return yield* planned({ options, own, pipelineKey, replaced, sources, target }).pipe(
    Effect.scoped,
    Effect.provideService(Session, session)
  )
})

/** What a plan starts from. */
interface Planning {
  readonly options: PlanOptions
  /** The ledger's key of the live generation, or of the pipeline where there is none. */
  readonly own: string
  readonly pipelineKey: string
  readonly sources: Sources
  readonly target: Target
  /** Whether another corpus is built in the place of the target. */
  readonly replaced: boolean
}

const planned = Effect.fnUntraced(function*(planning: Planning) {
  const { options, replaced, sources, target } = planning
  const engine = yield* Engine
  const { spec, tally } = yield* Session
  const existing = yield* compareExisting(planning)
  const { drift, lost, others } = existing
  const { imported, scan } = yield* scanSources(sources, drift)
  const costs = yield* previewQueued(sources, scan)
  const missing = yield* previewDeletes(scan, options)
  const changes = target._tag === "missing"
    ? []
    : [...target.changes, ...(replaced ? [] : yield* schemaChanges(target.corpus.name, spec))]
  const { embeddedTokens, embeddings, estimatedChunks, recognised, tokens, uploads } = costs
  const requests = engine.remoteEmbedding ? (engine.embeddingRequests?.(embeddings) ?? embeddings) + estimatedChunks : 0
  const { pricePerMillionTokens } = options
  const notes: Notes = (of) => tally.sources.flatMap((report) => report[of] === undefined ? [] : [[report.source, report[of]] as const])
  return defined<Plan>({
    corpus: defined<Plan["corpus"]>({
      action: actionOf(planning, changes, lost),
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
      ...corpusWarnings(planning, existing, spec),
      ...costWarnings(costs),
      ...sourceWarnings(sources, existing, imported, notes),
      ...missing.flatMap(({ held, source }) => (held === undefined ? [] : [`${source}: ${held}`]))
    ]
  })
})

/** Compares the ledger with what the target, or its vector database, has. */
const compareExisting = Effect.fnUntraced(function*({ own, pipelineKey, replaced, sources, target }: Planning) {
  const engine = yield* Engine
  const ledger = yield* Ledger
  const { scope, spec } = yield* Session
  const lost = replaced ? undefined : yield* findLost(target, spec.corpus)
  const drift = target._tag === "missing"
    ? lost === undefined ? noDrift : lostDrift(spec, lost)
    : replaced
    ? noDrift
    : yield* findDrift(target.corpus.name, !target.adopted)
  const others = isReplaced(target) && target._tag === "found" ? yield* findOthers(own, target.corpus.name, spec) : drift.joins
  const filled = engine.imports === undefined ? [] : sources.importOnly.flatMap(({ id, source }) => source._tag === "storage" ? [] : [id])
  /** Files stored from here of sources that the service imports now. */
  const uploaded: ReadonlyMap<string, ReadonlyArray<LedgerEntry>> = target._tag === "found" && target.adopted
    ? new Map([...drift.strays].filter(([source]) => filled.includes(source)))
    : yield* entriesOf(scope, filled, isOurs)
  /** Files under the pipeline's former name; undefined where it was not renamed. */
  const renamed = pipelineKey === pipelineKeyOf(engine, spec.pipeline)
    ? undefined
    : Object.values(yield* ledger.count(own)).reduce((sum, n) => sum + n, 0)
  return { drift, lost, others, renamed, uploaded }
})

type Existing = Effect.Success<ReturnType<typeof compareExisting>>

/** Decides about every item that the listings could not settle, and adds up what storing them costs. */
const previewQueued = Effect.fnUntraced(function*({ listed }: Sources, scan: Scan) {
  const engine = yield* Engine
  const { emit, spec, tally } = yield* Session
  const costs = new Costs()
  const byId = new Map(listed.map((source) => [source.id, source]))
  yield* scan.queued.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function*(text) {
        const work = decodeWork(text)
        const source = byId.get(work.source)
        if (source === undefined) return
        const outcome = yield* preview(work, source, scan, costs)
        tally.settled(outcome, 0)
        yield* emit({ type: "file", ...outcome })
      }),
      { concurrency: spec.concurrency ?? engine.concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  return costs
})

/** Counts what a run would delete or hold, by source. */
const previewDeletes = Effect.fnUntraced(function*(scan: Scan, { observe = () => Effect.void }: PlanOptions) {
  const { tally } = yield* Session
  const missing = yield* findMissing(scan)
  // Entries without a file in the corpus are forgotten, not deleted.
  yield* scan.missing.pipe(
    Stream.filter(({ file }) => file !== undefined),
    Stream.runForEach(({ path, source }) => {
      const held = missing.some((one) => one.source === source && one.held !== undefined)
      tally.add(source, held ? "held" : "deleted", 1)
      return observe({ type: "delete", source, path, held })
    })
  )
  return missing
})

const actionOf = (
  { options, replaced, target }: Planning,
  changes: ReadonlyArray<Change>,
  lost: Existing["lost"]
): Plan["corpus"]["action"] => {
  if (options.candidate === true) return "candidate"
  if (target._tag === "missing" && lost === undefined) return "create"
  if (replaced) return "replace"
  return changes.length > 0 ? "update" : "keep"
}

const corpusWarnings = ({ replaced }: Planning, { lost, others, renamed }: Existing, spec: SyncSpec): ReadonlyArray<string> => [
  ...(lost === undefined ? [] : [foundNote(lost.place, lost.files.length)]),
  ...(renamed === undefined ? [] : [takesOverNote(spec.renamedFrom ?? "", renamed)]),
  ...(others === undefined ? [] : [(replaced ? replacesNote : joinsNote)(`"${spec.corpus.displayName}"`, others)])
]

const costWarnings = ({ estimatedChunks, handedOver, recognised }: Costs): ReadonlyArray<string> => [
  ...(handedOver === 0 ? [] : [
    `${handedOver} files are fetched by the service itself: what it will cut and embed is estimated from their size (${estimatedChunks} chunks)`
  ]),
  ...(recognised === 0 ? [] : [
    `text is recognised in ${
      plural(recognised, "page or picture", "pages and pictures")
    }, some ${secondsPerPicture} s each: text found there is not counted`
  ])
]

/** Each source with what its report has of this kind. */
type Notes = (of: "error" | "warning" | "note") => ReadonlyArray<readonly [source: string, note: string]>

const sourceWarnings = (
  { importOnly }: Sources,
  { drift, uploaded }: Existing,
  imported: Scanned["imported"],
  notes: Notes
): ReadonlyArray<string> => [
  ...importOnly.map((source) => `${source.id}: ${importOnlyNote(source)}`),
  ...[...uploaded].map(([source, { length }]) =>
    `${source}: ${plural(length, "file")} uploaded from here would be replaced once the service has imported everything`
  ),
  ...[...imported].map(([source, { length }]) =>
    `${source}: ${plural(length, "file")} that the service imported would be replaced by the files uploaded from here`
  ),
  ...notes("error").map(([source, error]) => `${source}: the listing was cut short (${error}); nothing of it would be deleted`),
  ...[...notes("warning"), ...notes("note"), ...driftNotes(drift)].map(([source, note]) => `${source}: ${note}`)
]

/** Whether a run would build a new corpus to replace the existing one. */
const isReplaced = (target: Target): boolean => target._tag === "found" && target.changes.some((change) => change.forcesReplacement)

/** Costs of the uploads of a plan, added up as they are found. */
class Costs {
  tokens = 0
  uploads = 0
  embeddings = 0
  embeddedTokens = 0
  /** Pages and pictures for text recognition. */
  recognised = 0
  /** Files that the service fetches itself, and an estimate of their chunks. */
  handedOver = 0
  estimatedChunks = 0
  /** First 52 bits of the hashes of texts counted so far. */
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

/** Outcome that a run would give an item whose bytes decide. */
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

/** Time to recognise a page of text on one processor, in seconds. */
const secondsPerPicture = 5

/** For plain text in a Latin script; without reading the bytes there is no better estimate. */
const bytesPerToken = 4
const estimateChunks = (bytes: number, { overlap, size }: SyncSpec["chunking"]): number =>
  Math.max(1, Math.ceil(bytes / bytesPerToken / (size - overlap)))

/** Why a file is stored again, or its facts are updated: `content`, `settings`, `facts` or `metadata`. Empty for new files. */
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
