import { dimensions, integers, kept, levels, logarithms, packed, remember, sizes, sums, tabled, vector, weights } from "./Memory"
import { counted, hashed, hashSeed, seen, uncount, wordAt } from "./Words"

declare function log(x: f64): f64

/** A word is the one of that number to a vector, or itself. */
export function isPart(number: u32, part: u32): void {
  wordAt(number).parts = (part + 1) as i32
}

/** A word is several to a vector, or none: room for their numbers. */
export function hasParts(number: u32, parts: u32): usize {
  const list = remember(4 * ((parts + 1) as usize))
  store<u32>(list, parts)
  wordAt(number).parts = -(list as i32)
  return list + 4
}

/** Of features: how many there are, and above it the kind of word that they are of. */
const kindShift = 12

export function isDescribed(number: u32): bool {
  return wordAt(number).features !== 0
}

/** Room for a word's features: eight times the place of each among what words add to. */
export function features(number: u32, count: u32, kind: u32): usize {
  const place = remember(2 * ((count + 1) as usize))
  store<u16>(place, (count | (kind << kindShift)) as u16)
  wordAt(number).features = place as u32
  return place + 2
}

/** The finaliser of MurmurHash3, without which the low bits of FNV-1a are poor. */
function putFeature(place: usize, fnv: i32): void {
  let hash = (fnv as u32 ^ (fnv as u32 >>> 15)) * 0x85ebca6b
  hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35
  store<u16>(place, (((hash ^ (hash >>> 16)) & (2 * dimensions - 1)) << 3) as u16)
}

/** Of a hash so far, and a word's bytes between brackets. */
function padded(bytes: usize, length: u32, at: u32): u32 {
  return at === 0 ? 0x3c : at === length + 1 ? 0x3e : load<u8>(bytes + (at as usize) - 1) as u32
}

/** Makes the features of a word of ASCII letters and digits: of its stem, of the whole, and of its n-grams. */
export function describe(number: u32, kind: u32, stemLength: u32, shortestGram: u32, longestGram: u32): void {
  const word = wordAt(number)
  const bytes = word.bytes as usize
  const length = word.length
  const all = length + 2
  let grams: u32 = 0
  for (let size = shortestGram; size <= longestGram && size <= all; size++) grams += all - size + 1
  let place = features(number, 2 + grams, kind)
  let stem = hashed(hashSeed, 0x77)
  let whole = hashed(hashSeed, 0x78)
  for (let i: u32 = 0; i < length; i++) {
    const byte = load<u8>(bytes + (i as usize)) as u32
    if (i < stemLength) stem = hashed(stem, byte)
    whole = hashed(whole, byte)
  }
  putFeature(place, stem)
  putFeature(place + 2, whole)
  place += 4
  for (let i: u32 = 0; i + shortestGram <= all; i++) {
    const end = min(all, i + longestGram)
    let hash = hashed(hashSeed, 0x67)
    for (let at = i; at < end; at++) {
      hash = hashed(hash, padded(bytes, length, at))
      if (at - i >= shortestGram - 1) {
        putFeature(place, hash)
        place += 2
      }
    }
  }
}

function add(feature: usize, value: f64): void {
  store<f64>(feature, load<f64>(feature, sums) + value, sums)
}

/** Adds up the features of all words counted. */
function sumUp(wholeWordWeight: f64): void {
  const distinct = counted()
  for (let i: u32 = 0; i < distinct; i++) {
    const word = wordAt(load<u32>(seen + ((i as usize) << 2)))
    let place = word.features as usize
    const head = load<u16>(place) as u32
    const occurrences = word.count
    let weight = load<f64>(((head >>> kindShift) as usize) << 3, weights)
    if (occurrences > 1) {
      weight *= occurrences < tabled ? load<f64>((occurrences as usize) << 3, logarithms) : 1 + log(occurrences as f64)
    }
    const features = head & ((1 << kindShift) - 1)
    add(load<u16>(place, 2) as usize, weight)
    if (features === 1) continue
    add(load<u16>(place, 4) as usize, weight * wholeWordWeight)
    const gramWeight = weight / sqrt((features - 2) as f64)
    const end = place + 2 * (features as usize)
    place += 4
    for (; place < end; place += 2) add(load<u16>(place, 2) as usize, gramWeight)
  }
  uncount()
}

