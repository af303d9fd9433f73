/** Combining characters of accents. */
const accents: Readonly<Record<string, string>> = {
  "'": "\u0301",
  "`": "\u0300",
  "^": "\u0302",
  "\"": "\u0308",
  "~": "\u0303",
  "=": "\u0304",
  ".": "\u0307",
  c: "\u0327",
  v: "\u030c",
  u: "\u0306",
  H: "\u030b",
  r: "\u030a",
  d: "\u0323",
  b: "\u0331",
  k: "\u0328"
}

/** Commands that stand for a character or word. */
const symbols: Readonly<Record<string, string>> = {
  ss: "ß",
  ae: "æ",
  AE: "Æ",
  oe: "œ",
  OE: "Œ",
  o: "ø",
  O: "Ø",
  aa: "å",
  AA: "Å",
  l: "ł",
  L: "Ł",
  i: "ı",
  j: "ȷ",
  ldots: "…",
  dots: "…",
  textellipsis: "…",
  textbackslash: "\\",
  textasciitilde: "~",
  textasciicircum: "^",
  textendash: "–",
  textemdash: "—",
  textquoteright: "’",
  textquoteleft: "‘",
  textquotedblleft: "“",
  textquotedblright: "”",
  euro: "€",
  pounds: "£",
  copyright: "©",
  textregistered: "®",
  texttrademark: "™",
  S: "§",
  P: "¶",
  LaTeX: "LaTeX",
  TeX: "TeX",
  today: "",
  quad: " ",
  qquad: " ",
  newline: "\n",
  linebreak: "\n",
  par: "\n\n",
  textdegree: "°",
  degree: "°",
  textmu: "µ",
  textbar: "|",
  textless: "<",
  textgreater: ">",
  slash: "/",
  and: ", "
}

/** Commands whose arguments are for TeX, not for a reader, and how many they have. */
const silent: Readonly<Record<string, number>> = {
  label: 1,
  ref: 1,
  eqref: 1,
  pageref: 1,
  autoref: 1,
  cref: 1,
  Cref: 1,
  includegraphics: 1,
  vspace: 1,
  hspace: 1,
  usepackage: 1,
  documentclass: 1,
  RequirePackage: 1,
  input: 1,
  include: 1,
  bibliography: 1,
  bibliographystyle: 1,
  addbibresource: 1,
  newcommand: 2,
  renewcommand: 2,
  providecommand: 2,
  newenvironment: 3,
  newtheorem: 2,
  setlength: 2,
  addtolength: 2,
  setcounter: 2,
  addtocounter: 2,
  newcounter: 1,
  color: 1,
  pagestyle: 1,
  thispagestyle: 1,
  hypersetup: 1,
  definecolor: 3,
  geometry: 1,
  textcolor: 1,
  colorbox: 1,
  index: 1,
  phantom: 1,
  hphantom: 1,
  vphantom: 1,
  rule: 2,
  fontsize: 2,
  selectfont: 0,
  multirow: 2,
  cline: 1,
  cmidrule: 1,
  hyphenation: 1,
  graphicspath: 1,
  usetikzlibrary: 1,
  pgfplotsset: 1,
  lstset: 1,
  institute: 0,
  DeclareMathOperator: 2,
  addcontentsline: 3,
  multicolumn: 2,
  resizebox: 2,
  scalebox: 1,
  raisebox: 1,
  parbox: 1,
  href: 1,
  stepcounter: 1,
  refstepcounter: 1,
  captionsetup: 1,
  linespread: 1,
  renewenvironment: 3,
  sisetup: 1,
  tikzset: 1,
  theoremstyle: 1,
  numberwithin: 2,
  vskip: 0,
  nocite: 1
}

/** Groups nested deeper than this are read flat. */
const maxDepth = 50

const command = /\\([a-zA-Z@]+)\*?[ \t]*/y
const optional = /[ \t]*\[[^\][]{0,1000}\][ \t]*/y
const math = /\$\$[^$]{0,20000}\$\$|\$[^$\n]{0,2000}(?:\n[^$\n]{1,2000}){0,20}\$|\\\([^]{0,5000}?\\\)|\\\[[^]{0,20000}?\\\]/y

/** LaTeX as reading text: formulas stay as they are written, commands are removed, their readable arguments stay. */
export const latexText = (source: string, depth = 0): string => {
  const out: Array<string> = []
  const reading: Reading = { source, out, braces: new Braces(source), depth }
  for (let at = 0; at < source.length;) {
    const next = nextSpecial(source, at)
    if (next > at) out.push(source.slice(at, next))
    at = next < source.length ? special(reading, next) : next
  }
  return out.join("").replace(/---/g, "—").replace(/--/g, "–").replace(/``|''/g, "\"").replace(/[ \t]{2,}/g, " ")
}

/** Where each group of a source ends, computed once, so that unclosed groups cost nothing. */
export class Braces {
  readonly #source: string
  readonly #ends = new Map<number, number>()

