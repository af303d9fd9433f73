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

/** Chunks per segment while an index is rebuilt, which are in memory together. */
const rebuildStep = 4_096

/** A chunk to be indexed. */
export interface IndexedChunk {
  readonly number: number
  /** Row id in `embeddings` of the chunk's vector. */
  readonly embedding: number
}

/** The sparse index, for the writer: adds, merges, deletes and rebuilds segments. */
export class Index {
  readonly #table: SegmentTable
  readonly #merger: SegmentMerger
  readonly #bury: StatementSync
  readonly #unbury: StatementSync
  readonly #vocabulary = new Vocabulary()
  readonly #documents = new DocumentTerms(this.#vocabulary, undefined, readerOf)
  readonly #recent: RecentSegments
  readonly #building = new Map<number, Building>()
  /** Files to be added together: see {@link addLater}. */
  #later: Array<{ readonly corpus: number; readonly file: IndexedFile }> = []
  /** Corpora that have lost chunks since the last flush. */
  readonly #shrunk = new Set<number>()

  /** `patience`: most milliseconds of a merge's step. `mostRecent`: most postings that are kept of recent segments. */
  constructor(db: DatabaseSync, patience?: number, mostRecent?: number) {
    this.#table = new SegmentTable(db)
    this.#recent = new RecentSegments(this.#vocabulary, mostRecent)
    this.#merger = new SegmentMerger(db, this.#table, this.#recent, patience)
    this.#bury = db.prepare("INSERT INTO tombstones (corpus, first_chunk, chunks, sum) VALUES (?, ?, ?, ?)")
    this.#unbury = db.prepare("DELETE FROM tombstones WHERE corpus = ?")
  }

