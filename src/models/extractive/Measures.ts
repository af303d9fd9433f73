/** Measures of one unit by the places of the question's terms in it, and by its form. */
import { enough, type Matches } from "./Matching.ts"
import { holdsType } from "./HoldsType.ts"
import type { Question, Term } from "./Question.ts"
import type { TextUnit } from "./Units.ts"

/** The share of neighbouring question terms that stand within three words of each other, in order. `own` is what the quote has. */
export const adjacency = (terms: ReadonlyArray<Term>, unit: TextUnit, own: Matches): number => {
  if (terms.length < 2) return 0
  let close = 0
  for (let at = 0; at + 1 < terms.length; at++) {
    if (own[at] !== 1 || own[at + 1] !== 1) continue
    const [left, right] = [terms[at]!, terms[at + 1]!]
    if (left.cjk || right.cjk) {
      const first = unit.normal.indexOf(left.key)
      const second = unit.normal.indexOf(right.key, first)
      if (second >= 0 && second - first <= left.key.length + 4) close++
    } else if (unit.words.some((word, place) => word === left.key && unit.words.slice(place + 1, place + 4).includes(right.key))) close++
  }
  return close / (terms.length - 1)
}

/**
 * The number of terms in the quote over the words of its shortest stretch with all of them, times their share of all terms; 0 for fewer
 * than two.
 */
export const closeness = (terms: ReadonlyArray<Term>, unit: TextUnit, own: Matches): number => {
  const wanted = new Map<string, number>()
  terms.forEach(({ cjk, key }, term) => {
    if (!cjk && own[term] === 1) wanted.set(key, 0)
  })
  if (wanted.size < 2) return 0
  let least = Infinity
  let missing = wanted.size
  let from = 0
  unit.words.forEach((word, at) => {
    const count = wanted.get(word)
    if (count === undefined) return
    wanted.set(word, count + 1)
    if (count === 0) missing--
    while (missing === 0) {
      least = Math.min(least, at - from + 1)
      const first = wanted.get(unit.words[from]!)
      if (first !== undefined) {
        wanted.set(unit.words[from]!, first - 1)
        if (first === 1) missing++
      }
      from++
    }
  })
  return least === Infinity ? 0 : (wanted.size / least) * (wanted.size / terms.length)
}

/** Whether one of the first four words of the quote is a term of the question. */
export const startsWithTerm = (terms: ReadonlyArray<Term>, unit: TextUnit): boolean =>
  unit.words.slice(0, 4).some((word) => terms.some(({ cjk, key }) => cjk ? word.startsWith(key) : key === word))

/** How near to a term of the question a number or a date stands that the question does not contain: 1 in its place, 0 where absent. */
export const typedNearness = (question: Question, unit: TextUnit, own: Matches): number => {
  const keys = new Set(question.terms.flatMap(({ key }, term) => (own[term]! >= enough.having ? [key] : [])))
  const places = unit.words.flatMap((word, at) => (keys.has(word) ? [at] : []))
  let nearest = Infinity
  unit.words.forEach((word, at) => {
    if (question.words.has(word) || !holdsType(question, word)) return
    for (const place of places) nearest = Math.min(nearest, Math.abs(place - at))
  })
  return nearest === Infinity ? 0 : 1 / (1 + nearest / 4)
}

/** Whether a listing shows the forms of a command, with what may be left out in brackets; it does not show how to do anything with it. */
export const isSynopsis = (listing: string): boolean => (listing.match(/\[(?:-|<|\(-)/g)?.length ?? 0) > 1

/** The penalty for a form that answers badly: a fragment at an edge of the context's `text`, a stub, code, a menu or a wall of text. */
export const shapePenalty = (unit: TextUnit, text: string): number => {
  const { display, end, kind, start } = unit
  let penalty = 0
  if (start === 0 && /^\p{Ll}/u.test(display)) penalty += 0.15
  if (kind === "code") return end - start > 1500 ? 0.2 : 0
  if (kind === "sentence") {
    if (end === text.trimEnd().length && !/[.!?。！？"”』」)]$/u.test(display)) penalty += 0.1
    if (display.length < 20 && !/[\u3040-\u9fff]/.test(display)) penalty += 0.1
  }
  if (display.length > 350) penalty += 0.1
  if (/^\S+:?\s+https?:\S+$|^https?:\S+$/.test(display)) penalty += 0.5
  if ((display.match(/[{}[\]<>=_\\|$#`]/g)?.length ?? 0) > 0.03 * display.length) penalty += 0.15
  if (kind === "sentence" && display.length > 120 && !/[.!?:。！？：]["'”’»」』)\]]*$/u.test(display)) penalty += 0.15
  return penalty
}
