import { Schema } from "effect"
import { RagFileName } from "./RagFile.ts"

/** One quoted piece of evidence. `quote` is to the letter in the cited context. */
export const Citation = Schema.Struct({
  /** The number printed in the answer, from 1. */
  index: Schema.Int,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String,
  chunkId: Schema.optionalKey(Schema.String),
  quote: Schema.String,
  /** UTF-8 byte span of the quote in the document's parsed text, where the engine knows it. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int)
})
export type Citation = typeof Citation.Type

/** A stretch of the answer and the citations (by `index`) that support it. Offsets are UTF-16 into `text`. */
export const Support = Schema.Struct({
  start: Schema.Int,
  end: Schema.Int,
  citations: Schema.Array(Schema.Int),
  confidence: Schema.optionalKey(Schema.Finite)
})
export type Support = typeof Support.Type

export const Usage = Schema.Struct({
  promptTokens: Schema.Int,
  answerTokens: Schema.Int,
  totalTokens: Schema.Int
})
export type Usage = typeof Usage.Type

export const Answer = Schema.Struct({
  /** With `[1]` marks after each supported sentence. */
  text: Schema.String,
  /** False: the corpus does not support an answer, and `text` says so. */
  grounded: Schema.Boolean,
  citations: Schema.Array(Citation),
  supports: Schema.Array(Support),
  model: Schema.String,
  usage: Schema.optionalKey(Usage),
  /** The model reached its limit before the end. */
  truncated: Schema.optionalKey(Schema.Boolean)
})
export type Answer = typeof Answer.Type

/** What an answer says when the corpus does not support one. */
export const unsupportedText = "The corpus does not answer this."

/** A piece of an answer as it is made; the last one carries the whole. */
export type AnswerPart =
  | { readonly _tag: "text"; readonly text: string }
  | { readonly _tag: "done"; readonly answer: Answer }

/** A question of a conversation, and what was answered. */
export interface Exchange {
  readonly question: string
  /** The question as it was searched, standing by itself. */
  readonly standalone: string
  readonly answer: string
}
