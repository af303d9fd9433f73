/**
 * What the kernel of scores offers: sums over lists of chunks, by slot, and which of the sums are large; and cosines of single
 * vectors. Its memory is its caller's to give out.
 */

/** Slots of one step: the sums of so many stay in the processor's nearer caches, whatever the corpus. */
const window: u32 = 1 << 15

/** Bytes from one list to the next, of either kind. */
const record: usize = 32

/** A list of postings: places of its ordinals and frequencies, how many they are, the next of them, the slot of ordinal 0. */
@unmanaged
class Term {
  ordinals: u32
  frequencies: u32
  count: u32
  next: u32
  offset: u32
  /** 1: ordinals have 32 bits, else 16. 2: frequencies have 32 bits, else 8. */
  wide: u32
  weight: f64
}

/**
 * A list of vectors' components: places of the gap after the next posting, of the magnitudes and of what each of these adds; how
 * many postings there are, the next of them, and its slot.
 */
@unmanaged
class Component {
  gaps: u32
  magnitudes: u32
  gains: u32
  count: u32
  next: u32
  slot: u32
}

/**
 * Adds BM25 of `count` terms at `terms` to `scores`. Slots have their chunks' lengths, 16 bits each, and these their norms.
 * What a slot gets of the terms is added in their order.
 */
export function addTerms(terms: usize, count: u32, slots: u32, scores: usize, lengths: usize, norms: usize, k1: f64): void {
  for (let from: u32 = 0; from < slots; from += window) {
    const to = min(from + window, slots)
    for (let i: u32 = 0; i < count; i++) {
      const term = changetype<Term>(terms + usize(i) * record)
      if (term.next === term.count) continue
      if (term.wide === 0) addPostings<u16, u8>(term, to, scores, lengths, norms, k1)
      else if (term.wide === 1) addPostings<u32, u8>(term, to, scores, lengths, norms, k1)
      else if (term.wide === 2) addPostings<u16, u32>(term, to, scores, lengths, norms, k1)
      else addPostings<u32, u32>(term, to, scores, lengths, norms, k1)
    }
  }
}

function addPostings<O, F>(term: Term, to: u32, scores: usize, lengths: usize, norms: usize, k1: f64): void {
  const count = term.count
  const offset = term.offset
  const weight = term.weight
  let at = term.next
  let ordinal: usize = term.ordinals + at * sizeof<O>()
  let frequency: usize = term.frequencies + at * sizeof<F>()
  for (; at < count; at++) {
    const slot = offset + u32(load<O>(ordinal))
    if (slot >= to) break
    const times = f64(load<F>(frequency))
    const norm = load<f64>(norms + (usize(load<u16>(lengths + (usize(slot) << 1))) << 3))
    const score = scores + (usize(slot) << 3)
    store<f64>(score, load<f64>(score) + weight * ((times * (k1 + 1)) / (times + norm)))
    ordinal += sizeof<O>()
    frequency += sizeof<F>()
  }
  term.next = at
}

/** Adds what `count` lists at `components` say of each slot to `scores`, 16 bits each. */
export function addComponents(components: usize, count: u32, slots: u32, scores: usize): void {
  for (let from: u32 = 0; from < slots; from += window) {
    const to = min(from + window, slots)
    for (let i: u32 = 0; i < count; i++) {
      const component = changetype<Component>(components + usize(i) * record)
      if (component.next < component.count && component.slot < to) addMagnitudes(component, to, scores)
    }
  }
}

