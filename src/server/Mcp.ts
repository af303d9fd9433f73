import { Effect, Stream } from "effect"
import type { Corpus } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { parseMetadataFilter } from "../domain/MetadataFilter.ts"
import * as KnowledgeBase from "../mcp/KnowledgeBase.ts"
import { http } from "../mcp/Mcp.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Files } from "../ports/Files.ts"
import { Generator } from "../ports/Generator.ts"
import { pages } from "../ports/Paging.ts"
import { Retrieval } from "../ports/Retrieval.ts"

export interface McpEndpointOptions {
  /** What every agent that calls may see, and how much at once. */
  readonly limits?: KnowledgeBase.Limits
  readonly version: string
  /** Web pages that may call. */
  readonly origins: ReadonlyArray<string>
}

/** Contexts that an answer is made from. */
const contextsOfAnswer = 20

/** `/mcp/{corpus}`, by display name or id: each corpus to agents. `/mcp` alone is the only one, where there is one. */
export const mcpEndpoint = Effect.fnUntraced(function*({ limits, origins, version }: McpEndpointOptions) {
  if (limits?.where !== undefined) yield* Effect.fromResult(parseMetadataFilter(limits.where, "--mcp-where"))
  const corpora = yield* Corpora
  const files = yield* Files
  const retrieval = yield* Retrieval
  const generator = yield* Generator

  const corpusNamed = Effect.fnUntraced(function*(wanted: string | undefined) {
    const fitting = yield* pages(corpora.list).pipe(
      Stream.filter(({ displayName, name }) => wanted === undefined || displayName === wanted || name.endsWith(`/${wanted}`)),
      Stream.take(shown),
      Stream.runCollect
    )
    const [first, second] = fitting
    if (first === undefined) return yield* ServiceError.notFound(wanted === undefined ? "a corpus" : `corpus "${wanted}"`)
    if (second === undefined) return first
    return yield* ServiceError.invalid(
      "path",
      "there are several corpora that it can mean",
      `name one: ${fitting.map(({ name }) => `/mcp/${name.slice(name.lastIndexOf("/") + 1)}`).join(", ")}`
    )
  })

  const baseOf = ({ description, displayName, name, updateTime }: Corpus) => {
    const retrieve = ({ question, ...inquiry }: KnowledgeBase.Inquiry) => retrieval.retrieve({ corpus: name, query: question, ...inquiry })
    return KnowledgeBase.make({
      title: displayName,
      description,
      corpus: Effect.succeed(name),
      files,
      retrieve,
      answer: (inquiry) =>
        Effect.flatMap(
          retrieve({ ...inquiry, topK: contextsOfAnswer }),
          (contexts) => generator.answer({ question: inquiry.question, contexts })
        ),
      status: Effect.map(
        corpora.get(name),
        ({ filesCount, state }) => ({ corpus: displayName, state, files: filesCount, updated: updateTime })
      )
    }, limits)
  }

  // Only versions of the protocol that contradict each other make it fail, and those are written down.
  return yield* Effect.orDie(
    http((wanted) => Effect.flatMap(corpusNamed(wanted), (corpus) => Effect.fromResult(baseOf(corpus))), { version, origins })
  )
})

/** Corpora named in an error. */
const shown = 10
