import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { AnalyzerId, Decision } from "../../../search/analysis/Detection.ts"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { readerOf } from "../kernel/TextKernel.ts"
import { sumOf } from "./Checksum.ts"
import type { StoredChunk } from "./ChunkPage.ts"
import { FileWords, languageOf, type WordsOfFile } from "./FileWords.ts"
import { RecentSegments } from "./RecentSegments.ts"
import type { SegmentBuilder } from "./SegmentBuilder.ts"
import { type MergeStep, SegmentMerger } from "./SegmentMerger.ts"
import { SegmentTable, summed } from "./SegmentTable.ts"
import type { SegmentBody } from "./SegmentBody.ts"

/** Chunks of one segment while an index is rebuilt: what is held in memory at once. */
const rebuildStep = 4_096

/** A chunk to be indexed. */
export interface IndexedChunk {
  readonly number: number
  /** Row of `embeddings`. */
  readonly embedding: number
}

/** The sparse index as the writer sees it: segments added, merged, dropped and rebuilt. */
export class Index {
  readonly #table: SegmentTable
  readonly #merger: SegmentMerger
  readonly #bury: StatementSync
  readonly #unbury: StatementSync
  readonly #vocabulary = new Vocabulary()
  readonly #documents = new DocumentTerms(this.#vocabulary, undefined, readerOf)
  readonly #recent: RecentSegments
  readonly #building = new Map<number, Building>()
  /** Files that are added together. */
  #later: Array<{ readonly corpus: number; readonly file: IndexedFile }> = []
  /** Corpora that lost chunks. */
  readonly #shrunk = new Set<number>()

  /** `patience`: milliseconds that a step of a merge takes at most. `mostRecent`: postings that are kept of recent segments. */
  constructor(db: DatabaseSync, patience?: number, mostRecent?: number) {
    this.#table = new SegmentTable(db)
    this.#recent = new RecentSegments(this.#vocabulary, mostRecent)
    this.#merger = new SegmentMerger(db, this.#table, this.#recent, patience)
    this.#bury = db.prepare("INSERT INTO tombstones (corpus, first_chunk, chunks, sum) VALUES (?, ?, ?, ?)")
    this.#unbury = db.prepare("DELETE FROM tombstones WHERE corpus = ?")
  }