function addMagnitudes(component: Component, to: u32, scores: usize): void {
  const count = component.count
  const gains: usize = component.gains
  const magnitudes: usize = component.magnitudes
  let gaps: usize = component.gaps
  let next = component.next
  let slot = component.slot
  while (slot < to) {
    // Four at a time: nearly always their gaps are a byte each. Behind the magnitudes of a list there is more to load.
    while (next + 4 < count) {
      const four = load<u32>(gaps)
      if ((four & 0x80808080) !== 0) break
      const second = slot + (four & 0xff) + 1
      const third = second + ((four >> 8) & 0xff) + 1
      const fourth = third + ((four >> 16) & 0xff) + 1
      if (fourth >= to) break
      const halves = load<u32>(magnitudes + (next >> 1)) >> ((next & 1) << 2)
      addGain(scores, slot, gains, halves)
      addGain(scores, second, gains, halves >> 4)
      addGain(scores, third, gains, halves >> 8)
      addGain(scores, fourth, gains, halves >> 12)
      slot = fourth + (four >> 24) + 1
      gaps += 4
      next += 4
    }
    if (slot >= to) break
    const pair = u32(load<u8>(magnitudes + (next >> 1)))
    addGain(scores, slot, gains, pair >> ((next & 1) << 2))
    if (++next === count) break
    let gap = u32(load<u8>(gaps++))
    if (gap >= 0x80) {
      gap &= 0x7f
      for (let shift: u32 = 7;; shift += 7) {
        const byte = u32(load<u8>(gaps++))
        gap |= (byte & 0x7f) << shift
        if (byte < 0x80) break
      }
    }
    slot += gap + 1
  }
  component.gaps = u32(gaps)
  component.next = next
  component.slot = slot
}

/** Adds what the lowest half byte stands for. */
function addGain(scores: usize, slot: u32, gains: usize, half: u32): void {
  const score = scores + (usize(slot) << 1)
  store<i16>(score, load<i16>(score) + load<i16>(gains + ((half & 15) << 1)))
}

/** Slots whose scores fill a line of the processor's caches: examined together, and sampled together. */
const slotsOfLine: u32 = 8
const narrowSlotsOfLine: u32 = 32

/**
 * The slots, `from` to `to - 1`, whose score is `least` or more and not 0, ascending: to `found`, `most` of them. Only one line of
 * `every` lines is examined. Returns how many were found.
 */
export function atLeast(scores: usize, from: u32, to: u32, least: f64, found: usize, most: u32, every: u32): u32 {
  const bound = f64x2.splat(least)
  let count: u32 = 0
  for (let line = from; line < to; line += slotsOfLine * every) {
    const at = scores + (usize(line) << 3)
    const end = min(line + slotsOfLine, to)
    // Nearly always none of them is.
    if (
      end - line === slotsOfLine && !v128.any_true(
        v128.or(
          v128.or(f64x2.ge(v128.load(at), bound), f64x2.ge(v128.load(at, 16), bound)),
          v128.or(f64x2.ge(v128.load(at, 32), bound), f64x2.ge(v128.load(at, 48), bound))
        )
      )
    ) continue
    for (let slot = line; slot < end; slot++) {
      const score = load<f64>(scores + (usize(slot) << 3))
      if (score >= least && score !== 0) {
        store<u32>(found + (usize(count) << 2), slot)
        if (++count === most) return count
      }
    }
  }
  return count
}

/** {@link atLeast} of scores of 16 bits. */
export function narrowAtLeast(scores: usize, from: u32, to: u32, least: i32, found: usize, most: u32, every: u32): u32 {
  const bound = i16x8.splat(i16(least))
  let count: u32 = 0
  for (let line = from; line < to; line += narrowSlotsOfLine * every) {
    const at = scores + (usize(line) << 1)
    const end = min(line + narrowSlotsOfLine, to)
    if (
      end - line === narrowSlotsOfLine && !v128.any_true(
        v128.or(
          v128.or(i16x8.ge_s(v128.load(at), bound), i16x8.ge_s(v128.load(at, 16), bound)),
          v128.or(i16x8.ge_s(v128.load(at, 32), bound), i16x8.ge_s(v128.load(at, 48), bound))
        )
      )
    ) continue
    for (let slot = line; slot < end; slot++) {
      const score = i32(load<i16>(scores + (usize(slot) << 1)))
      if (score >= least && score !== 0) {
        store<u32>(found + (usize(count) << 2), slot)
        if (++count === most) return count
      }
    }
  }
  return count
}

/** How packed vectors are told apart: see `store/Vector.ts`. Any other form has every component. */
const bitmapForm: u8 = 1
const gapsForm: u8 = 2

/**
 * Cosines of a query of norm 1, 32 bits a component, with the `count` packed vectors whose places are at `places`, to `out`. Before
 * each vector is its length in bytes, 32 bits. `asked` has room for a bit for each dimension, and 8 bytes more. `scanned`: rounded
 * as a scan of many vectors rounds them. Products are added up in the order of components.
 */
