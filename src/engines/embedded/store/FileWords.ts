import { type AnalyzerId, decide, sampleLength } from "../../../search/analysis/Detection.ts"
import type { DocumentTerms, MetWords, Scanned, ScannedText, Surveyed } from "../../../search/analysis/DocumentTerms.ts"
import { dimensions } from "../../../text/hashed/Features.ts"
import { embedHashedSparse } from "../../../text/hashed/EmbedHashed.ts"
import type { StoredChunk } from "./ChunkPage.ts"
import { packSparse } from "./Vector.ts"

/** UTF-16 units of a file up to which what was found in it is kept until it is indexed; of a larger one each chunk is read again. */
const mostKept = 1 << 20

type Text = Pick<StoredChunk, "text" | "headings">

/** What was found in a file's chunks, for its terms, its language and its vectors. Lives no longer than the commit. */
export interface WordsOfFile {
  /** The words of the chunk at this place in the file. */
  readonly of: (place: number) => Scanned
  /** What tells the language of most of the file; undefined where no chunk of it needs that to tell its own. */
  readonly surveyed: () => Surveyed | undefined
  /** The vector of the chunk at this place, as it is stored: that of the offline embedder. */
  readonly vectorOf: (place: number) => Uint8Array
  /** What the numbers of the words mean, where it was not {@link DocumentTerms} of this thread that gave them. */
  readonly met?: MetWords
}

/** {@link WordsOfFile} of texts that are at hand: found when it is asked for, vectors by the way where they are told to be. */
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

/** Places of a file that its language is told by. */
const mostSampled = 10

/** Pieces of some chunks of a file. */
export const sampleOf = (chunks: ReadonlyArray<Pick<Text, "text">>): string => {
  const places = Math.min(chunks.length, mostSampled)
  return Array.from(
    { length: places },
    (_, at) => chunks[Math.floor((at * chunks.length) / places)]?.text.slice(0, sampleLength / places)
  ).join("\n")
}

/** What most of a file is in: its chunks, which may each be too short to tell, are most likely in that. */
export const languageOf = (surveyed: Surveyed | undefined, prior?: AnalyzerId): AnalyzerId | undefined =>
  surveyed === undefined ? undefined : decide(surveyed.survey, surveyed.sample, { prior }).analyzer

/** What a chunk is searched by besides its text: the title and the headings that it does not show itself. */
export const textAbove = ({ headings, text }: Text, title: string | undefined): string => {
  if (title === undefined && headings.length === 0) return ""
  const above = new Set([...(title === undefined ? [] : [title]), ...headings])
  for (const heading of above) if (text.includes(heading)) above.delete(heading)
  return [...above].join("\n")
}

/** What of a chunk is searched for words: its text under {@link textAbove}. */
export const indexedText = (chunk: Text, title: string | undefined): string => {
  const above = textAbove(chunk, title)
  return above === "" ? chunk.text : `${above}\n${chunk.text}`
}
