import type { DatabaseSync, StatementSync } from "node:sqlite"
import { numberedName, numberedNames } from "../../../text/FileNames.ts"
import { analyzeQuery } from "../../../search/analysis/Analyzer.ts"
import { areIntact, checkedColumns, columnAt, preparedValues, type RowValues } from "../store/Checksum.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { lengthNorm, termScore } from "./Bm25.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import type { ScoredTerm } from "./QueryTerms.ts"
import type { SlotRange } from "./TopSlots.ts"

/** A file in the index: the slots of its chunks, `from` to `to - 1`, and the terms of its title and name. */
interface IndexedFile {
  readonly from: number
  readonly to: number
  readonly names: ReadonlySet<string>
}

/** Files that were looked up. */
interface KnownFiles {
  /** By slot: the place in `files`, counted from 1. */
  readonly places: Uint32Array
  readonly files: Array<IndexedFile>
}

/** What the files of candidates say of them: a passage of a file that is about the question is likelier to be, too. */
export class FileScores {
  readonly #file: ReturnType<typeof preparedValues>
  readonly #damaged: (chunk: number) => Error
  /** By slot, for as long as the corpus stays as it is. */
  readonly #files = new WeakMap<CorpusIndex, KnownFiles>()
  readonly #numbered: StatementSync
  readonly #byNumber = new WeakMap<CorpusIndex, ReadonlyMap<string, ReadonlyArray<SlotRange>>>()

  /** `damaged` makes what is thrown where a chunk's file is not known. */
  constructor(db: DatabaseSync, damaged: (chunk: number) => Error) {
    this.#file = preparedValues(
      db,
      `SELECT ${
        checkedColumns("files")
      } FROM files WHERE id = (SELECT file FROM chunk_pages WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1)`
    )
    this.#numbered = db.prepare("SELECT display_name, first_chunk, chunks FROM files WHERE corpus = ?")
    this.#damaged = damaged
  }

  /** The slots of the files that the question names by their numbers: "PEP 8" is `pep-0008.rst`. None where a name is that of many. */
  named(index: CorpusIndex, corpus: CorpusRow, query: string): ReadonlyArray<SlotRange> {
    const names = numberedNames(query)
    if (names.size === 0) return []
    let known = this.#byNumber.get(index)
    if (known === undefined) this.#byNumber.set(index, known = this.#numberedFiles(index, corpus))
    return [...names].flatMap((name) => {
      const files = known.get(name) ?? []
      return files.length > mostNamed ? [] : files
    }).sort((a, b) => a.from - b.from)
  }

  #numberedFiles(index: CorpusIndex, corpus: CorpusRow): ReadonlyMap<string, ReadonlyArray<SlotRange>> {
    const files = new Map<string, Array<SlotRange>>()
    for (const row of this.#numbered.iterate(corpus.id)) {
      const name = numberedName(String(row["display_name"]))
      if (name === undefined) continue
      const same = files.get(name) ?? []
      if (same.length <= mostNamed) same.push(index.slotsOf(Number(row["first_chunk"]), Number(row["chunks"])))
      files.set(name, same)
    }
    return files
  }

  /**
   * BM25 of the file that the chunk at a slot belongs to. Undefined where every file is one chunk: the chunk's own score
   * says the same.
   *
   * @throws {StoreDamage}
   */
  whole(index: CorpusIndex, corpus: CorpusRow, terms: ReadonlyArray<ScoredTerm>): ((slot: number) => number) | undefined {
    if (index.liveChunks === corpus.files) return undefined
    const averageLength = index.totalLength / corpus.files
    return this.#perFile(index, (file) => fileScore(index, file, terms, averageLength))
  }

  /** Share of the question's terms, by their weights, that the title or the name of the chunk's file has: 0 to 1. @throws {StoreDamage} */
  title(index: CorpusIndex, terms: ReadonlyArray<ScoredTerm>): (slot: number) => number {
    const total = terms.reduce((sum, { weight }) => sum + weight, 0)
    return this.#perFile(
      index,
      ({ names }) => total === 0 ? 0 : terms.reduce((sum, { term, weight }) => names.has(term) ? sum + weight : sum, 0) / total
    )
  }

  #perFile(index: CorpusIndex, score: (file: IndexedFile) => number): (slot: number) => number {
    const files = this.#knownOf(index)
    const known = new Map<number, number>()
    return (slot) => {
      const place = this.#placeOf(index, files, slot)
      const found = known.get(place)
      if (found !== undefined) return found
      const made = score(files.files[place - 1] as IndexedFile)
      known.set(place, made)
      return made
    }
  }

  #knownOf(index: CorpusIndex): KnownFiles {
    let known = this.#files.get(index)
    if (known === undefined) this.#files.set(index, known = { places: new Uint32Array(index.slots), files: [] })
    return known
  }

  #placeOf(index: CorpusIndex, { files, places }: KnownFiles, slot: number): number {
    const known = places[slot] as number
    if (known > 0) return known
    const chunk = index.chunkAt(slot)
    const row = this.#file.get(chunk)
    const first = Number(row?.[columnsAt.first])
    const count = Number(row?.[columnsAt.chunks])
    if (!areIntact("files", row) || chunk < first || chunk >= first + count) throw this.#damaged(chunk)
    const file = { ...index.slotsOf(first, count), names: namesOf(row, index) }
    const place = files.push(file)
    places.fill(place, file.from, file.to)
    return place
  }
}

/** Files that one name may mean. */
const mostNamed = 4

const columnsAt = {
  first: columnAt("files", "first_chunk"),
  chunks: columnAt("files", "chunks"),
  displayName: columnAt("files", "display_name"),
  title: columnAt("files", "title")
}

const namesOf = (row: RowValues, index: CorpusIndex): ReadonlySet<string> => {
  const name = String(row[columnsAt.displayName]).replace(/\.\w{1,5}$/, "").replace(/[-_.]/g, " ").replace(
    /(?<![\p{L}\p{N}])0+(?=\d)/gu,
    ""
  )
  const title = row[columnsAt.title] ?? ""
  return new Set(analyzeQuery(`${title}\n${name}`, index.analyzers).map(({ term }) => term))
}

const fileScore = (index: CorpusIndex, { from, to }: IndexedFile, terms: ReadonlyArray<ScoredTerm>, averageLength: number): number => {
  const segment = index.segments.findLast(({ offset }) => offset <= from)
  if (segment === undefined) return 0
  let length = 0
  for (let slot = from; slot < to; slot++) length += segment.lengths[slot - segment.offset] ?? 0
  const norm = lengthNorm(length, averageLength)
  let score = 0
  for (const { found, weight } of terms) {
    const postings = found.bySegment.find((one) => one.segment === segment)?.postings
    if (postings === undefined) continue
    let frequency = 0
    for (let i = firstFrom(postings.ordinals, from - segment.offset); i < postings.ordinals.length; i++) {
      if ((postings.ordinals[i] as number) >= to - segment.offset) break
      frequency += postings.frequencies[i] as number
    }
    if (frequency > 0) score += termScore(weight, frequency, norm)
  }
  return score
}

/** Place of the first of the ascending `ordinals` that is `ordinal` or more. */
const firstFrom = (ordinals: Uint32Array | Uint16Array, ordinal: number): number => {
  let low = 0
  let high = ordinals.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ordinals[middle] as number) < ordinal) low = middle + 1
    else high = middle
  }
  return low
}
