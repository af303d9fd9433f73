/**
 * The int8 components of many chunks' vectors, one column for each component, with code that sums weighted columns: the dot product of a
 * query with every chunk. It computes sixteen chunks at a time in the processor's wide registers, which JavaScript cannot use.
 */
export interface Columns {
  /** Component `d` of chunk `i` is at `d * stride + i`. All are zero at first. */
  readonly columns: Int8Array
  readonly stride: number
  /** For each chunk, the sum over `components` of the component times its weight. {@link weightsOf} makes the weights. */
  readonly sums: (components: ReadonlyArray<number>, weights: Int16Array) => Int32Array
}

/** A query's components as whole numbers, small enough that no sum overflows. */
export interface Weights {
  readonly weights: Int16Array
  /** Weight divided by component. */
  readonly scale: number
  /** Largest error of a cosine, which is a sum divided by `scale` and by the length of the chunk's vector. */
  readonly error: number
}

const largestWeight = 32_767
const largestSum = 2 ** 31 - 1
const largestComponent = 128

/** Makes weights of the given components of a query vector. */
export const weightsOf = (query: Float32Array, components: ReadonlyArray<number>): Weights => {
  let largest = 0
  let all = 0
  for (const d of components) {
    const magnitude = Math.abs(query[d] as number)
    largest = Math.max(largest, magnitude)
    all += magnitude
  }
  // Rounding may add half to each weight.
  const scale = Math.min((largestWeight - 1) / largest, (largestSum / largestComponent - components.length) / all)
  return {
    weights: Int16Array.from(components, (d) => Math.round((query[d] as number) * scale)),
    scale,
    // Each weight is off by at most half, and the magnitudes of n numbers of a vector of length 1 sum to at most the root of n.
    error: Math.sqrt(components.length) / 2 / scale
  }
}

/** Chunks per step. */
const lanes = 16

/** Bytes of a pair of columns in the list that the code walks: where each column starts, and both weights. */
const pairBytes = 12

/** Pairs of columns per pass over the chunks. */
const pairsAtOnce = 4

/** Empty columns for vectors of `dimensions` components; undefined where this machine has no wide registers. */
export const columnsOf = (dimensions: number, chunks: number): Columns | undefined => {
  if (code === undefined) return undefined
  const padded = Math.ceil(chunks / lanes) * lanes
  // Columns a power of two apart would compete for the same lines of the processor's caches.
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
        // A pass that is not full is filled up with the first column, at weight 0.
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

/** Number of pairs for `columns` columns, rounded up to full passes. */
const wholePasses = (columns: number): number => Math.ceil(columns / 2 / pairsAtOnce) * pairsAtOnce

/**
 * The code as WebAssembly. Its function takes four numbers: how many chunks there are, where the list of pairs starts and ends, and
 * where the sums are, which must be zero. In pseudocode:
 *
 *     pair = list
 *     do
 *       bases = where the columns of four pairs start
 *       weights = both weights of each pair, repeated four times
 *       chunk = 0, at = out
 *       do
 *         values = sixteen components of each column, from chunk on
 *         for each pair (a, b): sums at at += a0 b0 a1 b1 a2 b2 a3 b3, times weights, neighbours added; then the next twelve
 *         at += 64
 *       while (chunk += 16) < chunks
 *     while (pair += 48) < listEnd
 *
 * Columns lie far apart, and most are not in the processor's caches. So a few of them are walked from end to end, which the processor
 * prefetches, while the sums stay in its nearest cache.
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
  /** Adds a constant, given in LEB128 (in which 64 takes two bytes), to a local variable. */
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
  /** Adds the products of all pairs to the sums of a quarter of the sixteen chunks. */
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
