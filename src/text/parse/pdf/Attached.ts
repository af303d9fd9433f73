import type { PDFiumDocument, PDFiumPage } from "@hyzyla/pdfium"
import { oneLine } from "../BlockSink.ts"
import type { InnerFile } from "../Reader.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { childElements, parseXml, textContent, type XmlElement } from "../Xml.ts"
import { type Pdfium, pdfiumOf, utf16 } from "./Pdfium.ts"

/** A file embedded in a PDF. */
export interface Attached {
  readonly name: string
  /** Reads its bytes; `undefined` where they cannot be read. Fails where there are more than `mostBytes`. */
  readonly read: (mostBytes: number) => InnerFile | undefined
}

/** The type of an annotation that is a file (ISO 32000-1, 12.5.6.15). */
const fileAnnotation = 17

/** Most annotations of a page that are examined. */
const mostAnnotations = 2_000

/** The files attached to a PDF document; a portfolio is nothing else. */
export const attachedTo = (document: PDFiumDocument): ReadonlyArray<Attached> => {
  const pdfium = pdfiumOf(document)
  const handle = document["documentIdx"]
  const count = Math.max(0, pdfium._FPDFDoc_GetAttachmentCount(handle))
  return Array.from({ length: count }, (_, i) => attached(pdfium, pdfium._FPDFDoc_GetAttachment(handle, i)))
}

/** The files attached to a page, which are read while it is open. */
export const attachedToPage = (page: PDFiumPage): ReadonlyArray<Attached> => {
  const pdfium = pdfiumOf(page)
  const handle = page["pageIdx"]
  const found: Array<Attached> = []
  const count = Math.min(mostAnnotations, pdfium._FPDFPage_GetAnnotCount(handle))
  for (let i = 0; i < count; i++) {
    const annotation = pdfium._FPDFPage_GetAnnot(handle, i)
    if (annotation === 0) continue
    if (pdfium._FPDFAnnot_GetSubtype(annotation) === fileAnnotation) {
      found.push(attached(pdfium, pdfium._FPDFAnnot_GetFileAttachment(annotation)))
    }
    pdfium._FPDFPage_CloseAnnot(annotation)
  }
  return found
}

const attached = (pdfium: Pdfium, attachment: number): Attached => {
  const stored = attachment === 0 ? "" : utf16(bytesOf(pdfium, (to, size) => pdfium._FPDFAttachment_GetName(attachment, to, size)))
  const name = oneLine(stored.replace(/^.*[\\/]/s, ""))
  return {
    name: name === "" ? "an attachment" : name,
    read: (mostBytes) => {
      const bytes = attachment === 0
        ? undefined
        : counted(pdfium, mostBytes, (to, size, length) => pdfium._FPDFAttachment_GetFile(attachment, to, size, length))
      return bytes === undefined ? undefined : { name, bytes }
    }
  }
}

/** The texts and values of XFA forms that only a program can draw: their pages merely ask the reader to wait. */
export const xfaTexts = (document: PDFiumDocument, mostBytes: number): ReadonlyArray<string> => {
  const pdfium = pdfiumOf(document)
  const handle = document["documentIdx"]
  if (pdfium._FPDF_GetFormType(handle) !== fullXfa) return []
  const texts = new Set<string>()
  for (let i = 0; i < pdfium._FPDF_GetXFAPacketCount(handle); i++) {
    const name = bytesOf(pdfium, (to, size) => pdfium._FPDF_GetXFAPacketName(handle, i, to, size)).toString().replace(/\0.*$/s, "")
    if (name !== "template" && name !== "datasets") continue
    const packet = counted(pdfium, mostBytes, (to, size, length) => pdfium._FPDF_GetXFAPacketContent(handle, i, to, size, length))
    const root = packet === undefined ? undefined : parseXml(packet)
    for (const text of root === undefined ? [] : name === "template" ? shownTexts(root) : leaves(root)) texts.add(oneLine(text))
  }
  texts.delete("")
  return [...texts]
}

/** The type of a form without pages of its own. */
const fullXfa = 2

const localName = ({ name }: XmlElement): string => name.slice(name.indexOf(":") + 1)

/** Elements of what a program does, and of what could be chosen. */
const notShown = new Set(["script", "event", "calculate", "validate", "items", "traversal", "bind"])

const shownTexts = (element: XmlElement): ReadonlyArray<string> =>
  childElements(element).flatMap((child) => {
    const name = localName(child)
    if (name === "text" || name === "exData") return [textContent(child)]
    return notShown.has(name) ? [] : shownTexts(child)
  })

const leaves = (element: XmlElement): ReadonlyArray<string> => {
  const children = childElements(element)
  return children.length === 0 ? [textContent(element)] : children.flatMap(leaves)
}

/** Reads bytes the way PDFium requires, in two calls: how many bytes, then the bytes. */
const bytesOf = (pdfium: Pdfium, ask: (to: number, size: number) => number): Buffer => {
  const size = Math.min(longestName, ask(0, 0))
  return size <= 0 ? Buffer.alloc(0) : inMemory(pdfium, size, (to) => ask(to, size) > 0) ?? Buffer.alloc(0)
}

const longestName = 4_096

/** Reads bytes from functions that return whether there are any, and write how many to a pointer. */
const counted = (
  pdfium: Pdfium,
  mostBytes: number,
  ask: (to: number, size: number, length: number) => number
): Buffer | undefined => {
  const size = inMemory(pdfium, 4, (length) => ask(0, 0, length) !== 0)?.readUInt32LE(0)
  if (size === undefined || size === 0) return undefined
  if (size > mostBytes) throw new ReadFailure("limit", `the file has ${size} bytes, more than ${mostBytes}`)
  return inMemory(pdfium, size, (to) => inMemory(pdfium, 4, (length) => ask(to, size, length) !== 0) !== undefined)
}

/** The bytes that `write` writes to PDFium's memory; `undefined` where it writes none. */
const inMemory = (pdfium: Pdfium, size: number, write: (to: number) => boolean): Buffer | undefined => {
  const place = pdfium.wasmExports.malloc(size)
  if (place === 0) return undefined
  try {
    return write(place) ? Buffer.from(pdfium.HEAPU8.slice(place, place + size)) : undefined
  } finally {
    pdfium.wasmExports.free(place)
  }
}