  /** The words of a file that {@link add} gets next, from its texts. */
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
        // The first files of a corpus are analyzed twice, since all are to be analyzed by the language of most of them.
        this.#analyze(file, undefined, (decision) => languages.count(decision))
        waiting.push(file)
        if (languages.known || waiting.length >= mostWaiting) this.#takeWaiting(building)
      }
    } catch (cause) {
      // The file is refused; chunks of the other files of its group stay.
      builder.truncate(before)
      throw cause
    }
  }

  /** Notes a file for {@link addAll}: adding each file separately would push the next one's rows out of the processor's cache. */
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
    this.#analyze(file, languages.most, (decision, chunk, place) => {
      count?.(decision)
      const headings = file.words.headingsOf(place).map((key) => this.#vocabulary.numberOf(key))
      builder.add(chunk.number, chunk.embedding, this.#documents.terms, this.#documents.length, headings)
      analyzers.set(decision.analyzer, (analyzers.get(decision.analyzer) ?? 0) + (decision.told ? 1 : 0))
    })
  }

  #analyze(
    { chunks, language, words }: IndexedFile,
    prior: AnalyzerId | undefined,
    visit: (decision: Decision, chunk: IndexedChunk, place: number) => void
  ): void {
    const hint = language ?? languageOf(words.surveyed(), prior)
    chunks.forEach((chunk, place) => visit(this.#documents.take(words.of(place), { hint, prior }, words.met), chunk, place))
  }

  /** Marks a file's chunks as dead. They no longer count, and the next merge removes them. */
  remove(corpus: number, firstChunk: number, chunks: number): void {
    this.#bury.run(corpus, firstChunk, chunks, sumOf("tombstones", { corpus, first_chunk: firstChunk, chunks }))
    this.#shrunk.add(corpus)
  }

  /** Writes what was added since the last flush, one segment per corpus, and returns the corpora that changed. */
  flush(): ReadonlySet<number> {
    const changed = new Set([...this.#building.keys(), ...this.#shrunk])
    for (const corpus of changed) this.#write(corpus)
    this.#shrunk.clear()
    return changed
  }

  /** Forgets what was added since the last flush: the transaction failed. */
  discard(): void {
    this.#building.clear()
    this.#later = []
    this.#shrunk.clear()
    this.#recent.forget()
  }

  /** The corpus of the merge under way. */
  get merging(): number | undefined {
    return this.#merger.corpus
  }

  /** Whether the corpus's last segments should be merged now, as they would have to be read again later. */
  isDue(corpus: number): boolean {
    return this.#recent.isDue(corpus)
  }

  /** Does one step of merging. @throws {SegmentDamage} */
  merge(corpus: number, ratio: number): MergeStep {
    return this.#merger.step(corpus, ratio)
  }

  /** Forgets the merge under way: its transaction failed. */
  forgetMerge(): void {
    this.#merger.forget()
    this.#recent.forget()
  }

  /** Whether killed processes' merges may have left something behind. */
  get mayHaveStrays(): boolean {
    return this.#merger.mayHaveStrays
  }

  /** Deletes what killed processes' merges left behind. */
  sweep(): void {
    this.#merger.sweep()
  }

  /** Deletes a corpus's index. */
  drop(corpus: number): void {
    this.#building.delete(corpus)
    this.#later = this.#later.filter((later) => later.corpus !== corpus)
    this.#shrunk.delete(corpus)
    this.#merger.abandon()
    this.#recent.forget()
    this.#table.drop(corpus)
    this.#unbury.run(corpus)
  }

  /** Rebuilds the index of a corpus from all its files. */
  rebuild(corpus: number, files: Iterable<KeptFile>): void {
    this.drop(corpus)
    for (const { chunks, language, title } of files) {
      this.add(corpus, { chunks, language, words: this.wordsOf(chunks, title) })
      const building = this.#building.get(corpus)
      if (building !== undefined && building.builder.chunks.length - building.first >= rebuildStep) this.#writeAlone(corpus)
    }
    this.#writeAlone(corpus)
  }

  /** Writes a segment that is not small, without keeping its postings. */
  #writeAlone(corpus: number): void {
    this.#write(corpus)
    this.#recent.forget()
    this.#forgetIfFull()
  }

  /** Writes the segment being made. */
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

  /** Forgets the vocabulary where it is full. Kept postings use its numbers, so they are merged before, or dropped. */
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
  /** Ordinal of the segment's first chunk in the builder. */
  readonly first: number
  /** Number of chunks by analyzer, among those whose own words showed it. */
  readonly analyzers: Map<AnalyzerId, number>
  readonly languages: CorpusLanguages
  /** Files that are added once the language of most of the corpus is known. */
  readonly waiting: Array<IndexedFile>
}

/** Most files that wait: a corpus of numbers never shows a language. */
const mostWaiting = 64

/** Counts the languages that the words of a corpus's chunks show. */
class CorpusLanguages {
  /** Number of chunks by the analyzer that they show. */
  readonly #shown: Map<AnalyzerId, number>
  /** Number of chunks that must have shown a language. */
  readonly #enough = 16

  constructor(shown: Map<AnalyzerId, number>) {
    this.#shown = shown
  }

  count({ analyzer, told }: Decision): void {
    if (told) this.#shown.set(analyzer, (this.#shown.get(analyzer) ?? 0) + 1)
  }

  get known(): boolean {
    return this.#all >= this.#enough
  }

  /** The analyzer of more than half of the chunks that show one, and of at least three; else undefined. Program code does not count. */
  get most(): AnalyzerId | undefined {
    for (const [analyzer, count] of this.#shown) {
      if (analyzer !== "code" && count >= 3 && count * 2 > this.#all) return analyzer
    }
    return undefined
  }

  get #all(): number {
    let all = 0
    for (const [analyzer, count] of this.#shown) if (analyzer !== "code") all += count
    return all
  }
}

/** A file to be indexed; `language` is what the document declares. */
export interface IndexedFile {
  readonly chunks: ReadonlyArray<IndexedChunk>
  readonly language: string | undefined
  readonly words: WordsOfFile
}

/** A stored file to be indexed again; `language` and `title` are what the document declares. */
export interface KeptFile {
  readonly chunks: ReadonlyArray<IndexedChunk & Pick<StoredChunk, "text" | "headings">>
  readonly language: string | undefined
  readonly title: string | undefined
}
