/**
 * Directives of MyST, Sphinx's Markdown: fences that name what they hold, such as `{note}` or `{tab-set}`. What they hold is Markdown. Other
 * names in braces, such as `{python}`, are languages of code.
 */
import { silentDirectives } from "../markup/DirectiveNames.ts"

const titled = new Set(
  ("admonition attention caution danger error hint important note seealso tip warning todo versionadded versionchanged deprecated " +
    "tab tab-item dropdown card grid-item-card sidebar topic rubric margin aside exercise solution theorem definition proof example")
    .split(" ")
)
/** Directives whose argument is a name, a number or a file, while their content is text. */
const untitled = new Set("tabs tab-set grid grid-item card-carousel container div epigraph figure glossary list-table table".split(" "))

const opening = /^(`{3,}|~{3,}|:{3,})\{([a-z][\w.+:-]*)\}[ \t]*(.*)$/

/** An option of a directive: `:alt: A crane`. */
const option = /^:([\w-]+):(?:[ \t]+(.*))?$/

/** What a directive shows before its content. */
export interface Opened {
  readonly title: string
  /** The line that its content starts at. */
  readonly from: number
  /** The line that closes it, or the end. */
  readonly to: number
}

/** The directive that starts at a line; undefined where none does. `lineAt` gives a line without its indentation. */
export const directiveAt = (startLine: number, endLine: number, lineAt: (line: number) => string): Opened | undefined => {
  const [, fence = "", name = "", argument = ""] = opening.exec(lineAt(startLine)) ?? []
  const local = name.slice(name.lastIndexOf(":") + 1)
  const isSilent = silentDirectives.has(local)
  if (!isSilent && !titled.has(local) && !untitled.has(local)) return undefined
  let to = startLine + 1
  while (to < endLine && !closes(lineAt(to), fence)) to++
  let from = startLine + 1
  let alt = ""
  for (; from < to; from++) {
    const [line, key, value = ""] = option.exec(lineAt(from)) ?? []
    if (line === undefined) break
    if (key === "alt") alt = value
  }
  const title = titled.has(local) ? argument.trim() : alt
  return { title, from: isSilent ? to : from, to }
}

const closes = (line: string, fence: string): boolean => {
  const marks = line.trimEnd()
  return marks.length >= fence.length && marks === fence[0]!.repeat(marks.length)
}

/** Texts without the names of their roles: `{ref}` before a label in back quotes, of which the target is left out. */
export const withoutRoles = (source: string): string =>
  source.includes("}`")
    ? source.replace(/\{[a-z][\w:.+-]{0,50}\}`([^`\n]{1,500})`/g, (_, label: string) =>
      `\`${/^([^<]*[^<\s])\s*<[^<>]+>$/.exec(label)?.[1] ?? label}\``)
    : source
