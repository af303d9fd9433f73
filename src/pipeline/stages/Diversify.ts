import { Effect } from "effect"
import type { AlsoIn, Context } from "../../domain/Retrieval.ts"
import type { SparseVector } from "../../ports/Embedder.ts"
import { type ComparedText, repeats, textComparer } from "../../text/Repeats.ts"
import { overContexts, type Retrieved, type Unanswered } from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** How contexts are chosen that do not repeat one another. */
export interface DiversifyOptions {
  /** Weight of relevance against difference, 0 to 1: 1 takes the best contexts, 0 those least like the ones taken before. Default 0.5. */
  readonly lambda?: number
  /** Number of contexts that are kept, at most. Default 10. */
  readonly topK?: number
}

/**
 * Keeps the contexts that say most without repeating one another, by maximal marginal relevance, in the order they came in
 * and with their scores. A text that is found several times, as in the HTML, PDF and EPUB of one manual, is kept once: the
 * best one, which says where the others are (`alsoIn`).
 *
 * How alike two contexts are is the cosine of their texts by the offline embedder, on every engine: no model and no
 * network is asked, and the same contexts always give the same choice.
 */
export const diversify = ({ lambda = 0.5, topK = 10 }: DiversifyOptions = {}): Stage<Unanswered, Retrieved> =>
  overContexts(
    "diversify",
    described({ _tag: "diversify", lambda, topK }, (input: Unanswered) =>
      Effect.map(hashed, ([{ embedHashedSparse }, { dimensions }]) => ({
        ...input,
        contexts: diversified(input.contexts, { lambda, topK }, (text) => vectorOf(embedHashedSparse(text, "document"), dimensions))
      })).pipe(Effect.withSpan("stage.diversify")))
  )

/** Loaded when it is first needed: it brings the words of grammar of nine languages. */
const hashed = Effect.promise(() => Promise.all([import("../../text/hashed/EmbedHashed.ts"), import("../../text/hashed/Features.ts")]))

/** A vector of length 1, without its zeros and with them; that of a text without words is all zeros. */
interface Vector extends SparseVector {
  readonly dense: Float32Array
}

interface Candidate {
  readonly context: Context
  readonly vector: Vector
  readonly alsoIn: Array<AlsoIn>
}

const diversified = (
  contexts: ReadonlyArray<Context>,
  { lambda, topK }: Required<DiversifyOptions>,
  embed: (text: string) => Vector
): ReadonlyArray<Context> => {
  const distinct = withoutCopies(contexts, embed)
  const scores = distinct.map(({ context: { score } }) => score)
  const least = Math.min(...scores)
  // Scores of engines and rankers have scales of their own: spread over 0 to 1 they compare with cosines.
  const spread = Math.max(...scores) - least
  const relevance = scores.map((score) => spread === 0 ? 1 : (score - least) / spread)
  const closest = distinct.map(() => 0)
  const left = new Set(distinct.keys())
  const chosen = new Set<number>()
  while (chosen.size < topK && left.size > 0) {
    let best = -1
    let most = -Infinity
    for (const at of left) {
      const worth = lambda * relevance[at]! - (1 - lambda) * closest[at]!
      if (worth > most) [best, most] = [at, worth]
    }
    left.delete(best)
    chosen.add(best)
    for (const at of left) closest[at] = Math.max(closest[at]!, cosine(distinct[at]!.vector, distinct[best]!.vector))
  }
  return distinct.flatMap(({ alsoIn, context }, at) =>
    !chosen.has(at) ? [] : [alsoIn.length === 0 ? context : { ...context, alsoIn: [...context.alsoIn ?? [], ...alsoIn] }]
  )
}

/** Cosine from which two texts are compared word by word: about that of a quarter of a text with the whole. */
const comparable = 0.5

/** The contexts without those that repeat an earlier one; that one lists where they are. */
const withoutCopies = (contexts: ReadonlyArray<Context>, embed: (text: string) => Vector): ReadonlyArray<Candidate> => {
  const kept: Array<Candidate & { readonly text: ComparedText }> = []
  const comparedText = textComparer()
  for (const context of contexts) {
    const vector = embed(context.text)
    const text = comparedText(context.text, context.firstPage !== undefined)
    const original = kept.find((earlier) =>
      earlier.context.text === context.text || (cosine(earlier.vector, vector) >= comparable && repeats(text, earlier.text))
    )
    if (original === undefined) kept.push({ context, vector, text, alsoIn: [] })
    else {
      const { alsoIn = [], chunkId, file, sourceDisplayName, sourceUri } = context
      original.alsoIn.push({ chunkId, file, sourceDisplayName, sourceUri }, ...alsoIn)
    }
  }
  return kept
}

const vectorOf = ({ components, values }: SparseVector, dimensions: number): Vector => {
  const dense = new Float32Array(dimensions)
  components.forEach((component, at) => void (dense[component] = values[at]!))
  return { components, values, dense }
}

const cosine = ({ components, values }: Vector, { dense }: Vector): number => {
  let sum = 0
  for (let at = 0; at < components.length; at++) sum += values[at]! * dense[components[at]!]!
  return sum
}
