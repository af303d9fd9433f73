import { Context, Effect, Schema, Stream, Struct } from "effect"
import { type Citation, outcomeOf } from "../domain/Answer.ts"
import { askerText, readableBy } from "../domain/Asker.ts"
import type { CorpusName } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import type { FileChunk } from "../domain/Document.ts"
import { ServiceError, type StateError } from "../domain/Errors.ts"
import { factsOf, parseMetadataFilter, passes } from "../domain/MetadataFilter.ts"
import { type RagFile, RagFileName } from "../domain/RagFile.ts"
import type { Context as Passage } from "../domain/Retrieval.ts"
import { chunkOver, stretchesOf } from "../domain/Stretches.ts"
import type { Answered, KnowledgeBase, KnowledgeError, Narrowing } from "../mcp/KnowledgeBase.ts"
import type { EntriesAmong, LedgerEntry, LedgerState, RunRecord } from "../ports/Ledger.ts"
import type {
  AnswerView,
  CorpusCard,
  CorpusView,
  DocumentChunk,
  DocumentFacts,
  DocumentPage,
  EvaluationCard,
  EvaluationView,
  FacetsView,
  FilesPage,
  Hit,
  MapView,
  Quoted,
  RemovedHit,
  Run,
  SearchView,
  Version
} from "./Api.ts"
import { planeOf } from "./Plane.ts"
import { marksOf } from "./Marks.ts"

/** Access to the ledger of the pipeline that fills a corpus. */
export interface Account {
  readonly pipeline: string
  readonly count: Effect.Effect<Partial<Record<LedgerState, number>>, StateError>
  readonly runs: (limit: number) => Effect.Effect<ReadonlyArray<RunRecord>, StateError>
  readonly entries: (states: ReadonlyArray<LedgerState> | undefined, among: EntriesAmong) => Stream.Stream<LedgerEntry, StateError>
  /** Versions of a file of the sources in the existing generations of the corpus, newest first. */
  readonly versions: (document: RagFileName, path: string) => Effect.Effect<ReadonlyArray<Version>, StateError>
  /** Saved results of the pipeline's tests, newest first. */
  readonly evaluations: Effect.Effect<ReadonlyArray<EvaluationCard>, KnowledgeError>
  readonly evaluation: (name: string) => Effect.Effect<EvaluationView, KnowledgeError>
  /** A sentence on why a question does not find a file of a source. */
  readonly why: (question: string, path: string, narrowing: Narrowing) => Effect.Effect<string, KnowledgeError>
}

/** A corpus for the inspector, read through a knowledge base, which keeps the operator's limits. */
export interface Inspected {
  readonly card: CorpusCard
  readonly corpus: Effect.Effect<CorpusName, KnowledgeError>
  readonly base: KnowledgeBase["Service"]
  readonly account?: Account
}

/** The corpora that can be inspected. */
export class Inspector extends Context.Service<Inspector, {
  readonly corpora: Effect.Effect<ReadonlyArray<CorpusCard>, KnowledgeError>
  /** The corpus with an id; `NOT_FOUND` where there is none. */
  readonly corpus: (id: string) => Effect.Effect<Inspected, KnowledgeError>
}>()("sluice/ui/Inspector") {}

/** Files per page. */
const filesShown = 100
/** Chunks per page. */
const chunksShown = 40
/** Runs shown. */
const runsShown = 30

/** The last segment of a resource's name. */
export const idOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

/**
 * The ledger of a corpus; undefined where it must not be shown. It names every file of the sources, so it is only for callers
 * who may see the whole corpus.
 */
const accountOf = ({ account, base }: Inspected): Account | undefined =>
  base.limits.principal === undefined && base.limits.where === undefined ? account : undefined

export const viewCorpus = Effect.fn("ui.corpus")(function*(inspected: Inspected): Effect.fn.Return<CorpusView, KnowledgeError> {
  const account = accountOf(inspected)
  const { principal, where } = inspected.base.limits
  return {
    ...inspected.card,
    ...defined({ principal: principal === undefined ? undefined : askerText(principal), where }),
    accounted: account !== undefined,
    states: account === undefined ? {} : defined(Struct.renameKeys(yield* account.count, { intent: "pending" })),
    runs: account === undefined ? [] : (yield* account.runs(runsShown)).map(runOf)
  }
})

const runOf = ({ report, started }: RunRecord): Run =>
  defined({
    started: new Date(started).toISOString(),
    ended: report?.ended,
    why: report?.why,
    seconds: report?.seconds,
    totals: report?.totals,
    sources: report?.sources,
    chunks: report?.chunks,
    embedded: report?.embedded,
    embeddedTokens: report?.embeddedTokens,
    reasons: report?.reasons
  })

