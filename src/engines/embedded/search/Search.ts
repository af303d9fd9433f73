import type { DatabaseSync } from "node:sqlite"
import type { Context } from "../../../domain/Retrieval.ts"
import { type Alternative, textOf } from "../../../domain/Synonyms.ts"
import type { Names } from "../Names.ts"
import { indexedText } from "../store/FileWords.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { allowedSlots, type FileFilter } from "./Allowed.ts"
import { ByteCache } from "../../../search/ByteCache.ts"
import { ChunkReader } from "./ChunkReader.ts"
import { CorpusIndex } from "./CorpusIndex.ts"
import { type Dense, DenseArm } from "./DenseArm.ts"
import { explanationOf, termWeights } from "./Explain.ts"
import { fedBack } from "./Feedback.ts"
import { type Candidate, firstByPath, fuse, type Fused, fuseWords, nearer } from "../../../search/Fusion.ts"
import { postingsOf, queryTerms, rarityIn, type ScoredTerm } from "./QueryTerms.ts"
import { ChunkTerms, type ReadableChunk } from "./ChunkTerms.ts"
import { Proximity } from "./Proximity.ts"
import { SharedWords } from "./SharedWords.ts"
import { SpellingIndex } from "../../../search/Spelling.ts"
import { ranking } from "../../../search/Ranking.ts"
import { embedWeighed } from "../../../text/hashed/EmbedHashed.ts"
import { explainsOption, type Option, optionsOf } from "../../../text/CommandOptions.ts"
import { questionKeys } from "../../../search/analysis/HeadingKeys.ts"
import { FileScores } from "./FileScores.ts"
import { ScoreRoom, type Scores, type SlotRange } from "./Scores.ts"
import { topSlots } from "./TopSlots.ts"

export interface SearchRequest extends FileFilter {
  readonly query: string
  /** How many contexts at most. */
  readonly count: number
  /** Weight of the dense arm: 0 sparse only, 1 dense only. */
  readonly alpha: number
  /**
   * Makes the query's vector; absent where the dense arm is not wanted. `weigh` returns the weight of a word in this corpus,
   * 0 to 1, for embedders that use it. `"hashed"` stands for the offline embedder, which runs in the search itself, next to
   * the index that knows those weights.
   */
  readonly vector?: ((weigh: (word: string) => number) => Float32Array) | "hashed" | undefined
  /** Only chunks whose cosine similarity is strictly more than this. */
  readonly minSimilarity?: number
  /** Words and phrases that are searched for besides the query's own. Default: none. */
  readonly alternatives?: ReadonlyArray<Alternative>
  /** Whether query words that no chunk has are replaced by what was probably meant. */
  readonly correctSpelling: boolean
  /** Whether each context says why it has its place. */
  readonly explain: boolean
}

/** How many of the best files are searched for chunks that explain an option, and how many chunks of each file. */
const filesOfOptions = 3
const chunksOfOptions = 500

/** Contexts of one request up to which the dense arm may take its candidates from vector lists. */
const mostFromLists = 200

/** A question about one corpus, with everything that ranking needs to know of it. */
interface Question {
  readonly corpus: CorpusRow
  readonly index: CorpusIndex
  readonly request: SearchRequest
  /** Terms of the query that some chunk has. */
  readonly terms: ReadonlyArray<ScoredTerm>
  /** BM25 by slot. */
  readonly sparse: Scores
  /** Absent where the request has no vector. */
  readonly dense: Dense | undefined
  /** 1 by slot where the chunk may be part of the answer. */
  readonly allowed: Uint8Array
  /** Slots of the files that the question names by their numbers, ascending. */
  readonly named: ReadonlyArray<SlotRange>
  /** Slots of the chunks with a heading that is the question; empty unless both arms are mixed. */
  readonly headed: ReadonlySet<number>
  /** Whether both arms are mixed. */
  readonly mixed: boolean
  /** Options of commands that the question has; empty unless both arms are mixed. */
  readonly options: ReadonlyArray<Option>
}

/** Chunks, best first, and the terms that their sparse scores are made of. */
interface Ranked {
  readonly hits: ReadonlyArray<Fused>
  readonly terms: ReadonlyArray<ScoredTerm>
}

/** Searches the corpora of one database. Synchronous; every call is within one read snapshot. */
export class Search {
  readonly #db: DatabaseSync
  readonly #cache: ByteCache
  readonly #chunks: ChunkReader
  readonly #dense: DenseArm
  readonly #files: FileScores
  readonly #proximity: Proximity
  readonly #shared: SharedWords
  readonly #indexMemory: number
  readonly #indexes = new Map<number, CorpusIndex>()
  /** Scores of the question at hand; the next question reuses the memory. */
  readonly #room = new ScoreRoom()
  readonly #spelling = new WeakMap<CorpusIndex, SpellingIndex>()

