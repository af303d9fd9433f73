import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { ByteCache } from "../../../search/ByteCache.ts"
import { asBlob } from "../store/Checksum.ts"
import { openVectorList, type VectorList, vectorListId } from "../store/VectorLists.ts"
import { type CorpusIndex, IndexDamage, type Segment } from "./CorpusIndex.ts"
import { DenseScan } from "./DenseScan.ts"
import type { Rounding } from "../store/Vector.ts"
import { KeptVectors } from "./KeptVectors.ts"
import type { ScoreRoom, Scores, SlotRange, WeighedList } from "./Scores.ts"
import { slotsFrom, topSlots } from "./TopSlots.ts"

/** Candidates from the lists for each chunk that is wanted: see docs/search.md. */
const candidatesPerChunk = 4

/** Components of a question that are looked up, the heaviest: what more add to its candidates, more candidates add sooner. See docs/search.md. */
const mostComponents = 40

/** Slots as near as the last that is wanted, as far as can be told, of which each is looked at. */
const mostBeyond = 1_000

/** Cosines with the chunks at these slots, which ascend. */
type Cosines = (slots: Int32Array) => Float64Array

/** The dense side of one search. */
export interface Dense {
  /** The nearest allowed chunks, nearest first; from lists, a few of the last may be others. */
  readonly nearest: (allowed: Uint8Array, count: number) => ReadonlyArray<number>
  /** Of the chunks at these slots, which ascend, exact. */
  readonly cosines: Cosines
  /** Cosines with the question moved by `weight` towards the chunks at `slots`. */
  readonly movedTo: (slots: ReadonlyArray<number>, weight: number) => Cosines
  /** By slot, exact, where every chunk was looked at. */
  readonly all: Float64Array | undefined
}

/**
 * Finds the chunks nearest to a question: from lists of heavy components where a segment has them, from codes where many
 * vectors have few zeros, else one by one.
 */
export class DenseArm {
  readonly #list: StatementSync
  readonly #cache: ByteCache
  readonly #scan: DenseScan
  readonly #vectors: KeptVectors

  /** `damaged` makes what is thrown where a live chunk's vector is missing or not as it was written. */
  constructor(db: DatabaseSync, cache: ByteCache, damaged: (chunk: number) => Error) {
    this.#list = db.prepare("SELECT body FROM vector_lists WHERE id = ?")
    this.#cache = cache
    this.#scan = new DenseScan(db, cache, damaged)
    this.#vectors = new KeptVectors(db, cache.limit / 4, damaged)
  }

  /**
   * `room` is begun for the index. `exact` examines every chunk, whatever it costs.
   *
   * @throws {IndexDamage}
   */
  ask(index: CorpusIndex, query: Float32Array, room: ScoreRoom, exact: boolean): Dense {
    const listed = exact ? [] : index.segments.filter(({ listedComponents }) => listedComponents > 0)
    const others = index.segments.filter((segment) => !listed.includes(segment))
    const coded = !exact && this.#scan.hasCodes(others, query.length) ? others : []
    const scanned = coded.length > 0 ? [] : others
    const scores = room.zeros("dense", listed.length > 0 ? others.map(slotsOf) : undefined)
    const nearly = exact ? undefined : this.#scan.nearly(index, scanned, query, scores.values)
    if (nearly === undefined) this.#scan.cosines(index, scanned, query, scores.values)
    const asked: Asked = { index, query, room, scores, scanned, error: nearly ?? 0, rounding: nearly === undefined ? "exact" : "scanned" }
    const movedTo: Dense["movedTo"] = (slots, weight) => this.#movedTo(asked, slots, weight)
    if (scanned.length === index.segments.length && asked.error === 0) {
      const all = scores.values
      const cosines: Cosines = (slots) => Float64Array.from(slots, (slot) => all[slot] ?? 0)
      return { all, movedTo, cosines, nearest: (allowed, count) => topSlots(scores, allowed, count) }
    }
    this.#scan.estimates(index, coded, query, scores.values)
    const estimates = listed.length > 0 ? this.#estimates(listed, query, room) : undefined
    const cosines = this.#cosinesOnce(asked)
    return {
      all: undefined,
      movedTo,
      cosines,
      nearest: (allowed, count) => {
        const candidates = [
          ...(estimates === undefined ? [] : topSlots(estimates, allowed, count * candidatesPerChunk, listed.map(slotsOf))),
          ...topSlots(scores, allowed, count * candidatesPerChunk, coded.map(slotsOf)),
          ...this.#nearestScanned(asked, allowed, count)
        ]
        // Vectors in the order they lie in the file.
        return nearestOf(Int32Array.from(candidates).sort(), cosines, count)
      }
    }
  }

