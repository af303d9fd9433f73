import type { DatabaseSync, StatementSync } from "node:sqlite"
import { ByteReader, ByteWriter } from "./Bytes.ts"
import { asBlob } from "./Checksum.ts"
import { dimensionsOfBitmap, isMostlyZeros, unpackSparse } from "./Vector.ts"

/**
 * An inverted index of the heaviest components of a segment's vectors: for each component, the chunks that have it, and its magnitude. Sums
 * over the lists of a question's components find candidates, whose cosines are then computed exactly. Only vectors with many zeros are
 * listed, as the offline embedder's are.
 *
 * A list is one row. It has the list's id, which detects a list in the place of another; the number of listed components; the number of
 * postings; the gaps between their ordinals; then half a byte for each, whose low three bits are the magnitude and whose high bit is the
 * sign.
 */

/** Least number of chunks of a segment with lists: scanning fewer is faster than rescoring their candidates. */
export const leastListed = 16_384

/** Vectors that are read in one step. */
const chunksOfStep = 256

/** Most components of a vector that are listed: see docs/search.md. */
const listedComponents = 48

/** Size of one step of a listed magnitude, in a vector of length 1. The highest of the 8 steps stands for everything above it too. */
export const magnitudeStep = 0.04
const highestStep = 7
/** What the highest of them stands for. */
export const largestMagnitude = (highestStep + 1) * magnitudeStep

/** Number of ids for a segment's lists: component numbers have 16 bits. */
const listsPerSegment = 65_536

export const vectorListId = (segment: number, component: number): number => segment * listsPerSegment + component

/** A component's list being made. */
class ListWriter {
  readonly #gaps = new ByteWriter()
  readonly #magnitudes = new ByteWriter()
  #count = 0
  #last = -1
  #half = 0

  get isEmpty(): boolean {
    return this.#count === 0
  }

  clear(): void {
    this.#gaps.clear()
    this.#magnitudes.clear()
    this.#count = 0
    this.#last = -1
  }

