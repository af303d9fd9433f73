/**
 * Columns of int8 components, many chunks each, and the sums of some of them, each times a weight: what a question's
 * components say of every chunk, sixteen chunks at a time in the processor's wide registers, which JavaScript does not
 * reach.
 */
export interface Columns {
  /** Component-major: component `d` of chunk `i` is at `d * stride + i`. Zero when new. */
  readonly columns: Int8Array
  readonly stride: number
  /** By chunk: the sum over `components` of the component times its weight, of which {@link weightsOf} makes whole numbers. */
  readonly sums: (components: ReadonlyArray<number>, weights: Int16Array) => Int32Array
}

/** A question's components as whole numbers that no sum of theirs overflows. */
export interface Weights {
  readonly weights: Int16Array
  /** What a weight is of the component. */
  readonly scale: number
  /** A sum over the length of the chunk's vector and `scale` is off by at most this. */
  readonly error: number
}

const largestWeight = 32_767
const largestSum = 2 ** 31 - 1
const largestComponent = 128

export const weightsOf = (query: Float32Array, components: ReadonlyArray<number>): Weights => {
  let largest = 0
  let all = 0
  for (const d of components) {
    const magnitude = Math.abs(query[d] as number)
    largest = Math.max(largest, magnitude)
    all += magnitude
  }
  // Rounding may add a half to each weight.
  const scale = Math.min((largestWeight - 1) / largest, (largestSum / largestComponent - components.length) / all)
  return {
    weights: Int16Array.from(components, (d) => Math.round((query[d] as number) * scale)),
    scale,
    // Each weight is off by at most a half; no vector of that many numbers and length 1 sums up to more than the root.
    error: Math.sqrt(components.length) / 2 / scale
  }
}

/** Chunks of one step. */
const lanes = 16

/** Bytes of a pair of columns in the list that the code walks: where each begins, and both weights. */
const pairBytes = 12

/** Pairs of columns of one pass over the chunks. */
const pairsAtOnce = 4

/** Room for so many components of so many chunks; undefined where this machine has no wide registers. */
export const columnsOf = (dimensions: number, chunks: number): Columns | undefined => {
  if (code === undefined) return undefined
  const padded = Math.ceil(chunks / lanes) * lanes
  // Columns a power of two apart would share their places in the caches.
  const stride = padded + padding
  const list = dimensions * stride
  const out = list + Math.ceil(wholePasses(dimensions) * pairBytes / lanes) * lanes
  const memory = new WebAssembly.Memory({ initial: Math.ceil((out + padded * 4) / pageBytes) })
  // What the code below exports.
  const { sums: sum } = new WebAssembly.Instance(code, { m: { m: memory } }).exports as {
    readonly sums: (chunks: number, list: number, listEnd: number, out: number) => void
  }
  const view = new DataView(memory.buffer, list)
  return {
    columns: new Int8Array(memory.buffer, 0, list),
    stride,
    sums: (components, weights) => {
      const sums = new Int32Array(memory.buffer, out, padded).fill(0)
      const pairs = wholePasses(components.length)
      for (let pair = 0; pair < pairs; pair++) {
        const at = pair * pairBytes
        // A pass that is not full takes the first column for those it lacks, for nothing.
        for (const side of [0, 1]) {
          const c = 2 * pair + side
          view.setInt32(at + 4 * side, (components[c] ?? 0) * stride, true)
          view.setInt16(at + 8 + 2 * side, weights[c] ?? 0, true)
        }
      }
      if (pairs > 0) sum(padded, list, list + pairs * pairBytes, out)
      return sums.subarray(0, chunks)
    }
  }
}

const padding = 64
const pageBytes = 65_536

/** Pairs that so many columns make, in passes that are full. */
const wholePasses = (columns: number): number => Math.ceil(columns / 2 / pairsAtOnce) * pairsAtOnce

/**
 * The code, of four numbers: chunks, where the list of pairs begins and ends, where the sums are, which begin as zero. In
 * words:
 *
 *     pair = list
 *     do
 *       bases = where the columns of four pairs begin
 *       weights = those of each pair, both four times over
 *       chunk = 0, at = out
 *       do
 *         values = sixteen of each column, from chunk on
 *         for each pair (a, b): sums at at += a0 b0 a1 b1 a2 b2 a3 b3, times weights, pairs added; likewise the next twelve
 *         at += 64
 *       while (chunk += 16) < chunks
 *     while (pair += 48) < listEnd
 *
 * Columns lie far apart, and most of them not in the processor's caches: a few are walked from one end to the other, which it
 * foresees, while the sums stay in its nearest cache.
 */
