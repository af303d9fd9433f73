import { BlockBuffer, type BlockSink, BlockWriter, oneLine, withPrefix } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { withEmbedded } from "./Embedded.ts"
import { HiddenText } from "./HiddenText.ts"
import { openPackage, type OfficePackage } from "./ooxml/Package.ts"
import { WordNotes } from "./ooxml/WordNotes.ts"
import { readLists, WordNumbering } from "./ooxml/WordNumbering.ts"
import { WordStory, type WordContext } from "./ooxml/WordStory.ts"
import { readParagraphStyles } from "./ooxml/WordStyles.ts"
import { pagesByMarks } from "./PageMarks.ts"
import type { Reader } from "./Reader.ts"
import { onlyOnce } from "./RunningText.ts"
import { childAt, eachElement, parseXml, textContent } from "./Xml.ts"

/**
 * Reads Word documents and templates, with or without macros (ECMA-376 part 1, chapter 17): headers, body with footnotes after their
 * paragraph, endnotes, comments, footers.
 */
export const docx: Reader = ({ bytes, format, inner, limits, properties }) => {
  const pack = openPackage(bytes, limits, "word/document.xml", properties)
  const main = pack.main
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const body = pack.part(main) ?? new Uint8Array()
  const pages = pagesByMarks(body, ":lastRenderedPageBreak", countedPages(pack))
  let page = 1
  let title: string | undefined
  const endnotes = new BlockBuffer()
  const hidden = new HiddenText()
  const context: WordContext = {
    pack,
    styles: readParagraphStyles(pack.relatedPart(main, "styles")),
    numbering: new WordNumbering(readLists(pack.relatedPart(main, "numbering"))),
    notes: new WordNotes(pack),
    endnotes,
    hidden,
    pageBreak: () => {
      if (pages === undefined || page >= pages) return
      page++
      writer.page(page)
    },
    title: (text) => {
      title ??= oneLine(text)
    }
  }

  if (pages !== undefined) writer.page(page)
  runningText(context, "header", writer)
  const story = new WordStory(context, main)
  eachElement(body, (_, parent) => parent === "w:body", (element) => story.block(element, writer))
  endnotes.moveTo(writer)
  comments(context, writer)
  runningText(context, "footer", writer)
  writer.end()
  // Text of other formats embedded among the paragraphs: pages, mail, RTF.
  const chunks = pack.relationships(main).filter(({ type }) => type === "aFChunk")
    .map(({ target }) => ({ name: target.replace(/^.*\//, ""), read: () => pack.part(target) }))
  const embedded = { ...pack.embedded, objects: [...chunks, ...pack.embedded.objects] }
  return withEmbedded(embedded, { builder, inner, limits }, () =>
    builder.build({
      format,
      ...pack.facts,
      title: pack.facts.title ?? title,
      ...(pages === undefined ? {} : { pages }),
      remarks: hidden.remarks
    }))
}

const countedPages = (pack: OfficePackage): number => {
  const bytes = pack.relatedPart("", "extended-properties")
  return bytes === undefined ? Number.NaN : Number(textContent(childAt(parseXml(bytes), "Pages")))
}

/** Writes the headers or footers of all sections. A text that several share is written once, page numbers are left out. */
const runningText = (context: WordContext, type: "header" | "footer", sink: BlockSink): void => {
  const once = onlyOnce(sink)
  for (const { target, type: found } of context.pack.relationships(context.pack.main)) {
    const bytes = found === type ? context.pack.part(target) : undefined
    if (bytes === undefined) continue
    const story = new WordStory({ ...context, pageBreak: () => {}, title: () => {} }, target)
    eachElement(bytes, (_, parent) => parent === "w:hdr" || parent === "w:ftr", (element) => story.block(element, once))
  }
}

const comments = (context: WordContext, sink: BlockSink): void => {
  const part = context.pack.related(context.pack.main, "comments")?.target
  const bytes = part === undefined ? undefined : context.pack.part(part)
  if (part === undefined || bytes === undefined) return
  eachElement(bytes, (name) => name === "w:comment", (comment) => {
    const author = comment.attributes["w:author"] ?? ""
    const mark = author === "" ? "Comment:" : `Comment by ${author}:`
    new WordStory({ ...context, pageBreak: () => {} }, part).blocks(comment, withPrefix(`${mark} `, sink))
  })
}
