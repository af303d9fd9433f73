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
 * What stands before a vector: how many pairs of bytes it has, and the sum of its squares. A pair is the components that are skipped
 * before one, and that one's value; so one of 0 stands among more than 255 zeros. A vector that is not mostly zeros has its values
 * alone, one for each of the query's components, and `all` bytes.
 */
@unmanaged
class Vector {
  pairs: u32
  all: u32
  squares: u32
}

const vectorHead: usize = 12

/**
 * Cosines of a query of norm 1, 32 bits a component, with the `count` vectors whose places are at `places`, to `out`. `scanned`:
 * rounded as a scan of many vectors rounds them. Products are added up in the order of components, those of four vectors at once:
 * an addition waits for the one before it.
 */
export function cosines(query: usize, places: usize, count: u32, out: usize, scanned: bool): void {
  let i: u32 = 0
  for (; i + 4 <= count; i += 4) {
    const a = vectorAt(places, i)
    const b = vectorAt(places, i + 1)
    const c = vectorAt(places, i + 2)
    const d = vectorAt(places, i + 3)
    const together = usize(min(min(a.pairs, b.pairs), min(c.pairs, d.pairs)))
    let atA = changetype<usize>(a) + vectorHead
    let atB = changetype<usize>(b) + vectorHead
    let atC = changetype<usize>(c) + vectorHead
    let atD = changetype<usize>(d) + vectorHead
    let inA = query
    let inB = query
    let inC = query
    let inD = query
    let ofA: f64 = 0
    let ofB: f64 = 0
    let ofC: f64 = 0
    let ofD: f64 = 0
    for (const end = atA + 2 * together; atA < end; atA += 2, atB += 2, atC += 2, atD += 2) {
      inA += usize(load<u8>(atA)) << 2
      inB += usize(load<u8>(atB)) << 2
      inC += usize(load<u8>(atC)) << 2
      inD += usize(load<u8>(atD)) << 2
      ofA += f64(load<f32>(inA)) * f64(load<i8>(atA, 1))
      ofB += f64(load<f32>(inB)) * f64(load<i8>(atB, 1))
      ofC += f64(load<f32>(inC)) * f64(load<i8>(atC, 1))
      ofD += f64(load<f32>(inD)) * f64(load<i8>(atD, 1))
      inA += 4
      inB += 4
      inC += 4
      inD += 4
    }
    store<f64>(out + (usize(i) << 3), cosine(rest(a, atA, inA, ofA), a, scanned))
    store<f64>(out + (usize(i) << 3), cosine(rest(b, atB, inB, ofB), b, scanned), 8)
    store<f64>(out + (usize(i) << 3), cosine(rest(c, atC, inC, ofC), c, scanned), 16)
    store<f64>(out + (usize(i) << 3), cosine(rest(d, atD, inD, ofD), d, scanned), 24)
  }
  for (; i < count; i++) {
    const vector = vectorAt(places, i)
    store<f64>(out + (usize(i) << 3), cosine(rest(vector, changetype<usize>(vector) + vectorHead, query, 0), vector, scanned))
  }
}

function vectorAt(places: usize, i: u32): Vector {
  return changetype<Vector>(usize(load<u32>(places + (usize(i) << 2))))
}

/** The sum so far, with the products of the pairs from `at` on, whose first counts components from `query` on; or of all components. */
function rest(vector: Vector, at: usize, query: usize, sum: f64): f64 {
  for (const end = changetype<usize>(vector) + vectorHead + 2 * usize(vector.pairs); at < end; at += 2) {
    query += usize(load<u8>(at)) << 2
    sum += f64(load<f32>(query)) * f64(load<i8>(at, 1))
    query += 4
  }
  for (const end = at + usize(vector.all); at < end; at++, query += 4) sum += f64(load<f32>(query)) * f64(load<i8>(at))
  return sum
}

function cosine(dot: f64, vector: Vector, scanned: bool): f64 {
  const squares = f64(vector.squares)
  if (squares === 0) return 0
  return scanned ? dot * f64(f32(1 / Math.sqrt(squares))) : dot / Math.sqrt(squares)
}

/**
 * Unpacks the `length` bytes at `packed`, a vector in one of the forms of `store/Vector.ts`, to `out`, where there is room for three
 * bytes a dimension and {@link vectorHead}. Gives how many bytes it takes.
 */
export function unpack(packed: usize, length: u32, dimensions: u32, out: usize): u32 {
  const vector = changetype<Vector>(out)
  const form = load<u8>(packed)
  const end = packed + usize(length)
  vector.pairs = 0
  vector.all = 0
  vector.squares = 0
  to = out + vectorHead
  component = 0
  if (form === bitmapForm) {
    const bits = packed + 1
    let value = bits + usize((dimensions + 7) >> 3)
    for (let first: u32 = 0; first < dimensions; first += 8) {
      for (let byte = u32(load<u8>(bits + usize(first >> 3))); byte !== 0 && value < end; byte &= byte - 1) {
        put(vector, first + ctz(byte), load<i8>(value++))
      }
    }
  } else if (form === gapsForm) {
    let next: u32 = 0
    for (let at = packed + 1; at + 1 < end;) {
      let shift: u32 = 0
      for (; load<u8>(at) >= 0x80 && at + 2 < end; shift += 7) next += u32(load<u8>(at++) & 0x7f) << shift
      next += u32(load<u8>(at)) << shift
      if (next >= dimensions) break
      put(vector, next++, load<i8>(at + 1))
      at += 2
    }
  } else {
    vector.all = min(length - 1, dimensions)
    for (let at = packed + 1; at < packed + 1 + usize(vector.all); at++) {
      const value = load<i8>(at)
      store<i8>(to++, value)
      vector.squares += u32(i32(value) * i32(value))
    }
  }
  return u32(to - out)
}

/** Where the next pair goes, and the component behind the one that was put last. */
let to: usize = 0
let component: u32 = 0

function put(vector: Vector, at: u32, value: i8): void {
  let skipped = at - component
  for (; skipped > 0xff; skipped -= 0x100) {
    store<u16>(to, 0xff)
    to += 2
    vector.pairs++
  }
  store<u8>(to, u8(skipped))
  store<i8>(to, value, 1)
  to += 2
  vector.pairs++
  vector.squares += u32(i32(value) * i32(value))
  component = at + 1
}
