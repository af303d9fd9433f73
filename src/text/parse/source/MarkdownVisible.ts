import type { Token } from "markdown-it"
import { withoutComponents } from "../markdown/Components.ts"
import { frontMatter } from "../markdown/FrontMatter.ts"
import { isTemplateTag, markdown, withPlainTargets, writtenIn } from "../markdown/MarkdownLibrary.ts"
import { htmlVisible } from "./HtmlVisible.ts"
import { Visible } from "./Visible.ts"

/** The visible text of Markdown. `source` has `\n` line ends. */
export const markdownVisible = (source: string): Visible => {
  const visible = new Visible()
  const { end } = frontMatter(source)
  visible.verbatim(source, 0, end)
  visible.gap()
  const env: Record<string, unknown> = {}
  const tokens = markdown.parse(withoutComponents(source.slice(end)), env)
  const starts = [end]
  for (let at = source.indexOf("\n", end); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1)
  const lineAt = (line: number): string => source.slice(starts[line], (starts[line + 1] ?? source.length + 1) - 1)
  let row = 0
  let cell = 0
  for (const { content, map, type } of tokens) {
    switch (type) {
      case "tr_open":
        row = map?.[0] ?? row
        cell = 0
        break
      case "inline": {
        if (map !== null) {
          inline(withoutTemplates(content), placesOf(content, map[0], lineAt, starts), source, env, visible)
        } else {
          // The library gives cells no position, and removes the escapes of their bars.
          const line = lineAt(row)
          const written = content.replaceAll("|", "\\|")
          const at = line.indexOf(written, cell)
          if (at === -1) break
          cell = at + written.length
          if (written === content) inline(content, Int32Array.from(content, (_, unit) => starts[row]! + at + unit), source, env, visible)
          else visible.verbatim(source, starts[row]! + at, starts[row]! + cell)
        }
        visible.gap()
        break
      }
      case "fence":
      case "code_block": {
        const first = map![0] + (type === "fence" ? 1 : 0)
        content.split("\n").forEach((text, line) => verbatimLine(text, first + line, lineAt, starts, source, visible))
        visible.gap()
        break
      }
      case "html_block": {
        const start = starts[map![0]]!
        htmlVisible(source.slice(start, starts[map![1]] ?? source.length), visible, start)
        visible.gap()
        break
      }
      default:
    }
  }
  return visible
}

/** A text of the same length in which blanks stand for what templates have in it and no reader sees. */
const withoutTemplates = (content: string): string =>
  content.includes("{")
    ? withPlainTargets(
      content.split("\n").map((line) => isTemplateTag(line) && writtenIn(line).length === 0 ? " ".repeat(line.length) : line).join("\n")
    )
    : content

/** Where a text stands in its line after its block's marks were removed: at the end, except for closing marks. */
const placeIn = (line: string, text: string): number => {
  const trimmed = line.trimEnd()
  return trimmed.endsWith(text) ? trimmed.length - text.length : line.indexOf(text)
}

const verbatimLine = (
  text: string,
  line: number,
  lineAt: (line: number) => string,
  starts: ReadonlyArray<number>,
  source: string,
  visible: Visible
): void => {
  const body = text.trim()
  const at = body === "" ? -1 : placeIn(lineAt(line), body)
  if (at !== -1) visible.verbatim(source, starts[line]! + at, starts[line]! + at + body.length)
  visible.gap()
}

/** Position in the source of each UTF-16 unit of a block's text. */
const placesOf = (content: string, first: number, lineAt: (line: number) => string, starts: ReadonlyArray<number>): Int32Array => {
  const places = new Int32Array(content.length).fill(-1)
  let from = 0
  content.split("\n").forEach((text, index) => {
    const indent = text.length - text.trimStart().length
    const at = placeIn(lineAt(first + index), text.trim())
    if (at !== -1) { for (let unit = indent; unit < text.length; unit++) places[from + unit] = starts[first + index]! + at + unit - indent }
    from += text.length + 1
  })
  return places
}

/**
 * Adds the visible part of a text with inline marks. The library returns its pieces without positions, so each is searched for in order.
 */
const inline = (content: string, places: Int32Array, source: string, env: Record<string, unknown>, visible: Visible): void => {
  const tokens: Array<Token> = []
  markdown.inline.parse(content, markdown, env, tokens)
  let at = 0
  const show = (from: number, to: number): void => {
    for (let start = from; start < to;) {
      let end = start + 1
      while (end < to && places[end] === places[end - 1]! + 1) end++
      if (places[start] !== -1) visible.verbatim(source, places[start]!, places[start]! + end - start)
      else visible.gap()
      start = end
    }
  }
  /** Moves past the next `mark`; returns where it starts. */
  const past = (mark: string): number => {
    const found = mark === "" ? at : content.indexOf(mark, at)
    if (found !== -1) at = found + mark.length
    return found
  }
  /** Moves past the target of a link whose text has been added. */
  const pastTarget = (): void => {
    past("]")
    if (content[at] === "[") past("]")
    else if (content[at] === "(") {
      const space = (): void => {
        while (/\s/.test(content[at] ?? "")) at++
      }
      at++
      space()
      const target = markdown.helpers.parseLinkDestination(content, at, content.length)
      if (target.ok) at = target.pos
      space()
      const title = markdown.helpers.parseLinkTitle(content, at, content.length)
      if (title.ok) at = title.pos
      past(")")
    }
  }
  const walk = (tokens: ReadonlyArray<Token>): void => {
    for (const { children, content: text, info, markup, type } of tokens) {
      switch (type) {
        case "softbreak":
        case "hardbreak":
          past("\n")
          visible.gap()
          break
        case "image":
          past("![")
          walk(children ?? [])
          pastTarget()
          break
        case "html_inline":
          past(text)
          if (/^<br/i.test(text)) visible.gap()
          break
        case "link_open":
          past(info === "auto" ? "<" : "[")
          break
        case "link_close":
          if (info === "auto") past(">")
          else pastTarget()
          break
        case "text_special": {
          const from = past(markup)
          if (from !== -1) visible.decoded(text, places[from]!, places[from]! + markup.length)
          break
        }
        case "code_inline": {
          past(markup)
          const found = content.replaceAll("\n", " ").indexOf(text, at)
          if (found === -1) break
          show(found, found + text.length)
          at = found + text.length
          past(markup)
          break
        }
        case "text": {
          const found = past(text)
          if (found !== -1) show(found, found + text.length)
          break
        }
        default:
          past(markup)
      }
    }
  }
  walk(tokens)
}
