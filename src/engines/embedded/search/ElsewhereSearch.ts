import type { DatabaseSync, StatementSync } from "node:sqlite"
import { defined } from "../../../domain/Defined.ts"
import type { Context } from "../../../domain/Retrieval.ts"
import type { VectorAbilities, VectorHit, VectorHits, VectorQuery } from "../../../ports/VectorStore.ts"
import { type AnalyzerId, analyzeQuery } from "../../../search/analysis/Analyzer.ts"
import { grammarOf } from "../../../search/analysis/Grammar.ts"
import { ByteCache } from "../../../search/ByteCache.ts"
import { firstByPath, fuse, type Fused } from "../../../search/Fusion.ts"
import { ranking } from "../../../search/Ranking.ts"
import type { Names } from "../Names.ts"
import { asBlob, checkedColumns, isIntact } from "../store/Checksum.ts"
import { fromHex, unpackHashes } from "../store/Hash.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { cosineOf, unitVectorOf } from "../store/Vector.ts"
import { allowedFiles, filePasses } from "./Allowed.ts"
import { ChunkReader } from "./ChunkReader.ts"
import { towards } from "./DenseArm.ts"
import { SampledRarity } from "./SampledRarity.ts"
import type { SearchRequest } from "./Search.ts"

/** What is asked of a corpus whose vectors are in a database of their own. */
export interface ElsewhereRequest extends Omit<SearchRequest, "vector" | "correctSpelling"> {
  readonly vector: Float32Array | undefined
  /** Whether the request says how the arms are mixed, which a database that mixes does by itself then. */
  readonly hybrid: boolean
}

/** What the database is asked: undefined where no file passes the filter. */
export type Asked = Omit<VectorQuery, "count"> | undefined

/** Contexts, and whether the database has to be asked for more hits to be sure of them. */
export interface Found {
  readonly contexts: ReadonlyArray<Context>
  readonly more: boolean
}

/**
 * The engine's side of a search in a corpus's own database: which words it is asked for, and what of its hits is shown.
 * A hit counts where its version is visible and passes the filter; its cosine is reckoned here, with the vector that is
 * kept, so that thresholds mean the same whatever the database rounds.
 */
export class ElsewhereSearch {
  readonly #db: DatabaseSync
  readonly #chunks: ChunkReader
  readonly #file: StatementSync
  readonly #hashes: StatementSync
  readonly #vector: StatementSync
  readonly #rarity: SampledRarity

  /** `memory`: bytes that what is read from the engine's database may take. */
  constructor(db: DatabaseSync, names: Names, memory: number) {
    this.#db = db
    this.#chunks = new ChunkReader(db, new ByteCache(memory), names)
    this.#rarity = new SampledRarity(db, this.#chunks)
    this.#file = db.prepare(`SELECT ${checkedColumns("files")} FROM files WHERE corpus = ? AND name = ?`)
    this.#hashes = db.prepare("SELECT first_chunk, hashes FROM chunk_pages WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1")
    this.#vector = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
  }

  /** @throws {StoreDamage} where a file's record, or a text whose words are counted, is damaged */
  asked(corpus: CorpusRow, request: ElsewhereRequest, abilities: VectorAbilities, mostFiles: number): Asked {
    const { files, metadata, principal } = request
    const filtered = files !== undefined || metadata !== undefined || principal !== undefined
    const allowed = filtered ? allowedFiles(this.#db, corpus.id, request) : undefined
    if (allowed?.length === 0) return undefined
    const { alpha } = request
    const vector = alpha > 0 || request.minSimilarity !== undefined ? request.vector : undefined
    const terms = abilities.words && alpha < 1 ? this.#terms(corpus, request, abilities.rarity) : undefined
    const both = alpha > 0 && vector?.some((value) => value !== 0) === true && terms !== undefined && terms.length > 0
    return {
      vector,
      terms,
      alpha: request.hybrid && abilities.mixes && both ? alpha : undefined,
      // Where too many pass to be named, those that do not are dropped here, and more are asked for.
      files: allowed !== undefined && allowed.length <= mostFiles ? allowed : undefined
    }
  }

  #terms(corpus: CorpusRow, { alpha, query }: ElsewhereRequest, rarity: boolean): VectorQuery["terms"] {
    const analyzers = this.#analyzers(corpus)
    const isGrammar = grammarOf(query, analyzers)
    const rare = rarity ? () => 1 : this.#rarity.of(corpus)
    return analyzeQuery(query, analyzers).map(({ from, term }) => ({
      term,
      weight: (alpha > 0 && isGrammar(from) ? ranking.grammar : 1) * rare(term)
    }))
  }