  /** Exact cosines with the chunks at `slots`, which ascend, each rounded as a scan of its segment would round it. */
  #cosines({ index, rounding, scanned }: Asked, query: Float32Array, slots: Int32Array): Float64Array {
    const cosines = new Float64Array(slots.length)
    for (let from = 0; from < slots.length;) {
      const segment = index.segmentAt(slots[from] as number)
      const end = segment.offset + segment.chunks.length
      let to = from + 1
      while (to < slots.length && (slots[to] as number) < end) to++
      const rounded = scanned.includes(segment) ? rounding : "exact"
      this.#vectors.cosines(segment, slots.subarray(from, to), query, rounded, cosines.subarray(from, to))
      from = to
    }
    return cosines
  }

  /** {@link DenseArm.#cosines} with the question, each computed once. */
  #cosinesOnce(asked: Asked): Cosines {
    const known = new Map<number, number>()
    return (slots) => {
      const unknown = slots.filter((slot) => !known.has(slot))
      const computed = this.#cosines(asked, asked.query, unknown)
      unknown.forEach((slot, at) => known.set(slot, computed[at] as number))
      return unknown.length === slots.length ? computed : Float64Array.from(slots, (slot) => known.get(slot) as number)
    }
  }

  #movedTo(asked: Asked, slots: ReadonlyArray<number>, weight: number): Cosines {
    const { index, query } = asked
    const middle = new Float32Array(query.length)
    for (const slot of slots) this.#vectors.addTo(middle, index.chunkAt(slot), index.embeddingAt(slot))
    const moved = towards(query, middle, weight)
    return (slots) => this.#cosines({ ...asked, rounding: "exact" }, moved, slots)
  }

  /** The nearest chunks of scanned segments; where their scores are a little off, all that may be among them. */
  #nearestScanned({ error, index, query, room, scanned, scores }: Asked, allowed: Uint8Array, count: number): ReadonlyArray<number> {
    const ranges = scanned.map(slotsOf)
    const first = topSlots(scores, allowed, count, ranges)
    const last = first.at(-1)
    if (error === 0 || last === undefined) return first
    const least = (scores.values[last] as number) - 2 * error
    // Where some that are wanted have little or nothing of the question, the error decides which they are.
    const enough = first.length >= count && least > 0 ? slotsFrom(least, scores, allowed, ranges, count + mostBeyond) : undefined
    if (enough !== undefined) return enough
    const exactly = room.zeros("aside", ranges)
    this.#scan.cosines(index, scanned, query, exactly.values)
    return topSlots(exactly, allowed, count, ranges)
  }

  #estimates(listed: ReadonlyArray<Segment>, query: Float32Array, room: ScoreRoom): Scores<Int16Array> {
    const components = heaviest(query, mostComponents)
    const most = components.reduce((sum, component) => sum + Math.abs(query[component] as number), 0)
    return room.estimates(this.#lists(listed, query, components), most)
  }

  *#lists(segments: ReadonlyArray<Segment>, query: Float32Array, components: ReadonlyArray<number>): Generator<WeighedList> {
    for (const { id: segment, listedComponents, offset } of segments) {
      for (const component of components) {
        if (component >= listedComponents) continue
        const id = vectorListId(segment, component)
        const list = this.#cache.get(`l${id}`, () => this.#readList(id), ({ postings }) => postings.length)
        yield { offset, list, weight: query[component] as number }
      }
    }
  }

  #readList(id: number): VectorList {
    const list = openVectorList(asBlob(this.#list.get(id)?.["body"]), id)
    if (list === undefined) throw new IndexDamage(`vector list ${id}`)
    return list
  }
}

/** One question to the segments of an index. */
interface Asked {
  readonly index: CorpusIndex
  readonly query: Float32Array
  readonly room: ScoreRoom
  /** Of scanned segments, off by `error` at most; of coded ones, estimates. */
  readonly scores: Scores
  readonly scanned: ReadonlyArray<Segment>
  readonly error: number
  /** How cosines of scanned segments are rounded, so that a few computed alone equal a scan of all to the last bit. */
  readonly rounding: Rounding
}

/** The `count` nearest of the chunks at `slots`, which ascend, nearest first, and those as near as the last. */
const nearestOf = (slots: Int32Array, cosines: Cosines, count: number): ReadonlyArray<number> => {
  const closeness = cosines(slots)
  const nearest = Array.from(slots.keys()).filter((at) => closeness[at] !== 0)
    .sort((a, b) => (closeness[b] as number) - (closeness[a] as number) || a - b)
  const least = closeness[nearest[count - 1] ?? -1]
  return nearest.filter((at, place) => place < count || closeness[at] === least).map((at) => slots[at] as number)
}

const slotsOf = ({ chunks, offset }: Segment): SlotRange => ({ from: offset, to: offset + chunks.length })

/** `query` and the direction of `middle`, which counts `weight`, as one vector of length 1. */
export const towards = (query: Float32Array, middle: Float32Array, weight: number): Float32Array => {
  const scale = weight / (lengthOf(middle) || 1)
  const moved = new Float32Array(middle.length)
  for (let d = 0; d < moved.length; d++) moved[d] = (query[d] as number) + scale * (middle[d] as number)
  const length = lengthOf(moved) || 1
  for (let d = 0; d < moved.length; d++) moved[d] = (moved[d] as number) / length
  return moved
}

const lengthOf = (vector: Float32Array): number => {
  let sum = 0
  for (let d = 0; d < vector.length; d++) sum += (vector[d] as number) * (vector[d] as number)
  return Math.sqrt(sum)
}

/** The components of largest magnitude, at most `count`. */
const heaviest = (query: Float32Array, count: number): ReadonlyArray<number> => {
  const components: Array<number> = []
  for (let d = 0; d < query.length; d++) if (query[d] !== 0) components.push(d)
  if (components.length <= count) return components
  return components.sort((a, b) => Math.abs(query[b] as number) - Math.abs(query[a] as number)).slice(0, count)
}
