/**
 * Counts o200k's tokens: the text's pieces as the pattern cuts them where they are plain, and byte-pair encoding. In
 * AssemblyScript: a parser's process is too short for JavaScript of so many loops to become fast.
 */

/** UTF-16 units of a stretch, and of a piece that is merged whole. */
export const maxSeen: i32 = 1 << 18
export const maxPiece: i32 = 256
/** UTF-8 takes at most 3 bytes for a unit. */
const maxBytes: i32 = maxPiece * 3
/** Bytes that are read past the end of what is meant, a word at a time. */
const slack: i32 = 32

// Kinds of ASCII characters as o200k's pattern tells them apart, of all others, and of the end of the text.
const mark: u8 = 0
const blank: u8 = 1
const newline: u8 = 2
const digit: u8 = 3
const small: u8 = 4
const capital: u8 = 5
const foreign: u8 = 6
const nothing: u8 = 7

/** Stands for any character that is not ASCII, and for the end of the stretch. */
const otherByte: u8 = 0x80
const endByte: u8 = 0xff

const space: u8 = 0x20
const apostrophe: u8 = 0x27
const slash: u8 = 0x2f

/** Numbers are cut after so many digits. */
const longestNumber: i32 = 3

// Where things are.
const kinds = memory.data(256)
const piece = memory.data(maxBytes + slack)
const starts = memory.data((maxBytes + 1) * 4)
const ranks = memory.data((maxBytes + 1) * 4)

/**
 * Counts of pieces met lately, two places for each hash, the younger first: a place is the piece's bytes, and its count
 * as the last. As much as a processor keeps at hand.
 */
const shortPlaces: i32 = 1 << 14
const shortBytes: i32 = 16
const shortKept = memory.data(shortPlaces * 2 * shortBytes)

/** The same of longer pieces, one place for each hash. */
const longPlaces: i32 = 1 << 13
const longBytes: i32 = 32
const longKept = memory.data(longPlaces * longBytes)

/** The rank of each two bytes as a token, {@link none} where they are none. */
const pairs = memory.data(256 * 256 * 4)

const units = memory.data((maxSeen + slack) * 2)
const bytes = memory.data(maxSeen + slack)
const ends = memory.data(maxSeen * 4)
const totals = memory.data(maxSeen * 4)

/** Tokens by rank: where each begins in `texts`, and its length as the upper byte. */
let count: i32 = 0
let tokens: usize = 0
let texts: usize = 0
/** By hash: rank + 1, 0 where free, and the upper bits of the hash. */
let slots: usize = 0
let slotMask: u32 = 0

const rankBits: u32 = 18
const rankMask: u32 = (1 << rankBits) - 1

/** Of the stretch at hand. */
let length: i32 = 0
let found: i32 = 0
/** Tokens of the text so far. */
let sum: i32 = 0

export function unitsAt(): usize {
  return units
}
export function pieceAt(): usize {
  return piece
}
export function startsAt(): usize {
  return starts
}
export function endsAt(): usize {
  return ends
}
export function totalsAt(): usize {
  return totals
}
export function textsAt(): usize {
  return texts
}
export function lengthsAt(): usize {
  return slots
}

/** Makes room for a vocabulary; its tokens' lengths are to be put at `lengthsAt`, their bytes at `textsAt`. */
export function reserve(many: i32, size: i32): void {
  count = many
  let places: i32 = 1
  while (places < many * 2) places <<= 1
  slotMask = places - 1
  tokens = memory.size() << 16
  slots = tokens + <usize> (many + 1) * 4
  texts = slots + <usize> places * 4
  const end = texts + size + slack
  memory.grow(<i32> ((end - tokens + 0xffff) >> 16))
}

