import { BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { type Embedded, withEmbedded } from "./Embedded.ts"
import { htmlBlocks } from "./Html.ts"
import type { Reader } from "./Reader.ts"
import { scanXml, type XmlAttributes } from "./Xml.ts"

/**
 * Reads XML of any vocabulary. Elements that mix text and elements are paragraphs; those with text alone are `name: text` lines, kept
 * together with their siblings; titles are headings.
 */
export const xmlDocument: Reader = ({ bytes, format, inner, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const blocks = new XmlBlocks(builder)
  scanXml(bytes, blocks)
  blocks.end()
  return withEmbedded(
    { objects: [], pictures: blocks.pictures },
    { builder, inner, limits },
    () => builder.build({ format, title: blocks.title })
  )
}

/** Text elements of common vocabularies: everything inside is one text, whatever elements it contains. */
const paragraphs = new Set(["p", "para", "simpara", "w:p", "a:p", "text:p", "li", "dt", "dd", "verse", "line"])
const headings = new Set(["title", "head", "heading", "text:h", "h1", "h2", "h3", "h4", "h5", "h6", "caption"])
const codes = new Set(["programlisting", "screen", "codeblock", "literallayout", "pre", "code-block"])
const rows = new Set(["tr", "row", "w:tr", "table:table-row"])
const cells = new Set(["td", "th", "entry", "w:tc", "table:table-cell"])
const blanks = new Set(["br", "lb", "w:br", "w:tab", "text:tab", "text:line-break", "text:s"])
const skipped = new Set(
  ("w:binData pkg:binaryData office:binary-data w:instrText w:sectPr w:styles w:fonts w:docPr w:lists w:pPr w:rPr " +
    "w:fldData wp:posOffset wp:align wp14:pctWidth wp14:pctHeight mc:Fallback v:shape v:shapetype v:rect " +
    "o:shapedefaults o:shapelayout rel:Relationships ct:Types script").split(" ")
)
/** Elements in which `style` is a stylesheet; in other vocabularies it is a style of words, of art, of music. */
const styled = /(?:^|:)(?:html|head|svg)$/
/** Attributes that bind and refer, and mean nothing to a reader. */
const technical = /^(?:xmlns|xsi:|xml:|xlink:|rsid|w:|wx:|wsp:|style$|class$)|[iI]d$|Ref$/
/** Attributes that name an element which contains others. */
const naming = new Set(["name", "title", "label", "key", "caption"])

/** Most characters of a field of a record; a longer value is a separate text. */
const fieldCharacters = 200

interface Field {
  readonly name: string
  readonly text: string
}

interface Frame {
  readonly name: string
  readonly attributes: XmlAttributes
  readonly parts: Array<string | Field>
  /** Whether it has text of its own between its elements. */
  hasText: boolean
  /** Whether something inside it was already written, which makes it a container. */
  written: boolean
}

/** Whether everything in an element of this name is one text. */
export const isText = (name: string): boolean => paragraphs.has(name) || headings.has(name) || codes.has(name) || rows.has(name)

class XmlBlocks {
  readonly written = true
  readonly #builder: DocumentBuilder
  readonly #writer: BlockWriter
  readonly #frames: Array<Frame> = []
  #rows: Array<string> = []
  /** How many of the open elements are skipped. */
  #skip = 0
  /** How many of the open elements are texts. */
  #texts = 0
  title: string | undefined = undefined
  /** Pictures, which FictionBook keeps in base64 at the end. */
  readonly pictures: Array<Embedded["pictures"][number]> = []
  #picture: { readonly name: string; readonly parts: Array<string> } | undefined

  constructor(builder: DocumentBuilder) {
    this.#builder = builder
    this.#writer = new BlockWriter(builder)
  }

  readonly open = (given: string, attributes: XmlAttributes): void => {
    // JATS: the article's own title, not those of its references.
    const title = given === "article-title" && this.#frames.at(-1)?.name === "title-group"
    const fiction = this.#frames[0]?.name === "FictionBook"
    const name = title ? "title" : fiction && given === "v" ? "line" : given
    const picture = fiction && name === "binary"
    if (picture) this.#picture = { name: attributes["id"] ?? "a picture", parts: [] }
    if (this.#skip > 0 || skipped.has(name) || picture || this.#isStylesheet(name, attributes)) this.#skip++
    if (isText(name)) this.#texts++
    this.#frames.push({ name, attributes, parts: [], hasText: false, written: false })
  }

  readonly text = (text: string): void => {
    this.#picture?.parts.push(text)
    const frame = this.#frames.at(-1)
    if (frame === undefined || this.#skip > 0) return
    frame.parts.push(text)
    if (!frame.hasText && /[\p{L}\p{N}]/u.test(text)) frame.hasText = true
  }

  readonly close = (): void => {
    const frame = this.#frames.pop()
    if (frame === undefined) return
    const { name } = frame
    if (this.#picture !== undefined) {
      const { name, parts } = this.#picture
      this.pictures.push({ name, read: () => Buffer.from(parts.join(""), "base64") })
      this.#picture = undefined
    }
    if (isText(name)) this.#texts--
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const parent = this.#frames.at(-1)
    if (this.#texts > 0) parent?.parts.push(innerText(frame))
    else if (isText(name)) this.#writeText(frame)
    else if (frame.hasText && !frame.written) {
      if (parent === undefined) this.#writeText(frame)
      else parent.parts.push({ name, text: joined(frame) })
    } else if (frame.written || frame.parts.some((part) => typeof part !== "string")) this.#writeContainer(frame)
    else if (readable(frame.attributes) !== "") parent?.parts.push({ name, text: readable(frame.attributes) })
  }

  #isStylesheet(name: string, { type = "" }: XmlAttributes): boolean {
    if (name === "style") return /css/i.test(type) || this.#frames.some((frame) => styled.test(frame.name))
    return name === "stylesheet" && /css/i.test(type)
  }

  end(): void {
    this.#endRows()
    this.#writer.end()
  }

  #writeContainer(frame: Frame): void {
    this.#writeOuter()
    this.#writeParts(frame)
  }

  #writeText(frame: Frame): void {
    this.#writeOuter()
    const text = joined(frame)
    if (rows.has(frame.name)) {
      this.#rows.push(oneLine(text).replace(/( \|)+$/, ""))
      return
    }
    this.#endRows()
    if (codes.has(frame.name)) {
      this.#writer.add("code", text)
      this.#writer.end()
    } else if (headings.has(frame.name)) {
      const heading = oneLine(text)
      this.title ??= heading === "" ? undefined : heading
      // The root and the element whose title this is do not count.
      this.#writer.add("heading", heading, Math.max(1, this.#frames.length - 1))
    } else this.#writer.add("paragraph", oneLine(text))
  }

  #endRows(): void {
    this.#writer.add("table", this.#rows.filter((row) => row !== "").join("\n"))
    this.#rows = []
  }

  /** Writes the texts of the open elements so far, which precede whatever is written next. */
  #writeOuter(): void {
    for (const frame of this.#frames) {
      this.#writeParts(frame)
      frame.written = true
    }
  }

  #writeParts(frame: Frame): void {
    const fields: Array<string> = []
    const flush = (): void => {
      if (fields.length > 0) this.#endRows()
      this.#writer.add("paragraph", fields.splice(0).join("\n"))
    }
    if (!frame.written) fields.push(...names(frame))
    for (const part of frame.parts.splice(0)) {
      const text = typeof part === "string" ? part : part.text
      if (!/[\p{L}\p{N}]/u.test(text)) continue
      if (/<\/?(?:p|br|div|a|b|i|em|strong|ul|li|span|img)\b[^<>]*>/i.test(text)) {
        // Feeds carry HTML as text.
        flush()
        this.#writer.end()
        htmlBlocks(text, this.#builder)
      } else if (typeof part !== "string" && text.length <= fieldCharacters) {
        fields.push(`${part.name}: ${oneLine(text)}`)
      } else {
        flush()
        this.#writer.add("paragraph", text)
      }
    }
    flush()
  }
}

const joined = (frame: Frame): string => frame.parts.map((part) => typeof part === "string" ? part : part.text).join("")

/** The text of an element inside a paragraph or row. */
const innerText = (frame: Frame): string => {
  if (cells.has(frame.name)) return `${oneLine(joined(frame))} | `
  if (blanks.has(frame.name)) return " "
  return isText(frame.name) ? `${joined(frame)} ` : joined(frame)
}

const readable = (attributes: XmlAttributes): string =>
  Object.entries(attributes)
    .filter(([name, value]) => value !== "" && !technical.test(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")

const names = (frame: Frame): ReadonlyArray<string> =>
  Object.entries(frame.attributes)
    .filter(([name, value]) => value !== "" && naming.has(name))
    .map(([, value]) => `${frame.name}: ${value}`)
