import { Schema } from "effect"
import { RagFileName } from "./RagFile.ts"
import type { Context } from "./Retrieval.ts"

/**
 * A piece of quoted evidence. `quote` is verbatim from the cited context; it may continue into the contexts that follow
 * it in its file.
 */
export const Citation = Schema.Struct({
  /** Number of the citation in the answer, from 1. */
  index: Schema.Int,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String,
  /** Id of the chunk in which the quote starts. */
  chunkId: Schema.optionalKey(Schema.String),
  /** Headings above the quote, outermost first, where known. */
  headings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Address to open the source at: `sourceUri` with the page or heading, where its scheme has such. */
  address: Schema.optionalKey(Schema.String),
  quote: Schema.String,
  /** First byte of the quote, where the engine knows it; `offsets` says what is counted. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  /**
   * What the byte span counts. `file`: bytes of the file at `sourceUri`, from the quote's first to its last, including
   * any markup between. `parsed`: bytes of the document's parsed text in UTF-8. Present with `byteStart`.
   */
  offsets: Schema.optionalKey(Schema.Literals(["file", "parsed"])),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int)
})
export type Citation = typeof Citation.Type

/** A span of the answer and the citations (by `index`) that support it. Offsets are UTF-16 into `text`. */
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

/**
 * Number of citations that a model wrote and that were removed: `unknown` ones name contexts that the model was not
 * given, `unsupported` ones contexts that do not support the statement.
 */
const RemovedCitations = Schema.Struct({ unknown: Schema.Int, unsupported: Schema.Int })

/**
 * An answer with its evidence: each mark `[n]` in `text` refers to the citation of that index, and each support says
 * which words it backs.
 */
export const Answer = Schema.Struct({
  /** Text of the answer, with `[1]` marks after each supported sentence. */
  text: Schema.String,
  /** Whether the answer is verified. If false, `text` says whether there was no answer or none of it could be verified. */
  grounded: Schema.Boolean,
  /** The model's text, where none of it could be verified in the corpus. Absent for verified answers and refusals. */
  unverified: Schema.optionalKey(Schema.String),
  citations: Schema.Array(Citation),
  supports: Schema.Array(Support),
  /** Citations that were removed; absent where there are none. */
  removed: Schema.optionalKey(RemovedCitations),
  /**
   * Probability that the answer is right, 0 to 1, from a generator that estimates it; for a refusal, that an answer would
   * have been right.
   */
  confidence: Schema.optionalKey(Schema.Finite),
  /** Passages near the question that do not answer it, best first. Refusals only. */
  nearest: Schema.optionalKey(Schema.Array(Citation)),
  model: Schema.String,
  usage: Schema.optionalKey(Usage),
  /** Whether the model reached its limit before the end. */
  truncated: Schema.optionalKey(Schema.Boolean)
})
export type Answer = typeof Answer.Type

/** Text of an answer when the corpus does not support one. */
export const unsupportedText = "The corpus does not answer this."

/** Text of an answer when none of what a model said could be verified: the corpus may or may not contain it. */
export const unverifiedText = "The model gave an answer, but nothing of it could be verified in the corpus."

/** Outcome of a question. `refused`: the corpus was found not to answer it. */
export type AnswerOutcome = "answered" | "unverified" | "refused"

export const outcomeOf = ({ grounded, unverified }: Answer): AnswerOutcome =>
  grounded ? "answered" : unverified === undefined ? "refused" : "unverified"

/** Makes the answer of which nothing could be verified: `words` are the model's own. */
export const unverifiedAnswer = (answer: Answer, words: string): Answer => ({
  ...answer,
  text: unverifiedText,
  grounded: false,
  unverified: words,
  citations: [],
  supports: []
})

/** Makes the answer of a refusal. */
export const refusedAnswer = ({ unverified: _, ...answer }: Answer): Answer => ({
  ...answer,
  text: unsupportedText,
  grounded: false,
  citations: [],
  supports: []
})

/** A piece of an answer as it is generated; the last piece carries the complete answer. */
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

/** An exchange of a conversation: a question and its answer. */
export interface Exchange {
  readonly question: string
  /** The question as it was searched for, understandable alone. */
  readonly standalone: string
  readonly answer: string
}