/** Makes the vector of what was added up, its sums 0 again; gives the magnitude of its largest component. */
function subtract(): f64 {
  let largest = f64x2.splat(0)
  const zero = f64x2.splat(0)
  for (let i: usize = 0; i < (dimensions as usize); i += 2) {
    const at = sums + (i << 4)
    const one = v128.load(at)
    const two = v128.load(at, 16)
    v128.store(at, zero)
    v128.store(at, zero, 16)
    const value = f64x2.sub(v128.shuffle<f64>(one, two, 0, 2), v128.shuffle<f64>(one, two, 1, 3))
    v128.store(vector + (i << 3), value)
    largest = f64x2.pmax(largest, f64x2.abs(value))
  }
  return max(f64x2.extract_lane(largest, 0), f64x2.extract_lane(largest, 1))
}

/** Which size each component is of. */
function measure(scale: f64): void {
  const scales = f64x2.splat(scale)
  for (let i: usize = 0; i < (dimensions as usize); i += 8) {
    const at = vector + (i << 3)
    const one = v128.shuffle<i32>(sized(at, scales), sized(at + 16, scales), 0, 1, 4, 5)
    const two = v128.shuffle<i32>(sized(at + 32, scales), sized(at + 48, scales), 0, 1, 4, 5)
    v128.store(levels + (i << 1), i16x8.narrow_i32x4_s(one, two))
  }
}

function sized(at: usize, scales: v128): v128 {
  return i32x4.trunc_sat_f64x2_s_zero(f64x2.mul(f64x2.abs(v128.load(at)), scales))
}

/** How many components are of a size or larger. */
function countFrom(size: u32): u32 {
  const limit = i16x8.splat(size as i16)
  let found = i16x8.splat(0)
  for (let i: usize = 0; i < 2 * (dimensions as usize); i += 32) {
    // All bits set, which is -1, where it is.
    found = i16x8.sub(found, i16x8.ge_s(v128.load(levels + i), limit))
    found = i16x8.sub(found, i16x8.ge_s(v128.load(levels + i, 16), limit))
  }
  const sums = i32x4.extadd_pairwise_i16x8_s(found)
  return (i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)) as u32
}

/** Of the largest components, as many sizes of them as are no more than `most`, the places; gives how many. */
function choose(most: u32): u32 {
  let least: u32 = 1
  let enough = sizes - 1
  while (least < enough) {
    const middle = (least + enough) >>> 1
    if (countFrom(middle) <= most) enough = middle
    else least = middle + 1
  }
  const limit = i16x8.splat(least as i16)
  let to = kept
  for (let i: u32 = 0; i < dimensions; i += 8) {
    let found = i16x8.bitmask(i16x8.ge_s(v128.load(levels + ((i as usize) << 1)), limit))
    while (found !== 0) {
      store<u16>(to, (i + ctz(found)) as u16)
      to += 2
      found &= found - 1
    }
  }
  return ((to - kept) >>> 1) as u32
}

function component(at: u32): u32 {
  return load<u16>(kept + ((at as usize) << 1)) as u32
}

function valueOf(component: u32): f64 {
  return load<f64>(vector + ((component as usize) << 3))
}

