import { Effect } from "effect"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import { defaultTopK, fusedByRank } from "../../domain/Retrieval.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import type { HostedModels } from "../Host.ts"
import { generatorOf, type GeneratorSettings, type WrittenGenerator } from "../definition/StageSettings.ts"
import { Models } from "../Services.ts"
import {
  type CorpusInUse,
  retrievalRequest,
  retrieved,
  type Retrieved,
  type RetrieveOptions,
  settingsOf,
  type Unretrieved
} from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** Returns the queries that are searched in place of a question; an empty list searches the question itself. */
export type Queries<E = never, R = never> = (question: string) => Effect.Effect<ReadonlyArray<string>, E, R>

/** How several queries are retrieved for one question: what holds for each of them, and how they are put together. */
export interface RetrieveEachOptions<E = never, R = never> extends RetrieveOptions {
  /** The queries for a question, 32 at most. Blank ones, and those that repeat an earlier one, are left out. */
  readonly queries: Queries<E, R>
  /** The constant `k` of reciprocal rank fusion: the larger it is, the less the first places count over later ones. Default 60. */
  readonly k?: number
  /** How many queries are retrieved at the same time, at most. Default 4. */
  readonly concurrency?: number
}

/** Queries of one question at most. */
const mostQueries = 32
/** Contexts of each query at least: what all find further down may be better than what one finds first. */
const leastDepth = 20

/**
 * Retrieves each of several queries for a question, `topK` contexts of each and 20 at least, and fuses them by reciprocal
 * rank: a context counts `1 / (k + place)` for each query that finds it, places from 1, and the best `topK` are kept. `score` becomes that sum, and
 * of equals the one that an earlier query found comes first. With `explain`, `explanation.queries` says which queries found
 * a context, and where.
 *
 * @example
 * ```ts
 * retrieveEach({ queries: (question) => Effect.succeed([question, `${question} exceptions`]), topK: 8 })
 * ```
 */
export const retrieveEach = <E = never, R = never>(
  { concurrency = 4, k, queries, ...options }: RetrieveEachOptions<E, R>
): Stage<Unretrieved, Retrieved, E | ServiceError, R | Retrieval | CorpusInUse> =>
  described(settingsOf(options), (input) =>
    Effect.gen(function*() {
      const { retrieve } = yield* Retrieval
      const question = input.query ?? input.question
      const { topK = defaultTopK, ...request } = yield* retrievalRequest(input, options)
      const searched = yield* distinct(yield* queries(question), question)
      const found = yield* Effect.forEach(
        searched,
        (query) => Effect.map(retrieve({ ...request, topK: Math.max(topK, leastDepth), query }), (contexts) => ({ query, contexts })),
        { concurrency }
      )
      return retrieved(input, options, fusedByRank(found, k).slice(0, topK))
    }).pipe(Effect.withSpan("stage.retrieveEach")))

/** The queries that differ, in their order. */
const distinct = (queries: ReadonlyArray<string>, question: string): Effect.Effect<ReadonlyArray<string>, ServiceError> => {
  if (!Array.isArray(queries) || queries.some((query) => typeof query !== "string")) {
    return Effect.fail(
      ServiceError.invalid("queries", "gave something other than a list of texts", "give an array of texts, or an empty one")
    )
  }
  const known = new Map<string, string>()
  for (const query of queries) {
    const plain = query.trim().replace(/\s+/g, " ")
    if (plain !== "" && !known.has(plain.toLowerCase())) known.set(plain.toLowerCase(), query)
  }
  if (known.size > mostQueries) {
    return Effect.fail(
      ServiceError.invalid("queries", `gave ${known.size} queries for a question, and at most ${mostQueries} are searched`, "give fewer")
    )
  }
  return Effect.succeed(known.size === 0 ? [question] : [...known.values()])
}

/** What a model needs of the engine: only one that has hosted models can run a pipeline that names one. */
type Needs<M extends WrittenGenerator> = M extends object ? Models : Models | HostedModels

/**
 * Queries that a model writes for `retrieveEach`: the question itself, and `count` others (default 3) that ask for the same
 * in other words. `model`: a hosted model's name, or an OpenAI-protocol server. A model that writes nothing that can be
 * searched leaves the question alone; `extractive`, which is no model, fails with `FAILED_PRECONDITION`.
 */
export const queriesBy = <const M extends WrittenGenerator>(
  { count = 3, model }: { readonly model: M; readonly count?: number }
): Queries<ServiceError | SecretError, Needs<M>> => writtenBy(generatorOf(model), count)

/** The queries of a pipeline file's `retrieve` with `queries`. */
export const writtenBy = (model: GeneratorSettings, count: number): Queries<ServiceError | SecretError, Models> => (question) =>
  Effect.gen(function*() {
    const { queries } = yield* (yield* Models).rewriter(model)
    if (queries === undefined) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${model._tag === "hosted" ? model.model : model._tag} writes no queries`,
        fix: "name a hosted model, or an OpenAI-protocol server"
      })
    }
    return [question, ...yield* queries(question, count)]
  }).pipe(Effect.scoped, Effect.withSpan("stage.retrieveEach.queries"))