/** Enters the tokens that were put there. */
export function enter(): void {
  for (let unit = 0; unit < 256; unit++) {
    let kind = mark
    if (unit == 0x0a || unit == 0x0d) kind = newline
    else if ((unit >= 0x09 && unit <= 0x0c) || unit == 0x20) kind = blank
    else if (unit >= 0x30 && unit <= 0x39) kind = digit
    else if (unit >= 0x61 && unit <= 0x7a) kind = small
    else if (unit >= 0x41 && unit <= 0x5a) kind = capital
    else if (unit >= 0x80) kind = foreign
    store<u8>(kinds + unit, kind)
  }
  // The lengths stand where the slots will be.
  let end: u32 = 0
  for (let i = 0; i < count; i++) {
    const size: u32 = load<u8>(slots + i)
    store<u32>(tokens + (<usize> i << 2), end | (size << 24))
    end += size
  }
  for (let pair = 0; pair < 0x10000; pair++) store<i32>(pairs + (<usize> pair << 2), none)
  memory.fill(slots, 0, (<usize> slotMask + 1) << 2)
  for (let i = 0; i < count; i++) {
    const token = load<u32>(tokens + (<usize> i << 2))
    const hash = hashOf(texts + (token & 0xffffff), token >> 24)
    let slot = hash & slotMask
    while (load<u32>(slots + (<usize> slot << 2)) != 0) slot = (slot + 1) & slotMask
    store<u32>(slots + (<usize> slot << 2), (i + 1) | (hash & ~rankMask))
    if (token >> 24 == 2) store<i32>(pairs + (<usize> load<u16>(texts + (token & 0xffffff)) << 2), i)
  }
}

function firstOf(at: usize, size: i32): u64 {
  return size >= 8 ? load<u64>(at) : load<u64>(at) & ((<u64> 1 << (size << 3)) - 1)
}

