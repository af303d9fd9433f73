import { allocate, classes, doubled, forgetRemembered, remember, single, votes } from "./Memory"

/** What is known of a word, side by side: most words are met again and again, and each line of memory that is not near takes long. */
@unmanaged
export class Word {
  /** Its first eight bytes, 0 after its end. */
  head: u64
  bytes: u32
  length: u32
  /** What it is to a vector: a word's number + 1, less than 0 for a list of several, 0 while nobody told. */
  parts: i32
  /** How often it occurs in the text whose vector is made; 0 between texts. */
  count: u32
  /** Its features; 0 while they are not made. */
  features: u32
  /** The languages it is a function word of; 0 for none. */
  speakers: u32
}

let capacity: u32 = 1 << 17
let words: usize = allocate(offsetof<Word>() * (capacity as usize))
let size: u32 = 0
/** Room for the number of each. */
export let seen: usize = allocate(4 * (capacity as usize))

/**
 * By hash: number + 1, or 0 where free, and above it as much of the hash as there is room for, so that most slots of other words
 * are passed without a look at the word. Few, so that they stay in the processor's cache.
 */
const fewestSlots: u32 = 1 << 13
let slotsReserved: u32 = 1 << 18
let slots: usize = allocate(4 * (slotsReserved as usize))
let mask: u32 = fewestSlots - 1

/** The bits of a slot that are a number: fewer words than slots. */
function numbers(): u32 {
  return mask * 2 + 1
}

export function wordAt(number: u32): Word {
  return changetype<Word>(words + (number as usize) * offsetof<Word>())
}

export function wordCount(): u32 {
  return size
}
export function wordBytes(number: u32): usize {
  return wordAt(number).bytes as usize
}
export function wordLength(number: u32): u32 {
  return wordAt(number).length
}

/** The low bits of FNV depend on the low bits of the bytes only. */
function spread(hash: i32): u32 {
  return (hash ^ (hash >>> 15)) as u32
}

export function hashed(hash: i32, byte: u32): i32 {
  return (hash ^ (byte as i32)) * 0x01000193
}

export const hashSeed: i32 = 0x811c9dc5 as i32

/** Eight bytes at a time; what follows the last of them is not looked at. */
function same(a: usize, b: usize, length: u32): bool {
  while (length > 8) {
    if (load<u64>(a) !== load<u64>(b)) return false
    a += 8
    b += 8
    length -= 8
  }
  return length === 0 || ((load<u64>(a) ^ load<u64>(b)) << (64 - 8 * (length as u64))) === 0
}

/** The number of a word, which is added where it is not known yet: it is then the last one. */
function numberOf(bytes: usize, length: u32, hash: i32): u32 {
  const bits = numbers()
  const head = length < 8 ? load<u64>(bytes) & (((1 as u64) << (8 * (length as u64))) - 1) : load<u64>(bytes)
  let slot = spread(hash) & mask
  for (;; slot = (slot + 1) & mask) {
    const entry = load<u32>(slots + ((slot as usize) << 2))
    if (entry === 0) break
    if (((entry ^ (hash as u32)) & ~bits) !== 0) continue
    const word = wordAt((entry & bits) - 1)
    if (word.head !== head || word.length !== length) continue
    if (length <= 8 || same((word.bytes as usize) + 8, bytes + 8, length - 8)) return (entry & bits) - 1
  }
  if (size === capacity) {
    words = doubled(words, offsetof<Word>() * (capacity as usize))
    seen = doubled(seen, 4 * (capacity as usize))
    capacity *= 2
  }
  const number = size++
  const place = remember(length as usize)
  memory.copy(place, bytes, length as usize)
  const word = wordAt(number)
  word.head = head
  word.bytes = place as u32
  word.length = length
  word.parts = 0
  word.count = 0
  word.features = 0
  word.speakers = 0
  store<u32>(slots + ((slot as usize) << 2), (number + 1) | ((hash as u32) & ~bits))
  // A fuller table is searched longer; what an emptier one reads is not in the cache.
  if ((size as u64) * 10 > ((mask + 1) as u64) * 7) rehash()
  return number
}

