import { Effect, Stream } from "effect"
import type { Corpus } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import { lastSegment } from "../domain/ResourceNames.ts"
import { type Context, fusedByRank } from "../domain/Retrieval.ts"
import * as KnowledgeBase from "../mcp/KnowledgeBase.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Files } from "../ports/Files.ts"
import { Generator } from "../ports/Generator.ts"
import { pages } from "../ports/Paging.ts"
import { Retrieval } from "../ports/Retrieval.ts"

/** Contexts that an answer is made from. */
const contextsOfAnswer = 20

/** Most corpora named in an error. */
const shown = 10

/** Most corpora listed. */
const mostListed = 1_000

/** Limits without an own one of tokens, for callers whose results are no prompt. */
export const withAllTokens = (limits?: KnowledgeBase.Limits): KnowledgeBase.Limits => ({ ...limits, tokens: 1_000_000 })

/** Turns what a knowledge base fails with, besides errors of the service, into one of them. */
export const unable = <A, R>(asked: Effect.Effect<A, KnowledgeBase.KnowledgeError, R>): Effect.Effect<A, ServiceError, R> =>
  Effect.mapError(asked, (error) => (error instanceof ServiceError ? error : ServiceError.internal(error.message)))

/** Searches of knowledge bases that run at once. */
const searchesAtOnce = 4

/** What several searches find, fused by rank where there are several; `least` is the least score of a result. */
export const searchAll = (
  searches: ReadonlyArray<{ readonly base: KnowledgeBase.KnowledgeBase["Service"]; readonly query: string }>,
  { least = -Infinity, limit, where }: { readonly limit: number; readonly where?: string | undefined; readonly least?: number }
): Effect.Effect<ReadonlyArray<Context>, KnowledgeBase.KnowledgeError> =>
  Effect.forEach(
    searches,
    ({ base, query }) => Effect.map(base.search(query, defined({ limit, where })), ({ passages }) => ({ query, contexts: passages })),
    { concurrency: searchesAtOnce }
  ).pipe(
    Effect.map((found) => (found.length === 1 ? found[0]!.contexts : fusedByRank(found))),
    Effect.map((contexts) => contexts.filter(({ score }) => score >= least).slice(0, limit))
  )

/** The server's corpora as knowledge bases. */
export const knowledgeBases = Effect.gen(function*() {
  const corpora = yield* Corpora
  const files = yield* Files
  const retrieval = yield* Retrieval
  const generator = yield* Generator
  return {
    listed: Stream.runCollect(Stream.take(pages(corpora.list), mostListed)),
    /** The corpus with a display name or an id or, without one, the only corpus. `path` shows in errors how to name a corpus by its id. */
    named: Effect.fnUntraced(function*(wanted: string | undefined, path: (id: string) => string) {
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
        "it matches several corpora",
        `name one: ${fitting.map(({ name }) => path(lastSegment(name))).join(", ")}`
      )
    }),
    baseOf: ({ description, displayName, name }: Corpus, limits?: KnowledgeBase.Limits) => {
      const retrieve = ({ question, ...inquiry }: KnowledgeBase.Inquiry) =>
        retrieval.retrieve({ corpus: name, query: question, ...inquiry })
      return KnowledgeBase.make({
        title: displayName,
        description,
        corpus: Effect.succeed(name),
        files,
        retrieve,
        answer: (inquiry) =>
          Effect.flatMap(
            retrieve({ ...inquiry, topK: contextsOfAnswer }),
            (contexts) => Effect.map(generator.answer({ question: inquiry.question, contexts }), (answer) => ({ answer, contexts }))
          ),
        status: Effect.map(
          corpora.get(name),
          ({ filesCount, state, updateTime }) => ({ corpus: displayName, state, files: filesCount, updated: updateTime })
        )
      }, limits)
    }
  }
})
