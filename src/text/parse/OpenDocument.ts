import type { ParsedDocument, Remark } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { BlockBuffer, BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { type Embedded, embeddedInOpenDocument, withEmbedded } from "./Embedded.ts"
import { writeSheets } from "./odf/Sheets.ts"
import { writeSlides } from "./odf/Slides.ts"
import { Story, type StoryContext } from "./odf/Story.ts"
import { readStyles } from "./odf/Styles.ts"
import { languageCode } from "./LanguageCode.ts"
import { pagesByMarks } from "./PageMarks.ts"
import type { PropertyList } from "./PropertyList.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { onlyOnce } from "./RunningText.ts"
import { childElements, eachElement, textContent } from "./Xml.ts"
import { openZip } from "./Zip.ts"

/** The parts of a document that are read. In a flat document they are one and the same. */
interface Parts {
  readonly content: Uint8Array
  readonly styles: Uint8Array | undefined
  readonly meta: Uint8Array | undefined
  readonly embedded: Embedded
}

/**
 * Reads OpenDocument texts, spreadsheets and presentations, their templates, flat XML files and those of OpenOffice.org 1. The content
 * decides which of them a file is.
 */
export const openDocument: Reader = ({ bytes, format, inner, limits, properties }) => {
  const parts = openParts(bytes, limits)
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const facts = readFacts(parts.meta, properties)
  const body = bodyKind(parts.content)
  const pages = body === "office:text" ? pagesByMarks(parts.content, "<text:soft-page-break", facts.pageCount) : undefined
  let page = 1
  let title: string | undefined
  const context: StoryContext = {
    styles: readStyles(
      parts.styles === undefined || parts.styles === parts.content
        ? [parts.content]
        : [parts.styles, parts.content]
    ),
    endnotes: new BlockBuffer(),
    pageBreak: () => {
      if (pages === undefined || page >= pages) return
      page++
      writer.page(page)
    },
    title: (text) => {
      title ??= oneLine(text)
    }
  }
  const remarks: Array<Remark> = []
  let count = pages
  if (body === "office:spreadsheet") {
    count = writeSheets(parts.content, context, writer, limits, remarks)
  } else if (body === "office:presentation" || body === "office:drawing") {
    const slides = writeSlides(parts.content, context, writer, limits, remarks)
    count = slides.count
    title ??= slides.title
  } else {
    if (pages !== undefined) writer.page(page)
    const story = new Story(context)
    eachElement(parts.content, (_, parent) => parent === body, (element) => story.block(element, writer))
  }
  context.endnotes.moveTo(writer)
  runningText(parts.styles, { ...context, pageBreak: () => {}, title: () => {} }, writer)
  writer.end()
  return withEmbedded(parts.embedded, { builder, inner, limits }, () =>
    builder.build({
      format,
      ...facts.document,
      title: facts.document.title ?? title,
      ...(count === undefined ? {} : { pages: count }),
      remarks
    }))
}

const openParts = (bytes: Uint8Array, limits: Limits): Parts => {
  if (startsAsXml(bytes)) return { content: bytes, styles: bytes, meta: bytes, embedded: { objects: [], pictures: [] } }
  const zip = openZip(bytes, limits)
  const manifest = zip.read("META-INF/manifest.xml")
  if (manifest !== undefined && (encrypts(manifest, "content.xml") || zip.has("encrypted-package"))) {
    throw new ReadFailure("encrypted", "the document is protected by a password")
  }
  const content = zip.read("content.xml")
  if (content === undefined) throw new ReadFailure("corrupt", "not an OpenDocument file: it has no content.xml")
  return { content, styles: zip.read("styles.xml"), meta: zip.read("meta.xml"), embedded: embeddedInOpenDocument(zip) }
}

/**
 * Whether a part is encrypted. OpenDocument encrypts each part separately (part 2, chapter 5): a library of macros may be encrypted in a
 * document that is not.
 */
const encrypts = (manifest: Uint8Array, part: string): boolean => {
  let found = false
  eachElement(manifest, (name) => name === "manifest:file-entry", (entry) => {
    found ||= entry.attributes["manifest:full-path"] === part &&
      childElements(entry).some(({ name }) => name === "manifest:encryption-data")
  })
  return found
}

const startsAsXml = (bytes: Uint8Array): boolean =>
  /^(?:\xef\xbb\xbf)?\s*</.test(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(64, bytes.length)).toString("latin1"))

const bodies = new Set(["office:text", "office:spreadsheet", "office:presentation", "office:drawing"])

/** The kind of content. OpenOffice.org 1 had the content in `office:body` itself. */
const bodyKind = (content: Uint8Array): string => {
  let body: string | undefined
  eachElement(
    content,
    (name, parent) => {
      if (parent === "office:body") body ??= bodies.has(name) ? name : "office:body"
      return false
    },
    () => {},
    () => body !== undefined
  )
  return body ?? "office:body"
}

interface Facts {
  readonly document: Pick<ParsedDocument, "title" | "author" | "language">
  readonly pageCount: number
}

const readFacts = (meta: Uint8Array | undefined, said: PropertyList | undefined): Facts => {
  const values = new Map<string, string>()
  let pageCount = Number.NaN
  if (meta !== undefined) {
    eachElement(meta, (_, parent) => parent === "office:meta", (element) => {
      const value = oneLine(textContent(element))
      if (!values.has(element.name)) values.set(element.name, value)
      said?.add(element.attributes["meta:name"] ?? element.name.slice(element.name.indexOf(":") + 1), value)
      if (element.name === "meta:document-statistic") pageCount = Number(element.attributes["meta:page-count"])
    })
  }
  const title = values.get("dc:title") ?? ""
  const author = values.get("meta:initial-creator") ?? values.get("dc:creator") ?? ""
  const language = languageCode(values.get("dc:language"))
  return {
    document: {
      title: title === "" ? undefined : title,
      author: author === "" ? undefined : author,
      language
    },
    pageCount
  }
}

/** Writes the headers and footers of the page styles. */
const runningText = (styles: Uint8Array | undefined, context: StoryContext, writer: BlockWriter): void => {
  if (styles === undefined) return
  const once = onlyOnce(writer)
  eachElement(styles, (name, parent) => parent === "style:master-page" && /^style:(?:header|footer)/.test(name), (element) => {
    if (element.attributes["style:display"] !== "false") new Story(context).blocks(element, once)
  })
}
