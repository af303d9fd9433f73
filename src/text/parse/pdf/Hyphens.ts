/** Words that a line end cuts: the vocabulary of the document itself says whether the hyphen belongs to the word. */
export class Hyphens {
  readonly #words = new Set<string>()

  /** Most words kept; what comes later is judged by the first ones. */
  static readonly #most = 200_000

  learn(text: string): void {
    // A word at a cut is no witness.
    const whole = text.replace(cut, " ")
    for (const [word] of whole.matchAll(/\p{L}+(?:-\p{L}+)*/gu)) {
      if (this.#words.size >= Hyphens.#most) return
      this.#words.add(word.toLowerCase())
    }
  }

  /** A text whose cut words are whole again. */
  join(text: string): string {
    return text.replace(
      cut,
      (_, first: string, second: string, rest: string) => `${this.#isCompound(first, second) ? `${first}-` : first}${second}${rest}\n`
    )
  }

  /** Puts the hyphen back where a reader of layouts took it out of a compound; `plain` has the line ends. */
  mend(text: string, plain: string): string {
    let mended = text
    for (const [, first = "", second = ""] of plain.matchAll(cut)) {
      if (!this.#isCompound(first, second)) continue
      const at = mended.indexOf(first + second)
      if (at >= 0) mended = `${mended.slice(0, at + first.length)}-${mended.slice(at + first.length)}`
    }
    return mended
  }

  /**
   * A compound where the document has it with its hyphen, or has both parts and never the joined word. A part in
   * lower case after a cut in a word that is known nowhere is the rest of that word.
   */
  #isCompound(first: string, second: string): boolean {
    const [a, b] = [first.toLowerCase(), second.toLowerCase()]
    if (this.#words.has(`${a}-${b}`)) return true
    if (this.#words.has(a + b)) return false
    return /^\p{Lu}/u.test(second) || (this.#words.has(a) && this.#words.has(b))
  }
}

/**
 * The parts of a word on both sides of a line end, hyphen between, and what follows without a blank. The look-behind tries
 * a word from its first letter only.
 */
const cut = /(?<!\p{L})(\p{L}+)-\n[ \t]*(\p{L}+)(\S*)[ \t]*/gu