  /**
   * `memory`: bytes for what is read from the database. The index of the corpus last searched is kept even where it takes
   * more.
   */
  constructor(db: DatabaseSync, names: Names, memory: number) {
    this.#db = db
    this.#indexMemory = memory / 4
    this.#cache = new ByteCache(memory - this.#indexMemory)
    this.#chunks = new ChunkReader(db, this.#cache, names)
    const chunkTerms = new ChunkTerms(this.#cache)
    this.#shared = new SharedWords(chunkTerms)
    this.#proximity = new Proximity(chunkTerms)
    this.#files = new FileScores(db, (chunk) => this.#chunks.damaged(chunk, "text"))
    this.#dense = new DenseArm(db, this.#cache, (chunk) => this.#chunks.damaged(chunk, "vector"))
  }

  /**
   * The best contexts, best first. Equal ones are ordered by their files' addresses and their places in the files, so that the
   * order does not depend on the history of the corpus; of more than a thousand equal ones some are not considered.
   *
   * @throws {IndexDamage} where the index is damaged; it can be rebuilt
   * @throws {StoreDamage} where a text, a vector or a file's record is damaged
   */
  run(corpus: CorpusRow, request: SearchRequest): ReadonlyArray<Context> {
    const question = this.#question(corpus, request)
    const { index } = question
    const { hits, terms } = this.#ranked(question)
    const pathOf = (slot: number) => this.#chunks.pathOf(corpus.name, corpus.revision, index.chunkAt(slot))
    return firstByPath(hits, request.count, request.alpha, pathOf).map((hit) => ({
      ...this.#contextAt(question, hit.id),
      score: hit.score,
      ...(question.dense === undefined ? {} : { distance: 1 - hit.cosine }),
      ...(request.explain
        ? { explanation: explanationOf(hit, request.alpha, index.analyzers, termWeights(index, terms, hit.id)) }
        : {})
    }))
  }

  /** Scores every chunk by the query's terms and prepares the dense arm. */
  #question(corpus: CorpusRow, request: SearchRequest): Question {
    const { alpha, query } = request
    const index = this.#index(corpus)
    this.#room.begin(index)
    const terms = alpha < 1 || request.explain
      ? queryTerms(index, query, {
        alternatives: request.alternatives ?? [],
        lowerGrammar: alpha > 0,
        spelling: request.correctSpelling ? () => this.#spellingOf(index) : undefined,
        room: this.#room
      })
      : []
    const sparse = this.#room.zeros("sparse")
    this.#room.addPostings("sparse", postingsOf(terms))
    const dense = this.#denseOf(index, request)
    const allowed = this.#allowed(index, corpus, request, dense)
    const mixed = alpha > 0 && alpha < 1 && dense !== undefined
    return {
      corpus,
      index,
      request,
      terms,
      sparse,
      dense,
      allowed,
      named: alpha > 0 ? this.#files.named(index, corpus, query) : [],
      mixed,
      headed: mixed ? headedBy(index, query) : new Set(),
      options: mixed ? optionsOf(query) : []
    }
  }