function mixed(first: u64, second: u64): u64 {
  const hash = (first ^ rotl<u64>(second, 23)) * 0x9e3779b97f4a7c15 + second * 0xc2b2ae3d27d4eb4f
  return (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15
}

/** Of a string, whose last 8 bytes stand for what is between. */
function hashOf(at: usize, size: i32): u32 {
  const second: u64 = size <= 8 ? 0 : size <= 16 ? firstOf(at + 8, size - 8) : load<u64>(at + size - 8) ^ (load<u64>(at + 8) * 31)
  return <u32> (mixed(firstOf(at, size), second + size) >> 32)
}

function same(one: usize, other: usize, size: i32): bool {
  while (size >= 8) {
    if (load<u64>(one) != load<u64>(other)) return false
    one += 8
    other += 8
    size -= 8
  }
  return size == 0 || ((load<u64>(one) ^ load<u64>(other)) & ((<u64> 1 << (size << 3)) - 1)) == 0
}

/** A token's rank, -1 where it is none. */
function rankOf(at: usize, size: i32): i32 {
  const hash = hashOf(at, size)
  let slot = hash & slotMask
  while (true) {
    const entry = load<u32>(slots + (<usize> slot << 2))
    if (entry == 0) return -1
    if ((entry ^ hash) >> rankBits == 0) {
      const rank: i32 = (entry & rankMask) - 1
      const token = load<u32>(tokens + (<usize> rank << 2))
      if (token >> 24 == <u32> size && same(texts + (token & 0xffffff), at, size)) return rank
    }
    slot = (slot + 1) & slotMask
  }
}

/** Tokens of a piece, whose bytes are at an address. */
function countOf(at: usize, size: i32): i32 {
  return size < shortBytes ? countOfShort(at, size) : size < longBytes ? countOfLong(at, size) : counted(at, size)
}

/** In a place's upper byte: the piece's length, of which four bits tell, and below it the count. */
const lengthShift: u64 = 60
const countShift: u64 = 56
const mostKept: i32 = 15
const countMask: u64 = <u64> mostKept << countShift

function countOfShort(at: usize, size: i32): i32 {
  const first = firstOf(at, size)
  const second = (size > 8 ? firstOf(at + 8, size - 8) : 0) | (<u64> size << lengthShift)
  const place = shortKept + (<usize> ((mixed(first, second) >> 40) & (shortPlaces - 1)) << 5)
  const younger = load<u64>(place + 8)
  if (load<u64>(place) == first && (younger & ~countMask) == second) return <i32> ((younger & countMask) >> countShift)
  const older = load<u64>(place + 24)
  if (load<u64>(place + 16) == first && (older & ~countMask) == second) return <i32> ((older & countMask) >> countShift)
  const count = counted(at, size)
  store<u64>(place + 16, load<u64>(place))
  store<u64>(place + 24, younger)
  store<u64>(place, first)
  store<u64>(place + 8, second | (<u64> count << countShift))
  return count
}

function countOfLong(at: usize, size: i32): i32 {
  const first = load<u64>(at)
  const second = load<u64>(at + 8)
  const third = firstOf(at + 16, min(size - 16, 8))
  const fourth = (size > 24 ? firstOf(at + 24, size - 24) : 0) | (<u64> (size - 16) << lengthShift)
  const place = longKept + (<usize> ((mixed(first ^ rotl<u64>(third, 41), second + fourth) >> 40) & (longPlaces - 1)) << 5)
  const last = load<u64>(place + 24)
  const isSame = load<u64>(place) == first && load<u64>(place + 8) == second && load<u64>(place + 16) == third
  if (isSame && (last & ~countMask) == fourth && (last & countMask) != 0) return <i32> ((last & countMask) >> countShift)
  const count = counted(at, size)
  if (count > mostKept) return count
  store<u64>(place, first)
  store<u64>(place + 8, second)
  store<u64>(place + 16, third)
  store<u64>(place + 24, fourth | (<u64> count << countShift))
  return count
}

function counted(at: usize, size: i32): i32 {
  return rankOf(at, size) >= 0 ? 1 : merge(at, size)
}

const none: i32 = 0x7fffffff

/** The rank of part `i` and the next as one token. */
function joined(at: usize, i: i32, parts: i32): i32 {
  if (i + 2 > parts) return none
  const start = load<i32>(starts + (<usize> i << 2))
  const end = load<i32>(starts + (<usize> (i + 2) << 2))
  const rank = rankOf(at + start, end - start)
  return rank < 0 ? none : rank
}

/** Joins the pair of lowest rank, leftmost first. Leaves the tokens' starts and answers how many they are. */
function merge(at: usize, size: i32): i32 {
  let parts = size
  for (let i = 0; i <= size; i++) store<i32>(starts + (<usize> i << 2), i)
  for (let i = 0; i < size - 1; i++) store<i32>(ranks + (<usize> i << 2), load<i32>(pairs + (<usize> load<u16>(at + i) << 2)))
  store<i32>(ranks + (<usize> (size - 1) << 2), none)
  while (true) {
    let lowest = none
    let best = -1
    for (let i = 0; i < parts - 1; i++) {
      const rank = load<i32>(ranks + (<usize> i << 2))
      if (rank < lowest) {
        lowest = rank
        best = i
      }
    }
    if (best < 0) return parts
    const from = <usize> (best + 1) << 2
    memory.copy(starts + from, starts + from + 4, <usize> (parts - best - 1) << 2)
    memory.copy(ranks + from, ranks + from + 4, <usize> (parts - best - 2) << 2)
    parts--
    store<i32>(ranks + (<usize> best << 2), joined(at, best, parts))
    if (best > 0) store<i32>(ranks + (<usize> (best - 1) << 2), joined(at, best - 1, parts))
  }
}

/** Leaves where the tokens of the piece's first bytes start; answers how many they are. */
export function split(size: i32): i32 {
  return merge(piece, size)
}

export function pieces(): i32 {
  return found
}
export function total(): i32 {
  return sum
}

/** A text begins. */
export function begin(): void {
  sum = 0
  found = 0
}

/** Adds the piece of so many bytes that is at `pieceAt`. */
export function add(size: i32, end: i32): void {
  push(countOf(piece, size), end)
}

function push(tokens: i32, end: i32): void {
  sum += tokens
  store<i32>(ends + (<usize> found << 2), end)
  store<i32>(totals + (<usize> found << 2), sum)
  found++
}

/** A stretch of so many units is at `unitsAt`. `goesOn`: more text follows, which may belong to the last piece. */
export function show(many: i32, goesOn: bool): void {
  length = many
  let i = 0
  for (; i + 4 <= many; i += 4) {
    const four = load<u64>(units + (<usize> i << 1))
    if ((four & 0xff80ff80ff80ff80) == 0) {
      const two = four | (four >> 8)
      store<u32>(bytes + i, <u32> ((two & 0xffff) | ((two >> 16) & 0xffff0000)))
    } else for (let k = i; k < i + 4; k++) narrow(k)
  }
  for (; i < many; i++) narrow(i)
  store<u64>(bytes + many, 0xffffffffffffffff)
  store<u8>(kinds + endByte, goesOn ? foreign : nothing)
  found = 0
}

function narrow(at: i32): void {
  const unit = load<u16>(units + (<usize> at << 1))
  store<u8>(bytes + at, unit < 0x80 ? <u8> unit : otherByte)
}

function kindAt(at: i32): u8 {
  return load<u8>(kinds + load<u8>(bytes + at))
}

/**
 * Reads up to `most` pieces from an offset on, whose ends are told with `base` added. Answers where it stopped, and -1
 * less than that where it stopped at a piece that is not plain.
 */
export function read(at: i32, most: i32, base: i32): i32 {
  const last = found + most
  while (at < length && found < last) {
    const end = endOf(at)
    if (end < 0) return -1 - at
    while (at < end) {
      const cut = end - at > maxPiece ? at + maxPiece : end
      push(countOf(bytes + at, cut - at), base + cut)
      at = cut
    }
  }
  return at
}

/** Where the piece that starts at an offset ends, -1 where that is for the pattern to say. */
function endOf(at: i32): i32 {
  const first = kindAt(at)
  if (first == foreign) return -1
  if (first == digit) return numberEnd(at)
  if (first != newline) {
    // A word takes in one character before it.
    const begin = first == small || first == capital ? at : at + 1
    let i = begin
    while (kindAt(i) == capital) i++
    while (kindAt(i) == small) i++
    const next = kindAt(i)
    if (next == foreign) return -1
    if (i > begin) return load<u8>(bytes + i) == apostrophe ? contractionEnd(i) : i
    if (first == mark || (next == mark && load<u8>(bytes + at) == space)) return marksEnd(i)
  }
  return spaceEnd(at)
}

function numberEnd(at: i32): i32 {
  let i = at + 1
  while (i < at + longestNumber && kindAt(i) == digit) i++
  return i < at + longestNumber && kindAt(i) == foreign ? -1 : i
}

/** `'s`, `'ll` and their kin, of which the pattern knows those of either case. */
function contractionEnd(at: i32): i32 {
  if (kindAt(at + 1) == foreign || kindAt(at + 2) == foreign) return -1
  const second: u8 = load<u8>(bytes + at + 1) | 0x20
  const third: u8 = load<u8>(bytes + at + 2) | 0x20
  if (second == 0x73 || second == 0x74 || second == 0x6d || second == 0x64) return at + 2
  const isLong = (second == 0x72 && third == 0x65) || (second == 0x76 && third == 0x65) || (second == 0x6c && third == 0x6c)
  return isLong ? at + 3 : at
}

/** From the first mark on, or the one after it. */
function marksEnd(from: i32): i32 {
  let i = from
  while (kindAt(i) == mark) i++
  while (kindAt(i) == newline || load<u8>(bytes + i) == slash) i++
  return kindAt(i) == foreign ? -1 : i
}

/** Up to the last line end of a run, or all but its last blank, which belongs to what follows. */
function spaceEnd(at: i32): i32 {
  let i = at
  let afterLine = -1
  for (let kind = kindAt(i); kind == blank || kind == newline; kind = kindAt(i)) {
    i++
    if (kind == newline) afterLine = i
  }
  const next = kindAt(i)
  if (next == foreign) return -1
  if (afterLine >= 0) return afterLine
  return next == nothing || i == at + 1 ? i : i - 1
}
