import type { BlockKind } from "../../domain/Document.ts"
import type { DocumentBuilder } from "./DocumentBuilder.ts"

/** Receives what the readers of office formats find, in reading order. */
export interface BlockSink {
  readonly add: (kind: Exclude<BlockKind, "pageBreak" | "list">, text: string, level?: number) => void
  /** One list item; `depth` counts from 0, `label` is the text before the item: `-`, `2.`, `a)`. */
  readonly item: (depth: number, label: string, text: string) => void
}

/** Writes to a document. Consecutive list items become one list block, and code lines one code block. */
export class BlockWriter implements BlockSink {
  readonly #builder: DocumentBuilder
  #run: { readonly kind: "list" | "code"; readonly lines: Array<string> } | undefined

  constructor(builder: DocumentBuilder) {
    this.#builder = builder
  }

  /** Puts the following blocks on this 1-based page, slide or sheet. */
  page(page: number): void {
    this.end()
    this.#builder.page(page)
  }

  add(kind: Exclude<BlockKind, "pageBreak" | "list">, text: string, level?: number): void {
    if (kind === "code") {
      this.#line(kind, text)
    } else {
      this.end()
      this.#builder.add(kind, text, level)
    }
  }

  item(depth: number, label: string, text: string): void {
    if (text.trim() === "") return
    const indent = "  ".repeat(Math.min(8, depth))
    this.#line("list", `${indent}${label === "" ? "-" : label} ${oneLine(text)}`)
  }

  /** Closes an open list or code block. Call it after the last block. */
  end(): void {
    if (this.#run === undefined) return
    const { kind, lines } = this.#run
    this.#run = undefined
    this.#builder.add(kind, lines.join("\n"))
  }

  #line(kind: "list" | "code", line: string): void {
    if (this.#run?.kind !== kind) {
      this.end()
      this.#run = { kind, lines: [] }
    }
    this.#run.lines.push(line)
  }
}

/** Keeps blocks until their place is known: text boxes and notes inside a paragraph. */
export class BlockBuffer implements BlockSink {
  readonly #replay: Array<(sink: BlockSink) => void> = []

  add(kind: Exclude<BlockKind, "pageBreak" | "list">, text: string, level?: number): void {
    this.#replay.push((sink) => sink.add(kind, text, level))
  }

  item(depth: number, label: string, text: string): void {
    this.#replay.push((sink) => sink.item(depth, label, text))
  }

  /** Moves the kept blocks to another sink. */
  moveTo(sink: BlockSink): void {
    for (const replay of this.#replay.splice(0)) replay(sink)
  }
}

/** Flattens blocks to the text of one table cell. */
export class CellText implements BlockSink {
  readonly #parts: Array<string> = []

  add(kind: string, text: string): void {
    this.#parts.push(kind === "table" ? text.replaceAll(" | ", " ") : text)
  }

  item(_depth: number, label: string, text: string): void {
    this.#parts.push(label === "" || label === "-" ? text : `${label} ${text}`)
  }

  get text(): string {
    return oneLine(this.#parts.join(" "))
  }
}

/** Writes to another sink, with a prefix before the first text. */
export const withPrefix = (prefix: string, sink: BlockSink): BlockSink => {
  let pending = prefix
  const take = (text: string): string => {
    if (text.trim() === "") return text
    const whole = pending + text.trimStart()
    pending = ""
    return whole
  }
  return {
    add: (kind, text, level) => sink.add(kind, take(text), level),
    item: (depth, label, text) => sink.item(depth, label, take(text))
  }
}

/** A table row as a line. Empty cells keep their place, except at the end. */
export const rowLine = (cells: ReadonlyArray<string>): string => {
  let last = cells.length
  while (last > 0 && cells[last - 1] === "") last--
  return cells.slice(0, last).join(" | ")
}

/** Replaces every run of white space by a single space. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
