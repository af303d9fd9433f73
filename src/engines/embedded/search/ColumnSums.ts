/**
 * Columns of int8 components, many chunks each, and the sums of some of them, each times a weight: what a question's
 * components say of every chunk, sixteen chunks at a time in the processor's wide registers, which JavaScript does not
 * reach. Ten times as fast as a loop over numbers.
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

/** What is used of it: the types of Node leave it out. */
declare const WebAssembly: {
  readonly validate: (code: Uint8Array) => boolean
  readonly Module: new(code: Uint8Array) => object
  readonly Instance: new(
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, object>>>>
  ) => { readonly exports: Readonly<Record<string, unknown>> }
  readonly Memory: new(pages: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
}

/** Chunks of one step. */
const lanes = 16

/** Bytes of a pair of columns in the list that the code walks: where each begins, and both weights. */
const pairBytes = 12

/** Room for so many components of so many chunks; undefined where this machine has no wide registers. */
export const columnsOf = (dimensions: number, chunks: number): Columns | undefined => {
  if (code === undefined) return undefined
  const padded = Math.ceil(chunks / lanes) * lanes
  // Columns a power of two apart would share their places in the caches.
  const stride = padded + padding
  const list = dimensions * stride
  const out = list + Math.ceil(((dimensions + 1) >> 1) * pairBytes / lanes) * lanes
  const memory = new WebAssembly.Memory({ initial: Math.ceil((out + padded * 4) / pageBytes) })
  const { exports } = new WebAssembly.Instance(code, { m: { m: memory } })
  // The one function of the code below.
  const sum = exports["sums"] as (chunks: number, list: number, listEnd: number, out: number) => void
  const view = new DataView(memory.buffer, list)
  return {
    columns: new Int8Array(memory.buffer, 0, list),
    stride,
    sums: (components, weights) => {
      const sums = new Int32Array(memory.buffer, out, chunks)
      if (components.length === 0) return sums.fill(0)
      let at = 0
      for (let c = 0; c < components.length; c += 2, at += pairBytes) {
        // One that is left alone goes with itself, for nothing.
        view.setInt32(at, (components[c] as number) * stride, true)
        view.setInt32(at + 4, (components[c + 1] ?? components[c] as number) * stride, true)
        view.setInt16(at + 8, weights[c] as number, true)
        view.setInt16(at + 10, weights[c + 1] ?? 0, true)
      }
      sum(padded, list, list + at, out)
      return sums
    }
  }
}

const padding = 64
const pageBytes = 65_536

/**
 * The code, of four numbers: chunks, where the list of pairs begins and ends, where the sums go. In words:
 *
 *     chunk = 0
 *     do
 *       sum0 = sum1 = sum2 = sum3 = 0, of four chunks each
 *       pair = list
 *       do
 *         (a, b) = sixteen of the one column and of the other, from chunk on
 *         weights = both weights, four times over
 *         sum0 += a0 b0 a1 b1 a2 b2 a3 b3, times weights, pairs added; likewise sum1 to sum3
 *       while (pair += 12) < listEnd
 *       sums at out = sum0 to sum3, out += 64
 *     while (chunk += 16) < chunks
 */
const program = (): Uint8Array<ArrayBuffer> => {
  const [chunks, list, listEnd, out, chunk, pair, sum, a, b, weights] = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12]
  const get = (local: number) => [0x20, local]
  const set = (local: number) => [0x21, local]
  const tee = (local: number) => [0x22, local]
  const add = 0x6a
  /** By a number in LEB128: 64 takes two bytes. */
  const increased = (local: number, by: ReadonlyArray<number>) => [...get(local), 0x41, ...by, add]
  const loop = (...body: ReadonlyArray<number>) => [0x03, 0x40, ...body, 0x0b]
  const whileBelow = (local: number, by: ReadonlyArray<number>, end: number) => [
    ...increased(local, by),
    ...tee(local),
    ...get(end),
    0x49,
    0x0d,
    0
  ]
  const wide = (...op: ReadonlyArray<number>) => [0xfd, ...op]
  const zero = wide(0x0c, ...Array.from({ length: 16 }, () => 0))
  const interleaved = (from: number) => wide(0x0d, ...Array.from({ length: 8 }, (_, i) => [from + i, from + i + 16]).flat())
  const load = (offset: number, to: number) => [...get(pair), 0x28, 2, offset, ...get(chunk), add, ...wide(0x00, 0, 0), ...set(to)]
  const [low, high] = [wide(0x87, 0x01), wide(0x88, 0x01)]
  const addProducts = (to: number, from: number, half: ReadonlyArray<number>) => [
    ...get(to),
    ...get(a),
    ...get(b),
    ...interleaved(from),
    ...half,
    ...get(weights),
    ...wide(0xba, 0x01),
    ...wide(0xae, 0x01),
    ...set(to)
  ]
  const body = [
    [2, 2, 0x7f, 7, 0x7b],
    loop(
      ...[0, 1, 2, 3].flatMap((i) => [...zero, ...set(sum + i)]),
      ...get(list),
      ...set(pair),
      ...loop(
        ...load(0, a),
        ...load(4, b),
        ...get(pair),
        ...wide(0x09, 2, 8),
        ...set(weights),
        ...addProducts(sum, 0, low),
        ...addProducts(sum + 1, 0, high),
        ...addProducts(sum + 2, 8, low),
        ...addProducts(sum + 3, 8, high),
        ...whileBelow(pair, [pairBytes], listEnd)
      ),
      ...[0, 1, 2, 3].flatMap((i) => [...get(out), ...get(sum + i), ...wide(0x0b, 0, i * 16)]),
      ...increased(out, [0xc0, 0x00]),
      ...set(out),
      ...whileBelow(chunk, [lanes], chunks)
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

/** Whether this machine has the wide registers that {@link Columns.sums} needs. */
export const hasColumnSums = code !== undefined
