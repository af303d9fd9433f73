/** Reads lists of postings, as `store/Postings.ts` writes them. Its memory is its caller's to give out. */

/**
 * Reads `count` postings at `list`: their ordinals, 16 bits each or 32 where they are `wide`, and the lowest 8 bits of their
 * frequencies. Gives all frequencies' bits together: below 256 none has more.
 */
export function readPostings(list: usize, count: u32, wide: bool, ordinals: usize, frequencies: usize): u32 {
  return wide ? read<u32>(list, count, ordinals, frequencies) : read<u16>(list, count, ordinals, frequencies)
}

function read<O>(list: usize, count: u32, ordinals: usize, frequencies: usize): u32 {
  let ordinal: u32 = u32.MAX_VALUE
  let bits: u32 = 0
  const end: usize = frequencies + count
  for (; frequencies < end; frequencies++) {
    let head = u32(load<u8>(list++))
    if (head >= 0x80) {
      head &= 0x7f
      for (let shift: u32 = 7;; shift += 7) {
        const byte = u32(load<u8>(list++))
        head |= (byte & 0x7f) << shift
        if (byte < 0x80) break
      }
    }
    ordinal += (head >> 1) + 1
    store<O>(ordinals, ordinal as O)
    ordinals += sizeof<O>()
    // Whether a frequency follows is reckoned, as no processor foresees it: where none does, it is 1.
    const once = head & 1
    let frequency = (u32(load<u8>(list)) & (once - 1)) | once
    list += 1 - once
    if (frequency >= 0x80) {
      frequency &= 0x7f
      for (let shift: u32 = 7;; shift += 7) {
        const byte = u32(load<u8>(list++))
        frequency |= (byte & 0x7f) << shift
        if (byte < 0x80) break
      }
    }
    bits |= frequency
    store<u8>(frequencies, u8(frequency))
  }
  return bits
}
