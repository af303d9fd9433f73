import { Effect, Layer } from "effect"
import { type Context, rankedBy } from "../domain/Retrieval.ts"
import { Ranker } from "../ports/Ranker.ts"
import { questionOf } from "./extractive/Question.ts"
import { foldedWords, isCjk } from "./extractive/Words.ts"

/**
 * The most that each signal may add to the retrieval score, which itself is scaled to 0..1. Measured by `bench/ranking.ts`; a signal for
 * coverage of the terms, beyond retrieval's own, did not help anywhere.
 */
export interface RankWeights {
  /** Weight of how close together the query's terms stand. */
  readonly proximity: number
  /** Weight of how many of them stand in the headings or the document's title; rare ones count more. */
  readonly heading: number
}

const defaultWeights: RankWeights = { proximity: 0.2, heading: 0.1 }

/**
 * Reranks contexts by their retrieval score and by where the query's terms stand: close together or far apart, in a heading or not. Needs
 * no model; the same contexts give the same order, and ties keep their order.
 *
 * `score` becomes the value that determines the new order; an explanation, where there is one, records the previous rank.
 */
export const rankLexically = (
  query: string,
  contexts: ReadonlyArray<Context>,
  weights: RankWeights = defaultWeights
): ReadonlyArray<Context> => {
  const terms = piecesOf(questionOf(query).terms.map(({ key }) => key))
  if (contexts.length < 2 || terms.length === 0) return contexts
  const bodies = contexts.map((context) => piecesOf(foldedWords(context.text)))
  const rarity = terms.map((term) => {
    const having = bodies.filter((words) => words.includes(term)).length
    return Math.log(1 + (contexts.length + 1) / (having + 0.5))
  })
  const total = rarity.reduce((sum, weight) => sum + weight, 0)
  const share = (words: ReadonlySet<string>): number =>
    terms.reduce((sum, term, at) => sum + (words.has(term) ? rarity[at]! : 0), 0) / total

  const scores = contexts.map(({ score }) => score)
  const least = Math.min(...scores)
  const spread = Math.max(...scores) - least || 1
  return rankedBy(
    contexts,
    contexts.map((context, from) => {
      const words = bodies[from]!
      const above = new Set(
        piecesOf(foldedWords([context.sourceDisplayName, context.metadata?.["title"] ?? "", ...context.headings].join(" ")))
      )
      return (context.score - least) / spread +
        weights.proximity * proximity(terms, words) +
        weights.heading * share(above)
    })
  )
}

/** The words, with CJK runs divided into pairs of characters. */
const piecesOf = (words: ReadonlyArray<string>): Array<string> =>
  words.flatMap((word) =>
    isCjk(word) && word.length > 2 ? Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2)) : [word]
  )

/**
 * Share of the query's neighbouring pairs of terms that stand near each other, where a pair at distance d (in words, either order, up to 8)
 * counts 1/d.
 */
const proximity = (terms: ReadonlyArray<string>, words: ReadonlyArray<string>): number => {
  if (terms.length < 2) return 0
  const places = new Map<string, Array<number>>(terms.map((term) => [term, []]))
  words.forEach((word, at) => places.get(word)?.push(at))
  let sum = 0
  for (let at = 0; at + 1 < terms.length; at++) {
    const distance = nearest(places.get(terms[at]!) ?? [], places.get(terms[at + 1]!) ?? [])
    if (distance <= 8) sum += 1 / distance
  }
  return sum / (terms.length - 1)
}

/** Least distance between two ascending lists of positions. */
const nearest = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number => {
  let best = Infinity
  for (let a = 0, b = 0; a < left.length && b < right.length;) {
    const distance = left[a]! - right[b]!
    if (distance !== 0) best = Math.min(best, Math.abs(distance))
    if (distance < 0) a++
    else b++
  }
  return best
}

export const make = (weights?: RankWeights): Ranker["Service"] =>
  Ranker.of({
    rank: Effect.fn("LexicalRanker.rank")(function*(query: string, contexts: ReadonlyArray<Context>) {
      return rankLexically(query, contexts, weights)
    })
  })

export const layer = (weights?: RankWeights): Layer.Layer<Ranker> => Layer.succeed(Ranker, make(weights))
