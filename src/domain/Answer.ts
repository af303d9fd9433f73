import { Schema } from "effect"
import { RagFileName } from "./RagFile.ts"
import type { Context } from "./Retrieval.ts"

/**
 * One quoted piece of evidence. `quote` is to the letter in the cited context; it may go on in the contexts that follow that
 * one in its file.
 */
export const Citation = Schema.Struct({
  /** The number printed in the answer, from 1. */
  index: Schema.Int,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String,
  /** The chunk that the quote begins in. */
  chunkId: Schema.optionalKey(Schema.String),
  /** The headings that the quote stands under, outermost first, where they are known. */
  headings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Where to open it: `sourceUri` with the page or heading, where its scheme has such. */
  address: Schema.optionalKey(Schema.String),
  quote: Schema.String,
  /** Byte span of the quote, where the engine knows it; what it counts in, `offsets` says. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  /**
   * `file`: bytes of the file at `sourceUri` as it is, from the quote's first to its last with the marks between them.
   * `parsed`: bytes of the document's parsed text in UTF-8. Present with `byteStart`.
   */
  offsets: Schema.optionalKey(Schema.Literals(["file", "parsed"])),
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

/** Citations that a model wrote and that are not in the answer: of contexts that it was not given, and of those that do not bear it out. */
export const RemovedCitations = Schema.Struct({ unknown: Schema.Int, unsupported: Schema.Int })

/** An answer with its evidence: each mark `[n]` in `text` is the citation of that index, and each support says which words it backs. */
export const Answer = Schema.Struct({
  /** With `[1]` marks after each supported sentence. */
  text: Schema.String,
  /** False: no answer is verified, and `text` says whether none was given or nothing of it could be verified. */
  grounded: Schema.Boolean,
  /** What a model said of which nothing could be verified in the corpus. Absent of an answer, and of a refusal. */
  unverified: Schema.optionalKey(Schema.String),
  citations: Schema.Array(Citation),
  supports: Schema.Array(Support),
  /** Absent where there are none. */
  removed: Schema.optionalKey(RemovedCitations),
  /** The probability that the answer is right, 0..1, from a generator that tells; of a refusal, that an answer would have been. */
  confidence: Schema.optionalKey(Schema.Finite),
  /** Of a refusal: passages near the question that do not answer it, best first. */
  nearest: Schema.optionalKey(Schema.Array(Citation)),
  model: Schema.String,
  usage: Schema.optionalKey(Usage),
  /** The model reached its limit before the end. */
  truncated: Schema.optionalKey(Schema.Boolean)
})
export type Answer = typeof Answer.Type

/** What an answer says when the corpus does not support one. */
export const unsupportedText = "The corpus does not answer this."

/** What an answer says when a model gave one and nothing of it could be verified: the corpus may hold it or not. */
export const unverifiedText = "The model gave an answer, but nothing of it could be verified in the corpus."

/** `refused`: the corpus was found not to answer the question. */
export type AnswerOutcome = "answered" | "unverified" | "refused"

export const outcomeOf = ({ grounded, unverified }: Answer): AnswerOutcome =>
  grounded ? "answered" : unverified === undefined ? "refused" : "unverified"

/** An answer of which nothing is verified: `words` are the model's own. */
export const unverifiedAnswer = (answer: Answer, words: string): Answer => ({
  ...answer,
  text: unverifiedText,
  grounded: false,
  unverified: words,
  citations: [],
  supports: []
})

/** An answer that none is to be had. */
export const refusedAnswer = ({ unverified: _, ...answer }: Answer): Answer => ({
  ...answer,
  text: unsupportedText,
  grounded: false,
  citations: [],
  supports: []
})

/** A piece of an answer as it is made; the last one carries the whole. */
export type AnswerPart =
  | { readonly _tag: "text"; readonly text: string }
  | { readonly _tag: "done"; readonly answer: Answer }

/** The contexts that an answer is made from, best first: none where a model searches the corpus by itself. */
export interface ContextsPart {
  readonly _tag: "contexts"
  readonly contexts: ReadonlyArray<Context>
}

/** A piece of what a pipeline streams: the contexts first, once, then the answer as it is made. */
export type StreamPart = ContextsPart | AnswerPart

/** A question of a conversation, and what was answered. */
export interface Exchange {
  readonly question: string
  /** The question as it was searched, standing by itself. */
  readonly standalone: string
  readonly answer: string
}
