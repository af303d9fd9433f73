import type { DatabaseSync, StatementSync } from "node:sqlite"
import { type AnalyzerId, type Decision, detect, sampleLength } from "../../../search/analysis/Detection.ts"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { NumberedWords } from "../../../text/hashed/EmbedHashed.ts"
import { sumOf } from "./Checksum.ts"
import type { StoredChunk } from "./ChunkPage.ts"
import { FileWords } from "./FileWords.ts"
import { SegmentBuilder } from "./SegmentBuilder.ts"
import { SegmentMerger } from "./SegmentMerger.ts"
import { SegmentTable, summed } from "./SegmentTable.ts"
import type { SegmentBody } from "./SegmentBody.ts"

/** Chunks of one segment while an index is rebuilt: what is held in memory at once. */
const rebuildStep = 4_096

/** A chunk to be indexed. */
export interface IndexedChunk extends Pick<StoredChunk, "text" | "headings"> {
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
  readonly #documents = new DocumentTerms(this.#vocabulary)
  readonly #numbered = new NumberedWords()
  readonly #detect = (text: string, prior: AnalyzerId | undefined): AnalyzerId => this.#documents.detect(text, { prior })
  readonly #building = new Map<number, Building>()
  /** Corpora that lost chunks. */
  readonly #shrunk = new Set<number>()

  constructor(db: DatabaseSync) {
    this.#table = new SegmentTable(db)
    this.#merger = new SegmentMerger(db, this.#table)
    this.#bury = db.prepare("INSERT INTO tombstones (corpus, first_chunk, chunks, sum) VALUES (?, ?, ?, ?)")
    this.#unbury = db.prepare("DELETE FROM tombstones WHERE corpus = ?")
  }

  /** The words of a file that {@link add} is given next. */
  wordsOf(chunks: ReadonlyArray<Pick<StoredChunk, "text" | "headings">>, title: string | undefined): FileWords {
    return new FileWords(this.#documents, this.#numbered, chunks, title)
  }

  /** Analyzes the chunks of one file; {@link flush} writes them. */
  add(corpus: number, file: IndexedFile, words = this.wordsOf(file.chunks, file.title)): void {
    let building = this.#building.get(corpus)
    if (building === undefined) {
      building = { builder: new SegmentBuilder(), languages: new CorpusLanguages(summed(this.#table.analyzers(corpus))), waiting: [] }
      this.#building.set(corpus, building)
    }
    const { builder, languages, waiting } = building
    const before = builder.chunks.length
    try {
      if (languages.known) this.#take(building, { file, words }, (decision) => languages.count(decision))
      else {
        // The first files of a corpus are looked at twice: all are to be read by what most of them are in.
        this.#analyze({ file, words }, undefined, (decision) => languages.count(decision))
        waiting.push({ file, words })
        if (languages.known || waiting.length >= mostWaiting) this.#takeWaiting(building)
      }
    } catch (cause) {
      // The file is refused; what others of its group brought stays.
      builder.truncate(before)
      throw cause
    }
  }

  #takeWaiting(building: Building): void {
    for (const file of building.waiting.splice(0)) this.#take(building, file)
  }

  #take({ builder, languages }: Building, file: WaitingFile, count?: (decision: Decision) => void): void {
    this.#analyze(file, languages.most, (decision, chunk) => {
      count?.(decision)
      builder.add(chunk.number, chunk.embedding, decision, this.#documents.terms, this.#documents.length)
    })
  }

  #analyze(
    { file: { chunks, language }, words }: WaitingFile,
    prior: AnalyzerId | undefined,
    visit: (decision: Decision, chunk: IndexedChunk) => void
  ): void {
    const hint = language ?? languageOf(chunks, prior, this.#detect)
    chunks.forEach((chunk, place) => visit(this.#documents.take(words.of(place), { hint, prior }), chunk))
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
    this.#shrunk.clear()
  }

  /** One step of merging; false where nothing is to do. @throws {SegmentDamage} */
  merge(corpus: number, ratio: number): boolean {
    return this.#merger.step(corpus, ratio)
  }

  /** Forgets everything about a corpus. */
  drop(corpus: number): void {
    this.#building.delete(corpus)
    this.#shrunk.delete(corpus)
    this.#table.drop(corpus)
    this.#unbury.run(corpus)
  }

  /** Builds the index of a corpus again, from all its files. */
  rebuild(corpus: number, files: Iterable<IndexedFile>): void {
    this.drop(corpus)
    for (const file of files) {
      this.add(corpus, file)
      if ((this.#building.get(corpus)?.builder.chunks.length ?? 0) >= rebuildStep) this.#write(corpus)
    }
    this.#write(corpus)
  }

  /** Writes the segment in the making. */
  #write(corpus: number): void {
    const building = this.#building.get(corpus)
    if (building !== undefined) this.#takeWaiting(building)
    this.#building.delete(corpus)
    if (building !== undefined && building.builder.chunks.length > 0) this.#insert(corpus, building.builder)
    // Builders know terms by their numbers.
    if (this.#building.size === 0 && this.#documents.forgetIfFull()) this.#numbered.forget()
  }

  #insert(corpus: number, builder: SegmentBuilder): void {
    const body: SegmentBody = {
      chunks: Float64Array.from(builder.chunks),
      lengths: Uint32Array.from(builder.lengths),
      embeddings: Float64Array.from(builder.embeddings)
    }
    this.#table.insert(corpus, body, builder.analyzers, (pages) => builder.writeTo(pages, this.#vocabulary))
  }
}

/** The segment of a corpus that is being made. */
interface Building {
  readonly builder: SegmentBuilder
  readonly languages: CorpusLanguages
  /** Files that come when it is known what most of the corpus is in. */
  readonly waiting: Array<WaitingFile>
}

interface WaitingFile {
  readonly file: IndexedFile
  readonly words: FileWords
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

/** A file as it is indexed; language and title as the document declares them. */
export interface IndexedFile {
  readonly chunks: ReadonlyArray<IndexedChunk>
  readonly language: string | undefined
  readonly title: string | undefined
}

/** What most of a file is in: its chunks, which may each be too short to tell, are most likely in that. */
export const languageOf = (
  chunks: ReadonlyArray<Pick<IndexedChunk, "text">>,
  prior?: AnalyzerId,
  detectIn: (text: string, prior: AnalyzerId | undefined) => AnalyzerId = (text) => detect(text, { prior })
): AnalyzerId | undefined => {
  if (chunks.length < 2) return undefined
  const places = Math.min(chunks.length, mostSampled)
  const samples = Array.from(
    { length: places },
    (_, at) => chunks[Math.floor((at * chunks.length) / places)]?.text.slice(0, sampleLength / places)
  )
  return detectIn(samples.join("\n"), prior)
}

/** Places of a file that its language is told by. */
const mostSampled = 10
