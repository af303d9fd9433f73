import { type Effect, Schema } from "effect"
import type { Block } from "./Document.ts"
import type { DocumentError, ServiceError } from "./Errors.ts"

const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8192 }))
const overlap = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8191 }))

/**
 * How text is cut into chunks. `size` and `overlap` are in tokens (o200k), with the meaning of the API's
 * `fixedLengthChunking`; the defaults are the service's, 1024 and 200. `overlap` is less than `size`.
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

/** Chunking of a pipeline that does not set it: windows of 1,024 tokens, each sharing 200 with the one before it. */
export const defaultChunking: Chunking = { strategy: "fixed", size: 1024, overlap: 200 }

/** The overlap of chunks of so many tokens where nothing is said of it: 200, or a fifth of a size that 200 does not fit in. */
export const defaultOverlap = (size: number): number => size > defaultChunking.overlap ? defaultChunking.overlap : Math.floor(size / 5)

/** A span of a text in UTF-16 offsets, `end` exclusive. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** A document's text as a chunker receives it; a text of more than some 16 MB comes in parts, each with its own offsets. */
export interface TextToCut {
  readonly text: string
  /** Blocks of the text, in order, with only white space between them. */
  readonly blocks: ReadonlyArray<Block>
  /** Format of the document: `pdf`, `docx`, `markdown`, … */
  readonly format: string
  readonly title?: string | undefined
  /** Language as in ISO 639-1, where the document declares one. */
  readonly language?: string | undefined
  /**
   * Most tokens of a chunk: `chunking.size`. `overlap` is the number of tokens it should share with the one before it:
   * `chunking.overlap`.
   */
  readonly size: number
  readonly overlap: number
  /** Counts the tokens of a span of the text (o200k). */
  readonly tokens: (start: number, end: number) => number
}

/** A custom chunker of a pipeline, ready to cut. Its spans are checked before they are returned. */
export interface Cutting {
  readonly kind: string
  /** Identifies everything that determines where it cuts, and changes when any of it does. */
  readonly signature: string
  readonly cut: (text: TextToCut) => Effect.Effect<
    {
      readonly spans: ReadonlyArray<TextSpan>
      /** UTF-16 units that are in no span, without white space. */
      readonly left: number
    },
    DocumentError | ServiceError
  >
}
