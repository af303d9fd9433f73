import type { SecretError, ServiceError } from "../../domain/Errors.ts"
import type { QueryRewriter } from "../../ports/QueryRewriter.ts"
import type { Retrieval } from "../../ports/Retrieval.ts"
import type { TextPool } from "../../text/TextPool.ts"
import type { Models } from "../Services.ts"
import { condense, type FollowUp } from "./Condense.ts"
import { type Answered, type AnswerOptions, generate } from "./Generate.ts"
import { type CorpusInUse, retrieve, type RetrieveOptions } from "./Retrieve.ts"
import { compose, type Stage } from "./Stage.ts"

/** Options of a conversation: how much of it is remembered, how contexts are retrieved, and how answers are written. */
export interface ChatOptions extends AnswerOptions {
  /** How many earlier exchanges a question may refer to. Default 6. */
  readonly turns?: number
  readonly retrieve?: RetrieveOptions
}

/** Answers a question of a conversation: rewrites it to be understood alone, retrieves contexts, and answers from them. */
export const chat = (
  { retrieve: options, turns, ...answer }: ChatOptions = {}
): Stage<FollowUp, Answered, ServiceError | SecretError, QueryRewriter | Retrieval | Models | CorpusInUse | TextPool> =>
  compose(condense(turns === undefined ? {} : { turns }), retrieve(options), generate(answer))
