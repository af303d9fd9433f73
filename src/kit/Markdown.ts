import { DocumentBuilder } from "../text/parse/DocumentBuilder.ts"
import { htmlBlocks } from "../text/parse/Html.ts"

/** Most UTF-16 units of a page's text; a longer one is a `ReadFailure`. */
const maxCharacters = 50_000_000

/**
 * Converts an HTML page or fragment to Markdown: headings, paragraphs, lists, tables and code. Scripts, styles, forms, and hidden elements
 * are left out; navigation, footers and sidebars too, unless the page has next to nothing else. Addresses of links and pictures are not
 * kept. Takes time linear in the length of the page.
 */
export const markdownFromHtml = (html: string): { readonly markdown: string; readonly title: string | undefined } => {
  const builder = new DocumentBuilder(maxCharacters)
  const { title } = htmlBlocks(html, builder, { titleBlock: true })
  const { blocks, text } = builder.build({ format: "html" })
  const parts = blocks.map(({ end, kind, level = 1, start }) => {
    const block = text.slice(start, end)
    switch (kind) {
      case "heading":
        return `${"#".repeat(level)} ${escaped(block)}`
      case "code":
        return fenced(block)
      case "table":
        return table(block)
      case "paragraph":
        return escaped(block)
      default:
        return block
    }
  })
  return { markdown: parts.length === 0 ? "" : `${parts.join("\n\n")}\n`, title }
}

/** Escapes lines that Markdown would not read as text. */
const escaped = (text: string): string => text.replace(/^(\s{0,3})(#{1,6} |[-+*] |>|\d{1,9}[.)] |```|~~~|=+$|-+$|\|)/gm, "$1\\$2")

const fenced = (code: string): string => {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${code}\n${fence}`
}

/** A Markdown table of rows given as lines with cells separated by ` | `; the first row is its header. */
const table = (rows: string): string => {
  const cells = rows.split("\n").map((row) => row.split(" | ").map((cell) => cell.replaceAll("|", "\\|")))
  const width = Math.max(...cells.map(({ length }) => length))
  const lines = cells.map((row) => `| ${[...row, ...Array<string>(width - row.length).fill("")].join(" | ")} |`)
  return [lines[0], `|${" --- |".repeat(width)}`, ...lines.slice(1)].join("\n")
}