const program = (): Uint8Array<ArrayBuffer> => {
  const [chunks, list, listEnd, out, pair, chunk, at, firstBase] = [0, 1, 2, 3, 4, 5, 6, 7]
  const columns = Array.from({ length: 2 * pairsAtOnce }, (_, i) => i)
  const pairs = Array.from({ length: pairsAtOnce }, (_, i) => i)
  const base = (column: number) => firstBase + column
  const values = (column: number) => base(columns.length) + column
  const weights = (pair: number) => values(columns.length) + pair
  const get = (local: number) => [0x20, local]
  const set = (local: number) => [0x21, local]
  const tee = (local: number) => [0x22, local]
  const add = 0x6a
  /** By a number in LEB128: 64 takes two bytes. */
  const increased = (local: number, by: ReadonlyArray<number>) => [...get(local), 0x41, ...by, add]
  const loop = (...body: ReadonlyArray<number>) => [0x03, 0x40, ...body, 0x0b]
  const whileBelow = (local: number, by: number, end: number) => [...increased(local, [by]), ...tee(local), ...get(end), 0x49, 0x0d, 0]
  const wide = (...op: ReadonlyArray<number>) => [0xfd, ...op]
  const interleaved = (from: number) => wide(0x0d, ...Array.from({ length: 8 }, (_, i) => [from + i, from + i + 16]).flat())
  const [low, high] = [wide(0x87, 0x01), wide(0x88, 0x01)]
  const open = (one: number) => [
    ...[0, 1].flatMap((side) => [...get(pair), 0x28, 2, one * pairBytes + 4 * side, ...set(base(2 * one + side))]),
    ...get(pair),
    ...wide(0x09, 2, one * pairBytes + 8),
    ...set(weights(one))
  ]
  const load = (column: number) => [...get(base(column)), ...get(chunk), add, ...wide(0x00, 0, 0), ...set(values(column))]
  const addProducts = (one: number, from: number, half: ReadonlyArray<number>) => [
    ...get(values(2 * one)),
    ...get(values(2 * one + 1)),
    ...interleaved(from),
    ...half,
    ...get(weights(one)),
    ...wide(0xba, 0x01),
    ...wide(0xae, 0x01)
  ]
  /** To the sums of a quarter of the chunks at hand. */
  const addPairs = (quarter: number, from: number, half: ReadonlyArray<number>) => [
    ...get(at),
    ...get(at),
    ...wide(0x00, 0, quarter * 16),
    ...pairs.flatMap((one) => addProducts(one, from, half)),
    ...wide(0x0b, 0, quarter * 16)
  ]
  const body = [
    [2, 3 + columns.length, 0x7f, columns.length + pairs.length, 0x7b],
    get(list),
    set(pair),
    loop(
      ...pairs.flatMap(open),
      0x41,
      0,
      ...set(chunk),
      ...get(out),
      ...set(at),
      ...loop(
        ...columns.flatMap(load),
        ...addPairs(0, 0, low),
        ...addPairs(1, 0, high),
        ...addPairs(2, 8, low),
        ...addPairs(3, 8, high),
        ...increased(at, [0xc0, 0x00]),
        ...set(at),
        ...whileBelow(chunk, lanes, chunks)
      ),
      ...whileBelow(pair, pairsAtOnce * pairBytes, listEnd)
    ),
    [0x0b]
  ].flat()
  const name = (text: string) => [text.length, ...Buffer.from(text)]
  const section = (id: number, ...content: ReadonlyArray<number>) => [id, ...length(content.length), ...content]
  const length = (value: number) => [(value & 0x7f) | 0x80, value >> 7]
  return new Uint8Array([
    ...Buffer.from("\0asm\x01\0\0\0"),
    ...section(1, 1, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 0),
    ...section(2, 1, ...name("m"), ...name("m"), 0x02, 0x00, 1),
    ...section(3, 1, 0),
    ...section(7, 1, ...name("sums"), 0x00, 0),
    ...section(10, 1, ...length(body.length), ...body)
  ])
}

const compiled = (): object | undefined => {
  const bytes = program()
  return WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : undefined
}

const code = compiled()
