import { type FileHandle, open } from "node:fs/promises"

/** A tensor of a safetensors file: a table has two lengths, a list has one. */
export interface TensorEntry {
  readonly dtype: string
  readonly shape: ReadonlyArray<number>
  /** Its bytes, counted from the end of the header. */
  readonly data_offsets: readonly [from: number, to: number]
}

export type Numbers = Float32Array | Float64Array | Int8Array | Int32Array

/** Most bytes of a header, which has names and shapes of tensors. */
const largestHeader = 100 * 2 ** 20

const lengthBytes = 8

/** Types of numbers: their bytes, and how they are read. BF16 is the upper half of a 32-bit floating-point number. */
const types: Readonly<Record<string, { readonly bytes: number; readonly read: (buffer: ArrayBuffer) => Numbers }>> = {
  F64: { bytes: 8, read: (buffer) => new Float64Array(buffer) },
  F32: { bytes: 4, read: (buffer) => new Float32Array(buffer) },
  F16: { bytes: 2, read: (buffer) => looked(new Uint16Array(buffer)) },
  BF16: { bytes: 2, read: (buffer) => new Float32Array(Uint32Array.from(new Uint16Array(buffer), (half) => half << 16).buffer) },
  I8: { bytes: 1, read: (buffer) => new Int8Array(buffer) },
  I32: { bytes: 4, read: (buffer) => new Int32Array(buffer) },
  I64: { bytes: 8, read: (buffer) => Int32Array.from(new BigInt64Array(buffer), Number) }
}

/** The value of each 16-bit float: a sign, 5 bits of exponent, 10 of fraction. */
const halves = Float32Array.from({ length: 2 ** 16 }, (_, half) => {
  const exponent = (half >> 10) & 31
  const fraction = half & 1023
  const size = exponent === 0
    ? fraction * 2 ** -24
    : exponent < 31
    ? (1024 + fraction) * 2 ** (exponent - 25)
    : fraction === 0
    ? Infinity
    : NaN
  return half < 2 ** 15 ? size : -size
})

/** Converts 16-bit floats by lookup. Tables have millions of numbers: `from` with a function takes ten times as long. */
const looked = (written: Uint16Array): Float32Array => {
  const numbers = new Float32Array(written.length)
  for (let at = 0; at < written.length; at++) numbers[at] = halves[written[at] ?? 0] ?? 0
  return numbers
}

const inFile = async <A>(path: string, use: (file: FileHandle) => Promise<A>): Promise<A> => {
  const file = await open(path)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

const bytesAt = async (file: FileHandle, from: number, length: number): Promise<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  for (let read = 0; read < length;) {
    const { bytesRead } = await file.read(bytes, read, length - read, from + read)
    if (bytesRead === 0) throw new Error("it ends before its tensors do")
    read += bytesRead
  }
  return bytes.buffer
}

const header = async (file: FileHandle): Promise<{ readonly end: number; readonly tensors: ReadonlyMap<string, TensorEntry> }> => {
  const { size } = await file.stat()
  const length = size < lengthBytes ? Infinity : Number(new DataView(await bytesAt(file, 0, lengthBytes)).getBigUint64(0, true))
  if (length > Math.min(size - lengthBytes, largestHeader)) throw new Error("it is no file of safetensors")
  const end = lengthBytes + length
  const written: unknown = JSON.parse(new TextDecoder().decode(await bytesAt(file, lengthBytes, length)))
  if (typeof written !== "object" || written === null) throw new Error("its header is no object")
  const tensors = Object.entries(written).filter(([name]) => name !== "__metadata__")
  for (const [name, entry] of tensors) if (!isEntry(entry, size - end)) throw new Error(`its header says of ${name} what no tensor has`)
  return { end, tensors: new Map(tensors) }
}

const isEntry = (entry: Partial<TensorEntry> | null, size: number): boolean => {
  const [from = -1, to = -1] = entry?.data_offsets ?? []
  const bytes = types[entry?.dtype ?? ""]?.bytes
  const count = entry?.shape?.reduce((product, length) => product * length, 1) ?? NaN
  return 0 <= from && to <= size && (bytes === undefined ? from <= to : to - from === count * bytes)
}

/**
 * The tensors of a file, by name.
 *
 * @throws {Error} where it is not a safetensors file
 */
export const readTensors = (path: string): Promise<ReadonlyMap<string, TensorEntry>> =>
  inFile(path, async (file) => (await header(file)).tensors)

/**
 * A tensor's numbers, row by row; 16-bit numbers become 32-bit. Undefined where the file has no tensor of that name.
 *
 * @throws {Error} for types that are not supported
 */
export const readTensor = (path: string, name: string): Promise<Numbers | undefined> =>
  inFile(path, async (file) => {
    const { end, tensors } = await header(file)
    const entry = tensors.get(name)
    if (entry === undefined) return undefined
    const type = types[entry.dtype]
    if (type === undefined) throw new Error(`its ${name} is written in ${entry.dtype}, which is not read; F32, F16, BF16 and I8 are`)
    const [from, to] = entry.data_offsets
    return type.read(await bytesAt(file, end + from, to - from))
  })
