/**
 * The paths of one listing, each with the address it was listed under, by their hashes: 24 to 48 bytes a path, however long
 * it is.
 */
export class ListedPaths {
  /** Three for each path: two hashes of it, and one of its address, which is 0 while it has none. */
  #slots = new Uint32Array(3 << 10)
  #used = 0

  /** Gives a path its address, unless it has one; answers whether it has another. */
  isTaken(path: string, uri: string): boolean {
    if (this.#used * 6 >= this.#slots.length) this.#grow()
    const address = hashOf(uri, multiplier)
    const at = this.#slotOf(hashOf(path, multiplier), hashOf(path, otherMultiplier))
    const known = this.#slots[at + 2]!
    if (known === 0) this.#slots[at + 2] = address
    return known !== 0 && known !== address
  }

  /** What is listed under the path afterwards has it. */
  forget(path: string): void {
    this.#slots[this.#slotOf(hashOf(path, multiplier), hashOf(path, otherMultiplier)) + 2] = 0
  }

  /** Where a path is, or has a place from now on. */
  #slotOf(first: number, second: number): number {
    const slots = this.#slots
    let at = first % (slots.length / 3) * 3
    for (; slots[at] !== 0; at = (at + 3) % slots.length) if (slots[at] === first && slots[at + 1] === second) return at
    slots[at] = first
    slots[at + 1] = second
    this.#used += 1
    return at
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    this.#used = 0
    for (let at = 0; at < before.length; at += 3) {
      if (before[at] !== 0) this.#slots[this.#slotOf(before[at]!, before[at + 1]!) + 2] = before[at + 2]!
    }
  }
}

/** Two that have nothing to do with each other: texts that one hash confuses the other does not. */
const multiplier = 0x9e3779b1
const otherMultiplier = 0x5f356495

/** 32 bits of a text, never 0. */
const hashOf = (text: string, multiplier: number): number => {
  let hash = multiplier
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), multiplier)
    hash ^= hash >>> 15
  }
  return hash >>> 0 || 1
}
