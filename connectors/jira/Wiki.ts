import { blockquote, blocks, codeBlock, codeSpan, heading, link, table } from "./Markdown.ts"

/** Most characters that are read as markup. Jira's own limit is 32,767; longer texts on servers without a limit are logs. */
const maxLength = 100_000

/** Jira's wiki markup as Markdown. */
export const wikiToMarkdown = (source: string): string => {
  if (source.length > maxLength) return codeBlock(source)
  // Code is set aside whole, so that nothing in it is read as markup.
  const held: Array<string> = []
  const hold = (text: string): string => `\uE000${held.push(text) - 1}\uE001`
  const text = source.replace(/\r\n?/g, "\n").replace(/[\uE000\uE001]/g, "")
    .replace(
      /\{(code|noformat)(?::([^}\n]*))?\}([^]*?)\{\1\}/g,
      (_, kind: string, options: string | undefined, code: string) =>
        `\n\n${hold(codeBlock(code, kind === "code" ? languageOf(options) : ""))}\n\n`
    )
    .replace(/\{\{([^\n]{1,1000}?)\}\}/g, (_, code: string) => hold(codeSpan(code)))
    .replace(/\\([{}[\]*_+^~!|#-])/g, (_, char: string) => hold(`\\${char}`))
  return release(body(text), held)
}

/** Puts back what was set aside, which may contain further such places. */
const release = (text: string, held: ReadonlyArray<string>, places = /\uE000(\d+)\uE001/g): string => {
  const out = text.replace(places, (_, index: string) => held[Number(index)] ?? "")
  return out === text ? out : release(out, held, places)
}

const languageOf = (options = ""): string =>
  options.split("|").find((option) => !option.includes("=")) ?? /language=(\w+)/.exec(options)?.[1] ?? ""

const body = (text: string): string => {
  const parts: Array<string> = []
  let end = 0
  for (const match of text.matchAll(/\{(quote|panel)(?::([^}\n]*))?\}([^]*?)\{\1\}/g)) {
    const [whole, , options = "", inside = ""] = match
    const title = /(?:^|\|)title=([^|]*)/.exec(options)?.[1] ?? ""
    parts.push(lines(text.slice(end, match.index)), blockquote(blocks([title === "" ? "" : `**${title}**`, body(inside)])))
    end = match.index + whole.length
  }
  return blocks([...parts, lines(text.slice(end))])
}

/** Lines grouped into lists, tables, headings and paragraphs. */
const lines = (source: string): string => {
  const text = source.replace(/\{(?:color|anchor|quote|panel|section|column)(?::[^}\n]*)?\}/g, "")
  const parts: Array<string> = []
  let group: Array<string> = []
  let kind = ""
  const flush = (): void => {
    if (group.length > 0) {
      parts.push(
        kind === "table" ? table(group.map(cells)) : kind === "list" ? list(group) : group.map((line) => inline(line.trim())).join("\n")
      )
    }
    group = []
  }
  for (const line of text.split("\n")) {
    const found = kindOf(line)
    if (found !== kind || found === "single") flush()
    kind = found
    if (found === "single") parts.push(single(line))
    else if (found !== "blank") group.push(line)
  }
  flush()
  return blocks(parts)
}

