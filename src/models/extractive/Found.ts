/** What may be shown for a question; of one that compares things, for each of them. */
import type { GroundedRequest } from "../../ports/Generator.ts"
import { confidenceOf, rounded, type Shares } from "./Confidence.ts"
import { contrast } from "./Cues.ts"
import type { Evidence } from "./Evidence.ts"
import { type Examined, examine, type ReadContexts } from "./Examine.ts"
import type { Nearing, Nearness } from "./Nearness.ts"
import { byScore, demoted, tellsApart } from "./Order.ts"
import { type Chosen, type Quoted, type Reading, select } from "./Select.ts"

/** What may be shown, with the probability that it answers. */
export interface Found {
  readonly examined: Examined
  readonly chosen: ReadonlyArray<Chosen>
  readonly confidence: number
}

/** What may be shown for a question from contexts that were read; `nearness` is of their units. */
export const found = (
  request: GroundedRequest,
  read: ReadContexts,
  limit: number,
  by: Reading & Shares & Nearing,
  nearness?: Nearness
): Found => {
  const examined = examine(request, read, nearness === undefined ? undefined : (unit) => by.nearness * (nearness.get(unit) ?? 0))
  const whole = { examined, chosen: select(examined, limit, by), confidence: certaintyOf(examined, by) }
  return examined.question.things.length === 0 ? whole : compared(request, read, whole, limit, by)
}

const certaintyOf = (
  { grounds }: Examined,
  by: Reading & Shares
): number => (grounds === undefined ? 0 : rounded(confidenceOf(grounds, by)))

/**
 * What says how things differ, and then what each of them is; where each is defined, only what has a word of contrast is shown before.
 * Where nothing says how, the answer is as likely as that of the thing of which least is known.
 */
const compared = (request: GroundedRequest, read: ReadContexts, whole: Found, limit: number, by: Reading & Shares): Found => {
  const { evidence: [best], question } = whole.examined
  const each = definitions(question.things.map(({ name }) => examine({ ...request, question: `What is ${name}?` }, read)), by)
  const isTold = best !== undefined && tellsApart(question, best)
  const areDefined = each.every(({ isDefined }) => isDefined)
  const told = isTold && (!areDefined || contrast.test(best.unit.display)) ? whole.chosen.slice(0, 1) : []
  const chosen = [...told, ...each.flatMap(({ chosen, isDefined }) => (isDefined || told.length === 0 ? chosen : []))]
    .filter((one, at, all) => !all.slice(0, at).some((other) => overlaps(one, other)))
  const confidence = isTold ? whole.confidence : Math.min(...each.map(({ confidence }) => confidence))
  return { ...whole, chosen: chosen.slice(0, limit), confidence }
}

/** What says what each of the things is, and whether that is a definition. What one file defines of all is taken before others. */
const definitions = (each: ReadonlyArray<Examined>, by: Reading & Shares) => {
  const defines = ({ signs, unit }: Evidence): boolean => signs.definition === 1 && unit.kind !== "list" && unit.kind !== "code"
  const files = each.map(({ contexts, evidence }) => new Set(evidence.filter(defines).map(({ unit }) => contexts[unit.context]!.file)))
  return each.map((examined) => {
    const definesAll = ({ unit }: Evidence): boolean => files.every((of) => of.has(examined.contexts[unit.context]!.file))
    const evidence = byScore(demoted(demoted(examined.evidence, defines), (one) => defines(one) && definesAll(one)))
    return {
      chosen: select({ ...examined, evidence }, 1, by),
      confidence: certaintyOf(examined, by),
      isDefined: evidence[0] !== undefined && defines(evidence[0])
    }
  })
}

const overlaps = (a: Quoted, b: Quoted): boolean =>
  a.unit.stretch === b.unit.stretch && a.passage.start < b.passage.end && b.passage.start < a.passage.end
