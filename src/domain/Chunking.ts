import { type Effect, Schema } from "effect"
import type { Block } from "./Document.ts"
import type { DocumentError, ServiceError } from "./Errors.ts"

const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8192 }))
const overlap = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8191 }))

/**
 * How text is cut. `size` and `overlap` are in tokens (o200k), the API's `fixedLengthChunking` meaning;
 * the defaults are the service's, 1024 and 200. `overlap` is less than `size`.
 *
 * - `fixed`: windows of `size` tokens, each starting `size - overlap` after the last.
 * - `structure`: packs whole blocks up to `size`, never cutting a heading, table row or code fence that fits,
 *   and carries the heading path. Embedded engine only.
 */
export const Chunking = Schema.Struct({
  strategy: Schema.Literals(["fixed", "structure"]),
  size,
  overlap
}).check(
  Schema.makeFilter((c) => c.overlap < c.size || { path: ["overlap"], issue: `overlap must be less than size (${c.size})` })
)
export type Chunking = typeof Chunking.Type

/** What holds where a pipeline says nothing of chunking: windows of 1,024 tokens, each sharing 200 with the last. */
export const defaultChunking: Chunking = { strategy: "fixed", size: 1024, overlap: 200 }

/** The overlap of chunks of so many tokens where nothing is said of it: 200, or a fifth of a size that 200 does not fit in. */
export const defaultOverlap = (size: number): number => size > defaultChunking.overlap ? defaultChunking.overlap : Math.floor(size / 5)

/** A stretch of a text: UTF-16 offsets, `end` exclusive. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** A document's text as a chunker is given it; one of more than some 16 MB comes in parts, each with offsets of its own. */
export interface TextToCut {
  readonly text: string
  /** What each stretch of it is, in order; white space lies between them. */
  readonly blocks: ReadonlyArray<Block>
  /** A key of the format table: `pdf`, `docx`, `markdown`, … */
  readonly format: string
  readonly title?: string | undefined
  /** ISO 639-1, where the document declares one. */
  readonly language?: string | undefined
  /** Tokens that a chunk may have at most, and that it should share with the one before it: `chunking.size` and `.overlap`. */
  readonly size: number
  readonly overlap: number
  /** Tokens of a stretch of the text (o200k). */
  readonly tokens: (start: number, end: number) => number
}

/** A chunker of a pipeline's own, ready to cut. Its spans are held to the rules before they are given. */
export interface Cutting {
  readonly kind: string
  /** All that decides where it cuts, in words that change when it does. */
  readonly signature: string
  readonly cut: (text: TextToCut) => Effect.Effect<
    {
      readonly spans: ReadonlyArray<TextSpan>
      /** UTF-16 units that no span has, white space left out. */
      readonly left: number
    },
    DocumentError | ServiceError
  >
}
