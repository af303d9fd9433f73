/** CommonMark with GitHub's tables, and with blocks that site generators add to it. */
import MarkdownIt, { type StateBlock } from "markdown-it"
import { directiveAt } from "./Directives.ts"

/** Quotes and lists nested deeper are read as plain lines: the library drops what is inside them. */
export const maxNesting = 100

const lineAt = (state: StateBlock, line: number): string => state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line])

/** Whether a line starts with one of some characters, which is told sooner than what it is. */
const startsWithAny = (state: StateBlock, line: number, characters: string): boolean =>
  characters.includes(state.src.charAt(state.bMarks[line]! + state.tShift[line]!))

/** Whether a line is indented as code. */
const isCodeAt = (state: StateBlock, line: number): boolean => state.sCount[line]! - state.blkIndent >= 4

const addParagraph = (state: StateBlock, content: string, startLine: number, endLine: number): void => {
  state.push("paragraph_open", "p", 1)
  const inline = state.push("inline", "", 0)
  inline.content = content
  inline.map = [startLine, endLine]
  state.push("paragraph_close", "p", -1)
}

/** Reads a footnote as a paragraph: its text looks like the definition of a link, which shows nothing. */
const footnote = (state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean => {
  if (!startsWithAny(state, startLine, "[") || isCodeAt(state, startLine) || !/^\[\^[^\]\s]{1,200}\]:/.test(lineAt(state, startLine))) {
    return false
  }
  if (silent) return true
  let next = startLine + 1
  while (
    next < endLine && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent && !lineAt(state, next).startsWith("[^")
  ) next++
  addParagraph(state, state.getLines(startLine, next, state.blkIndent, false).trim(), startLine, next)
  state.line = next
  return true
}

/** Reads lines indented by `indent` more, from a line on, as blocks of their own. */
const readIndented = (state: StateBlock, line: number, endLine: number, indent: number): void => {
  const { blkIndent, parentType } = state
  state.blkIndent += indent
  // The type of no block of CommonMark, so that a list in it is read as at the top.
  state.parentType = "root"
  state.md.block.tokenize(state, line, endLine)
  state.blkIndent = blkIndent
  state.parentType = parentType
}

/** What the contents of a box are indented by. */
const boxIndent = 4
const box = /^(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+)*(?:[ \t]+"(.*)")?|===[!+]?[ \t]+"(.*)")[ \t]*$/

/** Reads a box of MkDocs with its contents, which are indented and no code: `!!! note "Title"`, `??? tip`, `=== "Tab"`. */
const boxed = (state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean => {
  if (!startsWithAny(state, startLine, "!?=") || isCodeAt(state, startLine)) return false
  const found = box.exec(lineAt(state, startLine))
  const first = state.skipEmptyLines(startLine + 1)
  if (found === null || first >= endLine || state.sCount[first]! < state.blkIndent + boxIndent) return false
  if (silent) return true
  const title = (found[1] ?? found[2] ?? "").trim()
  if (title !== "") addParagraph(state, title, startLine, startLine + 1)
  readIndented(state, startLine + 1, endLine, boxIndent)
  return true
}

/** What further blocks of a definition are indented by, at least. */
const definitionIndent = 2

/** Reads a definition, whose term is the paragraph or the heading above it: `: What a crane lifts.` */
const definition = (state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean => {
  if (!startsWithAny(state, startLine, ":~") || isCodeAt(state, startLine)) return false
  const mark = /^[:~]([ \t]{1,3})(?=\S)/.exec(lineAt(state, startLine))
  if (mark === null) return false
  if (silent) return true
  const [shift, count] = [state.tShift[startLine]!, state.sCount[startLine]!]
  state.push("dd_open", "dd", 1)
  state.tShift[startLine] = shift + mark[0].length
  state.sCount[startLine] = Math.max(count + mark[0].length, state.blkIndent + definitionIndent)
  readIndented(state, startLine, endLine, definitionIndent)
  state.tShift[startLine] = shift
  state.sCount[startLine] = count
  state.push("dd_close", "dd", -1)
  return true
}

/** Reads a directive of MyST with its contents. */
const directive = (state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean => {
  if (!startsWithAny(state, startLine, "`~:") || isCodeAt(state, startLine)) return false
  const found = directiveAt(startLine, endLine, (line) => lineAt(state, line))
  if (found === undefined) return false
  if (silent) return true
  const { from, title, to } = found
  // A token of its own, so that directives count in the depth of nesting.
  const open = state.push("directive_open", "div", 1)
  open.map = [startLine, Math.min(to + 1, endLine)]
  if (title !== "") addParagraph(state, title, startLine, startLine + 1)
  const { lineMax, parentType } = state
  // A paragraph ends where the directive does.
  state.lineMax = to
  state.parentType = "root"
  state.md.block.tokenize(state, from, to)
  state.lineMax = lineMax
  state.parentType = parentType
  state.line = Math.min(to + 1, endLine)
  state.push("directive_close", "div", -1)
  return true
}

const library = () => {
  const markdown = new MarkdownIt({ html: true, maxNesting })
  // Inline marks are read by `inlineText`, and only in texts that have any.
  markdown.core.ruler.enableOnly(["normalize", "block"])
  markdown.block.ruler.before("reference", "footnote", footnote)
  markdown.block.ruler.before("footnote", "boxed", boxed)
  markdown.block.ruler.before("fence", "directive", directive, { alt: ["paragraph", "blockquote", "list"] })
  markdown.block.ruler.before("footnote", "definition", definition, { alt: ["paragraph"] })
  // Targets are not text: neither checked nor rewritten.
  markdown.validateLink = () => true
  markdown.normalizeLink = (url) => url
  markdown.normalizeLinkText = (url) => url
  return markdown
}

export const markdown = library()

/** A line that is a tag of a template alone, or `[[toc]]`: of Liquid (`{% alert %}`), kramdown (`{: .wide}`) or Hugo (`{{< figure src="a.png" caption="A crane" >}}`). */
export const isTemplateTag = (line: string): boolean =>
  line.length <= 1_000 && /^\{(?:%.*%|:.*|\{[<%].*[%>]\})\}$|^\[{1,2}_?toc_?\]{1,2}$/i.test(line.trim())

/** What a reader may see of a template's tag: values of several words, such as captions and titles. */
export const writtenIn = (tag: string): ReadonlyArray<string> => [...tag.matchAll(/"([^"]*\p{L} [^"]*)"/gu)].map(([, text]) => text!)

/** A text of the same length in which targets of links that a template makes, `[x]({% link x.md %})`, have no spaces: CommonMark reads such only. */
export const withPlainTargets = (source: string): string =>
  source.includes("](")
    ? source.replace(/\]\(\s*\{[{%][^\n]{1,300}?[%}]\}[^()\s]*\s*\)/g, (target) => `](${"#".repeat(target.length - 3)})`)
    : source
