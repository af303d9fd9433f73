import { type AnalyzerId, decide, sampleLength } from "../../../search/analysis/Detection.ts"
import type { DocumentTerms, MetWords, Scanned, ScannedText, Surveyed } from "../../../search/analysis/DocumentTerms.ts"
import { headingKeys } from "../../../search/analysis/HeadingKeys.ts"
import { dimensions } from "../../../text/hashed/Features.ts"
import { embedHashedSparse } from "../../../text/hashed/EmbedHashed.ts"
import type { StoredChunk } from "./ChunkPage.ts"
import { packSparse } from "./Vector.ts"

/** Largest file, in UTF-16 units, whose words are kept until it is indexed; the chunks of a larger file are read a second time. */
const mostKept = 1 << 20

type Text = Pick<StoredChunk, "text" | "headings">

/** The words of a file's chunks, from which its terms, its language and its vectors are made. Valid until the commit. */
export interface WordsOfFile {
  /** The words of the chunk at this place in the file. */
  readonly of: (place: number) => Scanned
  /** The heading keys of the chunk at this place. */
  readonly headingsOf: (place: number) => ReadonlyArray<string>
  /** A survey of the file's language; undefined where every chunk shows its own. */
  readonly surveyed: () => Surveyed | undefined
  /** The offline embedder's packed vector of the chunk at this place. */
  readonly vectorOf: (place: number) => Uint8Array
  /** The meaning of the words' numbers, where another thread's {@link DocumentTerms} numbered them. */
  readonly met?: MetWords
}

/** {@link WordsOfFile} of texts in memory, which are read on demand; on request vectors are made along the way. */
export class FileWords implements WordsOfFile {
  readonly #documents: DocumentTerms
  readonly #chunks: ReadonlyArray<Text>
  readonly #title: string | undefined
  readonly #withVectors: boolean
  readonly #kept: Array<ScannedText> | undefined

  constructor(documents: DocumentTerms, chunks: ReadonlyArray<Text>, title: string | undefined, withVectors = false) {
    this.#documents = documents
    this.#chunks = chunks
    this.#title = title
    this.#withVectors = withVectors
    this.#kept = chunks.reduce((sum, { text }) => sum + text.length, 0) <= mostKept ? [] : undefined
  }

  of(place: number): ScannedText {
    const kept = this.#kept?.[place]
    if (kept !== undefined) return kept
    const chunk = this.#chunks[place] as Text
    const scanned = this.#documents.scan(chunk.text, textAbove(chunk, this.#title), this.#withVectors)
    if (this.#kept !== undefined) this.#kept[place] = scanned
    return scanned
  }

  headingsOf(place: number): ReadonlyArray<string> {
    const { headings, text } = this.#chunks[place] as Text
    return headingKeys(text, headings)
  }

  surveyed(): Surveyed | undefined {
    const chunks = this.#chunks
    if (chunks.length < 2 || (this.#kept !== undefined && chunks.every((_, place) => this.of(place).tellsByItself))) return undefined
    return this.#documents.survey(sampleOf(chunks))
  }

  vectorOf(place: number): Uint8Array {
    const { text } = this.#chunks[place] as Text
    return this.of(place).vector ??
      this.#documents.scan(text, "", true).vector ??
      packSparse(embedHashedSparse(text, "document"), dimensions)
  }
}

/** Number of places in a file that its language is detected by. */
const mostSampled = 10

/** Pieces of some chunks of a file. */
export const sampleOf = (chunks: ReadonlyArray<Pick<Text, "text">>): string => {
  const places = Math.min(chunks.length, mostSampled)
  return Array.from(
    { length: places },
    (_, at) => chunks[Math.floor((at * chunks.length) / places)]?.text.slice(0, sampleLength / places)
  ).join("\n")
}

/** The analyzer of most of a file: chunks that are too short to show their language are most likely in it. */
export const languageOf = (surveyed: Surveyed | undefined, prior?: AnalyzerId): AnalyzerId | undefined =>
  surveyed === undefined ? undefined : decide(surveyed.survey, surveyed.sample, { prior }).analyzer

/** Text that a chunk is found by besides its own: the title and those headings that its text does not have. */
const textAbove = ({ headings, text }: Text, title: string | undefined): string => {
  if (title === undefined && headings.length === 0) return ""
  const above = new Set([...(title === undefined ? [] : [title]), ...headings])
  for (const heading of above) if (text.includes(heading)) above.delete(heading)
  return [...above].join("\n")
}

/** The text that a chunk is indexed by: {@link textAbove}, then its own text. */
export const indexedText = (chunk: Text, title: string | undefined): string => {
  const above = textAbove(chunk, title)
  return above === "" ? chunk.text : `${above}\n${chunk.text}`
}
