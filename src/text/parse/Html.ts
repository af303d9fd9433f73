import { oneLine, BlockWriter, type BlockSink } from "./BlockSink.ts"
import { decode } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { HtmlTable } from "./html/HtmlTable.ts"
import { isXhtml, walkHtml, type HtmlAttributes, type HtmlHandler } from "./html/HtmlTokens.ts"
import { languageCode } from "./LanguageCode.ts"
import type { PropertyList } from "./PropertyList.ts"
import type { Reader } from "./Reader.ts"

export const html: Reader = ({ bytes, format, limits, properties }) => {
  const builder = new DocumentBuilder(limits.characters)
  const facts = htmlBlocks(decode(bytes, htmlCharset), builder, { properties, titleBlock: true })
  return builder.build({ format, ...facts })
}

/** The charset that a `meta` element or an XML declaration names in the first 4 kB. */
export const htmlCharset = (head: string): string | undefined =>
  /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/.exec(head)?.[1]

interface HtmlFacts {
  readonly title?: string
  readonly author?: string
  readonly language?: string
}

interface HtmlOptions {
  readonly properties?: PropertyList
  /** Puts the page's title first where the text itself does not show it. Default false. */
  readonly titleBlock?: boolean
  /** The page is a chapter of a book, whose notes are sidebars, often hidden ones that a tap opens. Default false. */
  readonly book?: boolean
}

/**
 * Adds the blocks of an HTML or XHTML page. Scripts, styles and hidden elements never count; of forms, the entered and chosen values do;
 * navigation, lines with links to the next page or the one before, page footers and sidebars count only where a page has next to nothing
 * else.
 */
