import { readFileSync } from "node:fs"
import { assetPath } from "../../../text/Assets.ts"
import { ByteReader, type ByteWriter } from "./Bytes.ts"

/**
 * Where a term occurs in one segment: chunk ordinals ascending, and how often in each. In the narrowest arrays that
 * hold them where they are kept: scoring is bound by the memory it reads.
 */
export interface Postings {
  readonly ordinals: Uint32Array | Uint16Array
  readonly frequencies: Uint32Array | Uint8Array
}

/** The first `count` of postings, in the narrowest arrays that hold them. */
export const narrow = ({ frequencies, ordinals }: Postings, count: number): Postings => {
  let highest = 0
  for (let i = 0; i < count; i++) highest = Math.max(highest, frequencies[i] as number)
  const kept = ordinals.subarray(0, count)
  return {
    ordinals: (kept.at(-1) ?? 0) < 0x1_0000 ? new Uint16Array(kept) : new Uint32Array(kept),
    frequencies: highest < 0x100 ? new Uint8Array(frequencies.subarray(0, count)) : new Uint32Array(frequencies.subarray(0, count))
  }
}

/**
 * Writes one term's postings as gaps between ordinals, the low bit of each saying that the frequency is 1 and does
 * not follow. Lists of neighbouring segments are appended without being decoded: only the first gap changes.
 */
export class PostingListWriter {
  readonly #bytes: ByteWriter
  /** Postings written. */
  count = 0
  /** The last ordinal written. */
  last = -1

  constructor(bytes: ByteWriter) {
    this.#bytes = bytes
  }

  start(): void {
    this.#bytes.clear()
    this.count = 0
    this.last = -1
  }

  add(ordinal: number, frequency: number): void {
    const gap = ordinal - this.last - 1
    if (frequency === 1) {
      this.#bytes.varint(gap * 2 + 1)
    } else {
      this.#bytes.varint(gap * 2)
      this.#bytes.varint(frequency)
    }
    this.last = ordinal
    this.count++
  }

  /** Appends a whole list, `shift` added to its ordinals. `list` is at the list's first byte. */
  append(list: ByteReader, end: number, count: number, last: number, shift: number): void {
    const head = list.varint()
    const first = Math.floor(head / 2) + shift
    this.#bytes.varint((first - this.last - 1) * 2 + (head % 2))
    this.#bytes.bytes(list.source, list.position, end)
    this.last = last + shift
    this.count += count
  }
}

/** What the code of `kernel/assembly/Postings.ts` offers. Places are in its memory. */
interface Code {
  readonly readPostings: (list: number, count: number, wide: boolean, ordinals: number, frequencies: number) => number
}

/** Once in a thread, where a first long list is read. */
let kernel: { readonly memory: InstanceType<typeof WebAssembly.Memory>; readonly code: Code } | undefined

const kernelOf = () => {
  if (kernel !== undefined) return kernel
  const module = new WebAssembly.Module(readFileSync(assetPath("postings.wasm", "../engines/embedded/kernel/postings.wasm")))
  const memory = new WebAssembly.Memory({ initial: 1 })
  // What its source exports.
  return kernel = { memory, code: new WebAssembly.Instance(module, { env: { memory } }).exports as Code }
}

/** Postings from which on a list is long: of fewer, copying it to the kernel and back takes longer than reading it. */
const long = 64

/** Reads a list of `count` postings, of which `last` is the last ordinal. */
export const readPostings = (list: Uint8Array, count: number, last: number): Postings =>
  (count < long ? undefined : readLong(list, count, last)) ?? readAny(list, count)

/** By the kernel; undefined where a frequency has more than 8 bits. */
const readLong = (list: Uint8Array, count: number, last: number): Postings | undefined => {
  const { code, memory } = kernelOf()
  const wide = last >= 0x1_0000
  const ordinalsAt = (list.length + 7) & ~7
  const frequenciesAt = ordinalsAt + count * (wide ? 4 : 2)
  // One more: behind the last posting the kernel looks for a frequency, though there may be none.
  const missing = frequenciesAt + count + 1 - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / 65_536))
  const { buffer } = memory
  new Uint8Array(buffer).set(list)
  if (code.readPostings(0, count, wide, ordinalsAt, frequenciesAt) >= 0x100) return undefined
  return {
    ordinals: wide ? new Uint32Array(buffer, ordinalsAt, count).slice() : new Uint16Array(buffer, ordinalsAt, count).slice(),
    frequencies: new Uint8Array(buffer, frequenciesAt, count).slice()
  }
}

const readAny = (list: Uint8Array, count: number): Postings => {
  const reader = new ByteReader(list)
  const ordinals = new Uint32Array(count)
  const frequencies = new Uint32Array(count)
  let ordinal = -1
  for (let i = 0; i < count; i++) {
    const head = reader.varint()
    ordinal += Math.floor(head / 2) + 1
    ordinals[i] = ordinal
    frequencies[i] = head % 2 === 1 ? 1 : reader.varint()
  }
  return narrow({ ordinals, frequencies }, count)
}
