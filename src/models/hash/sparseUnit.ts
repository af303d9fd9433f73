const bins = new Uint32Array(1024)
let levels = new Uint16Array(0)
let kept = new Uint32Array(0)

/** The largest components, as many of {@link bins} as hold no more than `keep`, scaled to length 1. */
export const sparseUnit = (values: Float64Array, keep: number): Float32Array => {
  const count = values.length
  const out = new Float32Array(count)
  let largest = 0
  for (let i = 0; i < count; i++) {
    const magnitude = Math.abs(values[i]!)
    if (magnitude > largest) largest = magnitude
  }
  if (largest === 0) return out
  if (levels.length < count) {
    levels = new Uint16Array(count)
    kept = new Uint32Array(count)
  }
  const last = bins.length - 1
  const scale = last / largest
  bins.fill(0)
  for (let i = 0; i < count; i++) {
    const level = Math.trunc(Math.abs(values[i]!) * scale)
    levels[i] = level
    bins[level]!++
  }
  let least = last
  let total = bins[last]!
  while (least > 1 && total + bins[least - 1]! <= keep) total += bins[--least]!
  let square = 0
  let found = 0
  for (let i = 0; i < count; i++) {
    if (levels[i]! < least) continue
    const value = values[i]!
    square += value * value
    kept[found++] = i
  }
  const norm = Math.sqrt(square)
  for (let i = 0; i < found; i++) out[kept[i]!] = values[kept[i]!]! / norm
  return out
}