/** Cursor of the next page of the ledger. */
const Place = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String]))
const placeFrom = Schema.decodeUnknownEffect(Place)
const writePlace = Schema.encodeSync(Place)

/** States of files by the words that reports have for them. */
const states = { pending: "intent", done: "done", failed: "failed", quarantined: "quarantined", skipped: "skipped" } as const
const wordOf = (state: LedgerState): keyof typeof states => state === "intent" ? "pending" : state

export const viewFacets = Effect.fn("ui.facets")(function*(
  { base }: Inspected,
  { keys, ...narrowing }: Narrowing & { readonly keys?: string }
): Effect.fn.Return<FacetsView, KnowledgeError> {
  return yield* base.facets(defined({ ...narrowing, keys: keys?.split(",").map((key) => key.trim()).filter((key) => key !== "") }))
})

export const viewFiles = Effect.fn("ui.files")(function*(
  inspected: Inspected,
  { after, path, state }: { readonly after?: string; readonly path?: string; readonly state?: string }
): Effect.fn.Return<FilesPage, KnowledgeError> {
  const account = accountOf(inspected)
  if (account === undefined) {
    if (state !== undefined) yield* accounted(inspected, "which state files are in")
    const { items, nextToken } = yield* inspected.base.list({ prefix: path, token: after })
    return defined({ files: items.map(rowOf), next: nextToken })
  }
  const wanted = Struct.keys(states).find((each) => each === state)
  if (state !== undefined && wanted === undefined) {
    return yield* ServiceError.invalid("state", `is one of ${Struct.keys(states).join(", ")}`)
  }
  const from = after === undefined ? undefined : yield* placeFrom(after).pipe(
    Effect.mapError(() => ServiceError.invalid("after", "is not a cursor of this list", "use the `next` of the page before"))
  )
  const entries = yield* account.entries(wanted === undefined ? undefined : [states[wanted]], {
    after: from === undefined ? undefined : { source: from[0], path: from[1] },
    containing: path
  }).pipe(Stream.take(filesShown + 1), Stream.runCollect)
  const shown = entries.slice(0, filesShown)
  const last = shown.at(-1)
  return defined({
    files: shown.map(({ file, message, path, reason, size, source, state }) =>
      defined({ source, path, state: wordOf(state), id: file === undefined ? undefined : idOf(file), bytes: size, reason, message })
    ),
    next: entries.length > filesShown && last !== undefined ? writePlace([last.source, last.path]) : undefined
  })
})

const rowOf = ({ displayName, errorStatus, name, sizeBytes, state }: RagFile) =>
  defined({
    path: displayName,
    state: state === "ACTIVE" ? "done" : state.toLowerCase(),
    id: idOf(name),
    bytes: sizeBytes,
    message: errorStatus
  })

const factsShown = (file: RagFile): DocumentFacts =>
  defined({
    id: idOf(file.name),
    path: file.displayName,
    address: file.sourceUri,
    bytes: file.sizeBytes,
    chunks: file.chunks,
    tokens: file.tokens,
    pages: file.pages,
    created: file.createTime,
    updated: file.updateTime,
    metadata: file.metadata,
    permissions: file.permissions
  })

/** A part of a document: from a chunk on, or around the bytes of its text to be highlighted. */
export interface DocumentPart {
  readonly chunk?: number
  readonly from?: number
  readonly to?: number
}

export const viewDocument = Effect.fn("ui.document")(function*(
  inspected: Inspected,
  id: string,
  { chunk, from, to }: DocumentPart
): Effect.fn.Return<DocumentPage, KnowledgeError> {
  const { base, corpus } = inspected
  const document = RagFileName.make(`${yield* corpus}/ragFiles/${id}`)
  const gone = Effect.mapError((error: KnowledgeError) =>
    error instanceof ServiceError && error.code === "NOT_FOUND"
      ? ServiceError.notFound(`document ${id}`, "it may have been changed, moved or deleted since: look for it among the files")
      : error
  )
  // The chunk before is read too, to find its overlap with the first one shown.
  const begin = chunk ?? (from === undefined ? 0 : (yield* base.chunks(document, { byte: from }, 1).pipe(gone)).chunks[0]?.ordinal ?? 0)
  const first = Math.max(0, begin - (from === undefined ? 1 : 2))
  const { chunks, file } = yield* base.chunks(document, { ordinal: first }, chunksShown + 2).pipe(gone)
  const shown = chunks.slice(0, chunksShown + 1).flatMap((each, at) => {
    const before = chunks[at - 1]
    return at === 0 && first > 0 ? [] : [chunkShown(each, before, from, to)]
  })
  const last = shown.at(-1)
  const next = last === undefined ? undefined : last.ordinal + 1
  return defined({
    document: factsShown(file),
    versions: yield* accountOf(inspected)?.versions(file.name, file.displayName) ?? Effect.succeed([]),
    chunks: shown,
    next: next !== undefined && chunks.some(({ ordinal }) => ordinal === next) ? next : undefined
  })
})