function hashOf(bytes: usize, length: u32): i32 {
  let hash = hashSeed
  for (let i: u32 = 0; i < length; i++) hash = hashed(hash, load<u8>(bytes + (i as usize)))
  return hash
}

function rehash(): void {
  const next = (mask + 1) * 2
  if (next > slotsReserved) {
    slotsReserved = next
    slots = allocate(4 * (next as usize))
  }
  mask = next - 1
  memory.fill(slots, 0, 4 * (next as usize))
  const bits = numbers()
  for (let number: u32 = 0; number < size; number++) {
    const hash = hashOf(wordAt(number).bytes as usize, wordAt(number).length)
    let slot = spread(hash) & mask
    while (load<u32>(slots + ((slot as usize) << 2)) !== 0) slot = (slot + 1) & mask
    store<u32>(slots + ((slot as usize) << 2), (number + 1) | ((hash as u32) & ~bits))
  }
}

export function forget(): void {
  memory.fill(slots, 0, 4 * ((mask + 1) as usize))
  size = 0
  forgetRemembered()
}

/** The number of the word of so many bytes at {@link single}. */
export function numberOfSingle(length: u32): u32 {
  return numberOf(single, length, hashOf(single, length))
}

/** How many words the text at hand has whose vector is made: they are in {@link seen}, each once, in the order they come. */
let distinct: u32 = 0

/** Counts a word that adds its own features. */
export function count(number: u32): void {
  const word = wordAt(number)
  if (word.count++ !== 0) return
  store<u32>(seen + ((distinct++ as usize) << 2), number)
  // The memory of its features comes near meanwhile.
  if (load<u16>(word.features as usize) === 0) unreachable()
}

export function counted(): u32 {
  return distinct
}

/** Counts a word of a text as what it is to a vector. */
function countParts(parts: i32): void {
  if (parts > 0) {
    count((parts - 1) as u32)
    return
  }
  const list = (-parts) as usize
  const end = list + 4 * (load<u32>(list) as usize)
  for (let part = list; part < end; part += 4) count(load<u32>(part, 4))
}

/** None are counted any more. */
export function uncount(): void {
  for (let i: u32 = 0; i < distinct; i++) wordAt(load<u32>(seen + ((i as usize) << 2))).count = 0
  distinct = 0
}

let roomBytes: usize = 1 << 18
let text: usize = allocate(roomBytes)
let tokens: usize = allocate(4 * roomBytes)
let tokenCount: u32 = 0
let letters: u32 = 0
let surveyed: u32 = 0

/** Begins texts that are read as one. */
export function begin(): void {
  uncount()
  tokenCount = 0
  letters = 0
  surveyed = 0
  memory.fill(votes, 0, 8 * 256)
}

/** Where the next text is to be put, of so many bytes at most. */
export function textAt(bytes: usize): usize {
  // A byte makes a token at most.
  const needed = bytes + (tokenCount as usize)
  if (needed > roomBytes) {
    roomBytes = max(needed, 2 * roomBytes)
    text = allocate(roomBytes)
    const before = tokens
    tokens = allocate(4 * roomBytes)
    memory.copy(tokens, before, 4 * (tokenCount as usize))
  }
  return text
}

export function tokensAt(): usize {
  return tokens
}
export function tokensFound(): u32 {
  return tokenCount
}
export function lastToken(): u32 {
  return load<u32>(tokens + (((tokenCount - 1) as usize) << 2))
}
export function lettersSurveyed(): u32 {
  return letters
}
export function wordsSurveyed(): u32 {
  return surveyed
}

/** A token of the text that was found otherwise. */
export function addToken(token: i32): void {
  store<i32>(tokens + ((tokenCount++ as usize) << 2), token)
}