  /** The words of a file that {@link add} is given next, for whoever has only its texts. */
  wordsOf(
    chunks: ReadonlyArray<Pick<StoredChunk, "text" | "headings">>,
    title: string | undefined,
    withVectors = false
  ): FileWords {
    return new FileWords(this.#documents, chunks, title, withVectors)
  }

  /** Analyzes the chunks of one file; {@link flush} writes them. */
  add(corpus: number, file: IndexedFile): void {
    let building = this.#building.get(corpus)
    if (building === undefined) {
      const builder = this.#recent.builderOf(corpus)
      const languages = new CorpusLanguages(summed(this.#table.analyzers(corpus)))
      building = { builder, first: builder.chunks.length, analyzers: new Map(), languages, waiting: [] }
      this.#building.set(corpus, building)
    }
    const { builder, languages, waiting } = building
    const before = builder.chunks.length
    try {
      if (languages.known) this.#take(building, file, (decision) => languages.count(decision))
      else {
        // The first files of a corpus are looked at twice: all are to be read by what most of them are in.
        this.#analyze(file, undefined, (decision) => languages.count(decision))
        waiting.push(file)
        if (languages.known || waiting.length >= mostWaiting) this.#takeWaiting(building)
      }
    } catch (cause) {
      // The file is refused; what others of its group brought stays.
      builder.truncate(before)
      throw cause
    }
  }

  /** {@link add} with those that come meanwhile, by {@link addAll}: each by itself would push the rows of the next one out of the processor's cache. */
  addLater(corpus: number, file: IndexedFile): void {
    this.#later.push({ corpus, file })
  }

  addAll(): void {
    for (const { corpus, file } of this.#later.splice(0)) this.add(corpus, file)
  }

  #takeWaiting(building: Building): void {
    for (const file of building.waiting.splice(0)) this.#take(building, file)
  }

  #take({ analyzers, builder, languages }: Building, file: IndexedFile, count?: (decision: Decision) => void): void {
    this.#analyze(file, languages.most, (decision, chunk) => {
      count?.(decision)
      builder.add(chunk.number, chunk.embedding, this.#documents.terms, this.#documents.length)
      analyzers.set(decision.analyzer, (analyzers.get(decision.analyzer) ?? 0) + (decision.told ? 1 : 0))
    })
  }

  #analyze(
    { chunks, language, words }: IndexedFile,
    prior: AnalyzerId | undefined,
    visit: (decision: Decision, chunk: IndexedChunk) => void
  ): void {
    const hint = language ?? languageOf(words.surveyed(), prior)
    chunks.forEach((chunk, place) => visit(this.#documents.take(words.of(place), { hint, prior }, words.met), chunk))
  }

  /** Marks a file's chunks as gone. They weigh nothing from now on and leave with the next merge. */
  remove(corpus: number, firstChunk: number, chunks: number): void {
    this.#bury.run(corpus, firstChunk, chunks, sumOf("tombstones", { corpus, first_chunk: firstChunk, chunks }))
    this.#shrunk.add(corpus)
  }

  /** Writes what {@link add} took since the last time, one segment for each corpus; tells which corpora changed. */
  flush(): ReadonlySet<number> {
    const changed = new Set([...this.#building.keys(), ...this.#shrunk])
    for (const corpus of changed) this.#write(corpus)
    this.#shrunk.clear()
    return changed
  }

  /** Forgets what was added and not flushed: the transaction failed. */
  discard(): void {
    this.#building.clear()
    this.#later = []
    this.#shrunk.clear()
    this.#recent.forget()
  }

  /** The corpus of a merge that goes on. */
  get merging(): number | undefined {
    return this.#merger.corpus
  }

  /** Whether the corpus's last segments are to be merged now: later they would have to be read. */
  isDue(corpus: number): boolean {
    return this.#recent.isDue(corpus)
  }

  /** One step of merging. @throws {SegmentDamage} */
  merge(corpus: number, ratio: number): MergeStep {
    return this.#merger.step(corpus, ratio)
  }

  /** A step of merging failed with its transaction. */
  forgetMerge(): void {
    this.#merger.forget()
    this.#recent.forget()
  }

  /** Whether merges of processes that were killed may have left something behind. */
  get mayHaveStrays(): boolean {
    return this.#merger.mayHaveStrays
  }

  /** Deletes that. */
  sweep(): void {
    this.#merger.sweep()
  }

  /** Forgets everything about a corpus. */
  drop(corpus: number): void {
    this.#building.delete(corpus)
    this.#later = this.#later.filter((later) => later.corpus !== corpus)
    this.#shrunk.delete(corpus)
    this.#merger.abandon()
    this.#recent.forget()
    this.#table.drop(corpus)
    this.#unbury.run(corpus)
  }

  /** Builds the index of a corpus again, from all its files. */
  rebuild(corpus: number, files: Iterable<KeptFile>): void {
    this.drop(corpus)
    for (const { chunks, language, title } of files) {
      this.add(corpus, { chunks, language, words: this.wordsOf(chunks, title) })
      const building = this.#building.get(corpus)
      if (building !== undefined && building.builder.chunks.length - building.first >= rebuildStep) this.#writeAlone(corpus)
    }
    this.#writeAlone(corpus)
  }

  /** Writes a segment that is not small, and keeps nothing of it. */
  #writeAlone(corpus: number): void {
    this.#write(corpus)
    this.#recent.forget()
    this.#forgetIfFull()
  }

  /** Writes the segment in the making. */
  #write(corpus: number): void {
    const building = this.#building.get(corpus)
    if (building !== undefined) this.#takeWaiting(building)
    this.#building.delete(corpus)
    if (building !== undefined && building.builder.chunks.length > building.first) this.#insert(corpus, building)
    this.#forgetIfFull()
  }

  #insert(corpus: number, { analyzers, builder, first }: Building): void {
    const body: SegmentBody = {
      chunks: Float64Array.from(builder.chunks.slice(first)),
      lengths: Uint32Array.from(builder.lengths.slice(first)),
      embeddings: Float64Array.from(builder.embeddings.slice(first))
    }
    const id = this.#table.insert(corpus, body, analyzers, (pages) => builder.writeTo(pages, this.#vocabulary, first))
    this.#recent.wrote(id, builder, first)
  }

  /** Builders know terms by their numbers: what is kept of segments is made one before they are void, or is kept no longer. */
  #forgetIfFull(): void {
    if (this.#building.size > 0 || this.#merger.corpus !== undefined || !this.#documents.isFull) return
    this.#recent.close()
    if (!this.#recent.isEmpty) return
    this.#documents.forgetIfFull()
  }
}

/** The segment of a corpus that is being made. */
interface Building {
  readonly builder: SegmentBuilder
  /** Ordinal of its first chunk among those of the builder. */
  readonly first: number
  /** Of how many chunks the words told that they are to be analyzed so. */
  readonly analyzers: Map<AnalyzerId, number>
  readonly languages: CorpusLanguages
  /** Files that come when it is known what most of the corpus is in. */
  readonly waiting: Array<IndexedFile>
}

/** Files that wait at most: a corpus of numbers never tells. */
const mostWaiting = 64

/** What a corpus is in, as far as the words of its chunks tell. */
class CorpusLanguages {
  readonly #told: Map<AnalyzerId, number>
  /** Enough chunks have told. */
  readonly #enough = 16

  constructor(told: Map<AnalyzerId, number>) {
    this.#told = told
  }

  count({ analyzer, told }: Decision): void {
    if (told) this.#told.set(analyzer, (this.#told.get(analyzer) ?? 0) + 1)
  }

  get known(): boolean {
    return this.#all >= this.#enough
  }

  /** What more than half of the chunks that tell are in; undefined where three are not. Program code is in none. */
  get most(): AnalyzerId | undefined {
    for (const [analyzer, count] of this.#told) {
      if (analyzer !== "code" && count >= 3 && count * 2 > this.#all) return analyzer
    }
    return undefined
  }

  get #all(): number {
    let all = 0
    for (const [analyzer, count] of this.#told) if (analyzer !== "code") all += count
    return all
  }
}

/** A file as it is indexed; its language as the document declares it. */
export interface IndexedFile {
  readonly chunks: ReadonlyArray<IndexedChunk>
  readonly language: string | undefined
  readonly words: WordsOfFile
}

/** A file as it is kept, to be indexed again; language and title as the document declares them. */
export interface KeptFile {
  readonly chunks: ReadonlyArray<IndexedChunk & Pick<StoredChunk, "text" | "headings">>
  readonly language: string | undefined
  readonly title: string | undefined
}
