import type { Found } from "../../../search/analysis/Detection.ts"
import type { MetWords, OtherRun, Surveyed } from "../../../search/analysis/DocumentTerms.ts"
import { type NewChunk, type PackedPage, packPages } from "./ChunkPage.ts"
import type { FileWords, WordsOfFile } from "./FileWords.ts"

/** What can be computed of a file without the database, before its transaction starts. */
export interface Analysis {
  readonly pages: ReadonlyArray<PackedPage>
  readonly words: WordsOfFile
}

/** An {@link Analysis} as it is sent to the writer's thread: in few arrays, which are transferred. */
export interface AnalyzedFile {
  readonly counts: ReadonlyArray<number>
  readonly hashes: Joined
  readonly bodies: Joined
  /** Tokens of all chunks, one chunk after the other. */
  readonly tokens: Int32Array<ArrayBuffer>
  /** End of each chunk's tokens. */
  readonly tokenEnds: ReadonlyArray<number>
  readonly runs: ReadonlyArray<ReadonlyArray<OtherRun>>
  /** {@link Found} of each chunk: its numbers, then its votes. */
  readonly found: Float64Array<ArrayBuffer>
  readonly samples: ReadonlyArray<string>
  /** Heading keys of each chunk. */
  readonly headings: ReadonlyArray<ReadonlyArray<string>>
  readonly surveyed: Surveyed | undefined
  /** Vectors of the offline embedder; absent where another embedder makes them. */
  readonly vectors?: Joined
}

/** Byte strings, one after the other, with the end of each. */
interface Joined {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ends: ReadonlyArray<number>
}

/** Numbers of {@link Found} besides its votes. */
const ownNumbers = 4

/** Analyzes a file's chunks. `withVectors`: makes the offline embedder's vectors as well. */
export const analyzeChunks = (chunks: ReadonlyArray<NewChunk>, words: FileWords, withVectors: boolean): AnalyzedFile => {
  const scanned = chunks.map((_, place) => words.of(place))
  const pages = packPages(chunks)
  const tokenEnds: Array<number> = []
  let count = 0
  for (const { tokens } of scanned) tokenEnds.push(count += tokens.length)
  const tokens = new Int32Array(count)
  const width = ownNumbers + (scanned[0]?.survey.votes.length ?? 0)
  const found = new Float64Array(width * chunks.length)
  scanned.forEach(({ survey: { ideographs, letters, unspaced, votes, words }, tokens: own }, place) => {
    tokens.set(own, tokenEnds[place]! - own.length)
    found.set([letters, ideographs, unspaced, words], place * width)
    found.set(votes, place * width + ownNumbers)
  })
  return {
    counts: pages.map((page) => page.count),
    hashes: joined(pages.map(({ hashes }) => hashes)),
    bodies: joined(pages.map(({ body }) => body)),
    tokens,
    tokenEnds,
    runs: scanned.map(({ runs }) => runs),
    found,
    samples: scanned.map(({ sample }) => sample),
    headings: chunks.map((_, place) => words.headingsOf(place)),
    surveyed: words.surveyed(),
    ...(withVectors ? { vectors: joined(chunks.map((_, place) => words.vectorOf(place))) } : {})
  }
}

/** The buffers that are transferred between threads instead of copied. */
export const buffersOf = ({ bodies, found, hashes, tokens, vectors }: AnalyzedFile): ReadonlyArray<ArrayBuffer> =>
  [hashes.bytes, bodies.bytes, tokens, found, ...(vectors === undefined ? [] : [vectors.bytes])].map(({ buffer }) => buffer)

/** The {@link Analysis} that was sent. `met` has the words that the sending thread had met. */
export const analysisOf = (analyzed: AnalyzedFile, met: MetWords): Analysis => {
  const { bodies, counts, found, hashes, headings, runs, samples, surveyed, tokenEnds, tokens, vectors } = analyzed
  let first = 0
  const pages = counts.map((count, at): PackedPage => {
    first += count
    return { first: first - count, count, hashes: partOf(hashes, at), body: partOf(bodies, at) }
  })
  const width = found.length / samples.length
  return {
    pages,
    words: {
      met,
      of: (place) => ({
        tokens: tokens.subarray(place === 0 ? 0 : tokenEnds[place - 1], tokenEnds[place]),
        runs: runs[place]!,
        survey: foundIn(found.subarray(place * width, (place + 1) * width)),
        sample: samples[place]!
      }),
      headingsOf: (place) => headings[place] ?? [],
      surveyed: () => surveyed,
      vectorOf: (place) => {
        if (vectors === undefined) throw new Error("no vectors were asked for")
        return partOf(vectors, place)
      }
    }
  }
}

const foundIn = (numbers: Float64Array): Found => {
  const [letters = 0, ideographs = 0, unspaced = 0, words = 0] = numbers
  return { letters, ideographs, unspaced, words, votes: numbers.subarray(ownNumbers) }
}

const joined = (parts: ReadonlyArray<Uint8Array>): Joined => {
  const ends: Array<number> = []
  let length = 0
  for (const part of parts) ends.push(length += part.length)
  const bytes = new Uint8Array(length)
  parts.forEach((part, at) => bytes.set(part, ends[at]! - part.length))
  return { bytes, ends }
}

const partOf = ({ bytes, ends }: Joined, at: number): Uint8Array => bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at])
