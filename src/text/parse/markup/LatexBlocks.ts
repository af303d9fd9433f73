import { oneLine } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"
import { Braces, latexText, skipOptional } from "./LatexText.ts"
import { Prose } from "./Prose.ts"

const structure =
  /\\(begin|end)[ \t]*\{([a-zA-Z@*]+)\}|\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph|caption|item|bibitem)(?![a-zA-Z])\*?|\n[ \t]*\n/g

const levels: Readonly<Record<string, number>> = {
  part: 1,
  chapter: 1,
  section: 2,
  subsection: 3,
  subsubsection: 4,
  paragraph: 5,
  subparagraph: 6
}

const verbatim = new Set(["verbatim", "Verbatim", "lstlisting", "minted", "alltt", "code", "filecontents"])
const formulas = new Set(["equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign", "alignat"])
const tables = new Set(["tabular", "tabularx", "tabulary", "longtable", "array", "supertabular", "tblr"])
const silent = new Set(["comment", "tikzpicture", "pgfpicture", "picture", "filecontents", "CCSXML"])
const whole = new Set([...verbatim, ...formulas, ...tables, ...silent])
/** Environments with a width or a count in braces before their text. */
const withWidth = new Set(["minipage", "multicols", "thebibliography", "wrapfigure", "subfigure", "columns", "column"])
const lists = new Set(["itemize", "enumerate", "description", "thebibliography", "compactitem", "compactenum"])

/** Environments whose option is a title, besides those that the source declares with `\\newtheorem`. */
const theorems =
  "theorem lemma proposition corollary definition example remark proof conjecture claim exercise problem solution axiom note fact observation question"
    .split(" ")

interface Facts {
  readonly title?: string
  readonly author?: string
}

/** Reads the blocks of a LaTeX document, from `\begin{document}` on where it has one. */
export class LatexBlocks {
  readonly #source: string
  readonly #braces: Braces
  readonly #prose: Prose
  readonly #facts: Facts
  /** The level of sections that counts as 1: sections are the first level in documents without chapters. */
  readonly #topLevel: number
  readonly #theorems: ReadonlySet<string>
  /** Notes to the title and the authors. */
  readonly #thanks: ReadonlyArray<string>
  /** Environments that are begun, but never ended from here on. */
  readonly #unclosed = new Set<string>()
  /** Number of the last item of each open list, or `undefined` where its items have none. */
  readonly #lists: Array<number | undefined> = []

