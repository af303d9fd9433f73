/**
 * Damerau-Levenshtein distance in its restricted form (insert, delete, replace, swap neighbours, edit no substring twice), over UTF-16
 * units; `limit + 1` where it is more than `limit`.
 */
export const editDistance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let before: Array<number> = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (swapped) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
      least = Math.min(least, cost)
    }
    if (least > limit) return limit + 1
    before = last
    last = row
  }
  return last[b.length]!
}

/** Every string one edit away from `word`, with letters of `alphabet` for insertions and replacements. */
export const oneEditAway = (word: string, alphabet: Iterable<string>): Set<string> => {
  const edits = new Set<string>()
  const letters = Array.from(alphabet)
  for (let i = 0; i <= word.length; i++) {
    const head = word.slice(0, i)
    const tail = word.slice(i)
    for (const letter of letters) edits.add(head + letter + tail)
    if (tail === "") continue
    edits.add(head + tail.slice(1))
    for (const letter of letters) edits.add(head + letter + tail.slice(1))
    if (tail.length > 1) edits.add(head + tail.charAt(1) + tail.charAt(0) + tail.slice(2))
  }
  edits.delete(word)
  return edits
}
