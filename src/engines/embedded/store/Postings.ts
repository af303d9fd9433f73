import { readFileSync } from "node:fs"
import { assetPath } from "../../../text/Assets.ts"
import { ByteReader, type ByteWriter } from "./Bytes.ts"

/**
 * A posting list: the ascending ordinals of the chunks of a segment that have a term, and the term's frequency in each. Lists are kept in
 * the narrowest arrays that hold them, as scoring is bound by the memory that it reads.
 */
export interface Postings {
  readonly ordinals: Uint32Array | Uint16Array
  readonly frequencies: Uint32Array | Uint8Array
}

/** The first `count` postings, in the narrowest arrays that hold them. */
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
 * Writes a term's postings as gaps between ordinals. The low bit of each says that the frequency is 1, and is not written. Lists of
 * neighbouring segments can be joined without decoding, as only the first gap changes.
 */
export class PostingListWriter {
  readonly #bytes: ByteWriter
  /** Number of postings written. */
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

  /** Appends a whole list, with `shift` added to its ordinals. The reader `list` must be at the list's first byte. */
  append(list: ByteReader, end: number, count: number, last: number, shift: number): void {
    const head = list.varint()
    const first = Math.floor(head / 2) + shift
    this.#bytes.varint((first - this.last - 1) * 2 + (head % 2))
    this.#bytes.bytes(list.source, list.position, end)
    this.last = last + shift
    this.count += count
  }
}

/** The functions of `kernel/assembly/Postings.ts`. Places are addresses in its memory. */
interface Code {
  readonly readPostings: (list: number, count: number, wide: boolean, ordinals: number, frequencies: number) => number
}

/** Made once in a thread, when the first long list is read. */
let kernel: { readonly memory: InstanceType<typeof WebAssembly.Memory>; readonly code: Code } | undefined

const kernelOf = () => {
  if (kernel !== undefined) return kernel
  const module = new WebAssembly.Module(readFileSync(assetPath("postings.wasm", "../engines/embedded/kernel/postings.wasm")))
  const memory = new WebAssembly.Memory({ initial: 1 })
  // The exports of its source.
  return kernel = { memory, code: new WebAssembly.Instance(module, { env: { memory } }).exports as Code }
}

/** Number of postings from which a list is read by the kernel: a shorter one takes longer to copy there and back than to read. */
const long = 64

/** Reads a list of `count` postings whose last ordinal is `last`. */
export const readPostings = (list: Uint8Array, count: number, last: number): Postings =>
  (count < long ? undefined : readLong(list, count, last)) ?? readAny(list, count)

/** Reads a list by the kernel; undefined where a frequency has more than 8 bits. */
const readLong = (list: Uint8Array, count: number, last: number): Postings | undefined => {
  const { code, memory } = kernelOf()
  const wide = last >= 0x1_0000
  const ordinalsAt = (list.length + 7) & ~7
  const frequenciesAt = ordinalsAt + count * (wide ? 4 : 2)
  // One more byte: after the last posting the kernel reads a frequency, even where none is stored.
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
