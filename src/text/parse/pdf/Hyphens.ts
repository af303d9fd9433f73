/** Joins words that a line end cuts: the vocabulary of the document itself shows whether the hyphen belongs to the word. */
export class Hyphens {
  readonly #words = new Set<string>()

  /** Most words kept; later text is judged by the first ones. */
  static readonly #most = 200_000

  learn(text: string): void {
    // A word at a cut proves nothing.
    const whole = text.replace(cut, " ")
    for (const [word] of whole.matchAll(/\p{L}+(?:-\p{L}+)*/gu)) {
      if (this.#words.size >= Hyphens.#most) return
      this.#words.add(word.toLowerCase())
    }
  }

  /** A text with its cut words joined. */
  join(text: string): string {
    return text.replace(
      cut,
      (_, first: string, second: string, rest: string) => `${this.#isCompound(first, second) ? `${first}-` : first}${second}${rest}\n`
    )
  }

  /** Puts the hyphen back where the layout parser removed it from a compound; `plain` has the line ends. */
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
   * Whether two parts are a compound: the document has it with its hyphen, or has both parts and never the joined word. After a cut, a
   * lower-case part of a word that is known nowhere is the rest of that word.
   */
  #isCompound(first: string, second: string): boolean {
    const [a, b] = [first.toLowerCase(), second.toLowerCase()]
    if (this.#words.has(`${a}-${b}`)) return true
    if (this.#words.has(a + b)) return false
    return /^\p{Lu}/u.test(second) || (this.#words.has(a) && this.#words.has(b))
  }
}

/**
 * A word cut by a line end, as its two parts, and what follows without a blank. The look-behind tries a word from its first letter only.
 */
const cut = /(?<!\p{L})(\p{L}+)-\n[ \t]*(\p{L}+)(\S*)[ \t]*/gu
