import type { Remark } from "../../domain/Document.ts"
import { BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { withEmbedded } from "./Embedded.ts"
import { hiddenPage } from "./HiddenText.ts"
import { graphicBlocks } from "./ooxml/Drawing.ts"
import { openPackage, type OfficePackage } from "./ooxml/Package.ts"
import { shapeTree } from "./ooxml/Shapes.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { childAt, childElements, descendants, isFalse, parseXml, textContent, type XmlElement } from "./Xml.ts"

/**
 * Reads presentations, slide shows and templates, with or without macros (ECMA-376 part 1, chapter 19). A slide is a page, hidden ones too;
 * its title is a heading; notes and comments follow its content. The own text of masters and layouts appears once, on the first slide that
 * shows it.
 */
export const pptx: Reader = ({ bytes, format, inner, limits, properties }) => {
  const pack = openPackage(bytes, limits, "ppt/presentation.xml", properties)
  const slides = slideParts(pack)
  if (slides.length > limits.pages) {
    throw new ReadFailure("limit", `${slides.length} slides, more than ${limits.pages}`)
  }
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const authors = commentAuthors(pack)
  const seen = new Set<string>()
  const running = (text: string): boolean => {
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  }
  const remarks: Array<Remark> = []
  let title: string | undefined
  slides.forEach((slide, i) => {
    writer.page(i + 1)
    const root = rootOf(pack, slide)
    if (isFalse(root?.attributes["show"])) remarks.push(hiddenPage(`slide ${i + 1}`, i + 1))
    const content = childAt(root, "p:cSld", "p:spTree")
    if (content !== undefined) {
      const heading = shapeTree(content, writer, {
        graphic: (graphic) => graphicBlocks(pack, slide, graphic, writer),
        running
      })
      title ??= heading
    }
    for (const part of behind(pack, slide)) {
      const shapes = seen.has(part) ? undefined : shapesOf(pack.part(part))
      seen.add(part)
      if (shapes !== undefined) shapeTree(shapes, writer, { graphic: () => {}, running, own: true })
    }
    const notes = shapesOf(pack.relatedPart(slide, "notesSlide"))
    if (notes !== undefined) shapeTree(notes, writer, { graphic: () => {}, running })
    comments(pack, slide, authors, writer)
  })
  writer.end()
  return withEmbedded(pack.embedded, { builder, inner, limits }, () =>
    builder.build({
      format,
      ...pack.facts,
      title: pack.facts.title ?? title,
      pages: slides.length,
      remarks
    }))
}

/** Slides in the order of the show. */
const slideParts = (pack: OfficePackage): ReadonlyArray<string> => {
  const presentation = parseXml(pack.part(pack.main) ?? new Uint8Array())
  return childElements(childAt(presentation, "p:sldIdLst"), "p:sldId")
    .map((slide) => pack.target(pack.main, slide.attributes["r:id"]))
    .filter((target) => target !== undefined)
}

/** The layout and the master that show through a slide. */
const behind = (pack: OfficePackage, slide: string): ReadonlyArray<string> => {
  const layout = pack.related(slide, "slideLayout")?.target
  if (layout === undefined || hidesMaster(pack, slide)) return []
  const master = hidesMaster(pack, layout) ? undefined : pack.related(layout, "slideMaster")?.target
  return master === undefined ? [layout] : [layout, master]
}

const hidesMaster = (pack: OfficePackage, part: string): boolean => isFalse(rootOf(pack, part)?.attributes["showMasterSp"])

const rootOf = (pack: OfficePackage, part: string): XmlElement | undefined => parseXml(pack.part(part) ?? new Uint8Array())

/** The shape tree of a slide or of its notes. */
const shapesOf = (bytes: Uint8Array | undefined): XmlElement | undefined =>
  bytes === undefined ? undefined : childAt(parseXml(bytes), "p:cSld", "p:spTree")

/** Names of authors by the ids in comments; threaded comments have GUIDs, older ones numbers. */
const commentAuthors = (pack: OfficePackage): ReadonlyMap<string, string> => {
  const authors = new Map<string, string>()
  for (const type of ["commentAuthors", "authors"]) {
    const bytes = pack.relatedPart(pack.main, type)
    if (bytes === undefined) continue
    for (const { attributes } of childElements(parseXml(bytes))) {
      authors.set(attributes["id"] ?? "", attributes["name"] ?? "")
    }
  }
  return authors
}

const comments = (
  pack: OfficePackage,
  slide: string,
  authors: ReadonlyMap<string, string>,
  writer: BlockWriter
): void => {
  for (const { type, target } of pack.relationships(slide)) {
    const bytes = type === "comments" ? pack.part(target) : undefined
    if (bytes === undefined) continue
    for (const comment of commentElements(parseXml(bytes))) {
      const text = oneLine(commentText(comment))
      const author = authors.get(comment.attributes["authorId"] ?? "") ?? ""
      if (text !== "") writer.add("paragraph", `${author === "" ? "Comment" : `Comment by ${author}`}: ${text}`)
    }
  }
}

/** Comments, and the replies to threaded ones. */
const commentElements = (element: XmlElement): ReadonlyArray<XmlElement> =>
  childElements(element).flatMap((child) => /:(?:cm|reply)$/.test(child.name) ? [child, ...commentElements(child)] : commentElements(child))

const commentText = (comment: XmlElement): string => {
  const body = childElements(comment).find((child) => child.name.endsWith(":txBody"))
  return body === undefined
    ? textContent(childAt(comment, "p:text"))
    : descendants(body, "a:t").map(textContent).join(" ")
}