const chunkShown = (chunk: FileChunk, before: FileChunk | undefined, from: number | undefined, to: number | undefined): DocumentChunk => {
  const { byteEnd, byteStart, firstPage, headings, lastPage, ordinal, text, tokens } = chunk
  const bytes = Buffer.from(text)
  /** Offset in the chunk's text, in UTF-16 code units, of a byte of the document's text. */
  const unitsTo = (byte: number): number => bytes.subarray(0, Math.max(0, Math.min(bytes.length, byte - byteStart))).toString().length
  const shows = from !== undefined && from < byteEnd && (to ?? byteEnd) > byteStart
  return defined({
    ordinal,
    text,
    shared: before === undefined ? 0 : unitsTo(before.byteEnd),
    headings,
    firstPage,
    lastPage,
    tokens,
    byteStart,
    byteEnd,
    shown: shows ? [unitsTo(from), unitsTo(to ?? byteEnd)] as const : undefined
  })
}

/** Most points of a map: more would be slow to draw, and hard to distinguish. */
const mostPoints = 2_000

/** Most groups with a separate colour. */
const mostGroups = 7

export const viewMap = Effect.fn("ui.map")(function*({ base }: Inspected): Effect.fn.Return<MapView, KnowledgeError> {
  const { documents, of, without } = yield* base.sample(mostPoints)
  const { points, seen } = planeOf(documents.map(({ vector }) => vector))
  const { groupOf, groups } = foldersOf(documents.map(({ file }) => file.displayName))
  return {
    points: documents.map(({ file: { displayName, name } }, at) => ({
      document: idOf(name),
      path: displayName,
      x: rounded(points[2 * at] ?? 0),
      y: rounded(points[2 * at + 1] ?? 0),
      group: groupOf(displayName)
    })),
    groups,
    of,
    without,
    seen: rounded(seen)
  }
})

const rounded = (n: number): number => Math.round(n * 1e4) / 1e4

