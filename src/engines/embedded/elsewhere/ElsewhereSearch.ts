import type { DatabaseSync, StatementSync } from "node:sqlite"
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
import { allowedFiles, filePasses } from "../search/Allowed.ts"
import { ChunkReader } from "../search/ChunkReader.ts"
import { type Dense, towards } from "../search/DenseArm.ts"
import { explanationOf } from "../search/Explain.ts"
import { fedBack } from "../search/Feedback.ts"
import { SampledRarity } from "../search/SampledRarity.ts"
import type { SearchRequest } from "../search/Search.ts"

/** A search request to a corpus whose vectors are in a database of its own. */
export interface ElsewhereRequest extends Omit<SearchRequest, "vector" | "correctSpelling" | "alternatives"> {
  readonly vector: Float32Array | undefined
  /** Whether the request says how the arms are mixed. A database that can mix then does so itself. */
  readonly hybrid: boolean
}

/** The query to the database; undefined where no file passes the filter. */
export type Asked = Omit<VectorQuery, "count"> | undefined

/** Contexts, and whether more hits must be requested from the database to be sure of them. */
export interface Found {
  readonly contexts: ReadonlyArray<Context>
  readonly more: boolean
}

/**
 * The engine's side of a search in a corpus's own database: the query that it sends, and the contexts that it makes of the hits. A hit
 * counts where its version of the file is visible and passes the filter. Its cosine is computed here, with the vector that the engine
 * keeps, so that thresholds mean the same however the database rounds.
 */
export class ElsewhereSearch {
  readonly #db: DatabaseSync
  readonly #chunks: ChunkReader
  readonly #file: StatementSync
  readonly #hashes: StatementSync
  readonly #vector: StatementSync
  readonly #rarity: SampledRarity

  /** `memory`: bytes for what is read from the engine's own database. */
  constructor(db: DatabaseSync, names: Names, memory: number) {
    this.#db = db
    this.#chunks = new ChunkReader(db, new ByteCache(memory), names)
    this.#rarity = new SampledRarity(db, this.#chunks)
    this.#file = db.prepare(`SELECT ${checkedColumns("files")} FROM files WHERE corpus = ? AND name = ?`)
    this.#hashes = db.prepare("SELECT first_chunk, hashes FROM chunk_pages WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1")
    this.#vector = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
  }

  /** The query for the database. @throws {StoreDamage} where a file's record, or a text whose words are counted, is damaged */
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
      // Where too many files pass to be named, hits of other files are dropped afterwards, and more hits are requested.
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

  /** Contexts from the database's hits. `count` is how many were requested of each arm, or of both mixed. @throws {StoreDamage} */
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
    // Hits come nearest first: once one is too far, so are all after it.
    const last = hits.dense.findLast((hit) => allowed(hit) !== undefined)
    const beyond = last !== undefined && !near(allowed(last) ?? 0)

    const sparseOf = (chunk: number): number => sparse.get(chunk) ?? 0
    const numbers = () => [...candidates].sort((a, b) => a - b).map((id) => ({ id, sparse: sparseOf(id), cosine: cosine(id) }))
    const shown = (ordered: ReadonlyArray<Fused>): ReadonlyArray<Context> =>
      firstByPath(ordered, request.count, alpha, (id) => this.#chunks.pathOf(corpus.name, corpus.revision, id)).map((hit) => ({
        ...this.#chunks.context(corpus.name, corpus.revision, hit.id),
        score: hit.fused,
        ...(vector === undefined ? {} : { distance: 1 - hit.cosine }),
        // The database scores words on its own, and does not say which.
        ...(explain ? { explanation: explanationOf(hit, alpha, this.#analyzers(corpus), []) } : {})
      }))
    if (hits.mixed !== undefined) {
      const mixed = new Map<number, number>()
      candidates.clear()
      const taken = take(hits.mixed, (chunk, score) => mixed.set(chunk, score))
      // The order is the database's. The scores of each arm are only shown in explanations.
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
      contexts: shown(both ? fuse(fedBack(scored, first, this.#movedTo(corpus, vector, opened), sparseOf), alpha) : first)
    }
  }

  /** Cosines with the question moved towards chunks, as {@link Dense.movedTo} has them, by number of chunk. */
  #movedTo(corpus: CorpusRow, query: Float32Array, opened: Map<number, Uint8Array>): Dense["movedTo"] {
    return (chunks, weight) => {
      const middle = new Float32Array(query.length)
      for (const chunk of chunks) {
        unitVectorOf(this.#vectorOf(corpus, chunk, opened), query.length).forEach((value, d) => void (middle[d]! += value))
      }
      const moved = towards(query, middle, weight)
      return (others) => Float64Array.from(others, (chunk) => cosineOf(this.#vectorOf(corpus, chunk, opened), moved))
    }
  }

  /** Returns the number of a hit's chunk; undefined where its file is not visible or does not pass the filter. */
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
