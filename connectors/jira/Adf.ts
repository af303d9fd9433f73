import { Predicate } from "effect"
import { blockquote, blocks, capital, codeBlock, codeSpan, escapeText, heading, link, listItem, table } from "./Markdown.ts"

/** Deepest nesting that is read; no person writes deeper. */
const maxDepth = 64

type Node = Readonly<Record<string, unknown>>

/** An Atlassian Document Format document as Markdown. Unknown nodes show the text in them. */
export const adfToMarkdown = (document: unknown): string => Predicate.isObject(document) ? blocksOf(document as Node, 0) : "" // an object's keys are read one by one

const children = (node: Node): ReadonlyArray<Node> =>
  Array.isArray(node["content"]) ? node["content"].filter((child): child is Node => Predicate.isObject(child)) : []

/** A text or number among a node's attributes; "" where it is absent. */
const attribute = (node: Node, name: string): string => {
  const value: unknown = Predicate.isObject(node["attrs"]) ? Reflect.get(node["attrs"], name) : undefined
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : ""
}

const blocksOf = (node: Node, depth: number): string => blocks(blockList(children(node), depth + 1))

/** Blocks as Markdown; consecutive inline nodes make a paragraph. */
const blockList = (nodes: ReadonlyArray<Node>, depth: number): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let run: Array<Node> = []
  const flush = (): void => {
    if (run.length > 0) parts.push(inlines(run, depth))
    run = []
  }
  for (const node of nodes) {
    const text = depth > maxDepth ? "" : block(node, depth)
    if (text === undefined) run.push(node)
    else {
      flush()
      parts.push(text)
    }
  }
  flush()
  return parts
}

/** A block node as Markdown; undefined for an inline node. */
const block = (node: Node, depth: number): string | undefined => {
  switch (node["type"]) {
    case "paragraph":
    case "caption":
      return inlines(children(node), depth)
    case "heading":
      return heading(Number(attribute(node, "level")) || 1, inlines(children(node), depth))
    case "bulletList":
    case "decisionList":
      return children(node).map((item) => listItem("-", blocksOf(item, depth))).join("\n")
    case "orderedList": {
      const first = Number(attribute(node, "order")) || 1
      return children(node).map((item, index) => listItem(`${first + index}.`, blocksOf(item, depth))).join("\n")
    }
    case "taskList":
      return children(node).map((item) =>
        item["type"] === "taskList"
          ? (block(item, depth + 1) ?? "").replace(/^/gm, "  ")
          : listItem(`- [${attribute(item, "state") === "DONE" ? "x" : " "}]`, blocksOf(item, depth))
      ).join("\n")
    case "codeBlock":
      return codeBlock(children(node).map((child) => String(child["text"] ?? "")).join(""), attribute(node, "language"))
    case "blockquote":
      return blockquote(blocksOf(node, depth))
    case "panel":
      return blockquote(blocks([`**${capital(attribute(node, "panelType") || "note")}**`, blocksOf(node, depth)]))
    case "expand":
    case "nestedExpand":
      return blocks([attribute(node, "title") === "" ? "" : `**${escapeText(attribute(node, "title"))}**`, blocksOf(node, depth)])
    case "rule":
      return "---"
    case "table":
      return table(gridOf(children(node), (cell) => blocksOf(cell, depth + 1).replace(/\n+/g, " ")))
    case "mediaSingle":
    case "mediaGroup":
      return inlines(children(node), depth)
    case "blockCard":
    case "embedCard":
      return card(node)
    default:
      return children(node).length > 0 ? blocksOf(node, depth) : undefined
  }
}

/** The cells of rows, each in its column: a merged cell is followed, and has below it, empty ones. */
const gridOf = (rows: ReadonlyArray<Node>, textOf: (cell: Node) => string): ReadonlyArray<ReadonlyArray<string>> => {
  const span = (cell: Node, name: string): number => Math.min(100, Math.max(1, Math.trunc(Number(attribute(cell, name))) || 1))
  /** By column, how many more rows a merged cell reaches down. */
  const reaching: Array<number> = []
  return rows.map((row) => {
    const cells: Array<string> = []
    const skipMerged = (): void => {
      for (let left = reaching[cells.length] ?? 0; left > 0; left = reaching[cells.length] ?? 0) {
        reaching[cells.length] = left - 1
        cells.push("")
      }
    }
    for (const cell of children(row)) {
      skipMerged()
      for (let column = 0; column < span(cell, "colspan"); column++) {
        reaching[cells.length] = span(cell, "rowspan") - 1
        cells.push(column === 0 ? textOf(cell) : "")
      }
    }
    skipMerged()
    return cells
  })
}

const inlines = (nodes: ReadonlyArray<Node>, depth: number): string => nodes.map((node) => inline(node, depth)).join("").trim()

const inline = (node: Node, depth: number): string => {
  switch (node["type"]) {
    case "text":
      return marked(node)
    case "hardBreak":
      return "\\\n"
    case "mention":
      return escapeText(`@${(attribute(node, "text") || attribute(node, "id")).replace(/^@/, "")}`)
    case "emoji":
      return attribute(node, "text") || attribute(node, "shortName")
    case "status":
      return `[${escapeText(attribute(node, "text"))}]`
    case "date": {
      const date = new Date(Number(attribute(node, "timestamp")))
      return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
    }
    case "inlineCard":
      return card(node)
    case "media":
    case "mediaInline": {
      const name = attribute(node, "alt") || attribute(node, "__fileName")
      return node["type"] === "media" && attribute(node, "type") === "external"
        ? link(escapeText(name), attribute(node, "url"))
        : `[Attachment${name === "" ? "" : `: ${escapeText(name)}`}]`
    }
    default:
      // A macro of an app has its words as a text for those who lack the app.
      return depth > maxDepth ? "" : block(node, depth + 1) ?? escapeText(attribute(node, "text"))
  }
}

/** A link by its address, or by the linked data that came instead. */
const card = (node: Node): string => {
  const data = { attrs: Predicate.hasProperty(node["attrs"], "data") ? node["attrs"].data : undefined }
  return link(escapeText(attribute(data, "name")), attribute(node, "url") || attribute(data, "url"))
}

/** Text with its marks as Markdown. Spaces at its ends are moved outside, since Markdown would not recognise the marks otherwise. */
const marked = (node: Node): string => {
  const text = String(node["text"] ?? "")
  const marks = Array.isArray(node["marks"]) ? node["marks"].filter((mark): mark is Node => Predicate.isObject(mark)) : []
  const has = (type: string): Node | undefined => marks.find((mark) => mark["type"] === type)
  const [, before = "", core = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
  if (core === "") return text
  let out = has("code") === undefined ? escapeText(core) : codeSpan(core)
  if (has("strike") !== undefined) out = `~~${out}~~`
  if (has("em") !== undefined) out = `*${out}*`
  if (has("strong") !== undefined) out = `**${out}**`
  const href = has("link")
  return `${before}${href === undefined ? out : link(out, attribute(href, "href"))}${after}`
}
