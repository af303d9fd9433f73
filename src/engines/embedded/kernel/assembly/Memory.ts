/**
 * Where things lie in the kernel's memory. What a place may hold is far more than most corpora need: pages that nothing is
 * written to cost nothing, and what lies in one place needs no moving.
 */

/** Vector components. Where a word adds to is twice its dimension, one more where it is subtracted. */
export const dimensions: u32 = 2048

/** f64: what the words of a text add up to; all 0 between texts. */
export const sums: usize = 1024
/** f64: the vector of a text. */
export const vector: usize = sums + 8 * 2 * dimensions
/** u16: how large each component is, of {@link sizes}. */
export const levels: usize = vector + 8 * dimensions
export const sizes: u32 = 1024
/** u16: the components that are kept. */
export const kept: usize = levels + 2 * dimensions
/** i8: what they are. */
export const integers: usize = kept + 2 * dimensions
/** The vector as it is stored: its form, gaps of two bytes at most, and a byte each. */
export const packed: usize = integers + dimensions
/** f64: 1 + the logarithm of small numbers. */
export const logarithms: usize = packed + 3 * dimensions + 16
export const tabled: u32 = 256
/** f64: what a word weighs, by its kind. */
export const weights: usize = logarithms + 8 * tabled
/** u8: what each byte is to a word. */
export const classes: usize = weights + 8 * 4
/** f64: what a text's function words say of its language. */
export const votes: usize = classes + 256
/** A word that is looked up by itself. */
export const single: usize = votes + 8 * 256
const heap: usize = single + 1024

let free: usize = heap

/** Room that is never given back. Some bytes past its end can be read. */
export function allocate(bytes: usize): usize {
  const place = (free + 15) & ~(15 as usize)
  free = place + bytes
  const pages = i32((free + 64 + 0xffff) >>> 16) - memory.size()
  if (pages > 0 && memory.grow(max(pages, 16)) < 0) unreachable()
  return place
}

/** The content in twice the room. */
export function doubled(place: usize, bytes: usize): usize {
  const next = allocate(bytes * 2)
  memory.copy(next, place, bytes)
  return next
}

/** A list of blocks that are kept when all in them is forgotten; each begins with where the next one is. */
const block: usize = 1 << 17
const first: usize = allocate(block)
let current: usize = first
let next: usize = first + 16
let used: usize = 0

/** Room for what is remembered of a word; aligned to 8 bytes. */
export function remember(bytes: usize): usize {
  const taken = (bytes + 7) & ~(7 as usize)
  if (next + taken > current + block) {
    let after = load<u32>(current) as usize
    if (after === 0) {
      after = allocate(block)
      store<u32>(current, after as u32)
      store<u32>(after, 0)
    }
    current = after
    next = after + 16
  }
  const place = next
  next += taken
  used += taken
  return place
}

/** How many bytes are remembered. */
export function remembered(): u32 {
  return used as u32
}

export function forgetRemembered(): void {
  current = first
  next = first + 16
  used = 0
}