  add(ordinal: number, magnitude: number): void {
    this.#gaps.varint(ordinal - this.#last - 1)
    this.#last = ordinal
    if (this.#count++ % 2 === 0) this.#half = magnitude
    else this.#magnitudes.byte(this.#half | (magnitude << 4))
  }

  /** Adds another list's postings at the ordinals that `target` maps theirs to, except those that it drops. */
  addAll(list: VectorList, target: Uint32Array): void {
    const gaps = new ByteReader(list.postings)
    const magnitudes = list.postings.length - ((list.count + 1) >> 1)
    let ordinal = -1
    for (let i = 0; i < list.count; i++) {
      ordinal += gaps.varint() + 1
      const to = target[ordinal] as number
      if (to !== dropped) this.add(to, ((list.postings[magnitudes + (i >> 1)] as number) >> ((i & 1) << 2)) & 15)
    }
  }

  /** Adds all postings of another list, whose ordinals come after this one's. */
  append(other: ListWriter): void {
    const gaps = new ByteReader(other.#gaps.view())
    const magnitudes = other.#magnitudes.view()
    let ordinal = -1
    for (let i = 0; i < other.#count; i++) {
      ordinal += gaps.varint() + 1
      const pair = i >> 1 < magnitudes.length ? magnitudes[i >> 1] as number : other.#half
      this.add(ordinal, (pair >> ((i & 1) << 2)) & 15)
    }
  }

  sealed(id: number, components: number): Uint8Array {
    const out = new ByteWriter()
    out.varint(id)
    out.varint(components)
    out.varint(this.#count)
    out.append(this.#gaps)
    out.append(this.#magnitudes)
    if (this.#count % 2 === 1) out.byte(this.#half)
    return out.sealed()
  }
}

/** Target of an ordinal that is left out. */
export const dropped = 0xffffffff

/** Neighbouring chunks of a new segment. */
export interface ListedPart {
  /** Row ids in `embeddings` of the chunks' vectors. */
  readonly embeddings: Float64Array
  /** The segment that they come from, with the new place of each ordinal, or {@link dropped}: its lists are used instead of the vectors. */
  readonly from?: { readonly segment: number; readonly target: Uint32Array }
}

/** A part's lists, by component. */
interface PartLists {
  readonly components: number
  readonly appendTo: (list: ListWriter, component: number) => void
}

/** The rows of vector lists, for the writer. */
export class VectorListTable {
  readonly #db: DatabaseSync
  readonly #vector: StatementSync
  readonly #list: StatementSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#vector = db.prepare("SELECT vector FROM embeddings WHERE id = ?")
    this.#list = db.prepare("SELECT body FROM vector_lists WHERE id = ?")
    this.#insert = db.prepare("INSERT INTO vector_lists (id, body) VALUES (?, ?)")
    this.#delete = db.prepare("DELETE FROM vector_lists WHERE id >= ? AND id < ?")
  }

  /**
   * Lists the vectors of a segment's chunks, unless they are too few or have too few zeros. It works in steps; other writers may write in
   * between.
   *
   * @throws {DamagedLists} where the lists of a part cannot be read
   */
  *insert(segment: number, parts: ReadonlyArray<ListedPart>): Generator<void, void> {
    if (parts.reduce((sum, { embeddings }) => sum + embeddings.length, 0) < leastListed) return
    const lists: Array<PartLists> = []
    let first = 0
    for (const { embeddings, from } of parts) {
      const components = from === undefined ? 0 : listedComponentsOf(this.#db, from.segment)
      if (components === undefined) throw new DamagedLists()
      const part = from !== undefined && components > 0
        ? this.#listed(from, components)
        : yield* this.#collect(embeddings, first)
      if (part === undefined) return
      lists.push(part)
      first += embeddings.length
    }
    const list = new ListWriter()
    const listOf = (component: number): ListWriter => {
      list.clear()
      for (const part of lists) if (component < part.components) part.appendTo(list, component)
      return list
    }
    let components = lists.reduce((most, part) => Math.max(most, part.components), 0)
    // The chunks that the last components listed may be gone.
    while (components > 0 && listOf(components - 1).isEmpty) components--
    // Empty lists are written too, since a missing list counts as damage.
    for (let component = 0; component < components; component++) {
      const id = vectorListId(segment, component)
      this.#insert.run(id, listOf(component).sealed(id, components))
      yield
    }
  }

  delete(segment: number): void {
    this.#delete.run(vectorListId(segment, 0), vectorListId(segment + 1, 0))
  }

  /** The lists of a segment, read row by row: all lists of a large segment would take much memory. */
  #listed({ segment, target }: Required<ListedPart>["from"], components: number): PartLists {
    return {
      components,
      appendTo: (list, component) => {
        const id = vectorListId(segment, component)
        const found = openVectorList(asBlob(this.#list.get(id)?.["body"]), id)
        if (found === undefined) throw new DamagedLists()
        list.addAll(found, target)
      }
    }
  }

  /** Makes lists from vectors; `first` is the first chunk's ordinal. Returns undefined where a vector is not mostly zeros. */
  *#collect(embeddings: Float64Array, first: number): Generator<void, PartLists | undefined> {
    const lists: Array<ListWriter | undefined> = []
    const block = new Block()
    for (let at = 0; at < embeddings.length; at++) {
      if (at % chunksOfStep === 0) yield
      if (at > 0 && at % chunksOfBlock === 0) block.appendTo(lists, first + at - chunksOfBlock)
      const packed = asBlob(this.#vector.get(embeddings[at] as number)?.["vector"])
      // Chunks without words have the zero vector, and are in no list.
      if (packed.length > 1 && !block.add(at % chunksOfBlock, packed)) return undefined
    }
    block.appendTo(lists, first + Math.floor((embeddings.length - 1) / chunksOfBlock) * chunksOfBlock)
    return {
      components: lists.length,
      appendTo: (list, component) => {
        const made = lists[component]
        if (made !== undefined) list.append(made)
      }
    }
  }
}

/** Thrown where a segment's lists cannot be read. They are derived, and made again with its index. */
export class DamagedLists extends Error {}

/** Chunks whose components are sorted together, so that each list is appended to once for all of them; their numbers have 12 bits. */
const chunksOfBlock = 4_096

/** The listed components of a block of chunks' vectors. */
class Block {
  /** One number per entry: the component, the chunk's place in 12 bits, and magnitude and sign in 4 bits. */
  readonly #entries = new Uint32Array(chunksOfBlock * listedComponents)
  readonly #sorted = new Uint32Array(chunksOfBlock * listedComponents)
  /** By component, the end of its entries, and after sorting their start. */
  readonly #starts = new Uint32Array(listsPerSegment + 1)
  #count = 0
  /** Highest component of any entry; -1 without entries. */
  #highest = -1
  /** Memory for one vector. */
  readonly #components = new Uint16Array(listsPerSegment)
  readonly #values = new Int8Array(listsPerSegment)
  readonly #ofMagnitude = new Uint32Array(129)

  /** Adds the heaviest components of a chunk's vector; false where it is not mostly zeros. */
  add(chunk: number, packed: Uint8Array): boolean {
    const components = this.#components
    const values = this.#values
    if (!isMostlyZeros(packed)) return false
    const count = unpackSparse(packed, dimensionsOfBitmap(packed) ?? 0, components, values) ?? 0
    const ofMagnitude = this.#ofMagnitude.fill(0)
    let squares = 0
    for (let i = 0; i < count; i++) {
      const value = values[i] as number
      ofMagnitude[Math.abs(value)]!++
      squares += value * value
    }
    let room = listedComponents
    let least = 128
    while (least > 1 && ofMagnitude[least]! <= room) room -= ofMagnitude[least--]!
    const unit = magnitudeStep * Math.sqrt(squares)
    for (let i = 0; i < count; i++) {
      const value = values[i] as number
      const magnitude = Math.abs(value)
      // Of components as heavy as the lightest that fits, the first ones are taken.
      if (magnitude < least || (magnitude === least && room-- <= 0)) continue
      const step = Math.min(highestStep, Math.max(0, Math.round(magnitude / unit) - 1))
      const component = components[i] as number
      if (component > this.#highest) this.#highest = component
      this.#entries[this.#count++] = (component << 16 | chunk << 4 | (value < 0 ? step | 8 : step)) >>> 0
    }
    return true
  }

  /** Appends the entries to the components' lists, and clears the block. `first` is the ordinal of its first chunk. */
  appendTo(lists: Array<ListWriter | undefined>, first: number): void {
    const end = this.#highest + 1
    const starts = this.#starts.fill(0, 0, end + 1)
    for (let i = 0; i < this.#count; i++) starts[this.#entries[i]! >>> 16]!++
    for (let component = 1; component <= end; component++) starts[component]! += starts[component - 1]!
    for (let i = this.#count - 1; i >= 0; i--) this.#sorted[--starts[this.#entries[i]! >>> 16]!] = this.#entries[i]!
    while (lists.length < end) lists.push(undefined)
    for (let component = 0; component < end; component++) {
      const last = starts[component + 1] as number
      if (starts[component] === last) continue
      const list = lists[component] ?? (lists[component] = new ListWriter())
      for (let i = starts[component] as number; i < last; i++) {
        const entry = this.#sorted[i] as number
        list.add(first + (entry >>> 4 & 0xfff), entry & 0xf)
      }
    }
    this.#count = 0
    this.#highest = -1
  }
}

/** Number of a segment's listed components, 0 if none; undefined where its lists are damaged. */
export const listedComponentsOf = (db: DatabaseSync, segment: number): number | undefined => {
  const last = db.prepare("SELECT max(id) AS last FROM vector_lists WHERE id >= ? AND id < ?")
    .get(vectorListId(segment, 0), vectorListId(segment + 1, 0))?.["last"]
  if (typeof last !== "number") return 0
  const list = openVectorList(asBlob(db.prepare("SELECT body FROM vector_lists WHERE id = ?").get(last)?.["body"]), last)
  return list !== undefined && vectorListId(segment, list.components) === last + 1 ? list.components : undefined
}

export interface VectorList {
  /** Number of the segment's listed components. */
  readonly components: number
  readonly count: number
  /** Gaps and magnitudes. */
  readonly postings: Uint8Array
  /** The ordinal of the first posting, and where in `postings` the gap to the second one is. */
  readonly firstGap: number
  readonly gapsFrom: number
}

/** Opens a list; undefined where it is damaged, or is another list. */
export const openVectorList = (body: Uint8Array, id: number): VectorList | undefined => {
  const reader = ByteReader.unseal(body)
  if (reader === undefined || reader.varint() !== id) return undefined
  const components = reader.varint()
  const count = reader.varint()
  const start = reader.position
  const firstGap = reader.varint()
  return { components, count, postings: reader.source.subarray(start), firstGap, gapsFrom: reader.position - start }
}
