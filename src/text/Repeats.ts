/** A text by its words, to be compared with others of the same {@link textComparer}. */
export interface ComparedText {
  readonly words: ReadonlyArray<string>
  /** Where each row of {@link run} words begins, by its number, in order; {@link severalTimes} where there are several such. */
  readonly rows: () => ReadonlyMap<number, number>
  /** It was cut out of pages: their headers, footers and numbers may stand between its words. */
  readonly paged: boolean
}

const word = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv

/** Words in a row that both texts have to have for them to be the same ones: two pairs. */
const run = 4
const severalTimes = -1

/** Makes texts that can be compared with one another: it numbers their words and rows, since numbers are found faster than words. */
export const textComparer = () => {
  const words = new Map<string, number>()
  const pairs = new Map<number, number>()
  const rowsOfPairs = new Map<number, number>()
  const numberIn = <K>(numbers: Map<K, number>, key: K): number => {
    const known = numbers.get(key) ?? numbers.size
    numbers.set(key, known)
    return known
  }
  // No more words are compared than two numbers have room for in one.
  const together = (a: number, b: number): number => a * 0x4000000 + b
  return (text: string, paged: boolean): ComparedText => {
    const all = text.normalize("NFKC").toLowerCase().match(word) ?? []
    let made: Map<number, number> | undefined
    // Most texts are like no other, and never need theirs.
    const rows = (): ReadonlyMap<number, number> => {
      if (made !== undefined) return made
      made = new Map()
      const numbers = all.map((one) => numberIn(words, one))
      const inPairs = numbers.slice(1).map((next, at) => numberIn(pairs, together(numbers[at]!, next)))
      for (let at = 0; at + run <= all.length; at++) {
        const row = numberIn(rowsOfPairs, together(inPairs[at]!, inPairs[at + 2]!))
        made.set(row, made.has(row) ? severalTimes : at)
      }
      return made
    }
    return { words: all, rows, paged }
  }
}

/** Share of a text's words that another has to have to say all of it: chunks of two formats are not cut at the same places. */
const leastShared = 0.8
/** Words that a page may put between those of its text: a header, a footer, a number. */
const mostOfPage = 12

/**
 * Whether a text says nothing that another does not say word for word, as the formats of one document do: the other has
 * nearly all of it, and nowhere does one word stand in the place of another. What one of them leaves out at an end was cut
 * elsewhere; what one has in the middle and the other has not is a difference, unless pages put it there.
 */
export const repeats = (text: ComparedText, other: ComparedText): boolean => {
  if (text.words.length === other.words.length && text.words.every((word, at) => word === other.words[at])) return true
  if (other.words.length < leastShared * text.words.length) return false
  const pairs = alignedWords(text, other, (1 - leastShared) * text.words.length)
  if (pairs.length === 0 || pairs.length < leastShared * text.words.length) return false
  let [from, fromOther] = [0, 0]
  for (const [place, [to, toOther]] of [...pairs, [text.words.length, other.words.length] as const].entries()) {
    const between = { words: text.words.slice(from, to), paged: text.paged }
    const betweenOther = { words: other.words.slice(fromOther, toOther), paged: other.paged }
    const same = place === 0 || place === pairs.length ? sameAtEnd(between, betweenOther, place === 0) : sameBetween(between, betweenOther)
    if (!same) return false
    from = to + 1
    fromOther = toOther + 1
  }
  return true
}

type Words = Pick<ComparedText, "paged" | "words">

const isOfPage = ({ paged, words }: Words): boolean => words.length === 0 || (paged && words.length <= mostOfPage)

/** Whether what stands between two pairs of words makes no difference to what the texts say. */
const sameBetween = (a: Words, b: Words): boolean =>
  // A word that one format divides at the end of a line.
  a.words.join("") === b.words.join("") || (a.words.length === 0 && isOfPage(b)) || (b.words.length === 0 && isOfPage(a))

/** Whether one of the texts was cut where the other goes on, within a word or not. */
const sameAtEnd = (a: Words, b: Words, leading: boolean): boolean => {
  const partOf = ([part = "", ...more]: ReadonlyArray<string>, words: ReadonlyArray<string>): boolean =>
    more.length === 0 && !/\p{N}/u.test(part) && (leading ? words.at(-1)?.endsWith(part) : words[0]?.startsWith(part)) === true
  return isOfPage(a) || isOfPage(b) || partOf(a.words, b.words) || partOf(b.words, a.words)
}

/**
 * Pairs of places of equal words, ascending in both texts: those that stand in rows which each text has once. Not all of
 * them, where `most` words of the first text are in no pair.
 */
const alignedWords = (a: ComparedText, b: ComparedText, most: number): ReadonlyArray<readonly [number, number]> => {
  const pairs: Array<readonly [number, number]> = []
  let [nextA, nextB] = [0, 0]
  const inB = b.rows()
  for (const [row, at] of a.rows()) {
    if (at - pairs.length > most) break
    const there = inB.get(row)
    if (at === severalTimes || there === undefined || there === severalTimes) continue
    for (let step = 0; step < run; step++) {
      if (at + step < nextA || there + step < nextB) continue
      pairs.push([at + step, there + step])
      nextA = at + step + 1
      nextB = there + step + 1
    }
  }
  return pairs
}
