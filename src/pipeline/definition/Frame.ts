import { secretVersionPattern } from "../../domain/Secret.ts"
import type { ValuePath } from "./PipelineInvalid.ts"
import { type Entry, pathKey, type Range, type YamlText } from "./YamlText.ts"

const secretKey = /(?:key|token|secret|passw(?:or)?d|pwd|credentials?|bearer|auth(?:orization)?)$/i
const bareReference = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/
/** Control characters, and those that change the direction of writing, which a terminal would obey. */
const unprintable = /[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g
const mask = "***"
const context = 2
const width = 100

/**
 * The ranges of the text that must not be shown: a value where a secret's name belongs that is not one, values of unknown
 * keys (a misspelled `token`), passwords in addresses.
 */
export const secretRanges = (source: YamlText, unknownKeys: ReadonlyArray<ValuePath>): ReadonlyArray<Range> => {
  const unknown = new Set(unknownKeys.map(pathKey))
  const hidden = [...source.entries.values()].filter((entry) => isHidden(entry, unknown)).map((entry) => entry.content)
  const addresses = [...source.text.matchAll(/:\/\/([^/\s?#@"']*(?::[^\s@"']*)?)@/g)]
    .map((match): Range => [match.index + 3, match.index + 3 + (match[1]?.length ?? 0)])
  return merged([...hidden, ...source.unread, ...addresses, ...lineRanges(source)])
}

const merged = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const out: Array<Range> = []
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1)
    if (last !== undefined && start <= last[1]) out[out.length - 1] = [last[0], Math.max(last[1], end)]
    else out.push([start, end])
  }
  return out
}

const isHidden = ({ path, written }: Entry, unknownKeys: ReadonlySet<string>): boolean => {
  // The second key under `sources` is a name a person chose.
  const keys = path[0] === "sources" ? path.slice(2) : path
  const inSecret = keys.some((key) => typeof key === "string" && secretKey.test(key))
  if (inSecret) return written === undefined || !(secretVersionPattern.test(written) || bareReference.test(written))
  return written !== undefined && path.some((_, at) => unknownKeys.has(pathKey(path.slice(0, at + 1))))
}

/** In comments, and everywhere in a text whose structure is broken, secrets are recognized by the line's look. */
const lineRanges = (source: YamlText): ReadonlyArray<Range> => {
  const broken = source.problems.some(({ path }) => path.length === 0)
  const ranges: Array<Range> = []
  let offset = 0
  let indent: number | undefined
  for (const line of source.text.split("\n")) {
    const depth = line.length - line.trimStart().length
    if (indent !== undefined && line.trim() !== "" && depth <= indent) indent = undefined
    const named = /([\w-]+)["']?\s*[:=]\s*/g
    const comment = broken ? 0 : line.indexOf("#")
    if (indent !== undefined) {
      ranges.push([offset, offset + line.length])
    } else if (comment !== -1) {
      for (const match of line.slice(comment).matchAll(named)) {
        if (!secretKey.test(match[1] ?? "")) continue
        ranges.push([offset + comment + match.index + match[0].length, offset + line.length])
        if (broken) indent = depth
        break
      }
    }
    offset += line.length + 1
  }
  return ranges
}

/** The lines around `offset`, secrets masked, with a caret under it. */
export const frame = (source: YamlText, offset: number, hidden: ReadonlyArray<Range>): string => {
  const texts = source.text.split("\n")
  const { line } = source.lines.linePos(offset)
  const at = Math.max(1, line)
  const first = Math.max(1, at - context)
  const last = Math.min(texts.length, at + context)
  const gutter = String(last).length
  let start = texts.slice(0, first - 1).reduce((sum, text) => sum + text.length + 1, 0)
  const shown: Array<string> = []
  for (let number = first; number <= last; number++) {
    const text = texts[number - 1] ?? ""
    const from = number === at && offset - start > width - 20 ? offset - start - 40 : 0
    const visible = render(source.text, start + from, start + text.length, hidden)
    shown.push(`${number === at ? ">" : " "} ${String(number).padStart(gutter)} | ${visible.slice(0, width)}`.trimEnd())
    if (number === at) {
      const before = render(source.text, start + from, offset, hidden)
      shown.push(`  ${" ".repeat(gutter)} | ${" ".repeat(Math.min(before.length, width))}^`)
    }
    start += text.length + 1
  }
  return shown.join("\n")
}

const render = (text: string, start: number, end: number, hidden: ReadonlyArray<Range>): string => {
  let out = ""
  let at = start
  for (const [from, to] of hidden) {
    if (to <= at || from >= end) continue
    out += text.slice(at, Math.max(at, from)) + mask
    at = Math.max(at, to)
  }
  return (out + text.slice(at, Math.max(at, end))).replaceAll(unprintable, " ")
}