  constructor(source: string, builder: DocumentBuilder) {
    const clean = withoutComments(source)
    const begin = /\\begin[ \t]*\{document\}/.exec(clean)
    const preamble = begin === null ? clean.slice(0, 10_000) : clean.slice(0, begin.index + 10_000)
    const [title, author] = [fact("title", preamble), fact("author", preamble)]
    this.#facts = { ...(title.text === "" ? {} : { title: title.text }), ...(author.text === "" ? {} : { author: author.text }) }
    this.#thanks = [...title.thanks, ...author.thanks]
    const declared = clean.matchAll(/\\(?:newtheorem\*?|declaretheorem(?:\[[^\]]*\])?|spnewtheorem\*?)[ \t]*\{([a-zA-Z]+)\}/g)
    this.#theorems = new Set([...theorems, ...Array.from(declared, ([, name]) => name!)])
    const body = begin === null ? clean : clean.slice(begin.index + begin[0].length)
    const end = body.indexOf("\\end{document}")
    this.#source = (end < 0 ? body : body.slice(0, end)).replace(/\\(?:title|author|date)[ \t]*(?=[{[])/g, "\\label")
    this.#braces = new Braces(this.#source)
    this.#topLevel = /\\(?:chapter|part)\b/.test(this.#source) ? 0 : 1
    this.#prose = new Prose(builder, (text) => latexText(text).trim())
  }

  read(): Facts {
    if (this.#facts.title !== undefined) this.#prose.heading(this.#facts.title, 1)
    for (const note of this.#thanks) this.#prose.paragraph(note)
    let at = 0
    while (at < this.#source.length) {
      structure.lastIndex = at
      const found = structure.exec(this.#source)
      this.#text(this.#source.slice(at, found?.index))
      if (found === null) break
      at = this.#structure(found, structure.lastIndex)
    }
    this.#prose.end()
    const title = this.#facts.title ?? this.#prose.firstHeading
    return { ...this.#facts, ...(title === undefined ? {} : { title }) }
  }

  #text(text: string): void {
    if (text.trim() !== "") this.#prose.line(text.trim())
  }

  #structure(found: RegExpExecArray, after: number): number {
    const [, edge, environment, name] = found
    if (edge === "begin") return this.#begin(environment!, after)
    if (edge === "end") {
      this.#prose.endParagraph()
      if (lists.has(environment!)) {
        this.#lists.pop()
        if (this.#lists.length === 0) this.#prose.endList()
      }
      return after
    }
    if (name === undefined) {
      this.#prose.endParagraph()
      return after
    }
    return name === "item" || name === "bibitem" ? this.#item(after) : this.#titled(name, after)
  }

  #begin(environment: string, after: number): number {
    const name = environment.replace("*", "")
    this.#prose.endParagraph()
    const end = whole.has(name) ? this.#endOf(environment, after) : undefined
    if (end !== undefined) {
      this.#whole(name, this.#source.slice(after, end))
      return end
    }
    if (lists.has(name)) this.#lists.push(name.endsWith("enumerate") ? 0 : undefined)
    if (name === "abstract") this.#prose.heading("Abstract", 2 - this.#topLevel)
    const body = skipOptional(this.#source, after)
    if (this.#theorems.has(name)) this.#text(theoremTitle(this.#source.slice(after, body)))
    return withWidth.has(name) ? this.#braces.groupAt(body).end : body
  }

  /** Where an environment ends; a search that failed once is not repeated. */
  #endOf(environment: string, after: number): number | undefined {
    if (this.#unclosed.has(environment)) return undefined
    const end = this.#source.indexOf(`\\end{${environment}}`, after)
    if (end >= 0) return end
    this.#unclosed.add(environment)
    return undefined
  }

  /** Writes an environment that is not read as text. */
  #whole(name: string, body: string): void {
    if (verbatim.has(name)) {
      this.#prose.code(body.replace(/^(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?/, "").split("\n"))
    } else if (formulas.has(name)) this.#prose.code(body.replace(/\\label\{[^{}]*\}/g, "").split("\n"))
    else if (tables.has(name)) this.#prose.table(tableRows(body))
  }

  #item(after: number): number {
    const label = /[ \t]*\[([^\][]{0,500})\]/y
    label.lastIndex = after
    const labelled = label.exec(this.#source)
    const number = this.#lists.at(-1)
    if (number !== undefined) this.#lists[this.#lists.length - 1] = number + 1
    const mark = number === undefined ? "-" : `${number + 1}.`
    this.#prose.item(Math.max(1, this.#lists.length), mark, labelled === null ? "" : `${labelled[1]}:`)
    return labelled === null ? after : label.lastIndex
  }

  #titled(name: string, after: number): number {
    const title = this.#braces.groupAt(skipOptional(this.#source, after))
    if (name === "caption") this.#prose.paragraph(title.text)
    else this.#prose.heading(title.text, levels[name]! - (name === "part" ? 0 : this.#topLevel))
    return title.end
  }
}

const comment = /\\begin[ \t]*\{([a-zA-Z]+\*?)\}|\\verb\*?([^a-zA-Z\s*]).{0,200}?\2|\\[^]|%.*(?:\n[ \t]*(?=[^\s]))?/g

/** A source without its comments. In code, and after a backslash, a percent sign is a character. */
const withoutComments = (source: string): string => {
  const out: Array<string> = []
  const unclosed = new Set<string>()
  let from = 0
  comment.lastIndex = 0
  for (let found = comment.exec(source); found !== null; found = comment.exec(source)) {
    const [token, environment] = found
    if (token.startsWith("%")) {
      out.push(source.slice(from, found.index))
      from = comment.lastIndex
    } else if (environment !== undefined && verbatim.has(environment.replace("*", "")) && !unclosed.has(environment)) {
      const end = source.indexOf(`\\end{${environment}}`, comment.lastIndex)
      if (end < 0) unclosed.add(environment)
      else comment.lastIndex = end
    }
  }
  return out.join("") + source.slice(from)
}

/** The title in the option of a theorem, as it is printed; keys and values name it. */
const theoremTitle = (option: string): string => {
  const inner = option.trim().replace(/^\[|\]$/g, "")
  const title = /^[ \t]*[a-z]+[ \t]*=/i.test(inner) ? /\b(?:name|title)[ \t]*=[ \t]*(?:\{([^{}]*)\}|([^,]*))/i.exec(inner) : undefined
  const text = (title === undefined ? inner : title?.[1] ?? title?.[2] ?? "").trim()
  return text === "" ? "" : `(${text})`
}

/** What the source says in the command of a name, and the notes to it. */
const fact = (name: "title" | "author", source: string): { readonly text: string; readonly thanks: ReadonlyArray<string> } => {
  const found = new RegExp(`\\\\${name}[ \\t]*(?:\\[[^\\]]*\\])?(?=\\{)`).exec(source)
  if (found === null) return { text: "", thanks: [] }
  const whole = new Braces(source).groupAt(found.index + found[0].length).text
  const braces = new Braces(whole)
  const thanks: Array<string> = []
  let text = ""
  let from = 0
  for (const { 0: command, index } of whole.matchAll(/\\thanks(?![a-zA-Z])/g)) {
    if (index < from) continue
    const note = braces.groupAt(index + command.length)
    thanks.push(note.text)
    text += whole.slice(from, index)
    from = note.end
  }
  return { text: oneLine(latexText(text + whole.slice(from))), thanks: thanks.filter((note) => note.trim() !== "") }
}

const tableRows = (body: string): ReadonlyArray<ReadonlyArray<string>> => {
  const braces = new Braces(body)
  let start = skipOptional(body, 0)
  for (let group = braces.groupAt(start); group.end > start; group = braces.groupAt(start)) start = group.end
  return body.slice(start)
    .replace(/\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|centering|small)\b/g, "")
    .replace(/\\(?:cline|cmidrule)(?:\([^)]*\))?\{[^{}]*\}/g, "")
    .split(/\\\\(?:\[[^\]]*\])?|\\tabularnewline\b/)
    .map((row) => row.trim().split(/(?<!\\)&/))
    .filter((row) => row.some((cell) => cell.trim() !== ""))
}
