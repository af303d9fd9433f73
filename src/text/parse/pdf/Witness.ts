const word = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\p{L}\p{M}\p{N}])+/gu

/** Words of a text and how often each occurs; ideographs and kana count singly. */
export const wordsOf = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const [one] of text.normalize("NFKC").toLowerCase().matchAll(word)) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

const total = (counts: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}

const common = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const [word, count] of a) sum += Math.min(count, b.get(word) ?? 0)
  return sum
}

/** Arabic and Hebrew, whose words the layout parser gives in reverse order. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g

const letters = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** How many words of one or two letters a text has, which broken words leave. */
const pieces = (words: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const [word, count] of words) if (word.length <= 2 && /\p{L}/u.test(word)) sum += count
  return sum
}

/**
 * Whether the plain text of a page is better than that of its layout, because it has words that the layout lacks or breaks. `turned`: most
 * of the page's text is not upright.
 */
export const prefersPlain = (layout: string, plain: string, turned: boolean): boolean => {
  const all = letters(plain)
  if (all === 0) return false
  if ((plain.match(rightToLeft)?.length ?? 0) > 0.2 * all) return true
  const [a, b] = [wordsOf(layout), wordsOf(plain)]
  const [layoutWords, plainWords] = [total(a), total(b)]
  const shared = common(b, a)
  if (turned && shared < plainWords) return true
  // Most words of the plain text are in the layout: the missing ones are added line by line.
  if (shared >= 0.85 * plainWords) return false
  if (letters(layout) < 0.85 * all) return true
  // The same letters, other words: the text with fewer fragments has the right spaces.
  return pieces(b) / plainWords < pieces(a) / Math.max(1, layoutWords)
    || (pieces(b) / plainWords === pieces(a) / Math.max(1, layoutWords) && plainWords < layoutWords)
}

/** Plain text that the layout lacks: lines of which most is missing, and single words of others. */
export const lostLines = (layout: string, plain: string): ReadonlyArray<string> => {
  const left = wordsOf(layout)
  const missing = total(wordsOf(plain)) - common(wordsOf(plain), left)
  if (missing === 0) return []
  // Words that the layout joined or split are not missing.
  const run = letterRun(layout)
  const lost: Array<string> = []
  for (const line of plain.split("\n")) {
    const words = [...line.normalize("NFKC").toLowerCase().matchAll(word)].map(([one]) => one)
    if (words.length === 0) continue
    // Runs of words of which the layout has no more.
    const runs: Array<Array<string>> = []
    let missing = 0
    let last = -2
    for (const [at, one] of words.entries()) {
      const there = left.get(one) ?? 0
      if (there > 0) left.set(one, there - 1)
      else {
        missing++
        if (last === at - 1) runs.at(-1)?.push(one)
        else runs.push([one])
        last = at
      }
    }
    if (missing === 0 || run.includes(letterRun(line))) continue
    if (missing * 2 > words.length) lost.push(line.trim())
    else lost.push(...runs.filter((words) => !run.includes(words.join(""))).map((words) => words.join(" ")))
  }
  return lost
}

/** Only the letters and digits of a text. */
const letterRun = (text: string): string => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "")
