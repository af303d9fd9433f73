/** Components of MDX that stand on lines of their own: `<Card title="Quick start">`, as Docusaurus, Mintlify, Nextra and Starlight have. */

/** Whether a text may have such components. */
const hasComponents = (source: string): boolean => /^[ \t]*<[A-Z]/m.test(source)

/** Attributes whose values a reader sees. */
const shown = ["title", "label", "heading", "header", "question", "summary", "caption", "description"]
/** Attributes by which fields of an API's reference name what they are about. */
const named = ["name", "path", "query", "body", "header"]

/** UTF-16 units of a tag, at most. */
const longestTag = 4_000

interface Tag {
  readonly name: string
  readonly isClosing: boolean
  readonly isAlone: boolean
  readonly attributes: ReadonlyMap<string, string>
  /** Where it ends. */
  readonly end: number
}

interface Open {
  readonly name: string
  /** The column of its tag, with the components around it left out. */
  readonly column: number
  /** The column at which its contents start, once known. */
  contents: number | undefined
}

/**
 * The same lines without the tags of components, so that what is in them is read as Markdown, however far it is indented. Texts that only
 * attributes have stand in place of the tag.
 */
export const withoutComponents = (source: string): string => {
  if (!hasComponents(source)) return source
  const closed = new Set(Array.from(source.matchAll(closing), ([, name]) => name!))
  const open: Array<Open> = []
  const lines: Array<string> = []
  let fence: string | undefined
  for (let at = 0; at <= source.length;) {
    const end = lineEnd(source, at)
    const line = source.slice(at, end)
    const column = /^[ \t]*/.exec(line)![0].length
    const isBlank = column === line.length
    const inner = open.at(-1)
    if (!isBlank && inner !== undefined) inner.contents ??= column
    const margin = " ".repeat(placed(inner, column))
    const mark = /^(`{3,}|~{3,})/.exec(line.slice(column))?.[1]
    if (fence === undefined && line.charCodeAt(column) === 60 /* < */) {
      const { after, rest, texts } = tagsAt(source, at + column, (tag) => {
        if (tag.isClosing) close(open, tag.name)
        else if (!tag.isAlone && closed.has(tag.name)) open.push({ name: tag.name, column: margin.length, contents: undefined })
      })
      if (after > at + column) {
        lines.push(margin + [...texts, rest].filter((text) => text !== "").join(" "))
        closeAll(open, rest)
        // A tag over several lines leaves blank ones.
        for (const _ of source.slice(at, after).matchAll(/\n/g)) lines.push("")
        at = lineEnd(source, after) + 1
        continue
      }
    }
    lines.push(isBlank ? line : margin + line.slice(column))
    if (fence === undefined) closeAll(open, line)
    if (mark !== undefined) fence = fence === undefined ? mark : mark.startsWith(fence) ? undefined : fence
    at = end + 1
  }
  return lines.join("\n")
}

const lineEnd = (source: string, from: number): number => {
  const end = source.indexOf("\n", from)
  return end === -1 ? source.length : end
}

/** The column of a line within the component around it. */
const placed = (inner: Open | undefined, column: number): number =>
  inner === undefined ? column : inner.column + Math.max(0, column - (inner.contents ?? column))

/** Closes what a line closes behind its text. */
const closeAll = (open: Array<Open>, line: string): void => {
  if (open.length > 0 && line.includes("</")) { for (const [, name] of line.matchAll(closing)) close(open, name!) }
}

const closing = /<\/([A-Z][\w.]*)/g

const close = (open: Array<Open>, name: string): void => {
  const at = open.findLastIndex((one) => one.name === name)
  if (at !== -1) open.length = at
}

/** Reads the tags from a place on, one behind the other; `rest` is what stands behind them in their line. */
const tagsAt = (
  source: string,
  from: number,
  visit: (tag: Tag) => void
): { readonly after: number; readonly texts: ReadonlyArray<string>; readonly rest: string } => {
  const texts: Array<string> = []
  let after = from
  for (;;) {
    const start = after + /^[ \t]*/.exec(source.slice(after, after + 200))![0].length
    const tag = tagAt(source, start)
    if (tag === undefined) break
    visit(tag)
    texts.push(...textsOf(tag))
    after = tag.end
  }
  return { after, texts, rest: source.slice(after, lineEnd(source, after)).trim() }
}

/** The tag of a component that starts at a place; undefined where none does. */
const tagAt = (source: string, start: number): Tag | undefined => {
  const head = /^<(\/?)([A-Z][\w.]*)/.exec(source.slice(start, start + 200))
  // Names in capitals alone are HTML's.
  if (head === null || !/[a-z]/.test(head[2]!)) return undefined
  const attributes = new Map<string, string>()
  let at = start + head[0].length
  const most = Math.min(source.length, start + longestTag)
  while (at < most) {
    const rest = source.slice(at, most)
    const gap = /^\s+/.exec(rest)
    const end = /^\/?>/.exec(rest)
    const attribute = /^([\w:-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?=\{)))?/.exec(rest)
    if (gap !== null) at += gap[0].length
    else if (end !== null) {
      return { name: head[2]!, isClosing: head[1] !== "", isAlone: end[0] === "/>", attributes, end: at + end[0].length }
    } else if (rest.startsWith("{")) at = afterBraces(source, at, most)
    else if (attribute === null) return undefined
    else {
      at += attribute[0].length
      const isExpression = attribute[2] === undefined && attribute[3] === undefined && source[at] === "{"
      const next = isExpression ? afterBraces(source, at, most) : at
      attributes.set(attribute[1]!, attribute[2] ?? attribute[3] ?? source.slice(at + 1, next - 1))
      at = next
    }
  }
  return undefined
}

/** Where a JavaScript expression in braces ends. */
const afterBraces = (source: string, start: number, most: number): number => {
  let depth = 0
  for (let at = start; at < most; at++) {
    if (source[at] === "{") depth++
    else if (source[at] === "}" && --depth === 0) return at + 1
  }
  return most
}

const isText = (value: string): boolean => /[\p{L}\p{N}]/u.test(value) && !/[{}<>=]/.test(value)

/** What a reader sees of a tag's attributes. */
const textsOf = ({ attributes, name }: Tag): ReadonlyArray<string> => {
  if (name.endsWith("Field")) {
    const field = named.map((key) => attributes.get(key) ?? "").find((value) => value !== "")
    const facts = [attributes.get("type"), attributes.has("required") ? "required" : undefined, attributes.get("default")]
      .filter((fact) => fact !== undefined && fact !== "")
    return field === undefined ? [] : [facts.length === 0 ? field : `${field} (${facts.join(", ")})`]
  }
  const texts = shown.map((key) => attributes.get(key) ?? "").filter(isText)
  return texts.length === 0 ? [] : [texts.join(": ")]
}
