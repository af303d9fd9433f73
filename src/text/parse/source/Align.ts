import { partitionPoint } from "../../PartitionPoint.ts"

/** A word, a character of a script without spaces, or a sign. */
export interface Piece {
  readonly text: string
  /** Start in the text, in UTF-16 units. */
  readonly start: number
}

const unspaced = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}"
const piece = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}])+|\\S`, "gu")

/** A text's words and signs, in order. */
export const piecesOf = (text: string): ReadonlyArray<Piece> =>
  Array.from(text.matchAll(piece), ({ 0: text, index }) => ({ text, start: index }))

/** Most cells of the table that compares two stretches piece by piece; longer stretches without a landmark are not aligned. */
const maxCells = 250_000

/** Runs of this many words are landmarks where no shorter run is: rows of a table repeat the same words. */
const landmarkLengths = [1, 4, 16, 64]

export const isWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/**
 * Aligns two texts: for each piece of `a`, the index of the corresponding piece of `b`, or -1. The result is a common subsequence, of words
 * first, then of the signs between them, which only one of the two may have. Words, or runs of them, that occur exactly once in both are
 * landmarks (patience diff); the stretches between two landmarks are compared separately.
 */
export const align = (a: ReadonlyArray<Piece>, b: ReadonlyArray<Piece>): Int32Array => {
  const ids = new Map<string, number>()
  const numbered = (pieces: ReadonlyArray<Piece>): Int32Array =>
    Int32Array.from(pieces, ({ text }) => {
      const known = ids.get(text)
      if (known !== undefined) return known
      ids.set(text, ids.size)
      return ids.size - 1
    })
  const left = numbered(a)
  const right = numbered(b)
  const words = (pieces: ReadonlyArray<Piece>): Int32Array => Int32Array.from(pieces.flatMap(({ text }, at) => isWord(text) ? [at] : []))
  const [wordsLeft, wordsRight] = [words(a), words(b)]
  const found = new Int32Array(a.length).fill(-1)
  const open: Array<Range> = []
  let [from, start] = [0, 0]
  alignRanges(wordsLeft.map((at) => left[at]!), wordsRight.map((at) => right[at]!), [[0, wordsLeft.length, 0, wordsRight.length]])
    .forEach((place, word) => {
      if (place === -1) return
      const [at, there] = [wordsLeft[word]!, wordsRight[place]!]
      found[at] = there
      open.push([from, at, start, there])
      from = at + 1
      start = there + 1
    })
  open.push([from, left.length, start, right.length])
  return alignRanges(left, right, open, found)
}

/** Two corresponding stretches: start and end in the left one, then in the right one. */
type Range = readonly [number, number, number, number]

const alignRanges = (
  left: Int32Array,
  right: Int32Array,
  open: Array<Range>,
  found: Int32Array = new Int32Array(left.length).fill(-1)
): Int32Array => {
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    let [from, to, start, end] = range
    while (from < to && start < end && left[from] === right[start]) found[from++] = start++
    while (from < to && start < end && left[to - 1] === right[end - 1]) found[--to] = --end
    if (from === to || start === end) continue
    const isSmall = (to - from) * (end - start) <= maxCells
    let landmarks: ReadonlyArray<readonly [number, number]> = []
    for (const length of isSmall ? [1] : landmarkLengths) {
      if (landmarks.length === 0) landmarks = landmarksOf(runsOf(left, from, to, length), runsOf(right, start, end, length), from, start)
    }
    if (landmarks.length === 0) {
      if (isSmall) compare(left, right, [from, to, start, end], found)
      continue
    }
    for (const [at, place] of landmarks) {
      open.push([from, at, start, place])
      found[at] = place
      from = at + 1
      start = place + 1
    }
    open.push([from, to, start, end])
  }
  return found
}

/** For each position of a stretch, a key of the run of pieces that starts there. */
const runsOf = (ids: Int32Array, first: number, last: number, length: number): ReadonlyArray<number | string> =>
  length === 1
    ? Array.from(ids.subarray(first, last))
    : Array.from({ length: Math.max(0, last - first - length + 1) }, (_, at) => ids.subarray(first + at, first + at + length).join())

/** The longest chain of runs that occur once in each stretch and in the same order in both; the stretches start at `from` and `start`. */
const landmarksOf = (
  left: ReadonlyArray<number | string>,
  right: ReadonlyArray<number | string>,
  from: number,
  start: number
): ReadonlyArray<readonly [number, number]> => {
  const once = (runs: ReadonlyArray<number | string>, first: number): Map<number | string, number> => {
    const places = new Map<number | string, number>()
    runs.forEach((run, at) => places.set(run, places.has(run) ? -1 : first + at))
    return places
  }
  const places = once(right, start)
  const pairs = [...once(left, from)].flatMap(([id, at]): ReadonlyArray<readonly [number, number]> => {
    const place = places.get(id) ?? -1
    return at === -1 || place === -1 ? [] : [[at, place]]
  }).sort(([a], [b]) => a - b)
  // For each length of chain, the run that ends earliest.
  const tails: Array<number> = []
  const before = new Int32Array(pairs.length).fill(-1)
  pairs.forEach(([, place], at) => {
    const length = partitionPoint(tails.length, (shorter) => pairs[tails[shorter]!]![1] < place)
    before[at] = length === 0 ? -1 : tails[length - 1]!
    tails[length] = at
  })
  const run: Array<readonly [number, number]> = []
  for (let at = tails.at(-1) ?? -1; at !== -1; at = before[at]!) run.push(pairs[at]!)
  return run.reverse()
}

/** Writes a longest common subsequence of two stretches to `found`, by the table of all pairs. */
const compare = (left: Int32Array, right: Int32Array, [from, to, start, end]: Range, found: Int32Array): void => {
  const rows = to - from
  const columns = end - start
  const width = columns + 1
  const longest = new Uint16Array((rows + 1) * width)
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      longest[row * width + column] = left[from + row] === right[start + column]
        ? longest[(row + 1) * width + column + 1]! + 1
        : Math.max(longest[(row + 1) * width + column]!, longest[row * width + column + 1]!)
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns;) {
    if (left[from + row] === right[start + column]) found[from + row++] = start + column++
    else if (longest[(row + 1) * width + column]! >= longest[row * width + column + 1]!) row++
    else column++
  }
}