  #denseOf(index: CorpusIndex, { alternatives = [], count, minSimilarity, query, vector }: SearchRequest): Dense | undefined {
    if (vector === undefined) return undefined
    const weigh = rarityIn(index)
    // A threshold holds for every chunk, and a long answer needs more of them than the lists' candidates.
    const exact = minSimilarity !== undefined || count > mostFromLists
    return this.#dense.ask(index, vector === "hashed" ? embedWeighed(textOf(query, alternatives), weigh) : vector(weigh), this.#room, exact)
  }

  /** Ranks the candidates of both arms; a mixed search ranks them a second time, with feedback. */
  #ranked(question: Question): Ranked {
    const { allowed, dense, mixed, request, sparse, terms } = question
    if (request.alpha === 0 && dense === undefined) {
      return { hits: fuseWords(topSlots(sparse, allowed, depthOf(request)), sparse.values, request.count), terms }
    }
    const candidates = this.#withExplained(question, this.#candidatesAt(question, candidateSlots(question)))
    return mixed ? this.#withFeedback(question, candidates) : { hits: fuse(candidates, request.alpha), terms }
  }

  /** The chunks at `slots`, which ascend, with everything that their rank depends on. */
  #candidatesAt(question: Question, slots: Int32Array): ReadonlyArray<Candidate> {
    const { corpus, dense, headed, index, named, options, request, sparse, terms } = question
    const cosines = dense?.cosines(slots)
    // Without terms a file has no score, and its record need not be read.
    const files = request.alpha > 0 && terms.length > 0 ? this.#files.scores(index, corpus, terms, slots) : undefined
    return Array.from(slots, (id, at): Candidate => ({
      id,
      sparse: sparse.values[id] ?? 0,
      cosine: cosines?.[at] ?? 0,
      facts: {
        file: files?.whole?.[at],
        title: files?.title[at],
        headed: headed.has(id) ? true : undefined,
        named: named.some(({ from, to }) => id >= from && id < to) ? true : undefined,
        options: options.length === 0 ? undefined : this.#explained(question, id)
      }
    }))
  }

  /**
   * Adds chunks of the best files that explain an option of the question. They may have no other word of it, since a manual
   * names its command at the beginning only.
   */
  #withExplained(question: Question, candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> {
    const { allowed, index, options, request } = question
    if (options.length === 0) return candidates
    const known = new Set(candidates.map(({ id }) => id))
    const best = fuse(candidates, request.alpha).map(({ id }) => id)
    const explaining = this.#files.rangesOf(index, best, filesOfOptions)
      .flatMap(({ from, to }) => Array.from({ length: Math.min(to - from, chunksOfOptions) }, (_, at) => from + at))
      .filter((slot) => !known.has(slot) && allowed[slot] === 1 && this.#explained(question, slot) > 0)
    return inSlotOrder([...candidates, ...this.#candidatesAt(question, ascending(explaining))])
  }

  /** Share of the question's options that the chunk at a slot explains, 0 to 1. */
  #explained(question: Question, slot: number): number {
    const { text } = this.#contextAt(question, slot)
    const { options } = question
    return options.filter((option) => explainsOption(text, option.text)).length / options.length
  }

  /**
   * Pseudo-relevance feedback: search again with terms the best chunks share, and with the query vector moved towards theirs.
   */
  #withFeedback(question: Question, candidates: ReadonlyArray<Candidate>): Ranked {
    const { allowed, dense, request, sparse, terms } = question
    const first = fuse(candidates, request.alpha)
    const shared = this.#sharedTerms(question, first)
    this.#room.addPostings("sparse", postingsOf(shared))
    const known = new Set(candidates.map(({ id }) => id))
    const found = this.#candidatesAt(
      question,
      ascending(topSlots(sparse, allowed, depthOf(request)).filter((slot) => !known.has(slot)))
    )
    // File, title and options keep what the question's own words say of them: of the words, only BM25 has grown.
    const again = fedBack(inSlotOrder([...candidates, ...found]), first, dense?.movedTo, (slot) => sparse.values[slot] ?? 0)
    return { hits: this.#nearer(question, fuse(again, request.alpha)), terms: [...terms, ...shared] }
  }

  /** The hits, the best of them ordered again by how near each other they have the question's words. */
  #nearer(question: Question, hits: ReadonlyArray<Fused>): ReadonlyArray<Fused> {
    const { index, named, options, request, terms } = question
    // What the question names decides more than how it is worded.
    if (named.length + options.length > 0) return hits
    const best = hits.slice(0, ranking.proximityChunks).map((hit) => ({ ...this.#readable(question, hit), slot: hit.id }))
    const near = this.#proximity.of(index, request.query, terms, best)
    return near === undefined ? hits : nearer(hits, near, request.alpha)
  }

  /** Terms that the best of the chunks share. */
  #sharedTerms(question: Question, hits: ReadonlyArray<Fused>): ReadonlyArray<ScoredTerm> {
    const { index } = question
    const best = withoutCopies(index, hits, ranking.sharedChunks)
      .map((hit) => ({ ...this.#readable(question, hit), score: hit.fused, sparse: hit.sparse }))
    return this.#shared.of(index, best)
  }

  #readable(question: Question, { id }: Fused): ReadableChunk {
    return { number: question.index.chunkAt(id), text: () => indexedText(this.#contextAt(question, id), undefined) }
  }

  #contextAt({ corpus, index }: Question, slot: number): Omit<Context, "score"> {
    return this.#chunks.context(corpus.name, corpus.revision, index.chunkAt(slot))
  }

  /** Weight of each word in the corpus, 0 to 1: the rarer, the more. @throws {IndexDamage} */
  weights(corpus: CorpusRow, words: ReadonlyArray<string>): ReadonlyArray<number> {
    return words.map(rarityIn(this.#index(corpus)))
  }

  #index(corpus: CorpusRow): CorpusIndex {
    const known = this.#indexes.get(corpus.id)
    if (known?.revision === corpus.revision) return known
    const index = new CorpusIndex(this.#db, this.#cache, corpus, known)
    // Deleted first, so that the map's order is the order of reading.
    this.#indexes.delete(corpus.id)
    this.#indexes.set(corpus.id, index)
    let bytes = 0
    for (const { bytes: more } of this.#indexes.values()) bytes += more
    for (const [oldest, { bytes: fewer }] of this.#indexes) {
      if (bytes <= this.#indexMemory || oldest === corpus.id) break
      this.#indexes.delete(oldest)
      bytes -= fewer
    }
    return index
  }

  /** 1 by slot where the chunk passes the request's filter and its threshold. */
  #allowed(index: CorpusIndex, corpus: CorpusRow, request: SearchRequest, dense: Dense | undefined): Uint8Array {
    const filtered = this.#filtered(index, corpus, request)
    return dense?.all === undefined || request.minSimilarity === undefined
      ? filtered
      : moreSimilarThan(request.minSimilarity, dense.all, filtered)
  }

  #filtered(index: CorpusIndex, corpus: CorpusRow, { files, metadata, principal }: SearchRequest): Uint8Array {
    if (files === undefined && metadata === undefined && principal === undefined) return index.live
    const make = () => allowedSlots(this.#db, index, corpus.id, { files, metadata, principal })
    // The same principal asks again and again; a list of files seldom comes twice.
    if (files !== undefined) return make()
    const key = `a${corpus.id}.${corpus.revision} ${JSON.stringify([principal, metadata])}`
    return this.#cache.get(key, make, (allowed) => allowed.length)
  }

  #spellingOf(index: CorpusIndex): SpellingIndex {
    const known = this.#spelling.get(index)
    if (known !== undefined) return known
    const made = new SpellingIndex(index.vocabulary())
    this.#spelling.set(index, made)
    return made
  }
}

const moreSimilarThan = (least: number, cosines: Float64Array, allowed: Uint8Array): Uint8Array => {
  const passing = new Uint8Array(allowed.length)
  for (let slot = 0; slot < allowed.length; slot++) {
    passing[slot] = allowed[slot] === 1 && (cosines[slot] as number) > least ? 1 : 0
  }
  return passing
}

/** Candidate depth does not depend on topK below 100, so the top 8 are the same whether 8 or 100 are requested. */
const depthOf = ({ count }: SearchRequest): number => Math.max(ranking.candidates, count)

const ascending = (slots: Iterable<number>): Int32Array => Int32Array.from(slots).sort()

/** Both arms read vectors and postings segment by segment, which takes slots that ascend. */
const inSlotOrder = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => candidates.toSorted((a, b) => a.id - b.id)

/**
 * Ascending slots of both arms' best chunks, equally many of each, of the best chunks in files that the question names, and of those
 * with a heading that it is.
 */
const candidateSlots = ({ allowed, dense, headed, named, request, sparse }: Question): Int32Array => {
  const depth = depthOf(request)
  const slots = new Set<number>()
  if (request.alpha < 1) { for (const slot of topSlots(sparse, allowed, depth)) slots.add(slot) }
  if (request.alpha > 0 && dense !== undefined) { for (const slot of dense.nearest(allowed, depth)) slots.add(slot) }
  if (named.length > 0) { for (const slot of topSlots(sparse, allowed, depth, named)) slots.add(slot) }
  for (const slot of headed) if (allowed[slot] === 1) slots.add(slot)
  return ascending(slots)
}

/** Most chunks with a heading: one such as `Examples` tells nothing about them. */
const mostHeaded = 40

/** Slots of the chunks with a heading that is the question. @throws {IndexDamage} */
const headedBy = (index: CorpusIndex, query: string): ReadonlySet<number> => {
  const slots = new Set<number>()
  for (const key of questionKeys(query)) {
    for (const { postings, segment: { offset } } of index.lookupRare(key, mostHeaded)?.bySegment ?? []) {
      for (const ordinal of postings.ordinals) slots.add(offset + ordinal)
    }
  }
  return slots
}

/** The first `count` hits with different texts: a copy says no more than its original. */
const withoutCopies = (index: CorpusIndex, hits: ReadonlyArray<Fused>, count: number): ReadonlyArray<Fused> => {
  const seen = new Set<number>()
  const own: Array<Fused> = []
  for (const hit of hits) {
    if (own.length === count) break
    const text = index.embeddingAt(hit.id)
    if (!seen.has(text)) own.push(hit)
    seen.add(text)
  }
  return own
}
