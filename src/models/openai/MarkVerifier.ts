import type { Citation, Support } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { citationOf } from "../Citations.ts"
import { findQuote, findSupport } from "../EvidenceSpan.ts"

/** A mark as models write it: `[2]`, `[2 "quoted words"]`, `[1, 3]`, `【2】`. */
const markPattern = /^[[【]\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*(?::\s*)?(?:["“„«'](.*?)["”“»']\s*)?[\]】]/su
/** What may still become one. */
const openMark = /^[[【](?:\s*(?:\d[\d\s,;:]*(?:["“„«'].*)?)?)?$/su
/** A mark that has not closed by then is text. */
const maxMark = 1200

/**
 * Reads an answer as it comes and lets through only what can be relied on: each mark is held until it is whole, checked
 * against the context it names, and printed again as the number of a citation whose quote stands in that context to the
 * letter. Marks that name no context, or one that does not support the statement, vanish.
 *
 * Nothing is let through before the first verified mark: what an ungrounded model says is never shown.
 */
export class MarkVerifier {
  readonly #contexts: ReadonlyArray<Context>
  readonly citations: Array<Citation> = []
  readonly supports: Array<Support> = []
  /** The answer so far, as printed. */
  text = ""
  /** Marks taken out: of contexts that do not exist, and of those that do not support the statement. */
  readonly removed = { unknown: 0, unsupported: 0 }
  /** Raw text not yet decided upon: it may be the beginning of a mark. */
  #pending = ""
  /** How much of `text` was given out. */
  #shown = 0
  /** Where in `text` the statement under way begins. */
  #statement = 0

  constructor(contexts: ReadonlyArray<Context>) {
    this.#contexts = contexts
  }

  get grounded(): boolean {
    return this.citations.length > 0
  }

  /** Takes a piece of the model's text and gives what can be printed now. */
  push(piece: string): string {
    this.#pending += piece
    for (;;) {
      const at = this.#pending.search(/[[【]/)
      if (at === -1) {
        this.#write(this.#pending)
        this.#pending = ""
        break
      }
      this.#write(this.#pending.slice(0, at))
      this.#pending = this.#pending.slice(at)
      const mark = markPattern.exec(this.#pending)
      if (mark !== null) {
        this.#pending = this.#pending.slice(mark[0].length)
        this.#mark(mark[1]!.split(/[,;]/).map(Number), mark[2])
      } else if (openMark.test(this.#pending) && this.#pending.length <= maxMark) {
        break
      } else {
        this.#write(this.#pending[0]!)
        this.#pending = this.#pending.slice(1)
      }
    }
    return this.#show()
  }

  /** No more text will come: gives what was held back. */
  finish(): string {
    this.#write(this.#pending)
    this.#pending = ""
    this.text = this.text.trimEnd()
    this.#closeStatement([], 0)
    return this.#show()
  }

  #show(): string {
    if (!this.grounded) return ""
    const shown = this.text.slice(this.#shown)
    this.#shown = this.text.length
    return shown
  }

  #write(text: string): void {
    this.text += text
  }

  #mark(numbers: ReadonlyArray<number>, quote: string | undefined): void {
    const statement = this.#openStatement()
    const marks: Array<number> = []
    let confidence = 0
    for (const number of numbers) {
      const context = this.#contexts[number - 1]
      if (context === undefined) {
        this.removed.unknown++
        continue
      }
      const span = (quote === undefined ? undefined : findQuote(context, quote)) ?? findSupport(context, statement.text)
      if (span === undefined) {
        this.removed.unsupported++
        continue
      }
      marks.push(this.#cite(context, span.start, span.end))
      confidence = Math.max(confidence, span.confidence)
    }
    if (marks.length === 0) {
      // The blank before a mark that vanishes would stand before the full stop.
      if (this.#shown < this.text.length) this.text = this.text.trimEnd()
      return
    }
    this.#closeStatement(marks, confidence)
    this.text += marks.map((mark) => `[${mark}]`).join("")
    this.#statement = this.text.length
  }

  #cite(context: Context, start: number, end: number): number {
    const quote = context.text.slice(start, end)
    const known = this.citations.find((each) => each.chunkId === context.chunkId && each.quote === quote)
    if (known !== undefined) return known.index
    this.citations.push(citationOf(this.citations.length + 1, context, start, end))
    return this.citations.length
  }

  /** The last sentence since the mark before, and those before it, which have no mark of their own. */
  #openStatement(): { readonly start: number; readonly text: string } {
    const open = sentencesOf(this.text, this.#statement)
    const last = open.at(-1)
    return last === undefined ? { start: this.text.length, text: "" } : { start: last.start, text: this.text.slice(last.start, last.end) }
  }

  #closeStatement(marks: ReadonlyArray<number>, confidence: number): void {
    const open = sentencesOf(this.text, this.#statement)
    const previous = this.supports.at(-1)
    if (open.length === 0 && marks.length > 0 && previous !== undefined) {
      // A further mark on the same statement: `[1][2]`.
      this.supports[this.supports.length - 1] = {
        ...previous,
        citations: [...new Set([...previous.citations, ...marks])],
        confidence: Math.max(previous.confidence ?? 0, confidence)
      }
      return
    }
    open.forEach(({ start, end }, at) => {
      const marked = at === open.length - 1
      this.supports.push({ start, end, citations: marked ? [...new Set(marks)] : [], confidence: marked ? confidence : 0 })
    })
  }
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

/** Sentences of `text` from `from` on that have a word in them, without the blanks around. */
const sentencesOf = (text: string, from: number): Array<{ readonly start: number; readonly end: number }> => {
  const found: Array<{ start: number; end: number }> = []
  for (const { segment, index } of segmenter.segment(text.slice(from))) {
    const body = segment.trim().replace(/^[.,;:!?\s]+/, "")
    if (!/[\p{L}\p{N}]/u.test(body)) continue
    const start = from + index + segment.indexOf(body)
    found.push({ start, end: start + body.length })
  }
  return found
}