/** Groups paths by their folder at the first depth with more than one folder. */
const foldersOf = (paths: ReadonlyArray<string>) => {
  const folders = paths.map((path) => path.split("/").slice(0, -1))
  const [first = []] = folders
  const shared = first.findIndex((name, depth) => folders.some((folder) => folder[depth] !== name))
  const depth = shared === -1 ? first.length : shared
  const nameOf = (folder: ReadonlyArray<string>): string => folder[depth] ?? "no folder"
  const counts = new Map<string, number>()
  for (const folder of folders) counts.set(nameOf(folder), (counts.get(nameOf(folder)) ?? 0) + 1)
  const ranked = [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  const [own, others] = ranked.length > mostGroups + 1 ? [ranked.slice(0, mostGroups), ranked.slice(mostGroups)] : [ranked, []]
  const places = new Map(own.map(([name], at) => [name, at]))
  const rest = others.reduce((sum, [, points]) => sum + points, 0)
  return {
    groupOf: (path: string): number => places.get(nameOf(path.split("/").slice(0, -1))) ?? mostGroups,
    groups: [
      ...own.map(([name, points]) => ({ name, points })),
      ...(rest === 0 ? [] : [{ name: `${others.length} other folders`, points: rest }])
    ]
  }
}

export interface Search extends Narrowing {
  readonly q: string
  readonly k?: number
  readonly alpha?: number
}

export const viewSearch = Effect.fn("ui.search")(function*(
  { base }: Inspected,
  { alpha, as, k = 10, q, where }: Search
): Effect.fn.Return<SearchView, KnowledgeError> {
  const hybrid = alpha === undefined ? undefined : { alpha }
  const began = performance.now()
  const { passages } = yield* base.search(q, { as, where, hybrid, limit: k, explain: true })
  const milliseconds = performance.now() - began
  const removed = as === undefined && where === undefined
    ? []
    : yield* removedBy(base, (yield* base.search(q, { hybrid, limit: k })).passages, passages, { as, where })
  return { hits: passages.map(hitOf), removed, milliseconds }
})

const hitOf = ({ explanation, file, sourceDisplayName, text, ...passage }: Passage): Hit =>
  defined({
    document: idOf(file),
    path: sourceDisplayName,
    headings: passage.headings,
    firstPage: passage.firstPage,
    lastPage: passage.lastPage,
    byteStart: passage.byteStart,
    byteEnd: passage.byteEnd,
    text,
    marks: explanation === undefined ? [] : marksOf(text, explanation).map(([start, end]) => [start, end] as const),
    score: passage.score,
    // Undefined fields are absent in JSON.
    explanation: explanation === undefined ? undefined : defined({ ...explanation, terms: explanation.terms.map(defined) })
  })

/** Passages that an unrestricted search finds and a restricted one does not, each with the restriction that removed it. */
const removedBy = Effect.fnUntraced(function*(
  base: KnowledgeBase["Service"],
  all: ReadonlyArray<Passage>,
  kept: ReadonlyArray<Passage>,
  { as, where }: Narrowing
) {
  const filter = where === undefined ? undefined : yield* Effect.fromResult(parseMetadataFilter(where, "where"))
  const mayRead = as === undefined ? undefined : readableBy(as)
  const there = new Set(kept.map(({ chunkId }) => chunkId))
  const gone = all.flatMap((passage, at) => there.has(passage.chunkId) ? [] : [{ passage, place: at + 1 }])
  const files = new Map<string, RagFile>()
  for (const { passage: { file } } of gone) if (!files.has(file)) files.set(file, yield* base.find(file))
  return gone.flatMap(({ passage: { file: name, headings, score, sourceDisplayName }, place }): ReadonlyArray<RemovedHit> => {
    const file = files.get(name)
    if (file === undefined) return []
    const by = mayRead?.(file.permissions) === false
      ? "as"
      : filter !== undefined && !passes(filter, factsOf(file))
      ? "where"
      : "order"
    return [{ document: idOf(name), path: sourceDisplayName, headings, place, score, by }]
  })
})

export const viewAnswer = Effect.fn("ui.answer")(function*(
  { base }: Inspected,
  { q, ...narrowing }: Narrowing & { readonly q: string }
): Effect.fn.Return<AnswerView, KnowledgeError> {
  const began = performance.now()
  const answered = yield* base.answer(q, narrowing)
  const { answer, contexts } = answered
  return defined({
    text: answer.text,
    outcome: outcomeOf(answer),
    unverified: answer.unverified,
    model: answer.model,
    confidence: answer.confidence,
    supports: answer.supports.map(({ citations, end, start }) => ({ start, end, citations })),
    citations: answer.citations.map((citation) => quotedOf(citation, answered)),
    nearest: (answer.nearest ?? []).map((citation) => quotedOf(citation, answered)),
    passages: contexts.map(({ file, score, sourceDisplayName }) => ({ document: idOf(file), path: sourceDisplayName, score })),
    milliseconds: performance.now() - began
  })
})

const quotedOf = (
  { chunkId, file, firstPage, headings = [], index, quote, sourceDisplayName }: Citation,
  { contexts }: Answered
): Quoted => {
  const found = stretchesOf(contexts.filter((each) => each.file === file)).stretches.flatMap((stretch) => {
    const own = stretch.chunks.find(({ context }) => context.chunkId === chunkId)
    const at = stretch.text.indexOf(quote, own?.offset)
    return at < 0 ? [] : [{ ...chunkOver(stretch, at, at + quote.length), at, isOwn: own !== undefined }]
  })
  const passage = found.find(({ isOwn }) => isOwn) ?? found[0]
  const start = passage === undefined ? 0 : passage.at - passage.offset
  const byteStart = passage?.context.byteStart === undefined
    ? undefined
    : passage.context.byteStart + Buffer.byteLength(passage.context.text.slice(0, start))
  return defined({
    index,
    document: idOf(file),
    path: sourceDisplayName,
    headings,
    page: firstPage,
    quote,
    passage: passage === undefined ? undefined : { text: passage.context.text, span: [start, start + quote.length] as const },
    byteStart,
    byteEnd: byteStart === undefined ? undefined : byteStart + Buffer.byteLength(quote)
  })
}

/** The ledger of a corpus; fails where it is not shown. `what` names in the error what it is needed for. */
const accounted = (inspected: Inspected, what: string): Effect.Effect<Account, ServiceError> => {
  const account = accountOf(inspected)
  return account === undefined
    ? Effect.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${what} is known for a pipeline only, and no pipeline is shown here`,
        fix: "open `sluice ui` with the pipeline, without --as and --where"
      })
    )
    : Effect.succeed(account)
}

export const viewWhy = Effect.fn("ui.why")(function*(
  inspected: Inspected,
  { path, q, ...narrowing }: Narrowing & { readonly q: string; readonly path: string }
): Effect.fn.Return<{ readonly why: string }, KnowledgeError> {
  const { why } = yield* accounted(inspected, "why a file is not found")
  return { why: yield* why(q, path, narrowing) }
})

export const viewEvaluations = (inspected: Inspected): Effect.Effect<ReadonlyArray<EvaluationCard>, KnowledgeError> =>
  Effect.flatMap(accounted(inspected, "how tests came out"), ({ evaluations }) => evaluations)

export const viewEvaluation = (inspected: Inspected, name: string): Effect.Effect<EvaluationView, KnowledgeError> =>
  Effect.flatMap(accounted(inspected, "how tests came out"), ({ evaluation }) => evaluation(name))