  constructor(source: string) {
    this.#source = source
    const open: Array<number> = []
    const brace = /\\[^]|[{}]/g
    for (let found = brace.exec(source); found !== null; found = brace.exec(source)) {
      if (found[0] === "{") open.push(found.index)
      else if (found[0] === "}") {
        const start = open.pop()
        if (start !== undefined) this.#ends.set(start, found.index)
      }
    }
  }

  /** The group that starts at `start`, after any blanks; an empty text where there is none. */
  groupAt(start: number): { readonly text: string; readonly end: number } {
    let at = start
    while (this.#source[at] === " " || this.#source[at] === "\n") at++
    const end = this.#ends.get(at)
    return end === undefined ? { text: "", end: start } : { text: this.#source.slice(at + 1, end), end: end + 1 }
  }
}

const specials = /[\\{}$~]/g

const nextSpecial = (source: string, at: number): number => {
  specials.lastIndex = at
  return specials.exec(source)?.index ?? source.length
}

/** A source that is being read. */
interface Reading {
  readonly source: string
  /** The pieces of the text read so far. */
  readonly out: Array<string>
  readonly braces: Braces
  /** How many groups the source is nested in. */
  readonly depth: number
}

/** Reads the special character at `at`; returns where to continue. */
const special = (reading: Reading, at: number): number => {
  const { out, source } = reading
  const character = source[at]
  if (character === "{" || character === "}") return at + 1
  if (character === "~") {
    out.push(" ")
    return at + 1
  }
  math.lastIndex = at
  const formula = math.exec(source)
  if (formula !== null) {
    out.push(formula[0].replace(/^\$+|\$+$|^\\[([]|\\[)\]]$/g, ""))
    return math.lastIndex
  }
  if (character === "$") {
    out.push("$")
    return at + 1
  }
  command.lastIndex = at
  const named = command.exec(source)
  return named === null ? escaped(source, at, out) : readCommand(reading, named[1]!, at, command.lastIndex)
}

/** Reads the command that stands between `at` and `end`; returns where to continue. */
const readCommand = ({ braces, depth, out, source }: Reading, name: string, at: number, end: number): number => {
  if (name === "verb") return verbatim(source, at, out)
  if (Object.hasOwn(accents, name)) return accented(source, end, accents[name]!, out)
  if (Object.hasOwn(symbols, name)) {
    out.push(symbols[name]!)
    return end
  }
  if (name === "makebox" || name === "framebox") return skipOptional(source, skipOptional(source, end))
  if (Object.hasOwn(silent, name)) return skipArguments(source, end, silent[name]!, braces)
  if (name === "subfloat" || name === "subfigure" || name === "subtable") {
    const after = skipOptional(source, end)
    const caption = source.slice(end, after).trim().slice(1, -1)
    if (caption !== "") out.push("\n", depth < maxDepth ? latexText(caption, depth + 1) : caption, "\n")
    return after
  }
  const argument = braces.groupAt(skipOptional(source, end))
  if (/^[a-zA-Z]*cite/.test(name)) {
    out.push(`[${argument.text}]`)
    return argument.end
  }
  if (/^(?:footnote|footnotetext|thanks|endnote|endnotetext|sidenote|marginnote|marginpar|tablefootnote)$/.test(name)) {
    out.push(depth < maxDepth ? ` (${latexText(argument.text, depth + 1)})` : argument.text)
    return argument.end
  }
  return skipOptional(source, end)
}

const escaped = (source: string, at: number, out: Array<string>): number => {
  const next = source[at + 1] ?? ""
  if (next === "\\") {
    optional.lastIndex = at + 2
    out.push("\n")
    return optional.test(source) ? optional.lastIndex : at + 2
  }
  if (Object.hasOwn(accents, next)) return accented(source, at + 2, accents[next]!, out)
  // Among the rest, `\%` is a percent sign, `\,` a thin space and `\-` a place to break a word.
  if (/[,;:! \n/]/.test(next)) out.push(next === "/" || next === "!" ? "" : " ")
  else if (next !== "-") out.push(next)
  return at + 2
}

const accented = (source: string, at: number, accent: string, out: Array<string>): number => {
  const target = /\s*(?:\{\\?([a-zA-Z]?)\}|\\?([a-zA-Z]))/y
  target.lastIndex = at
  const letter = target.exec(source)
  if (letter === null) return at
  out.push(((letter[1] ?? letter[2] ?? "") + accent).normalize("NFC"))
  return target.lastIndex
}

const verbatim = (source: string, at: number, out: Array<string>): number => {
  const start = at + "\\verb".length + (source[at + 5] === "*" ? 1 : 0)
  const end = source.indexOf(source[start] ?? "\n", start + 1)
  if (end < 0) return start
  out.push(source.slice(start + 1, end))
  return end + 1
}

/** Where to continue after an option in brackets, if there is one. */
export const skipOptional = (source: string, at: number): number => {
  optional.lastIndex = at
  return optional.test(source) ? optional.lastIndex : at
}

const skipArguments = (source: string, start: number, count: number, braces: Braces): number => {
  let at = skipOptional(source, start)
  for (let i = 0; i < count; i++) {
    const { end } = braces.groupAt(at)
    if (end === at) return at
    at = skipOptional(source, end)
  }
  return at
}