const kindOf = (line: string): "blank" | "single" | "table" | "list" | "paragraph" =>
  line.trim() === "" ?
    "blank"
    : /^\s*(?:h[1-6]\.\s|bq\.\s|-{4,}\s*$)/.test(line) ?
    "single"
    : /^\s*\|/.test(line) ?
    "table"
    : /^\s*(?:[*#]+|-)\s+\S/.test(line) ?
    "list"
    : "paragraph"

const single = (line: string): string => {
  const [, level = "", title = ""] = /^\s*h([1-6])\.\s+(.*)$/.exec(line) ?? []
  if (level !== "") return heading(Number(level), inline(title))
  const quoted = /^\s*bq\.\s+(.*)$/.exec(line)?.[1]
  return quoted === undefined ? "---" : blockquote(inline(quoted))
}

/** The cells of a row: `||` starts a header cell, `|` a cell; bars inside links divide nothing. */
const cells = (line: string): ReadonlyArray<string> =>
  line.trim().replace(/\[[^[\]\n]*\]/g, (whole) => whole.replaceAll("|", "\uE002")).replace(/\|+\s*$/, "").split(/\|\|?/).slice(1)
    .map((cell) => inline(cell.replaceAll("\uE002", "|").trim()))

/** A list: `*`, `#` and `-` by depth; `#*` is a bullet in a numbered item. */
const list = (group: ReadonlyArray<string>): string => {
  const levels: Array<{ readonly marks: string; readonly number: number }> = []
  return group.map((line) => {
    const [, marks = "-", text = ""] = /^\s*([*#]+|-)\s+(.*)$/.exec(line) ?? []
    levels.length = Math.min(levels.length, marks.length)
    const before = levels[marks.length - 1]
    const number = before?.marks === marks ? before.number + 1 : 1
    levels[marks.length - 1] = { marks, number }
    const indent = Array.from(marks.slice(0, -1), (mark) => mark === "#" ? "   " : "  ").join("")
    return `${indent}${marks.endsWith("#") ? `${number}.` : "-"} ${inline(text)}`
  }).join("\n")
}

const inline = (text: string): string => {
  const held: Array<string> = []
  const hold = (part: string): string => `\uE003${held.push(part) - 1}\uE004`
  const out = text.replace(/[\uE003-\uE005]/g, "")
    .replace(
      /!([^!\s|][^!|\n]*)(?:\|[^!\n]*)?!/g,
      (_, file: string) => hold(/^https?:/i.test(file) ? link("", file) : `[Attachment: ${file}]`)
    )
    .replace(/\[([^[\]\n]+)\]/g, (whole, inner: string) => hold(reference(inner) ?? whole))
    .replace(/\bhttps?:\/\/[^\s<>()[\]|{}\uE000-\uE004]+[^\s<>()[\]|{}.,;:!?'"\uE000-\uE004]/g, (url) => hold(`<${url}>`))
    .replace(/([<>`])/g, "\\$1")
    .replace(/\\\\(?:\s+|$)/g, (mark) => mark.length > 2 ? "\\\n" : "\\")
    .replace(mark("\\*"), "\uE005$1\uE005")
    .replace(/\*(?=\S)|(?<=\S)\*/g, "\\*")
    .replaceAll("\uE005", "**")
    .replace(mark("_"), "*$1*")
    .replace(mark("-"), "~~$1~~")
    .replace(mark("\\+"), "$1")
    .replace(mark("\\?\\?"), "*$1*")
    .replace(/(\w)\^([^\s^]+)\^/g, "$1^$2")
    .replace(/^(#{1,6}\s|={2,}\s*$|\d+\.(?=\s))/, "\\$1")
  return release(out, held, /\uE003(\d+)\uE004/g)
}

/** A pattern for marks like `*word*` between spaces and punctuation; a hyphen inside words is not a mark. */
const mark = (sign: string): RegExp =>
  new RegExp(`(?<=^|[\\s(\\[{"',.:;*_>\uE005-])${sign}(?=\\S)((?:(?!${sign})[^\\n])*?\\S)${sign}(?=$|[\\s)\\]}"',.:;!?*_<\uE005-])`, "g")

/** A reference between brackets as Markdown; undefined when it is just text in brackets. */
const reference = (inner: string): string | undefined => {
  if (inner.startsWith("~")) return `@${inner.slice(1).replace(/^accountid:/, "")}`
  if (inner.startsWith("^")) return `[Attachment: ${inner.slice(1)}]`
  const bar = inner.indexOf("|")
  const [label, target] = bar === -1 ? ["", inner] : [inner.slice(0, bar), inner.slice(bar + 1).replace(/\|.*$/, "")]
  const mail = /^[^\s@:]+@[^\s@]+$/.test(target)
  if (!mail && !/^(?:https?:|mailto:|ftp:|\/|#)/i.test(target)) return bar === -1 ? undefined : label
  return link(label.trim(), mail ? `mailto:${target}` : target.trim())
}