/** Makes whole numbers of the components that were chosen, scaled to length 1 first; leaves out those that are 0. Gives how many there are. */
function quantise(chosen: u32, largest: f64, magnitudes: f64): u32 {
  let square: f64 = 0
  for (let i: u32 = 0; i < chosen; i++) {
    const value = valueOf(component(i))
    square += value * value
  }
  const norm = sqrt(square)
  const norms = f64x2.splat(norm)
  // Each is kept in 32 bits before it is made a whole number.
  const scales = f64x2.splat(magnitudes / ((largest / norm) as f32 as f64))
  const halves = f64x2.splat(0.5)
  const ones = f64x2.splat(1)
  let count: u32 = 0
  for (let i: u32 = 0; i < chosen; i += 2) {
    const first = component(i)
    // Of the last one alone, what lies after it is a component too, and not looked at.
    const second = component(i + 1) & (dimensions - 1)
    const values = f64x2.replace_lane(f64x2.splat(valueOf(first)), 1, valueOf(second))
    const units = f64x2.promote_low_f32x4(f32x4.demote_f64x2_zero(f64x2.div(values, norms)))
    const scaled = f64x2.mul(units, scales)
    // A half is rounded up, as JavaScript does.
    const below = f64x2.floor(scaled)
    const rounded = f64x2.add(below, v128.and(ones, f64x2.ge(f64x2.sub(scaled, below), halves)))
    const whole = i32x4.trunc_sat_f64x2_s_zero(rounded)
    count += put(first, i32x4.extract_lane(whole, 0), count)
    if (i + 1 < chosen) count += put(second, i32x4.extract_lane(whole, 1), count)
  }
  return count
}

/** Keeps a whole number other than 0, after so many others; what is at its place was read. Gives how many. */
function put(component: u32, integer: i32, after: u32): u32 {
  store<u16>(kept + ((after as usize) << 1), component as u16)
  store<i8>(integers + (after as usize), integer as i8)
  return integer !== 0 ? 1 : 0
}

/** The vector as it is stored, in the smallest of its forms; gives how many bytes it takes. */
function pack(count: u32): u32 {
  const bitmap: u32 = dimensions >> 3
  let gaps: u32 = 0
  let last: u32 = -1
  // More than that take at least a byte each.
  for (let i: u32 = 0; i < count && count <= bitmap; i++) {
    gaps += component(i) - last > 128 ? 2 : 1
    last = component(i)
  }
  let to = packed
  if (count <= bitmap && gaps + count <= min(bitmap + count, dimensions)) {
    store<u8>(to++, 2)
    last = -1
    for (let i: u32 = 0; i < count; i++) {
      const gap = component(i) - last - 1
      last = component(i)
      if (gap < 0x80) store<u8>(to++, gap as u8)
      else {
        store<u8>(to++, ((gap & 0x7f) | 0x80) as u8)
        store<u8>(to++, (gap >>> 7) as u8)
      }
      store<u8>(to++, load<u8>(integers + (i as usize)))
    }
    return (to - packed) as u32
  }
  if (bitmap + count < dimensions) {
    store<u8>(to, 1)
    memory.fill(to + 1, 0, bitmap)
    for (let i: u32 = 0; i < count; i++) {
      const at = to + ((component(i) >>> 3) as usize)
      store<u8>(at, ((load<u8>(at, 1) as u32) | ((1 as u32) << (component(i) & 7))) as u8, 1)
    }
    memory.copy(to + 1 + bitmap, integers, count as usize)
    return 1 + bitmap + count
  }
  store<u8>(to, 0)
  memory.fill(to + 1, 0, dimensions)
  for (let i: u32 = 0; i < count; i++) store<u8>(to + (component(i) as usize), load<u8>(integers + (i as usize)), 1)
  return 1 + dimensions
}

/**
 * The vector of the words counted, as it is stored, and none are counted any more: how many bytes it takes. At most `most` of its
 * components are kept, and the largest becomes `magnitudes`.
 */
export function packedVector(most: u32, wholeWordWeight: f64, magnitudes: f64): u32 {
  sumUp(wholeWordWeight)
  const largest = subtract()
  if (largest === 0) return pack(0)
  measure(((sizes - 1) as f64) / largest)
  return pack(quantise(choose(most), largest, magnitudes))
}