  #analyzers(corpus: CorpusRow): ReadonlyArray<AnalyzerId> {
    // Written from AnalyzerIds.
    return this.#db.prepare("SELECT analyzer FROM vector_analyzers WHERE corpus = ? ORDER BY analyzer").all(corpus.id)
      .map((row) => String(row["analyzer"]) as AnalyzerId)
  }

  /** `count` is how many hits of each arm were asked for, or of both mixed. @throws {StoreDamage} */
  found(corpus: CorpusRow, request: ElsewhereRequest, hits: VectorHits, count: number): Found {
    const { alpha, explain, minSimilarity, vector } = request
    const allowed = this.#placesOf(corpus, request)
    const opened = new Map<number, Uint8Array>()
    const cosine = (chunk: number): number => vector === undefined ? 0 : cosineOf(this.#vectorOf(corpus, chunk, opened), vector)
    const near = (chunk: number): boolean => minSimilarity === undefined || cosine(chunk) > minSimilarity
    const sparse = new Map<number, number>()
    const candidates = new Set<number>()
    const take = (arm: ReadonlyArray<VectorHit>, each: (chunk: number, score: number) => void = () => {}): number => {
      let taken = 0
      for (const hit of arm) {
        const chunk = allowed(hit)
        if (chunk === undefined || !near(chunk)) continue
        taken++
        candidates.add(chunk)
        each(chunk, hit.score)
      }
      return taken
    }
    const dense = take(hits.dense)
    const words = take(hits.sparse, (chunk, score) => sparse.set(chunk, score))
    const depth = Math.max(ranking.candidates, request.count)
    const short = (arm: ReadonlyArray<VectorHit>, taken: number): boolean => arm.length >= count && taken < Math.min(depth, count)
    // Beyond the first that is too far, all are.
    const last = hits.dense.findLast((hit) => allowed(hit) !== undefined)
    const beyond = last !== undefined && !near(allowed(last) ?? 0)

    const numbers = () => [...candidates].sort((a, b) => a - b).map((id) => ({ id, sparse: sparse.get(id) ?? 0, cosine: cosine(id) }))
    const shown = (ordered: ReadonlyArray<Fused>): ReadonlyArray<Context> =>
      firstByPath(ordered, request.count, alpha, (id) => this.#chunks.pathOf(corpus.name, corpus.generation, id)).map((hit) => ({
        ...this.#chunks.context(corpus.name, corpus.generation, hit.id),
        score: hit.fused,
        ...(vector === undefined ? {} : { distance: 1 - hit.cosine }),
        ...(explain ? { explanation: this.#explain(corpus, hit, alpha) } : {})
      }))
    if (hits.mixed !== undefined) {
      const mixed = new Map<number, number>()
      candidates.clear()
      const taken = take(hits.mixed, (chunk, score) => mixed.set(chunk, score))
      // The order is the database's; what each arm says beside is only for whoever wants to see it.
      const ordered = fuse(numbers(), alpha)
        .map((hit) => ({ ...hit, fused: mixed.get(hit.id) ?? 0 }))
        .sort((a, b) => b.fused - a.fused || a.id - b.id)
      return { more: short(hits.mixed, taken), contexts: shown(ordered) }
    }
    const scored = numbers()
    const first = fuse(scored, alpha)
    const both = alpha > 0 && alpha < 1 && vector !== undefined
    return {
      more: short(hits.sparse, words) || (short(hits.dense, dense) && !beyond),
      contexts: shown(both ? this.#fedBack(corpus, scored, first, vector, alpha, opened) : first)
    }
  }

  /** As in a search of the engine's own: the question moves towards the first few. */
  #fedBack(
    corpus: CorpusRow,
    scored: ReadonlyArray<{ readonly id: number; readonly sparse: number; readonly cosine: number }>,
    first: ReadonlyArray<Fused>,
    query: Float32Array,
    alpha: number,
    opened: Map<number, Uint8Array>
  ): ReadonlyArray<Fused> {
    const middle = new Float32Array(query.length)
    for (const { id } of first.slice(0, ranking.feedbackChunks)) {
      unitVectorOf(this.#vectorOf(corpus, id, opened), query.length).forEach((value, d) => void (middle[d]! += value))
    }
    const moved = towards(query, middle, ranking.feedback)
    return fuse(
      scored.map((candidate) => ({ ...candidate, related: cosineOf(this.#vectorOf(corpus, candidate.id, opened), moved) })),
      alpha
    )
  }

  #explain(corpus: CorpusRow, hit: Fused, alpha: number): NonNullable<Context["explanation"]> {
    const { cosine, fused, normalizedDense, normalizedSparse, related, sparse } = hit
    return defined({
      analyzer: this.#analyzers(corpus).join(", "),
      // The database scores words by itself, and does not say which.
      terms: [],
      sparse,
      cosine,
      related,
      normalizedSparse,
      normalizedDense,
      alpha,
      fused
    })
  }

  /** The number of the chunk that a hit is of; undefined where it is not visible, or does not pass. */
  #placesOf(corpus: CorpusRow, request: ElsewhereRequest): (hit: VectorHit) => number | undefined {
    const { files, metadata, principal } = request
    const passes = filePasses(this.#db, corpus.id, { metadata, principal })
    const only = files === undefined ? undefined : new Set(files)
    const known = new Map<string, { readonly first: number; readonly chunks: number } | undefined>()
    const placeOf = (file: string) => {
      const row = only === undefined || only.has(file) ? this.#file.get(corpus.id, file) : undefined
      return row !== undefined && passes(row) ? { first: Number(row["first_chunk"]), chunks: Number(row["chunks"]) } : undefined
    }
    return ({ file, ordinal }) => {
      if (!known.has(file)) known.set(file, placeOf(file))
      const place = known.get(file)
      return place !== undefined && ordinal >= 0 && ordinal < place.chunks ? place.first + ordinal : undefined
    }
  }

  #vectorOf(corpus: CorpusRow, chunk: number, opened: Map<number, Uint8Array>): Uint8Array {
    const known = opened.get(chunk)
    if (known !== undefined) return known
    const page = this.#hashes.get(chunk)
    const hash = unpackHashes(asBlob(page?.["hashes"]))[chunk - Number(page?.["first_chunk"])]
    const row = hash === undefined ? undefined : this.#vector.get(fromHex(hash), corpus.embedder)
    if (!isIntact("embeddings", row)) throw this.#chunks.damaged(chunk, "vector")
    const vector = asBlob(row["vector"])
    opened.set(chunk, vector)
    return vector
  }
}
