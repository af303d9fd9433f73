import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2"

/**
 * Receives the tokens of a page. Names are in lower case. Every `open` is followed by its `close`, in order, whatever the markup. Positions
 * are UTF-16 offsets into the source.
 */
export interface HtmlHandler {
  /** Starts an element; `start` and `end` are those of its tag. */
  readonly open: (name: string, attributes: HtmlAttributes, start: number, end: number) => void
  readonly close: (name: string) => void
  /** Receives a stretch of character data with entities decoded, and its position; one text may come in several. */
  readonly text: (data: string, start: number, end: number) => void
}

export type HtmlAttributes = ReadonlyMap<string, string>

const voidElements = new Set(
  "area base basefont br col embed frame hr img input keygen link meta param source track wbr".split(" ")
)

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"]

/** Elements whose start ends an open paragraph (HTML standard, 13.2.6.4.7). */
const closesParagraph = (
  "address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form " +
  "header hgroup hr li main menu nav ol p pre search section summary table ul"
).split(" ")

interface Closing {
  /** Open elements that the new one ends. */
  readonly ends: ReadonlySet<string>
  /** Elements at which the search for these stops. */
  readonly within: ReadonlySet<string>
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "))
const paragraphScope = names("td th table caption button object blockquote div section article li dd ul ol dl body")

const closings: ReadonlyMap<string, Closing> = new Map<string, Closing>([
  ...closesParagraph.map((name) => [name, { ends: names("p"), within: paragraphScope }] as const),
  ...headings.map((name) => [name, { ends: names("p h1 h2 h3 h4 h5 h6"), within: paragraphScope }] as const),
  ["li", { ends: names("li"), within: names("ul ol menu dir table td th section article") }],
  ["dt", { ends: names("dt dd"), within: names("dl table td th ul ol section article") }],
  ["dd", { ends: names("dt dd"), within: names("dl table td th ul ol section article") }],
  ["tr", { ends: names("tr td th caption colgroup"), within: names("table") }],
  ["td", { ends: names("td th"), within: names("table tr") }],
  ["th", { ends: names("td th"), within: names("table tr") }],
  ["thead", { ends: names("thead tbody tfoot tr td th caption colgroup"), within: names("table") }],
  ["tbody", { ends: names("thead tbody tfoot tr td th caption colgroup"), within: names("table") }],
  ["tfoot", { ends: names("thead tbody tfoot tr td th caption colgroup"), within: names("table") }],
  ["option", { ends: names("option"), within: names("select datalist") }],
  ["optgroup", { ends: names("option optgroup"), within: names("select") }],
  ["a", { ends: names("a"), within: names("table td th") }],
  ["body", { ends: names("head title"), within: names("html") }]
])

/** Elements that only end tags of table parts can end from inside. */
const tableParts = names("table thead tbody tfoot tr td th caption")

/** How far up the search for an omitted end tag goes: far beyond any page written by people, yet bounded. */
const closingReach = 64

/** Whether a page is XHTML, by its first characters. */
export const isXhtml = (html: string): boolean => /^\s*<\?xml|<html[^>]{0,500}xmlns/.test(html.slice(0, 2_000))

/**
 * Runs through HTML in time linear in its length, however deep its elements are nested or wrongly closed. htmlparser2's own Parser does
 * not, so only its Tokenizer is used. `xml` makes `<title/>` an empty element, as in XHTML.
 */
export const walkHtml = (html: string, handler: HtmlHandler, xml: boolean): void => {
  const walker = new Walker(html, handler, xml)
  const tokenizer = new Tokenizer({ decodeEntities: true, recognizeSelfClosing: xml }, walker)
  tokenizer.write(html)
  tokenizer.end()
}

class Walker implements TokenizerCallbacks {
  readonly #html: string
  readonly #handler: HtmlHandler
  readonly #xml: boolean
  readonly #stack: Array<string> = []
  /** Where each name is on the stack, so that a stray end tag costs nothing. */
  readonly #positions = new Map<string, Array<number>>()
  /** Where the table parts are on the stack, so that a stray end tag costs nothing. */
  readonly #tableParts: Array<number> = []
  #foreign = 0
  #name = ""
  #tag = 0
  #attributes = new Map<string, string>()
  #attribute = ""
  #value = ""

  constructor(html: string, handler: HtmlHandler, xml: boolean) {
    this.#html = html
    this.#handler = handler
    this.#xml = xml
  }

  isInForeignContext(): boolean {
    return this.#foreign > 0
  }

  ontext(start: number, end: number): void {
    this.#handler.text(this.#html.slice(start, end), start, end)
  }

  ontextentity(codepoint: number, end: number): void {
    this.#handler.text(String.fromCodePoint(codepoint), Math.max(0, this.#html.lastIndexOf("&", end - 1)), end)
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#html.slice(start, end).toLowerCase()
    this.#tag = start - 1
    this.#attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase()
    this.#value = ""
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end)
  }

  onattribentity(codepoint: number): void {
    this.#value += String.fromCodePoint(codepoint)
  }

  onattribend(quote: QuoteType): void {
    if (!this.#attributes.has(this.#attribute)) {
      this.#attributes.set(this.#attribute, quote === QuoteType.NoValue ? "" : this.#value)
    }
  }

  onopentagend(last: number): void {
    this.#start(false, last + 1)
  }

  onselfclosingtag(last: number): void {
    this.#start(this.#xml || this.isInForeignContext(), last + 1)
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase()
    if (name === "br") {
      this.#handler.open("br", new Map(), start - 2, end + 1)
      this.#handler.close("br")
    }
    const position = this.#positions.get(name)?.at(-1) ?? -1
    const scope = tableParts.has(name) || name === "body" || name === "html" ? -1 : this.#tableParts.at(-1) ?? -1
    if (position > scope) this.#popTo(position)
  }

  onend(): void {
    this.#popTo(0)
  }

  oncdata(start: number, end: number, offset: number): void {
    if (this.#xml || this.isInForeignContext()) this.#handler.text(this.#html.slice(start, end - offset), start, end - offset)
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  #start(closed: boolean, end: number): void {
    const name = this.#name
    const closing = closings.get(name)
    if (closing !== undefined) this.#closeOmitted(closing)
    this.#handler.open(name, this.#attributes, this.#tag, end)
    if (closed || voidElements.has(name)) {
      this.#handler.close(name)
      return
    }
    const positions = this.#positions.get(name)
    if (positions === undefined) this.#positions.set(name, [this.#stack.length])
    else positions.push(this.#stack.length)
    if (tableParts.has(name)) this.#tableParts.push(this.#stack.length)
    this.#stack.push(name)
    if (name === "svg" || name === "math") this.#foreign++
  }

  #closeOmitted(closing: Closing): void {
    const lowest = Math.max(0, this.#stack.length - closingReach)
    let depth = this.#stack.length
    for (let at = this.#stack.length - 1; at >= lowest; at--) {
      const name = this.#stack[at]!
      if (closing.ends.has(name)) depth = at
      else if (closing.within.has(name)) break
    }
    this.#popTo(depth)
  }

  #popTo(depth: number): void {
    while (this.#stack.length > depth) {
      const name = this.#stack.pop()!
      this.#positions.get(name)?.pop()
      if (tableParts.has(name)) this.#tableParts.pop()
      if (name === "svg" || name === "math") this.#foreign--
      this.#handler.close(name)
    }
  }
}
