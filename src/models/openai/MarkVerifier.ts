import type { Citation, Support } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { citationOf } from "../Citations.ts"
import { Alignment, findQuote, findSupport } from "../EvidenceSpan.ts"

/** A mark as models write it: `[2]`, `[2 "quoted words"]`, `[1, 3]`, `【2】`. */
const markPattern = /^[[【]\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*(?::\s*)?(?:["“„«'](.*?)["”“»']\s*)?[\]】]/su
/** Text that may still become a mark. */
const openMark = /^[[【](?:\s*(?:\d[\d\s,;:]*(?:["“„«'].*)?)?)?$/su
/** Most UTF-16 units of a mark; if it has not closed by then, it is text. */
const maxMark = 1200

/** Most UTF-16 units of a sentence; a longer stretch without an end is treated as one. */
const maxSentence = 4_000

/** Printed after a sentence that the contexts do not support. */
const unverifiedMark = "[unverified]"

/**
 * Reads an answer as it arrives and passes on only what can be relied on: each mark is held back until it is complete, checked against the
 * context it names, and printed as the number of a citation whose quote stands in that context word for word. Marks that name no context,
 * or one that does not support the statement, are removed. A sentence left without a mark is aligned with the contexts: it is cited where
 * one of them says the same, and marked as unverified where none does.
 *
 * Nothing is passed on before the first verified sentence: what an ungrounded model says is never shown as an answer.
 */
export class MarkVerifier {
  readonly #contexts: ReadonlyArray<Context>
  readonly #alignment: Alignment
  readonly citations: Array<Citation> = []
  readonly supports: Array<Support> = []
  /** The answer so far, as printed: whole statements. */
  text = ""
  /** The model's own words, without any marks. */
  words = ""
  /** Numbers of removed marks: those of contexts that do not exist, and those of contexts that do not support the statement. */
  readonly removed = { unknown: 0, unsupported: 0 }
  /** Raw text that is not yet decided: it may be the start of a mark. */
  #pending = ""
  /** The current sentence, whose mark may still come. */
  #open = ""
  /** How much of `text` has been returned. */
  #shown = 0

  constructor(contexts: ReadonlyArray<Context>, question: string) {
    this.#contexts = contexts
    this.#alignment = new Alignment(contexts, question)
  }

  get grounded(): boolean {
    return this.citations.length > 0
  }

  /** Whether the model said that the contexts contain no answer, or said nothing. */
  get refused(): boolean {
    const words = this.words.trim()
    return !/[\p{L}\p{N}]/u.test(words) || refusals.test(words)
  }

  /** Adds a piece of the model's text and returns what can be printed now. */
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

  /** Ends the text, and returns what was held back. */
  finish(): string {
    this.#write(this.#pending)
    this.#pending = ""
    this.#settle(sentencesOf(this.#open))
    this.text = this.text.trimEnd()
    return this.#show()
  }

  #show(): string {
    if (!this.grounded) return ""
    const shown = this.text.slice(this.#shown)
    this.#shown = this.text.length
    return shown
  }

  /** Adds plain text. A sentence that is followed by another is complete, and no mark of its own can follow. */
  #write(text: string): void {
    this.#open += text
    this.words += text
    const sentences = sentencesOf(this.#open)
    this.#settle(this.#open.length > maxSentence ? sentences : sentences.slice(0, -1))
  }

  /**
   * Prints sentences at the start of the open text, each with the evidence found for it. If these are all sentences, the rest of the text
   * too.
   */
  #settle(sentences: ReadonlyArray<Sentence>): void {
    const last = sentences.at(-1)
    const rest = last === undefined || last.next >= this.#open.length ? "" : this.#open.slice(last.next)
    const settled = rest === "" ? this.#open : this.#open.slice(0, last?.next)
    if (sentences.length === 0 && sentencesOf(settled).length > 0) return
    let from = 0
    for (const { end, start } of sentences) {
      const statement = settled.slice(start, end)
      const bare = statement.replace(/[\s.?!:;…。！？"'”’)*_]+$/u, "")
      const found = this.#alignment.find(statement)
      this.text += settled.slice(from, start)
      const at = this.text.length
      this.text += bare
      const citation = found === undefined ? undefined : this.#cite(found.context, found.start, found.end)
      this.supports.push({
        start: at,
        end: this.text.length,
        citations: citation === undefined ? [] : [citation],
        confidence: found?.confidence ?? 0
      })
      if (citation !== undefined) this.text += ` [${citation}]`
      else if (this.#alignment.hasSubstance(statement)) this.text += ` ${unverifiedMark}`
      from = start + bare.length
    }
    this.text += settled.slice(from)
    this.#open = rest
  }

  #mark(numbers: ReadonlyArray<number>, quote: string | undefined): void {
    const sentence = sentencesOf(this.#open).at(-1)
    const statement = sentence === undefined ? "" : this.#open.slice(sentence.start, sentence.end)
    const marks: Array<number> = []
    let confidence = 0
    for (const number of numbers) {
      const context = this.#contexts[number - 1]
      if (context === undefined) {
        this.removed.unknown++
        continue
      }
      const span = (quote === undefined ? undefined : findQuote(context, quote)) ?? findSupport(context, statement)
      if (span === undefined) {
        this.removed.unsupported++
        continue
      }
      marks.push(this.#cite(context, span.start, span.end))
      confidence = Math.max(confidence, span.confidence)
    }
    if (marks.length === 0) {
      // The blank before a removed mark would stand before the full stop.
      this.#open = this.#open.trimEnd()
      return
    }
    const previous = this.supports.at(-1)
    if (sentence !== undefined) {
      const at = this.text.length
      this.supports.push({ start: at + sentence.start, end: at + sentence.end, citations: [...new Set(marks)], confidence })
    } else if (previous !== undefined) {
      // A further mark on the same statement: `[1][2]`.
      this.supports[this.supports.length - 1] = {
        ...previous,
        citations: [...new Set([...previous.citations, ...marks])],
        confidence: Math.max(previous.confidence ?? 0, confidence)
      }
    }
    this.text += this.#open + marks.map((mark) => `[${mark}]`).join("")
    this.#open = ""
  }

  #cite(context: Context, start: number, end: number): number {
    const quote = context.text.slice(start, end)
    const known = this.citations.find((each) => each.chunkId === context.chunkId && each.quote === quote)
    if (known !== undefined) return known.index
    this.citations.push(citationOf(this.citations.length + 1, context, start, end))
    return this.citations.length
  }
}

/** How models say that the contexts contain no answer, starting with the form they are asked for. */
const refusals =
  /^["'*]*(?:no answer\b[.!"'*]*$|i (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:know|find|answer|determine)\b|(?:unfortunately, )?(?:the|none of the|there is nothing in the) (?:\w+ )?(?:contexts?|documents?|sources?|texts?|passages?|information|corpus)(?: \w+)? (?:do(?:es)? not|don['’]t|doesn['’]t)\b)/iu

interface Sentence {
  /** Start of the words, without the blanks around them. */
  readonly start: number
  readonly end: number
  /** Where the next sentence may start. */
  readonly next: number
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

/** Sentences of `text` that contain a word. */
const sentencesOf = (text: string): Array<Sentence> => {
  const found: Array<Sentence> = []
  for (const { segment, index } of segmenter.segment(text)) {
    const body = segment.trim().replace(/^[.,;:!?\s]+/, "")
    if (!/[\p{L}\p{N}]/u.test(body)) continue
    const start = index + segment.indexOf(body)
    found.push({ start, end: start + body.length, next: index + segment.length })
  }
  return found
}
