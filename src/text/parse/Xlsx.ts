import type { Remark } from "../../domain/Document.ts"
import { type BlockSink, BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { withEmbedded } from "./Embedded.ts"
import { readCellFormats } from "./ooxml/CellFormats.ts"
import { openPackage, type OfficePackage } from "./ooxml/Package.ts"
import { sheetDrawings } from "./ooxml/SheetDrawings.ts"
import { readSharedStrings, readWorksheet, type Workbook } from "./ooxml/Worksheet.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { sheetSink, uncalculated } from "./SheetRows.ts"
import { childAt, childElements, descendants, eachElement, isTrue, parseXml, textContent, type XmlElement } from "./Xml.ts"

/**
 * Reads workbooks and templates, with or without macros (ECMA-376 part 1, chapter 18). A sheet is a page under its name, hidden ones too.
 * Formulas count by the value they had when the file was saved, and are shown themselves where the program that wrote it calculated none.
 * Text boxes, charts and comments follow the cells.
 */
export const xlsx: Reader = ({ bytes, format, inner, limits, properties }) => {
  const pack = openPackage(bytes, limits, "xl/workbook.xml", properties)
  if (pack.main.toLowerCase().endsWith(".bin")) throw new ReadFailure("unsupported", "a binary workbook (XLSB)")
  const root = parseXml(pack.part(pack.main) ?? new Uint8Array())
  const sheets = childElements(childAt(root, "x:sheets"), "x:sheet")
  if (sheets.length > limits.pages) {
    throw new ReadFailure("limit", `${sheets.length} sheets, more than ${limits.pages}`)
  }
  const date1904 = isTrue(childAt(root, "x:workbookPr")?.attributes["date1904"])
  const book: Workbook = {
    strings: readSharedStrings(pack.relatedPart(pack.main, "sharedStrings")),
    formats: readCellFormats(pack.relatedPart(pack.main, "styles"), date1904),
    maxCharacters: limits.characters
  }
  const people = namesById(pack.relatedPart(pack.main, "person"))
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const remarks: Array<Remark> = []
  const missing: Array<string> = []
  let formulas = 0
  const named = new Set(sheets.map((sheet) => pack.target(pack.main, sheet.attributes["r:id"])))
  // Sheets without an address are those that no other sheet names, in their order.
  const unnamed = pack.relationships(pack.main).filter(({ target, type }) => type === "worksheet" && !named.has(target))
  sheets.forEach((sheet, i) => {
    const name = sheet.attributes["name"] ?? ""
    const hidden = ["hidden", "veryHidden"].includes(sheet.attributes["state"] ?? "")
    const sink = sheetSink({ name, page: i + 1, hidden }, writer, remarks)
    const id = sheet.attributes["r:id"] ?? ""
    const part = id === "" ? unnamed.shift()?.target : pack.target(pack.main, id)
    const content = part === undefined ? undefined : pack.part(part)
    if (part === undefined || content === undefined) {
      // Macro modules have no address: Excel 5 kept them among its sheets.
      if (id !== "") missing.push(oneLine(name))
      return
    }
    formulas += readWorksheet(content, book, sink)
    sheetDrawings(pack, part, sink)
    comments(pack, part, people, sink)
  })
  writer.end()
  if (missing.length === sheets.length && missing.length > 0) {
    throw new ReadFailure("corrupt", "the workbook has none of the sheets that it names")
  }
  if (missing.length > 0) {
    remarks.push({ kind: "cut", text: `sheets that the file names and does not have: ${missing.slice(0, 5).join(", ")}` })
  }
  remarks.push(...uncalculated(formulas))
  return withEmbedded(
    pack.embedded,
    { builder, inner, limits },
    () => builder.build({ format, ...pack.facts, pages: sheets.length, remarks })
  )
}

/** Names of the authors of threaded comments, by id. */
const namesById = (bytes: Uint8Array | undefined): ReadonlyMap<string, string> =>
  new Map(
    (bytes === undefined ? [] : childElements(parseXml(bytes)))
      .map(({ attributes }) => [attributes["id"] ?? "", attributes["displayName"] ?? ""])
  )

const comments = (
  pack: OfficePackage,
  sheet: string,
  people: ReadonlyMap<string, string>,
  sink: BlockSink
): void => {
  const write = (cell: string, author: string, text: string): void => {
    if (text !== "") sink.add("paragraph", `Comment on ${cell}${author === "" ? "" : ` by ${author}`}: ${text}`)
  }
  for (const { type, target } of pack.relationships(sheet)) {
    const bytes = type === "comments" || type === "threadedComment" ? pack.part(target) : undefined
    if (bytes === undefined) continue
    if (type === "threadedComment") {
      for (const comment of childElements(parseXml(bytes))) {
        const { ref = "", personId = "" } = comment.attributes
        const text = childElements(comment).find((child) => child.name.endsWith("text"))
        write(ref, people.get(personId) ?? "", oneLine(textContent(text)))
      }
    } else {
      legacyComments(bytes, write)
    }
  }
}

/** What older programs show in place of a threaded comment. */
const threadedNotice = "[Threaded comment]"

const legacyComments = (bytes: Uint8Array, write: (cell: string, author: string, text: string) => void): void => {
  const authors: Array<string> = []
  eachElement(bytes, (name) => name === "x:author" || name === "x:comment", (element: XmlElement) => {
    if (element.name === "x:author") {
      authors.push(oneLine(textContent(element)))
      return
    }
    const text = oneLine(descendants(element, "x:t").map(textContent).join(""))
    if (text.startsWith(threadedNotice)) return
    const author = authors[Number(element.attributes["authorId"])] ?? ""
    // Excel starts a comment with its author's name.
    const named = author !== "" && text.startsWith(`${author}:`)
    write(element.attributes["ref"] ?? "", author, named ? text.slice(author.length + 1).trim() : text)
  })
}
