import { decodeHTML } from "entities"

interface Run {
  /** Where in the output the run stands, and how many of its characters are still unpaired. */
  readonly at: number
  left: number
}

const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/iy
const autolink = /<([a-z][a-z\d+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/iy
const tag = /<(?:\/?[a-z][\w-]*(?:\s[^<>]*)?\/?|!--[^<>]*--)>/iy
const target = /\(\s*(?:<[^<>\n]{0,2000}>|(?:[^\s()\\]|\\.|\([^\s()]{0,500}\)){0,2000})(?:\s+(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^()]{0,1000}\)))?\s*\)/y
const label = /\[([^[\]]{0,999})\]/y
const special = /[\\`*_[\]<&~!]/g
const punctuation = /[!-/:-@[-`{-~]/
const wordCharacter = /[\p{L}\p{N}]/u

/**
 * Markdown's inline markup reduced to what a reader sees: link texts without targets, image descriptions, code and
 * emphasis without their marks. One pass, linear in the length.
 *
 * @param labels link definitions of the document, in lower case: `[text][label]` is a link only with one
 */
export const inlineText = (source: string, labels: ReadonlySet<string>): string => {
  special.lastIndex = 0
  const first = special.exec(source)
  return first === null ? source : new InlineScanner(source, labels).scan(first.index)
}

class InlineScanner {
  readonly #source: string
  readonly #labels: ReadonlySet<string>
  readonly #out: Array<string> = []
  readonly #brackets: Array<{ readonly at: number; readonly start: number }> = []
  readonly #runs = new Map<string, Array<Run>>()
  /** Lengths of backtick runs that are known to have no partner further on. */
  readonly #unclosed = new Set<number>()
  #at = 0

  constructor(source: string, labels: ReadonlySet<string>) {
    this.#source = source
    this.#labels = labels
  }

  scan(first: number): string {
    const source = this.#source
    let plain = 0
    this.#at = first
    while (this.#at < source.length) {
      special.lastIndex = this.#at
      const found = special.exec(source)
      if (found === null) break
      this.#at = found.index
      if (found.index > plain) this.#out.push(source.slice(plain, found.index))
      this.#special(found[0])
      plain = this.#at
    }
    this.#out.push(source.slice(plain))
    return this.#out.join("")
  }

  #special(mark: string): void {
    switch (mark) {
      case "\\":
        this.#escape()
        break
      case "`":
        this.#code()
        break
      case "<":
        this.#angle()
        break
      case "&":
        this.#take(entity, ([text]) => decodeHTML(text))
        break
      case "!":
        if (this.#source[this.#at + 1] === "[") this.#at++
        else this.#literal(1)
        break
      case "[":
        this.#brackets.push({ at: this.#out.length, start: this.#at + 1 })
        this.#literal(1)
        break
      case "]":
        this.#closeBracket()
        break
      default:
        this.#emphasis(mark)
    }
  }

  #literal(length: number): void {
    this.#out.push(this.#source.slice(this.#at, this.#at + length))
    this.#at += length
  }

  /** Replaces what `pattern` matches here; else the one character stands for itself. */
  #take(pattern: RegExp, text: (match: RegExpExecArray) => string): boolean {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#source)
    if (match === null) {
      this.#literal(1)
      return false
    }
    this.#out.push(text(match))
    this.#at += match[0].length
    return true
  }

  #escape(): void {
    const next = this.#source[this.#at + 1] ?? ""
    if (next === "\n") this.#at++
    else if (punctuation.test(next)) {
      this.#at++
      this.#literal(1)
    } else this.#literal(1)
  }

  #runLength(): number {
    const mark = this.#source[this.#at]
    let end = this.#at + 1
    while (this.#source[end] === mark) end++
    return end - this.#at
  }

  #code(): void {
    const length = this.#runLength()
    const from = this.#at + length
    const close = this.#unclosed.has(length) ? -1 : this.#closingTicks(from, length)
    if (close < 0) {
      this.#unclosed.add(length)
      this.#literal(length)
      return
    }
    const code = this.#source.slice(from, close)
    this.#out.push(code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "" ? code.slice(1, -1) : code)
    this.#at = close + length
  }

  #closingTicks(from: number, length: number): number {
    const ticks = "`".repeat(length)
    for (let at = this.#source.indexOf(ticks, from); at >= 0; ) {
      let end = at + length
      while (this.#source[end] === "`") end++
      if (end === at + length) return at
      at = this.#source.indexOf(ticks, end)
    }
    return -1
  }

  #angle(): void {
    autolink.lastIndex = this.#at
    if (autolink.test(this.#source)) this.#take(autolink, ([, url]) => url ?? "")
    else this.#take(tag, ([text]) => /^<br/i.test(text) ? "\n" : "")
  }

  #closeBracket(): void {
    const opened = this.#brackets.pop()
    if (opened === undefined) {
      this.#literal(1)
      return
    }
    const inside = this.#source.slice(opened.start, this.#at).slice(0, 1000)
    target.lastIndex = this.#at + 1
    const inline = target.exec(this.#source)
    label.lastIndex = this.#at + 1
    const reference = inline === null ? label.exec(this.#source) : null
    const named = reference?.[1] === "" ? inside : reference?.[1]
    if (inline !== null) this.#link(opened.at, inline[0].length)
    else if (reference !== null && this.#isDefined(named ?? "")) this.#link(opened.at, reference[0].length)
    else if (this.#isDefined(inside)) this.#link(opened.at, 0)
    else this.#literal(1)
  }

  #isDefined(name: string): boolean {
    return this.#labels.size > 0 && this.#labels.has(normalLabel(name))
  }

  #link(open: number, skip: number): void {
    this.#out[open] = ""
    this.#at += 1 + skip
  }

  /** Emphasis opens before a character and closes after one; an underscore inside a word is neither. */
  #emphasis(mark: string): void {
    const length = this.#runLength()
    const before = this.#source[this.#at - 1] ?? " "
    const after = this.#source[this.#at + length] ?? " "
    const inWord = mark === "_" && wordCharacter.test(before) && wordCharacter.test(after)
    if (inWord || (mark === "~" && length !== 2)) {
      this.#literal(length)
      return
    }
    const run: Run = { at: this.#out.length, left: length }
    this.#out.push("")
    this.#at += length
    let runs = this.#runs.get(mark)
    if (runs === undefined) this.#runs.set(mark, runs = [])
    if (!/\s/.test(before)) this.#closeRuns(mark, run, runs)
    if (!/\s/.test(after) && run.left > 0) runs.push(run)
    this.#out[run.at] = mark.repeat(run.left)
  }

  #closeRuns(mark: string, run: Run, open: Array<Run>): void {
    while (run.left > 0) {
      const last = open.at(-1)
      if (last === undefined) return
      const paired = Math.min(last.left, run.left)
      last.left -= paired
      run.left -= paired
      this.#out[last.at] = mark.repeat(last.left)
      if (last.left === 0) open.pop()
    }
  }
}

/** Labels are compared without regard to case and white space. */
export const normalLabel = (name: string): string => name.trim().replace(/\s+/g, " ").toLowerCase()
