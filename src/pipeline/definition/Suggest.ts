const plain = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Edit distance with transpositions (optimal string alignment). */
const distance = (a: string, b: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let best = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1)
      next.push(best)
    }
    before = row
    row = next
  }
  return row[b.length]!
}

const maxLength = 64

/**
 * The word of `known` that was probably meant by `word`: equal apart from case and punctuation, with at most a third of
 * its letters wrong, or with a word put before or after it (`chunkSize` for `size`), or cut short (`chunk` for `chunking`).
 */
export const suggest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  const given = plain(word.slice(0, maxLength))
  if (given === "") return undefined
  const near = known
    .map((name) => ({ name, distance: distance(given, plain(name)) }))
    .filter(({ distance, name }) => distance <= Math.max(1, Math.floor(Math.max(given.length, name.length) / 3)))
    .sort((a, b) => a.distance - b.distance)[0]
  if (near !== undefined && plain(near.name).length > 1) return near.name
  return known.find((name) => name.length >= 4 && (given.endsWith(plain(name)) || given.startsWith(plain(name)))) ??
    known.find((name) => given.length >= 4 && plain(name).startsWith(given))
}
