/** How near the best units are to the question by the vectors of a model, for corpora that are embedded by one. */
import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { embedBy, type Embedder } from "../../ports/Embedder.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { examine, type ReadContexts, readingOf } from "./Examine.ts"
import type { Unit } from "./Units.ts"

/** Units that are compared with the question: the best by their signs. */
const compared = 30
/** UTF-16 units of a unit that are embedded. */
const mostCharacters = 1_000

export interface Nearing {
  /** What the score of a unit gains for each standard deviation that it is nearer to the question by a model's vectors. */
  readonly nearness: number
}

export const nearing: Nearing = { nearness: 0.7 }

/** How many standard deviations a unit is nearer to the question than the units that it was compared with. */
export type Nearness = ReadonlyMap<Unit, number>

/** Contexts that were read, and how near their best units are to a question. */
export interface Compared {
  readonly read: ReadContexts
  readonly nearness: Nearness
}

/**
 * Compares the best units, each under its headings, with the question. Models differ in how near two texts are that have nothing to do with
 * each other, so that a unit's nearness is measured against that of the others.
 */
export const comparedBy = Effect.fn("extractive.compare")(function*(
  embedder: Embedder["Service"],
  request: GroundedRequest
): Effect.fn.Return<Compared, ServiceError> {
  const read = readingOf(request.contexts)
  const { contexts, evidence } = examine(request, read)
  const units = evidence.slice(0, compared).map(({ unit }) => unit)
  if (units.length < 2) return { read, nearness: new Map() }
  const texts = units.map(({ context, display, heading = "" }) => {
    const path = [...contexts[context]!.headings ?? [], heading].filter((part) => part !== "").join(" > ")
    return `${path}${path === "" ? "" : "\n"}${display.slice(0, mostCharacters)}`
  })
  const [[question = new Float32Array()], vectors] = yield* Effect.all(
    [embedBy(embedder, [request.question], "query"), embedBy(embedder, texts, "document")],
    { concurrency: 2 }
  )
  const cosines = vectors.map((vector) => vector.reduce((sum, value, at) => sum + value * question[at]!, 0))
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length
  const deviation = Math.sqrt(cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / cosines.length)
  return { read, nearness: new Map(deviation === 0 ? [] : units.map((unit, at) => [unit, (cosines[at]! - mean) / deviation])) }
})
