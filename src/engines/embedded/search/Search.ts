import type { DatabaseSync } from "node:sqlite"
import type { Context } from "../../../domain/Retrieval.ts"
import type { Names } from "../Names.ts"
import { indexedText } from "../store/FileWords.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { allowedSlots, type FileFilter } from "./Allowed.ts"
import { ByteCache } from "../../../search/ByteCache.ts"
import { ChunkReader } from "./ChunkReader.ts"
import { CorpusIndex } from "./CorpusIndex.ts"
import { type Dense, DenseArm } from "./DenseArm.ts"
import { explain } from "./Explain.ts"
import { type Candidate, firstByPath, fuse, type Fused, fuseWords } from "../../../search/Fusion.ts"
import { postingsOf, queryTerms, rarityIn, type ScoredTerm } from "./QueryTerms.ts"
import { SharedWords } from "./SharedWords.ts"
import { SpellingIndex } from "../../../search/Spelling.ts"
import { ranking } from "../../../search/Ranking.ts"
import { embedWeighed } from "../../../text/hashed/EmbedHashed.ts"
import { explainsOption, optionsOf } from "../../../text/CommandOptions.ts"
import { FileScores } from "./FileScores.ts"
import { ScoreRoom, type Scores, type SlotRange } from "./Scores.ts"
import { topSlots } from "./TopSlots.ts"

export interface SearchRequest extends FileFilter {
  readonly query: string
  readonly count: number
  /** 0 sparse only, 1 dense only. */
  readonly alpha: number
  /**
   * The query's vector, where the dense side is wanted; its embedder may ask how much a word says in the corpus. `hashed`:
   * that of the offline embedder, which is made where the words' weights are.
   */
  readonly vector?: ((weigh: (word: string) => number) => Float32Array) | "hashed" | undefined
  /** Cosine similarity strictly more than this. */
  readonly minSimilarity?: number
  readonly correctSpelling: boolean
  readonly explain: boolean
}

/** Files whose chunks are looked through for what explains an option, and chunks of each. */
const filesOfOptions = 3
const chunksOfOptions = 500

/** Contexts of one request up to which the dense side may come from lists of candidates. */
const mostFromLists = 200

/** Searches the corpora of one database. Synchronous; every call is within one read snapshot. */
export class Search {
  readonly #db: DatabaseSync
  readonly #cache: ByteCache
  readonly #chunks: ChunkReader
  readonly #dense: DenseArm
  readonly #files: FileScores
  readonly #shared: SharedWords
  readonly #indexMemory: number
  readonly #indexes = new Map<number, CorpusIndex>()
  /** Used again by the next search: nothing of one is left when the next begins. */
  readonly #room = new ScoreRoom()
  readonly #spelling = new WeakMap<CorpusIndex, SpellingIndex>()

  /** `memory`: bytes that what is read from the database may take; the index of the corpus in use is kept in any case. */
  constructor(db: DatabaseSync, names: Names, memory: number) {
    this.#db = db
    this.#indexMemory = memory / 4
    this.#cache = new ByteCache(memory - this.#indexMemory)
    this.#chunks = new ChunkReader(db, this.#cache, names)
    this.#shared = new SharedWords(this.#cache)
    this.#files = new FileScores(db, (chunk) => this.#chunks.damaged(chunk, "text"))
    this.#dense = new DenseArm(db, this.#cache, (chunk) => this.#chunks.damaged(chunk, "vector"))
  }

