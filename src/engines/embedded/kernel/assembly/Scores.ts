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

/** What stands before a vector's components: how many there are, whether they are numbered, and the sum of their squares. */
@unmanaged
class Vector {
  count: u16
  numbered: u16
  squares: u32
}

const vectorHead: usize = 8

/** How packed vectors are told apart that are not all of their components: see `store/Vector.ts`. */
const bitmapForm: u8 = 1
const gapsForm: u8 = 2

/**
 * Cosines of a query of norm 1, 32 bits a component, with the `count` vectors whose places are at `places`, to `out`. `scanned`:
 * rounded as a scan of many vectors rounds them. Sums are added up in the order of components, those of four vectors at once: an
 * addition waits for the one before it.
 */
export function cosines(query: usize, places: usize, count: u32, out: usize, scanned: bool): void {
  let i: u32 = 0
  for (; i + 4 <= count; i += 4) {
    const a = vectorAt(places, i)
    const b = vectorAt(places, i + 1)
    const c = vectorAt(places, i + 2)
    const d = vectorAt(places, i + 3)
    let ofA: f64 = 0
    let ofB: f64 = 0
    let ofC: f64 = 0
    let ofD: f64 = 0
    let together: u32 = 0
    if (a.numbered & b.numbered & c.numbered & d.numbered) {
      together = min(min(u32(a.count), u32(b.count)), min(u32(c.count), u32(d.count)))
      for (let at: u32 = 0; at < together; at++) {
        ofA += product(query, a, at)
        ofB += product(query, b, at)
        ofC += product(query, c, at)
        ofD += product(query, d, at)
      }
    }
    store<f64>(out + (usize(i) << 3), cosine(dot(query, a, together, ofA), a, scanned))
    store<f64>(out + (usize(i) << 3), cosine(dot(query, b, together, ofB), b, scanned), 8)
    store<f64>(out + (usize(i) << 3), cosine(dot(query, c, together, ofC), c, scanned), 16)
    store<f64>(out + (usize(i) << 3), cosine(dot(query, d, together, ofD), d, scanned), 24)
  }
  for (; i < count; i++) {
    const vector = vectorAt(places, i)
    store<f64>(out + (usize(i) << 3), cosine(dot(query, vector, 0, 0), vector, scanned))
  }
}

function vectorAt(places: usize, i: u32): Vector {
  return changetype<Vector>(usize(load<u32>(places + (usize(i) << 2))))
}

function product(query: usize, vector: Vector, at: u32): f64 {
  const numbers = changetype<usize>(vector) + vectorHead
  const number = usize(load<u16>(numbers + (usize(at) << 1)))
  return f64(load<f32>(query + (number << 2))) * f64(load<i8>(numbers + (usize(vector.count) << 1) + usize(at)))
}

/**
 * Unpacks the `length` bytes at `packed`, a vector of so many dimensions in one of the forms of `store/Vector.ts`, to `out`, where
 * there are 8 bytes and one for each dimension. Gives how many of them it takes.
 */
export function unpack(packed: usize, length: u32, dimensions: u32, out: usize): u32 {
  const form = load<u8>(packed)
  const bitmap: u32 = form === bitmapForm ? (dimensions + 7) >> 3 : 0
  const end = packed + usize(length)
  let count = dimensions
  if (form === bitmapForm) count = length > bitmap ? length - 1 - bitmap : 0
  else if (form === gapsForm) {
    count = 0
    for (let at = packed + 1; at < end; count++) at = valueAfter(at) + 1
  }
  const numbered = count * 3 < dimensions
  const vector = changetype<Vector>(out)
  vector.count = u16(numbered ? count : dimensions)
  vector.numbered = u16(numbered)
  const numbers = out + vectorHead
  const values = numbered ? numbers + (usize(count) << 1) : numbers
  if (!numbered) memory.fill(values, 0, dimensions)
  let squares: u32 = 0
  let next: u32 = 0
  if (form === bitmapForm) {
    let from = packed + 1 + usize(bitmap)
    for (let i: u32 = 0; i < bitmap; i++) {
      for (let bits = u32(load<u8>(packed + 1 + usize(i))); bits !== 0 && next < count; bits &= bits - 1) {
        squares += put(numbers, values, numbered, next++, (i << 3) + ctz(bits), dimensions, load<i8>(from++))
      }
    }
  } else if (form === gapsForm) {
    let component: u32 = 0
    for (let at = packed + 1; at < end;) {
      let shift: u32 = 0
      for (; load<u8>(at) >= 0x80; shift += 7) component += u32(load<u8>(at++) & 0x7f) << shift
      component += u32(load<u8>(at)) << shift
      squares += put(numbers, values, numbered, next++, component++, dimensions, load<i8>(at + 1))
      at += 2
    }
  } else {
    for (let d: u32 = 0; d < dimensions; d++) squares += put(numbers, values, false, d, d, dimensions, load<i8>(packed + 1 + usize(d)))
  }
  vector.squares = squares
  return u32(values - out) + u32(vector.count)
}

/** Where the value of a component stands whose gap begins at `at`. */
function valueAfter(at: usize): usize {
  while (load<u8>(at) >= 0x80) at++
  return at + 1
}

/** Gives the value's square. What says to be beyond the dimensions is not written. */
function put(numbers: usize, values: usize, numbered: bool, next: u32, component: u32, dimensions: u32, value: i8): u32 {
  if (component < dimensions) {
    if (numbered) {
      store<u16>(numbers + (usize(next) << 1), u16(component))
      store<i8>(values + usize(next), value)
    } else store<i8>(values + usize(component), value)
  }
  return u32(i32(value) * i32(value))
}

/** The sum so far, with the products of the components from `from` on. */
function dot(query: usize, vector: Vector, from: u32, sum: f64): f64 {
  const count = u32(vector.count)
  if (vector.numbered) { for (let at = from; at < count; at++) sum += product(query, vector, at) }
  else {
    const values = changetype<usize>(vector) + vectorHead
    for (let at = from; at < count; at++) sum += f64(load<f32>(query + (usize(at) << 2))) * f64(load<i8>(values + usize(at)))
  }
  return sum
}

function cosine(dot: f64, vector: Vector, scanned: bool): f64 {
  const squares = f64(vector.squares)
  if (squares === 0) return 0
  return scanned ? dot * f64(f32(1 / Math.sqrt(squares))) : dot / Math.sqrt(squares)
}