/** A word is a function word of so many languages: room for a byte of each. */
export function hasSpeakers(number: u32, count: u32): usize {
  const place = remember((count + 1) as usize)
  store<u8>(place, count as u8)
  wordAt(number).speakers = place as u32
  return place + 1
}

/** Counts a word of so many letters. */
export function survey(number: u32, length: u32): void {
  letters += length
  surveyed++
  const speakers = wordAt(number).speakers as usize
  if (speakers === 0) return
  const count = load<u8>(speakers) as u32
  const share = 1 / (count as f64)
  for (let i: u32 = 1; i <= count; i++) {
    const vote = votes + ((load<u8>(speakers + (i as usize)) as usize) << 3)
    store<f64>(vote, load<f64>(vote) + share)
  }
}

/** What {@link scan} stops at. */
const done = 0
/** A word that nobody has met: the last one. */
const met = 1
/** A word of which nobody told what it is to a vector: the last of the text so far. */
const untold = 2
/** A stretch that is not plain ASCII, for others to read. */
const stretch = 3

let from: usize = 0
let at: usize = 0
let end: usize = 0
let plainEnd: usize = 0
let surveyEnd: usize = 0
let counting: bool = false
/** The word that it stopped at is still to be taken. */
let isWaiting: bool = false
let start: usize = 0

/**
 * Begins to scan what is in the text's place; words that begin in its first `sampled` bytes tell the language, and all are counted
 * for a vector where it is asked for.
 */
export function scanFirst(length: usize, sampled: usize, forVector: bool): i32 {
  at = text
  plainEnd = at
  end = text + length
  surveyEnd = text + min(length, sampled)
  counting = forVector
  isWaiting = false
  return scan()
}

function take(number: u32): void {
  const word = wordAt(number)
  if (start < surveyEnd) survey(number, word.length)
  if (counting) countParts(word.parts)
}

export function stretchFrom(): usize {
  return from
}
export function stretchTo(): usize {
  return plainEnd
}

const other: u32 = 0
const letter: u32 = 1
const digit: u32 = 2
const joiner: u32 = 3
const midBoth: u32 = 4
const midLetter: u32 = 5
const midDigit: u32 = 6
const longestWord: usize = 255

function classAt(place: usize): u32 {
  return load<u8>(load<u8>(place) as usize, classes)
}

/** Whether a character of class `kind` joins what is before and after it. */
function joins(kind: u32, last: u32, next: u32): bool {
  return kind >= midBoth && kind <= midDigit && last === next &&
    (next === letter ? kind !== midDigit : next === digit && kind !== midLetter)
}

/** Goes on to scan, after what it stopped at was told. */
export function scan(): i32 {
  if (isWaiting) {
    isWaiting = false
    take(lastToken())
  }
  for (;;) {
    while (at < plainEnd) {
      start = at
      let hash = hashSeed
      let last: u32 = other
      let solid = false
      for (; at < plainEnd; at++) {
        const kind = classAt(at)
        if (kind === letter || kind === digit) {
          last = kind
          solid = true
        } else if (kind === joiner) last = joiner
        else if (!joins(kind, last, at + 1 < plainEnd ? classAt(at + 1) : other)) break
        hash = hashed(hash, load<u8>(at) as u32)
      }
      const length = (at - start) as u32
      // What ended the word, or began none.
      at++
      if (!solid) continue
      const known = size
      const number = numberOf(start, length, hash)
      addToken(number as i32)
      if (size !== known || (counting && wordAt(number).parts === 0)) {
        isWaiting = true
        return size !== known ? met : untold
      }
      take(number)
    }
    if (at >= end) break
    from = at
    let all: u32 = 0
    for (; at < end; at++) {
      const byte = load<u8>(at) as u32
      if (load<u8>(byte as usize, classes) === other) break
      all |= byte
    }
    plainEnd = at
    if (all > 127 || at - from > longestWord) {
      at++
      return stretch
    }
    if (at > from) at = from
    else at++
  }
  return done
}
