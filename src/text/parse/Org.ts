import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { languageCode } from "./LanguageCode.ts"
import { indentOf, Prose, until } from "./markup/Prose.ts"
import type { Reader } from "./Reader.ts"

/** Reads Org mode: headings, lists, tables, source and example blocks. Drawers, comments and settings are left out. */
export const org: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const lines = decodeLines(bytes).split("\n")
  const settings = settingsOf(lines)
  const prose = new Prose(builder, inline)
  if (settings.has("title")) prose.heading(settings.get("title")!, 1)
  for (let at = 0; at < lines.length;) at = readLine(lines, at, prose)
  prose.end()
  const title = settings.get("title") ?? prose.firstHeading
  const author = settings.get("author")
  const language = languageCode(settings.get("language"))
  return builder.build({
    format,
    title,
    author,
    language
  })
}

const settingsOf = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(lines.flatMap((line) => {
    const setting = /^#\+(title|author|language):[ \t]+(\S.*)$/i.exec(line)
    return setting === null ? [] : [[setting[1]!.toLowerCase(), setting[2]!.trim()] as const]
  }))

/** Reads the element that starts at a line; returns the line after it. */
const readLine = (lines: ReadonlyArray<string>, at: number, prose: Prose): number => {
  const line = lines[at]!
  const heading = /^(\*+)[ \t]+((?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#[A-Z]\][ \t]+)?(.*)$/.exec(line)
  if (heading !== null) {
    prose.heading((heading[2] ?? "") + heading[3]!.replace(/(?<![ \t])[ \t]+:[\w@#%:]+:[ \t]*$/, ""), heading[1]!.length)
    return at + 1
  }
  const trimmed = line.trim()
  const block = /^#\+begin_(\w+)/i.exec(trimmed)
  if (block !== null) return readBlock(lines, at, block[1]!.toLowerCase(), prose)
  if (/^:[\w-]+:$/.test(trimmed) && !/^:end:$/i.test(trimmed)) {
    const drawer = until(lines, at + 1, (next) => /^:end:$/i.test(next.trim()) || /^\*+ /.test(next))
    prose.endParagraph()
    return /^\*+ /.test(lines[drawer.next - 1] ?? "") ? drawer.next - 1 : drawer.next
  }
  if (trimmed.startsWith("|")) {
    const table = until(lines, at, (next) => !next.trim().startsWith("|"))
    prose.table(table.body.filter((row) => !/^\s*\|[-+|]+\s*$/.test(row)).map(cells))
    return at + table.body.length
  }
  if (/^:(?: |$)/.test(trimmed)) {
    const fixed = until(lines, at, (next) => !/^\s*:(?: |$)/.test(next))
    prose.code(fixed.body.map((next) => next.replace(/^\s*: ?/, "")))
    return at + fixed.body.length
  }
  readProse(line, trimmed, prose)
  return at + 1
}

const readProse = (line: string, trimmed: string, prose: Prose): void => {
  if (trimmed === "") return prose.endParagraph()
  const caption = /^#\+caption:[ \t]+(.*)$/i.exec(trimmed)
  if (caption !== null) return prose.paragraph(caption[1]!)
  if (/^#(?:\+|[ \t]|$)/.test(trimmed) || /^-{5,}$/.test(trimmed)) return prose.endParagraph()
  if (/^(?:SCHEDULED|DEADLINE|CLOSED):/.test(trimmed)) return
  const item = /^[ \t]*([-+]|[ \t]\*|(?:\d+|[a-zA-Z])[.)])(?:[ \t]+(.*))?$/.exec(line)
  if (item !== null) {
    const text = (item[2] ?? "").replace(/^\[[ X-]\][ \t]+/, "").replace(/[ \t]::(?=[ \t]|$)/, ":")
    return prose.item(indentOf(line), /^[-+]|\*$/.test(item[1]!) ? "-" : item[1]!, text)
  }
  if (!prose.isOpen && indentOf(line) === 0) prose.endList()
  prose.line(trimmed)
}

const readBlock = (lines: ReadonlyArray<string>, at: number, name: string, prose: Prose): number => {
  // Any other block is read as text; its end is not searched for, so unclosed blocks cost nothing.
  if (name !== "comment" && !verbatim.has(name)) {
    prose.endParagraph()
    return at + 1
  }
  const { body, next } = until(lines, at + 1, (line) => line.trim().toLowerCase().startsWith(`#+end_${name}`))
  if (name !== "comment") prose.code(body)
  return next
}

const verbatim = new Set(["src", "example", "export"])

const cells = (row: string): ReadonlyArray<string> => row.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim())

const inline = (text: string): string =>
  text
    .replace(/\[\[([^[\]]+)\](?:\[([^[\]]+)\])?\]/g, (_, target: string, label: string | undefined) => label ?? target)
    .replace(/(?<=^|[\s('"{-])([*/_=~+])(?=\S)([^\n]{0,500}?\S)\1(?=$|[\s)'"}.,;:!?-])/gm, "$2")
    .replace(/\[fn:[\w-]*\]/g, "")