  /**
   * The best contexts, best first, equals by their files' addresses and their places in them, whatever the
   * history of the corpus. Of more than a thousand equals some are not looked at.
   *
   * @throws {IndexDamage} where the index is damaged, which can be rebuilt
   * @throws {StoreDamage} where a text, a vector or a file's record is
   */
  run(corpus: CorpusRow, request: SearchRequest): ReadonlyArray<Context> {
    const index = this.#index(corpus)
    this.#room.begin(index)
    const terms = request.alpha < 1 || request.explain
      ? queryTerms(index, request.query, {
        lowerGrammar: request.alpha > 0,
        spelling: request.correctSpelling ? () => this.#spellingOf(index) : undefined,
        room: this.#room
      })
      : []
    const sparse = this.#room.zeros("sparse")
    this.#room.addPostings("sparse", postingsOf(terms))
    // A threshold is promised of every chunk, and so is a long list: lists know candidates only.
    const exact = request.minSimilarity !== undefined || request.count > mostFromLists
    const vector = request.vector === "hashed" ? embedWeighed(request.query, rarityIn(index)) : request.vector?.(rarityIn(index))
    const dense = vector === undefined ? undefined : this.#dense.ask(index, vector, this.#room, exact)
    const filtered = this.#allowed(index, corpus, request)
    const allowed = dense?.all === undefined || request.minSimilarity === undefined
      ? filtered
      : moreSimilarThan(request.minSimilarity, dense.all, filtered)
    const pathOf = (slot: number) => this.#chunks.pathOf(corpus.name, corpus.generation, index.chunkAt(slot))
    const named = request.alpha > 0 ? this.#files.named(index, corpus, request.query) : []
    const mixed = request.alpha > 0 && request.alpha < 1 && dense !== undefined
    const options = mixed ? optionsOf(request.query) : []
    const explained = (slot: number): number => {
      const { text } = this.#chunks.context(corpus.name, corpus.generation, index.chunkAt(slot))
      return options.filter((option) => explainsOption(text, option.text)).length / options.length
    }
    const looked = [...terms]
    const candidatesAt = (slots: Int32Array): Array<Candidate> => {
      const cosines = dense?.cosines(slots)
      // Without words there is nothing that files could say of them: none is looked up.
      const files = request.alpha > 0 && terms.length > 0 ? this.#files.scores(index, corpus, terms, slots) : undefined
      return Array.from(slots, (id, at): Candidate => ({
        id,
        sparse: sparse.values[id] ?? 0,
        cosine: cosines?.[at] ?? 0,
        file: files?.whole?.[at],
        title: files?.title[at],
        named: named.some(({ from, to }) => id >= from && id < to),
        options: options.length === 0 ? undefined : explained(id)
      }))
    }
    const arms: Arms = { sparse, dense, candidatesAt, allowed, named, request }
    const ordered = (): ReadonlyArray<Fused> => {
      if (request.alpha === 0 && dense === undefined) {
        return fuseWords(topSlots(sparse, allowed, depthOf(request)), sparse.values, request.count)
      }
      const candidates = candidatesAt(candidateSlots(arms))
      if (options.length > 0) {
        const more = this.#besideBest(index, candidates, request.alpha).filter((slot) => allowed[slot] === 1 && explained(slot) > 0)
        candidates.push(...candidatesAt(ascending(more)))
      }
      return mixed ? this.#again(arms, index, corpus, candidates, looked) : fuse(candidates, request.alpha)
    }
    return firstByPath(ordered(), request.count, request.alpha, pathOf).map((hit) => ({
      ...this.#chunks.context(corpus.name, corpus.generation, index.chunkAt(hit.id)),
      score: hit.fused,
      ...(dense === undefined ? {} : { distance: 1 - hit.cosine }),
      ...(request.explain ? { explanation: explain(index, looked, hit, request.alpha) } : {})
    }))
  }

