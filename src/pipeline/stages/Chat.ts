import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Generator } from "../../ports/Generator.ts"
import type { QueryRewriter } from "../../ports/QueryRewriter.ts"
import type { Retrieval } from "../../ports/Retrieval.ts"
import { condense, type FollowUp } from "./Condense.ts"
import { type Answered, generate } from "./Generate.ts"
import { retrieve, type RetrieveOptions } from "./Retrieve.ts"
import { compose, type Stage } from "./Stage.ts"

export interface ChatOptions {
  /** How the answers should be. */
  readonly instruction?: string
  /** Earlier exchanges that a question may lean on. Default 6. */
  readonly turns?: number
  readonly retrieve?: RetrieveOptions
}

/** A turn of a conversation over a corpus: the question made to stand by itself, contexts for it, an answer from them. */
export const chat = (
  corpus: CorpusName,
  { instruction, retrieve: options, turns }: ChatOptions = {}
): Stage<FollowUp, Answered, ServiceError, QueryRewriter | Retrieval | Generator> =>
  compose(
    condense(turns === undefined ? {} : { turns }),
    retrieve(corpus, options),
    generate(instruction === undefined ? {} : { instruction })
  )
