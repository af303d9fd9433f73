import { Effect } from "effect"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import { type Context, rankedBy, type Ranking } from "../../domain/Retrieval.ts"
import type { Ranker } from "../../ports/Ranker.ts"
import type { HostedModels } from "../Host.ts"
import { Models } from "../Services.ts"
import { overContexts, type Retrieved, type Unanswered } from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** Services a ranker needs of the engine. */
type Needs<R extends Ranking> = R extends { readonly _tag: "lexical" } ? Models : Models | HostedModels

/** Reorders the contexts by relevance. Default: the lexical ranker, which needs no model. */
export const rank = <const R extends Ranking = { readonly _tag: "lexical" }>(
  ranking?: R
): Stage<Unanswered, Retrieved, ServiceError | SecretError, Needs<R>> => {
  const by: Ranking = ranking ?? { _tag: "lexical" }
  const stage: Stage<Unanswered, Retrieved, ServiceError | SecretError, Models> = overContexts(
    "rank",
    described(
      { _tag: "rank", rank: by },
      (input: Unanswered) =>
        Effect.gen(function*() {
          const models = yield* Models
          const ranker = yield* models.ranker(by)
          return { ...input, contexts: yield* ranker.rank(input.question, input.contexts) }
        }).pipe(Effect.scoped, Effect.withSpan("stage.rank"))
    )
  )
  return stage
}

/** Returns a score for each of the contexts, in their order; larger is better. */
export type ScoreContexts<E = never, R = never> = (
  question: string,
  contexts: ReadonlyArray<Context>
) => Effect.Effect<ReadonlyArray<number>, E, R>

/**
 * Orders the contexts by a custom ranker: a function that scores them, or a `Ranker`. `score` becomes the ranker's score;
 * contexts with equal scores keep their order. Where a context has an explanation, `explanation.ranked` holds the score and
 * the place it had before, from 0.
 *
 * Fails with `FAILED_PRECONDITION` if the function does not return one finite number for each context, or if a `Ranker`
 * leaves a context out or adds one.
 *
 * @example
 * ```ts
 * rankBy((_, contexts) => Effect.succeed(contexts.map(({ metadata, score }) => score + (metadata?.["status"] === "final" ? 1 : 0))))
 * ```
 */
export const rankBy = <E = never, R = never>(
  ranker: ScoreContexts<E, R> | Ranker["Service"]
): Stage<Unanswered, Retrieved, E | ServiceError, R> =>
  overContexts(
    "rankBy",
    Object.assign((input: Retrieved) =>
      Effect.gen(function*() {
        const { contexts, question } = input
        if (typeof ranker !== "function") {
          return { ...input, contexts: yield* explainedOrder(contexts, yield* ranker.rank(question, contexts)) }
        }
        const scores: ReadonlyArray<number> | null | undefined = yield* ranker(question, contexts)
        if (scores?.length !== contexts.length) {
          return yield* notRanked(`gave ${scores?.length ?? "no"} scores for ${contexts.length} contexts`)
        }
        const wrong = scores.findIndex((score) => !Number.isFinite(score))
        if (wrong >= 0) return yield* notRanked(`gave ${String(scores[wrong])} for context ${wrong + 1} of ${contexts.length}`)
        return { ...input, contexts: rankedBy(contexts, scores) }
      }).pipe(Effect.withSpan("stage.rankBy")), { gives: "retrieved" as const })
  )

/** The contexts as a ranker has ordered them, each with the place it had; refused where they are not the same ones. */
const explainedOrder = (before: ReadonlyArray<Context>, after: ReadonlyArray<Context>) => {
  const places = new Map(before.map((context, place) => [keyOf(context), place]))
  const known = new Set(after.map(keyOf))
  if (after.length !== before.length || known.size !== places.size || [...known].some((key) => !places.has(key))) {
    return notRanked(`was given ${before.length} contexts, and gave ${after.length} that are not the same ones`)
  }
  return Effect.succeed(after.map((context): Context =>
    context.explanation === undefined || context.explanation.ranked !== undefined
      ? context
      : { ...context, explanation: { ...context.explanation, ranked: { score: context.score, from: places.get(keyOf(context))! } } }
  ))
}

const keyOf = ({ chunkId, file }: Context): string => `${file} ${chunkId}`

const notRanked = (what: string): Effect.Effect<never, ServiceError> =>
  Effect.fail(
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `the ranker of rankBy ${what}`,
      fix: "give a finite number for each context, in their order; leave contexts out in a stage of its own"
    })
  )