export const htmlBlocks = (source: string, builder: DocumentBuilder, options: HtmlOptions = {}): HtmlFacts => {
  const page = new HtmlPage(options)
  walkHtml(source, page, isXhtml(source))
  const facts = page.facts()
  const writer = new BlockWriter(builder)
  if (options.titleBlock === true && facts.title !== undefined && !page.shows(facts.title)) {
    if (page.firstHeading === undefined) writer.add("heading", facts.title, 1)
    else writer.add("paragraph", facts.title)
  }
  page.writeTo(writer)
  return facts
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "))

const skippedElements = names(
  "script style noscript iframe svg canvas audio video datalist rt rp annotation annotation-xml noframes"
)

/** Whether the text of an element is never shown as text. */
export const isNoText = (name: string, attributes: HtmlAttributes): boolean => {
  if (name === "option") return !attributes.has("selected")
  // A template is shown where it declares itself the content of the element around it.
  return name === "template" ? !attributes.has("shadowrootmode") : skippedElements.has(name)
}

/** Input types that do not show what was entered. */
const otherInputs = names("hidden password submit reset button search file color range")

/** The value that an input shows. Check boxes are marked in forms only: elsewhere they open menus. */
const entered = (attributes: HtmlAttributes, inForm: boolean): string => {
  const type = (attributes.get("type") ?? "text").toLowerCase()
  if (type === "image") return attributes.get("alt") ?? ""
  if (type === "checkbox" || type === "radio") return inForm ? attributes.has("checked") ? "☒" : "☐" : ""
  return otherInputs.has(type) ? "" : attributes.get("value") ?? ""
}

/** Whether an element is a note of a book (EPUB 3 Structural Semantics, 1.1). */
const isNote = (attributes: HtmlAttributes): boolean =>
  /\b(?:foot|rear|end)?notes?\b/.test(attributes.get("epub:type") ?? "") || /^doc-(?:foot|end)note/.test(attributes.get("role") ?? "")

/** Whether an element and everything in it is hidden from all readers. */
export const isHidden = (attributes: HtmlAttributes): boolean =>
  attributes.size > 0 &&
  (attributes.has("hidden") || attributes.get("aria-hidden") === "true" || /display\s*:\s*none/i.test(attributes.get("style") ?? ""))

/** Class names that widely used generators give to what is not text of the page: line numbers, heading links. */
const skippedClasses = names("headerlink anchor-link linenos lineno gutter mw-editsection")

/** Elements that start and end a line. */
export const blockElements = names(
  "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary " +
    "table tbody td tfoot th thead tr ul"
)

const content = names("main article section blockquote")
const boilerplateRoles = names("navigation search contentinfo menu menubar toolbar")

/** Class names that widely used generators give to navigation in elements that do not say so. */
const boilerplateClasses = names(
  "nav navbar navheader navfooter navigation navigationbar docnav breadcrumb breadcrumbs pagination pager sphinxsidebar skip-link"
)

/** Class names of boxes beside the text: their titles head nothing after them. */
const asideClasses = names("note tip warning caution important danger hint attention admonition callout sidebar infobox")
const lists = names("ul ol menu dir")

/** Most characters of a heading; a longer one is text in a heading that was never closed. */
const maxHeading = 300

/** Least characters of text besides the boilerplate; with fewer, the boilerplate is taken for text. */
const enoughCharacters = 100

/** Depth to which pages inside pages are read. */
const mostWithin = 4

const frame = { skip: 1, boilerplate: 2, content: 4, aside: 8 }

/** Columns that a definition is indented below its term, and depth to which lists in definitions are. */
const definitionIndent = 4
const deepestDefinition = 4

interface Found {
  readonly boilerplate: boolean
  readonly characters: number
  readonly write: (sink: BlockWriter) => void
}

interface List {
  readonly ordered: boolean
  next: number
}

class HtmlPage implements HtmlHandler {
  readonly #found: Array<Found> = []
  /** What each open element changed, to be undone when it closes. */
  readonly #frames: Array<number> = []
  readonly #lists: Array<List> = []
  #skip = 0
  #boilerplate = 0
  #content = 0
  #asides = 0
  /** Terms that wait for their definition, and definitions that are open. */
  #terms: Array<string> = []
  #inTerm = false
  #definitions = 0
  #line = ""
  #lines: Array<string> = []
  #item: Array<string> | undefined = undefined
  #heading: number | undefined = undefined
  #table: HtmlTable | undefined = undefined
  #pre: string | undefined = undefined
  #inTitle = false
  #area: string | undefined = undefined
  /** Whether the open line has a link to the page before, after or above. */
  #leads = false
  /** The lines that had one. */
  readonly #sequence = new Set<string>()
  #forms = 0
  #within = 0
  #title = ""
  #author: string | undefined = undefined
  #language: string | undefined = undefined
  firstHeading: string | undefined = undefined

  /** Receives the contents of `meta` elements. */
  readonly #properties: PropertyList | undefined
  readonly #book: boolean

  constructor({ book = false, properties }: HtmlOptions) {
    this.#properties = properties
    this.#book = book
  }

  facts(): HtmlFacts {
    const title = oneLine(this.#title) || this.firstHeading
    return {
      title,
      author: this.#author,
      language: this.#language
    }
  }

  /** Whether the first heading says the same as the title, apart from a site's name. */
  shows(title: string): boolean {
    return this.firstHeading !== undefined && title.toLowerCase().includes(this.firstHeading.toLowerCase())
  }

  writeTo(writer: BlockWriter): void {
    this.#flush()
    const kept = this.#found.filter((found) => !found.boilerplate)
    const characters = kept.reduce((sum, found) => sum + found.characters, 0)
    for (const found of characters < enoughCharacters ? this.#found : kept) found.write(writer)
    writer.end()
  }

  open(name: string, attributes: HtmlAttributes): void {
    // A page inside the page, which is shown in its place.
    const srcdoc = attributes.get("srcdoc")
    if (name === "iframe" && this.#skip === 0 && srcdoc !== undefined && this.#within < mostWithin && !this.#isSkipped("div", attributes)) {
      this.#within++
      this.#endLine()
      walkHtml(srcdoc, this, false)
      this.#endLine()
      this.#within--
    }
    if (this.#skip > 0 || this.#isSkipped(name, attributes)) {
      this.#skip++
      this.#frames.push(frame.skip)
      return
    }
    const entered = this.#enter(name, attributes)
    this.#frames.push(entered)
    // First, since text up to here is not part of the element.
    if (blockElements.has(name) || entered === frame.boilerplate) this.#endLine()
    if (entered === frame.boilerplate) {
      this.#endItem()
      this.#boilerplate++
    }
    if (name === "form") this.#forms++
    if (entered === frame.content) this.#content++
    if (entered === frame.aside) this.#asides++
    if (name === "dd") this.#definitions++
    if (name === "dt") this.#inTerm = true
    if (lists.has(name)) {
      this.#endItem()
      this.#lists.push({ ordered: name === "ol", next: Number.parseInt(attributes.get("start") ?? "1", 10) || 1 })
    } else if (name === "table") {
      this.#dissolveTable()
      this.#endItem()
      if (attributes.get("role") !== "presentation") this.#table = new HtmlTable()
    } else this.#openLeaf(name, attributes)
  }

  #openLeaf(name: string, attributes: HtmlAttributes): void {
    switch (name) {
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        if (this.#table !== undefined && !this.#table.header) this.#dissolveTable()
        this.#endItem()
        this.#heading = Number(name[1])
        break
      case "li": {
        this.#endItem()
        const value = Number.parseInt(attributes.get("value") ?? "", 10)
        const list = this.#lists.at(-1)
        if (list !== undefined && !Number.isNaN(value)) list.next = value
        this.#item = []
        break
      }
      case "td":
      case "th":
        this.#table?.openCell(name === "th")
        break
      case "pre":
      case "listing":
      case "xmp":
        this.#endItem()
        this.#pre = ""
        break
      case "br":
        if (this.#pre !== undefined) this.#pre += "\n"
        else this.#break()
        break
      case "a":
        if (/\b(?:next|prev|previous|up)\b/i.test(attributes.get("rel") ?? "")) this.#leads = !this.#book
        break
      case "img":
      case "area":
        this.text(` ${attributes.get("alt") ?? ""} `)
        break
      case "input":
        this.text(` ${entered(attributes, this.#forms > 0)} `)
        break
      case "option":
        this.text(" ")
        break
      case "textarea":
        this.#area = ""
        break
      case "title":
        this.#inTitle = true
        break
      case "html":
      case "body":
        this.#language ??= languageCode(attributes.get("lang") ?? attributes.get("xml:lang"))
        break
      case "meta":
        if (attributes.get("name")?.toLowerCase() === "author") {
          this.#author ??= oneLine(attributes.get("content") ?? "") || undefined
        }
        this.#properties?.add(attributes.get("name") ?? attributes.get("property") ?? "", oneLine(attributes.get("content") ?? ""))
        break
      default:
    }
  }

  close(name: string): void {
    const left = this.#frames.pop()
    if (left === frame.skip) {
      this.#skip--
      return
    }
    if (name === "form") this.#forms--
    if (name === "option") this.text(" ")
    if (name === "textarea") this.#endArea()
    else if (this.#pre !== undefined && (name === "pre" || name === "listing" || name === "xmp")) this.#endPre()
    else if (blockElements.has(name) || left === frame.boilerplate) this.#endLine()
    if (left === frame.content) this.#content--
    if (left === frame.aside) this.#asides--
    if (name === "dt") this.#inTerm = false
    else if (name === "dd") this.#definitions--
    if (name === "dd" || name === "dl") this.#endTerms()
    if (name === "title") this.#inTitle = false
    else if (name === "li") this.#endItem()
    else if (name === "td" || name === "th") this.#table?.closeCell()
    else if (name === "tr") this.#table?.closeRow()
    else if (name === "table") this.#dissolveTable()
    else if (lists.has(name)) {
      this.#endItem()
      this.#lists.pop()
      if (this.#lists.length === 0) this.#push(0, (sink) => sink.end())
    } else if (/^h[1-6]$/.test(name)) this.#heading = undefined
    if (left === frame.boilerplate) this.#boilerplate--
  }

  text(data: string): void {
    if (this.#inTitle) this.#title += data
    else if (this.#skip > 0) return
    else if (this.#area !== undefined) this.#area += data
    else if (this.#pre !== undefined) this.#pre += data
    else this.#line += data
  }

  #isSkipped(name: string, attributes: HtmlAttributes): boolean {
    if (isNoText(name, attributes)) return true
    if (name === "button" && this.#heading === undefined) return true
    if (name === "dialog" && !attributes.has("open")) return true
    if (attributes.size === 0) return false
    if (isHidden(attributes)) return !(this.#book && isNote(attributes))
    return (attributes.get("class") ?? "").split(/\s+/, 20).some((token) => skippedClasses.has(token))
  }

  #enter(name: string, attributes: HtmlAttributes): number {
    const role = attributes.get("role") ?? ""
    if (content.has(name) || role === "main") return frame.content
    if (name === "nav" || boilerplateRoles.has(role)) return frame.boilerplate
    const classes = attributes.size === 0 ? [] : (attributes.get("class") ?? "").split(/\s+/, 20)
    if (!this.#book && name !== "body" && classes.some((token) => boilerplateClasses.has(token))) return frame.boilerplate
    const isFooter = name === "footer" || attributes.get("id") === "footer" || classes.includes("footer")
    if (role === "note" || (name !== "body" && classes.some((token) => asideClasses.has(token)))) return frame.aside
    return !this.#book && this.#content === 0 && name !== "body" && (isFooter || name === "aside") ? frame.boilerplate : 0
  }

  #push(characters: number, write: (sink: BlockWriter) => void): void {
    this.#endTerms()
    this.#found.push({ boilerplate: this.#boilerplate > 0, characters, write })
  }

  #add(kind: Parameters<BlockSink["add"]>[0], text: string, level?: number): void {
    if (text === "") return
    this.#push(text.length, (sink) => {
      sink.add(kind, text, level)
      // Two adjacent code blocks stay two.
      if (kind === "code") sink.end()
    })
  }

  /** Handles a line break: two in a row separate paragraphs. */
  #break(): void {
    const line = oneLine(this.#line)
    this.#line = ""
    if (line !== "") this.#lines.push(line)
    else if (this.#lines.length > 0) this.#flush()
  }

  /** Handles the start or end of a block: inside preformatted text a new line, elsewhere a new text. */
  #endLine(): void {
    if (this.#pre === undefined) this.#flush()
    else if (this.#pre !== "" && !this.#pre.endsWith("\n")) this.#pre += "\n"
  }

  /** Ends the text collected so far and adds it to what is open: a cell, a heading, a list item, a paragraph. */
  #flush(): void {
    if (this.#line === "" && this.#lines.length === 0) {
      this.#leads = false
      return
    }
    const last = oneLine(this.#line)
    if (last !== "") this.#lines.push(last)
    const text = this.#lines.join("\n").replaceAll("\u00ad", "")
    // Such lines stand at the foot again, where their links need not say what they are.
    if (this.#leads && text.length <= maxHeading) this.#sequence.add(text)
    this.#line = ""
    this.#lines = []
    this.#leads = false
    if (text === "") return
    if (this.#table?.inCell === true) this.#table.text(text)
    else if (this.#sequence.has(text)) {
      this.#found.push({
        boilerplate: true,
        characters: text.length,
        write: (sink) => sink.add("paragraph", text)
      })
    } else if (this.#heading !== undefined && text.length <= maxHeading) {
      const heading = oneLine(text)
      if (this.#asides > 0) return this.#addParagraph(heading)
      if (this.#boilerplate === 0) this.firstHeading ??= heading
      this.#add("heading", heading, this.#heading)
    } else if (this.#item !== undefined) this.#item.push(text)
    else if (this.#inTerm) this.#terms.push(...text.split("\n"))
    else this.#addParagraph(text)
  }

  /** In a definition it is indented, and stands below the terms that it is the first to define: one block, which is cut last. */
  #addParagraph(text: string): void {
    if (this.#definitions === 0) return this.#add("paragraph", text)
    const terms = this.#terms
    this.#terms = []
    this.#add("paragraph", [...terms.map((term) => this.#indented(term, -1)), this.#indented(text)].join("\n"))
  }

  #indented(text: string, more = 0): string {
    const depth = Math.min(deepestDefinition, this.#definitions + more)
    return text.split("\n").map((line) => " ".repeat(definitionIndent * depth) + line).join("\n")
  }

  /** Terms without a definition, or with one that begins with something else than a paragraph, are a paragraph. */
  #endTerms(): void {
    const terms = this.#terms
    if (terms.length === 0) return
    this.#terms = []
    this.#add("paragraph", terms.join("\n"))
  }

  /** Writes the open list item. Whatever its element contains after this becomes paragraphs. */
  #endItem(): void {
    const item = this.#item
    this.#item = undefined
    if (item === undefined) return
    const list = this.#lists.at(-1)
    const label = list?.ordered === true ? `${list.next++}.` : "-"
    const depth = Math.max(0, this.#lists.length - 1)
    const text = item.join(" ")
    if (text !== "") this.#push(text.length, (sink) => sink.item(depth, label, text))
  }

  /** Writes the text of a multi-line input. */
  #endArea(): void {
    const [first = "", ...lines] = (this.#area ?? "").replace(/^\n/, "").split("\n")
    this.#area = undefined
    this.text(` ${first}`)
    for (const line of lines) {
      if (this.#pre === undefined) this.#break()
      this.text(this.#pre === undefined ? line : `\n${line}`)
    }
    this.text(" ")
  }

  #endPre(): void {
    const code = this.#pre ?? ""
    this.#pre = undefined
    if (this.#table?.young === true && code.includes("\n")) this.#dissolveTable()
    if (this.#table?.inCell === true) this.#table.text(code)
    else this.#add("code", code.replace(/^\n/, ""))
  }

  /** Writes the open table as far as it goes. A table with another in one of its cells is there for layout. */
  #dissolveTable(): void {
    const table = this.#table
    this.#table = undefined
    if (table === undefined) return
    const { kind, texts } = table.finish()
    for (const text of texts) this.#add(kind, text)
  }
}
