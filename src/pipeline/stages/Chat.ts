import type { SecretError, ServiceError } from "../../domain/Errors.ts"
import type { QueryRewriter } from "../../ports/QueryRewriter.ts"
import type { Retrieval } from "../../ports/Retrieval.ts"
import type { TextPool } from "../../text/TextPool.ts"
import type { Models } from "../Services.ts"
import { condense, type FollowUp } from "./Condense.ts"
import { type Answered, type AnswerOptions, generate } from "./Generate.ts"
import { type CorpusInUse, retrieve, type RetrieveOptions } from "./Retrieve.ts"
import { compose, type Stage } from "./Stage.ts"

/** How a conversation is held: what is remembered of it, how contexts are found, and how answers are written. */
export interface ChatOptions extends AnswerOptions {
  /** Earlier exchanges that a question may lean on. Default 6. */
  readonly turns?: number
  readonly retrieve?: RetrieveOptions
}

/** A turn of a conversation over a corpus: the question made to stand by itself, contexts for it, an answer from them. */
export const chat = (
  { retrieve: options, turns, ...answer }: ChatOptions = {}
): Stage<FollowUp, Answered, ServiceError | SecretError, QueryRewriter | Retrieval | Models | CorpusInUse | TextPool> =>
  compose(condense(turns === undefined ? {} : { turns }), retrieve(options), generate(answer))
