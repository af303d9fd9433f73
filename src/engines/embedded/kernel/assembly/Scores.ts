/** What the kernel of scores offers: sums over lists of chunks, by slot, and which of the sums are large. Its memory is its caller's to give out. */

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

/** Adds what `count` lists at `components` say of each slot to `scores`. */
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
    const pair = u32(load<u8>(magnitudes + (next >> 1)))
    const score = scores + (usize(slot) << 3)
    store<f64>(score, load<f64>(score) + load<f64>(gains + (((pair >> ((next & 1) << 2)) & 15) << 3)))
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

/** The slots, `from` to `to - 1`, whose score is `least` or more and not 0, ascending: to `found`, `most` of them. Says how many. */
export function atLeast(scores: usize, from: u32, to: u32, least: f64, found: usize, most: u32): u32 {
  let count: u32 = 0
  let slot = from
  while (slot < to) {
    const at = scores + (usize(slot) << 3)
    // Four at a time: nearly always none of them is.
    if (
      slot + 4 <= to &&
      !(i32(load<f64>(at) >= least) | i32(load<f64>(at, 8) >= least) | i32(load<f64>(at, 16) >= least) | i32(load<f64>(at, 24) >= least))
    ) {
      slot += 4
      continue
    }
    const score = load<f64>(at)
    if (score >= least && score !== 0) {
      store<u32>(found + (usize(count) << 2), slot)
      if (++count === most) break
    }
    slot++
  }
  return count
}