export function cosines(query: usize, dimensions: u32, asked: usize, places: usize, count: u32, out: usize, scanned: bool): void {
  note(query, dimensions, asked)
  for (let i: u32 = 0; i < count; i++) {
    const at = usize(load<u32>(places + (usize(i) << 2)))
    const end = at + usize(load<u32>(at - 4))
    const form = load<u8>(at)
    squares = 0
    let dot: f64
    if (form === bitmapForm) {
      const values = at + 1 + usize((dimensions + 7) >> 3)
      squares = squaresOf(values, end)
      dot = dotOfBitmap(query, dimensions, asked, at + 1, values)
    } else if (form === gapsForm) dot = dotOfGaps(query, at + 1, end)
    else {
      squares = squaresOf(at + 1, end)
      dot = dotOfAll(query, at + 1, end)
    }
    const norm = f64(squares)
    store<f64>(
      out + (usize(i) << 3),
      squares === 0 ? 0 : scanned ? dot * f64(f32(1 / Math.sqrt(norm))) : dot / Math.sqrt(norm)
    )
  }
}

/** The sum of the squares of the vector that is being read. */
let squares: u32 = 0

/** Sets the bits of the components that the query has. */
function note(query: usize, dimensions: u32, asked: usize): void {
  memory.fill(asked, 0, usize((dimensions + 7) >> 3) + 8)
  for (let d: u32 = 0; d < dimensions; d++) {
    if (load<f32>(query + (usize(d) << 2)) === 0) continue
    const at = asked + usize(d >> 3)
    store<u8>(at, load<u8>(at) | u8(u32(1) << (d & 7)))
  }
}

/** The sum of the squares of the bytes `from` to `end - 1`. */
function squaresOf(from: usize, end: usize): u32 {
  let sums = i32x4.splat(0)
  for (; from + 16 <= end; from += 16) {
    const values = v128.load(from)
    sums = i32x4.add(
      sums,
      i32x4.add(
        i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_low_i8x16_s(values, values)),
        i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_high_i8x16_s(values, values))
      )
    )
  }
  let sum = i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)
  for (; from < end; from++) sum += i32(load<i8>(from)) * i32(load<i8>(from))
  return u32(sum)
}

/** Of a vector with a bit for each component that it has, at `bits`, and the values of these. Only components that both have are read. */
function dotOfBitmap(query: usize, dimensions: u32, asked: usize, bits: usize, values: usize): f64 {
  let sum: f64 = 0
  for (let first: u32 = 0; first < dimensions; first += 64) {
    const word = load<u64>(bits + usize(first >> 3))
    // Behind the last component that is asked for are no bits of it, whatever is behind those of the vector.
    for (let both = word & load<u64>(asked + usize(first >> 3)); both !== 0; both &= both - 1) {
      const bit = ctz(both)
      const before = usize(popcnt(word & ((u64(1) << bit) - 1)))
      sum += f64(load<f32>(query + (usize(first + u32(bit)) << 2))) * f64(load<i8>(values + before))
    }
    values += usize(popcnt(word))
  }
  return sum
}

/** Of a vector with its components' distances from the one before, each with its value. Sums up their squares besides. */
function dotOfGaps(query: usize, at: usize, end: usize): f64 {
  let sum: f64 = 0
  let component: u32 = 0
  while (at < end) {
    let gap = u32(load<u8>(at++))
    if (gap >= 0x80) {
      gap &= 0x7f
      for (let shift: u32 = 7;; shift += 7) {
        const byte = u32(load<u8>(at++))
        gap |= (byte & 0x7f) << shift
        if (byte < 0x80) break
      }
    }
    component += gap
    const value = i32(load<i8>(at++))
    sum += f64(load<f32>(query + (usize(component++) << 2))) * f64(value)
    squares += u32(value * value)
  }
  return sum
}

function dotOfAll(query: usize, values: usize, end: usize): f64 {
  let sum: f64 = 0
  for (let at = values; at < end; at++) sum += f64(load<f32>(query + ((at - values) << 2))) * f64(load<i8>(at))
  return sum
}
