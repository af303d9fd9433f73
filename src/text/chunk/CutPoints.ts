import type { Atoms } from "./Atoms.ts"

/** Smallest chunk as a share of the limit, where the pieces allow it. */
const leastFill = 0.3

/** UTF-16 units of the text after a place that are hashed to decide between places of equal strength. */
const hashed = 128

/**
 * Where to cut a text, as indexes into `atoms.at`: ascending, starting with 0, ending with the end, at most `limit` tokens apart where the
 * pieces allow it.
 *
 * Text over the limit is cut at its best place, and so are the resulting parts: the strongest structure wins, then the highest hash of the
 * text that follows. What is the best place does not depend on the rest of the text, so an edit changes the chunks around it and no others
 * (content-defined chunking); filling chunk after chunk would shift all that follow.
 */
export const cutPoints = (text: string, atoms: Atoms, limit: number): Uint32Array => {
  const count = atoms.at.length - 1
  const rank = ranks(text, atoms)
  const cuts = [0, count]
  const open: Array<readonly [from: number, to: number]> = [[0, count]]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const [from, to] = part
    if (to - from === 1 || atoms.tokens[to]! - atoms.tokens[from]! <= limit) continue
    const cut = bestPlace(atoms, rank, from, to, limit * leastFill)
    cuts.push(cut)
    open.push([from, cut], [cut, to])
  }
  return Uint32Array.from(cuts).sort()
}

/**
 * The place of the highest rank with at least `margin` tokens on either side. Among equals (a table of equal rows has them), and where all
 * places are too near the ends, the one nearest to the middle.
 */
const bestPlace = ({ tokens }: Atoms, rank: Float64Array, from: number, to: number, margin: number): number => {
  const first = tokens[from]!
  const last = tokens[to]!
  const room = Math.min(margin, (last - first) / 3)
  let best = from + 1
  let bestRank = -1
  let bestDistance = Infinity
  for (let i = from + 1; i < to; i++) {
    const at = tokens[i]!
    const value = at - first < room || last - at < room ? -1 : rank[i]!
    if (value < bestRank) continue
    const distance = Math.abs(at - first - (last - at))
    if (value > bestRank || distance < bestDistance) {
      best = i
      bestRank = value
      bestDistance = distance
    }
  }
  return best
}

/** Rank of each place to cut: strength first, then hash. Integers below 2^53. */
const ranks = (text: string, { at, strength }: Atoms): Float64Array => {
  const rank = new Float64Array(strength.length)
  for (let i = 0; i < rank.length; i++) rank[i] = strength[i]! * 2 ** 32 + hashAt(text, at[i]!)
  return rank
}

/** FNV-1a over UTF-16 units with MurmurHash3's final mix: FNV alone leaves the high bits of short texts alike. */
const hashAt = (text: string, offset: number): number => {
  let hash = 0x811c9dc5
  const end = Math.min(text.length, offset + hashed)
  for (let i = offset; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
