import type { Token } from "markdown-it"
import { BlockWriter, oneLine, rowLine } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"
import { htmlBlocks } from "../Html.ts"
import { withoutComponents } from "./Components.ts"
import { withoutRoles } from "./Directives.ts"
import { isTemplateTag, markdown, maxNesting, withPlainTargets, writtenIn } from "./MarkdownLibrary.ts"

/** Characters that a text without marks does not have. */
const marks = /[\\`*_[<&~]/

/** Boxes of site generators, of which only the title is text: `:::tip Title`, `!!! note "Title"`, `[!NOTE]`. */
const admonition = /^(?::{3,}|!!!|\?\?\?\+?)[ \t]*(?:\{[^}]*\}|[\w-]+)?[ \t]*"?(.*?)"?$|^\[!\w+\][+-]?[ \t]*(.*)$/

/** The name and the classes of a heading, as Pandoc and kramdown have them: `{#name .wide}`. */
const attributes = /\{:? ?[#.][\w-][^{}\n]{0,200}\}$/

/** Lines of MDX that are code of the page. */
const mdxCode = /^(?:import|export)\s.*(?:from|=|\{|["'])/

/** UTF-16 units after which a long text is cut at the next heading: the library keeps all tokens of a part in memory. */
const partLength = 2_000_000

const partsOf = (source: string): Array<string> => {
  const parts: Array<string> = []
  const heading = /\n\n(?=#{1,6} )/g
  let start = 0
  let fences = 0
  let counted = 0
  while (source.length - start > partLength) {
    heading.lastIndex = Math.max(start + partLength, counted)
    const found = heading.exec(source)
    if (found === null) break
    fences += source.slice(counted, found.index).match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0
    counted = found.index + 2
    // A line in a code block is not a heading.
    if (fences % 2 === 1) continue
    parts.push(source.slice(start, counted))
    start = counted
  }
  return [...parts, source.slice(start)]
}

interface List {
  readonly ordered: boolean
}

/** Reads the blocks of CommonMark with GitHub's tables and strike-throughs. */
export class MarkdownBlocks {
  #source: string
  #tokens: ReadonlyArray<Token>
  readonly #parts: ReadonlyArray<string>
  /** The link definitions of all parts so far. */
  readonly #env: Record<string, unknown> = {}
  readonly #builder: DocumentBuilder
  readonly #writer: BlockWriter
  readonly #mdx: boolean
  readonly #lists: Array<List> = []
  /** The label of an item whose first paragraph has not come yet. */
  #label: string | undefined
  /** The term whose definition has not come yet. */
  #term: string | undefined
  #lines: ReadonlyArray<string> | undefined
  #firstHeading: string | undefined

  /** `source` has `\n` line ends. */
  constructor(source: string, builder: DocumentBuilder, options: { readonly mdx?: boolean } = {}) {
    const [first = "", ...others] = partsOf(withoutComponents(source))
    this.#source = first
    this.#parts = others
    this.#tokens = markdown.parse(first, this.#env)
    this.#builder = builder
    this.#writer = new BlockWriter(builder)
    this.#mdx = options.mdx ?? false
  }

  /** Whether a heading of the first level stands at the start. */
  get hasTitle(): boolean {
    for (const { content, map, tag, type } of this.#tokens) {
      if ((map?.[0] ?? 0) > 50) return false
      if ((type === "heading_open" && tag === "h1") || (type === "html_block" && /^<h1[\s>]/i.test(content))) return true
    }
    return false
  }

  /** Writes all blocks; returns the first heading. */
  read(): string | undefined {
    this.#blocks()
    for (const part of this.#parts) {
      this.#source = part
      this.#lines = undefined
      this.#tokens = markdown.parse(part, this.#env)
      this.#blocks()
    }
    this.#writer.end()
    return this.#firstHeading
  }

  #blocks(): void {
    for (let at = 0; at < this.#tokens.length; at++) at = this.#block(at)
  }

  /** Reads the block that starts at a token; returns the block's last token. */
  #block(at: number): number {
    const token = this.#tokens[at]!
    if (token.nesting === 1 && token.level >= maxNesting - 1) return this.#tooDeep(at)
    switch (token.type) {
      case "heading_open":
        this.#heading(this.#tokens[at + 1]?.content ?? "", Number(token.tag.slice(1)))
        return at + 2
      case "inline":
        this.#paragraph(token.content, this.#tokens[at + 2]?.type === "dd_open")
        return at
      case "bullet_list_open":
      case "ordered_list_open":
        this.#lists.push({ ordered: token.type === "ordered_list_open" })
        return at
      case "bullet_list_close":
      case "ordered_list_close":
        this.#lists.pop()
        return at
      case "list_item_open":
        this.#label = this.#lists.at(-1)?.ordered === true ? `${token.info}${token.markup}` : "-"
        return at
      case "list_item_close":
        this.#label = undefined
        return at
      case "fence":
      case "code_block":
        this.#label = undefined
        this.#writer.add("code", token.content)
        // Two adjacent code blocks stay two.
        this.#writer.end()
        return at
      case "table_open":
        this.#label = undefined
        return this.#table(at)
      case "html_block":
        this.#label = undefined
        this.#html(token.content)
        return at
      default:
        return at
    }
  }

  #heading(source: string, level: number): void {
    const heading = oneLine(this.#inline(source.replace(attributes, "").trim()))
    this.#label = undefined
    this.#firstHeading ??= heading
    this.#writer.add("heading", heading, level)
  }

  #paragraph(source: string, isDefined: boolean): void {
    const above = this.#term === undefined ? "" : `${this.#term}\n`
    const text = above + this.#inline(this.#withoutMarkers(source))
    this.#term = undefined
    if (isDefined && this.#label === undefined && !text.includes("\n")) {
      this.#term = text
      return
    }
    if (this.#label === undefined) this.#writer.add("paragraph", text)
    else this.#writer.item(this.#lists.length - 1, this.#label, text)
    this.#label = undefined
  }

  #withoutMarkers(source: string): string {
    if (!this.#mdx && !/^(?::::|!!!|\?\?\?|\[!|\{[%{:]|\[\[?_?toc)/im.test(source)) return source
    const lines: Array<string> = []
    let code = this.#mdx
    for (const line of source.split("\n")) {
      code = code && mdxCode.test(line)
      if (code) continue
      if (isTemplateTag(line)) {
        lines.push(...writtenIn(line))
        continue
      }
      const box = line.length > 300 ? null : admonition.exec(line)
      if (box === null) lines.push(line)
      else if ((box[1] ?? box[2] ?? "") !== "") lines.push((box[1] ?? box[2])!)
    }
    return lines.join("\n")
  }

  #table(from: number): number {
    const rows: Array<ReadonlyArray<string>> = []
    let row: Array<string> = []
    let line: number | undefined
    let at = from + 1
    for (; this.#tokens[at]!.type !== "table_close"; at++) {
      const { content, map, type } = this.#tokens[at]!
      if (type === "tr_open") {
        row = []
        line = map?.[0]
      } else if (type === "inline") row.push(content)
      else if (type === "tr_close") {
        // GitHub does not show cells beyond the columns of the header; here they are text too.
        const cells = rows.length > 0 && line !== undefined ? [...row, ...this.#cells(line).slice(row.length)] : row
        rows.push(cells.map((cell) => oneLine(this.#inline(cell))))
      }
    }
    this.#writer.add("table", rows.map(rowLine).join("\n"))
    return at
  }

  /** The cells of a line of the source. */
  #cells(line: number): ReadonlyArray<string> {
    this.#lines ??= this.#source.split("\n")
    return (this.#lines[line] ?? "").replace(/^[\s>]+/, "").trim()
      .replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"))
  }

  #html(source: string): void {
    if (!/[^<>\s]/.test(source.replace(/<[^<>]*>/g, "")) && !/\balt=/i.test(source)) return
    this.#writer.end()
    const facts = htmlBlocks(source, this.#builder)
    this.#firstHeading ??= facts.title
  }

  /** Writes blocks that are nested too deeply as plain lines. Returns the token that closes them. */
  #tooDeep(at: number): number {
    const { level, map } = this.#tokens[at]!
    this.#lines ??= this.#source.split("\n")
    const lines = map === null ? [] : this.#lines.slice(map[0], map[1])
    this.#writer.add("paragraph", lines.map((line) => line.replace(/^(?:\s|>|[-*+]\s)+/, "")).join("\n"))
    let end = at + 1
    while (end < this.#tokens.length - 1 && this.#tokens[end]!.level > level) end++
    return end
  }

  #inline(source: string): string {
    return marks.test(source)
      ? inlineText(withPlainTargets(withoutRoles(source)), this.#env)
      : source.includes("\n")
      ? source.replace(/[ \t]*\n[ \t]*/g, "\n")
      : source
  }
}

/** Inline markup reduced to what a reader sees: link texts without targets, descriptions of pictures, code without marks. */
const inlineText = (source: string, env: Record<string, unknown>): string => {
  const tokens: Array<Token> = []
  markdown.inline.parse(source, markdown, env, tokens)
  return textOf(tokens)
}

const textOf = (tokens: ReadonlyArray<Token>): string => {
  let text = ""
  for (const { children, content, type } of tokens) {
    switch (type) {
      case "softbreak":
      case "hardbreak":
        text += "\n"
        break
      case "image":
        text += textOf(children ?? [])
        break
      case "html_inline":
        if (/^<br/i.test(content)) text += "\n"
        else if (/^<img/i.test(content)) text += /\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(content)?.slice(1).join("") ?? ""
        break
      default:
        text += content
    }
  }
  return text
}