  /**
   * The order once more, with what the best chunks of the first time are about besides the question's words: the words
   * that they share are looked for as well, and found in others too, and the question's vector moves towards theirs.
   * Adds the words to `looked`.
   */
  #again(
    { allowed, candidatesAt, dense, request, sparse }: Arms,
    index: CorpusIndex,
    corpus: CorpusRow,
    candidates: ReadonlyArray<Candidate>,
    looked: Array<ScoredTerm>
  ): ReadonlyArray<Fused> {
    const known = new Set(candidates.map(({ id }) => id))
    const first = fuse(candidates, request.alpha)
    const chunks = withoutCopies(index, first, ranking.sharedChunks).map(({ fused, id, sparse }) => {
      const number = index.chunkAt(id)
      const text = () => indexedText(this.#chunks.context(corpus.name, corpus.generation, number), undefined)
      return { number, text, score: fused, sparse }
    })
    const shared = this.#shared.of(index, chunks)
    looked.push(...shared)
    this.#room.addPostings("sparse", postingsOf(shared))
    const found = candidatesAt(ascending(topSlots(sparse, allowed, depthOf(request)).filter((slot) => !known.has(slot))))
    const related = dense?.movedTo(first.slice(0, ranking.feedbackChunks).map(({ id }) => id), ranking.feedback)
    // What the words of the question say of a candidate and its file stands; only BM25 has grown.
    const again = (some: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
      const closer = related?.(Int32Array.from(some, ({ id }) => id))
      return some.map(({ cosine, file, id, named, options, title }, at) => (
        { id, sparse: sparse.values[id] ?? 0, cosine, related: closer?.[at], file, title, named, options }
      ))
    }
    return fuse([...again(candidates), ...again(found)], request.alpha)
  }

  /**
   * Slots of the best candidates' files that are none of them: what explains an option may have no other word of the question, since
   * a manual names its command at the beginning.
   */
  #besideBest(index: CorpusIndex, candidates: ReadonlyArray<Candidate>, alpha: number): ReadonlyArray<number> {
    const known = new Set(candidates.map(({ id }) => id))
    return this.#files.rangesOf(index, fuse(candidates, alpha).map(({ id }) => id), filesOfOptions)
      .flatMap(({ from, to }) => Array.from({ length: Math.min(to - from, chunksOfOptions) }, (_, at) => from + at))
      .filter((slot) => !known.has(slot))
  }

  /** How much each word of a question says in the corpus, 0 to 1. @throws {IndexDamage} */
  weights(corpus: CorpusRow, words: ReadonlyArray<string>): ReadonlyArray<number> {
    return words.map(rarityIn(this.#index(corpus)))
  }

  #index(corpus: CorpusRow): CorpusIndex {
    const known = this.#indexes.get(corpus.id)
    if (known?.generation === corpus.generation) return known
    const index = new CorpusIndex(this.#db, this.#cache, corpus, known)
    // Deleted first, so that the one that was read last is the map's last.
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

  #allowed(index: CorpusIndex, corpus: CorpusRow, { files, metadata, principal }: SearchRequest): Uint8Array {
    if (files === undefined && metadata === undefined && principal === undefined) return index.live
    const make = () => allowedSlots(this.#db, index, corpus.id, { files, metadata, principal })
    // A principal asks again and again; a list of files seldom comes twice.
    if (files !== undefined) return make()
    const key = `a${corpus.id}.${corpus.generation} ${JSON.stringify([principal, metadata])}`
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

/** What the arms of one search know. */
interface Arms {
  /** BM25 by slot. */
  readonly sparse: Scores
  readonly dense: Dense | undefined
  /** At these slots, which ascend. */
  readonly candidatesAt: (slots: Int32Array) => ReadonlyArray<Candidate>
  readonly allowed: Uint8Array
  readonly named: ReadonlyArray<SlotRange>
  readonly request: SearchRequest
}

/** As deep for few contexts as for a hundred, so that the first of a long list are those of a short one. */
const depthOf = ({ count }: SearchRequest): number => Math.max(ranking.candidates, count)

const ascending = (slots: Iterable<number>): Int32Array => Int32Array.from(slots).sort()

/** Slots of the candidates of both arms, equally deep, and of the files that the question names; they ascend. */
const candidateSlots = ({ allowed, dense, named, request, sparse }: Arms): Int32Array => {
  const depth = depthOf(request)
  const slots = new Set<number>()
  if (request.alpha < 1) { for (const slot of topSlots(sparse, allowed, depth)) slots.add(slot) }
  if (request.alpha > 0 && dense !== undefined) { for (const slot of dense.nearest(allowed, depth)) slots.add(slot) }
  if (named.length > 0) { for (const slot of topSlots(sparse, allowed, depth, named)) slots.add(slot) }
  return ascending(slots)
}

/** The first of them, each text once: a copy says no more than what it was copied from. */
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
