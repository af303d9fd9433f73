import type { ParsedDocument } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import type { DocumentBuilder } from "./DocumentBuilder.ts"
import type { InnerFile, InnerFiles } from "./Reader.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { recognise } from "./Recognise.ts"
import { childElements, parseXml, scanXml, textContent } from "./Xml.ts"
import type { Zip } from "./Zip.ts"

/** Files and pictures that a document holds beside its own text. */
export interface Embedded {
  /** Objects of other programs, documents among them. */
  readonly objects: ReadonlyArray<{ readonly name: string; readonly read: () => Uint8Array | undefined }>
  readonly pictures: ReadonlyArray<{ readonly name: string; readonly read: () => Uint8Array | undefined }>
}

/** Smaller pictures are bullets, rules and logos. */
const leastPicture = 4 * 1024

const isPicture = (name: string): boolean => /\.(?:png|jpe?g|bmp|tiff?|webp)$/i.test(name)

/** What an Office Open XML package holds. The workbook of a chart is left out: the chart shows its figures. */
export const embeddedInPackage = (zip: Zip): Embedded => {
  const names = zip.names()
  const objects = names.filter((name) => /\/embeddings\/[^/]+$/i.test(name))
  const ofCharts = new Set(
    objects.length === 0 ? [] : names.filter((name) => /\/charts\/_rels\//i.test(name)).flatMap((name) => {
      const targets: Array<string> = []
      scanXml(zip.read(name) ?? new Uint8Array(), {
        open: (_, { Target = "" }) => void targets.push(Target.replace(/^.*\//, "").toLowerCase())
      })
      return targets
    })
  )
  return {
    objects: entries(zip, objects.filter((name) => !ofCharts.has(name.replace(/^.*\//, "").toLowerCase()))),
    pictures: entries(zip, names.filter((name) => /\/media\//i.test(name) && isPicture(name)))
  }
}

/** What an OpenDocument package holds: documents in folders of their own, objects of other programs, pictures. */
export const embeddedInOpenDocument = (zip: Zip): Embedded => {
  const names = zip.names()
  const folders = new Set(names.flatMap((name) => /^(Object [^/]+)\/content\.xml$/.exec(name)?.[1] ?? []))
  return {
    objects: [
      ...[...folders].map((name) => ({ name, read: () => zip.read(`${name}/content.xml`) })),
      ...entries(zip, names.filter((name) => /^Object [^/]+$/.test(name) && !folders.has(name)))
    ],
    pictures: entries(zip, names.filter((name) => name.startsWith("Pictures/") && isPicture(name)))
  }
}

/** The pictures of a book. */
export const embeddedInBook = (zip: Zip): Embedded => ({ objects: [], pictures: entries(zip, zip.names().filter(isPicture)) })

const entries = (zip: Zip, names: ReadonlyArray<string>): Embedded["objects"] =>
  names.map((name) => ({ name: name.replace(/^.*\//, ""), read: () => zip.read(name) }))

/**
 * Writes what a document holds after its own text, and finishes it: objects as sections under their names, the text of
 * pictures where recognition is on. Answers at once where it holds nothing.
 */
export const withEmbedded = (
  { objects, pictures }: Embedded,
  { builder, inner, limits }: { readonly builder: DocumentBuilder; readonly inner: InnerFiles; readonly limits: Limits },
  finish: () => ParsedDocument
): ParsedDocument | Promise<ParsedDocument> => {
  const recognises = limits.recognise.length > 0
  if (pictures.length > 0 && !recognises) {
    inner.remarks.push({
      kind: "pictures",
      text: pictures.length === 1 ? "a picture" : `${pictures.length} pictures`,
      count: pictures.length
    })
  }
  const done = (): ParsedDocument => {
    const document = finish()
    if (document.blocks.length === 0 && pictures.length > 0 && !recognises) {
      throw new ReadFailure(
        "pictures",
        "the document has no text but what its pictures may show, which needs text recognition",
        pictures.length
      )
    }
    return document
  }
  if (objects.length === 0 && (pictures.length === 0 || !recognises)) return done()
  return (async () => {
    for (const { name, read } of objects) {
      const file = await unwrapped(name, attempt(read))
      if (file === undefined) inner.remarks.push({ kind: "attachment", text: `${name} (an object of another program)` })
      else if (typeof file === "string") builder.add("paragraph", file)
      else await inner.add(file, builder, 2)
    }
    if (recognises) await addPictures(pictures, builder, inner, limits)
    return done()
  })()
}

/** A part that is damaged costs itself. */
const attempt = (read: () => Uint8Array | undefined): Uint8Array | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const addPictures = async (pictures: Embedded["pictures"], builder: DocumentBuilder, inner: InnerFiles, limits: Limits): Promise<void> => {
  const confidences: Array<number> = []
  for (const { name, read } of pictures) {
    const bytes = attempt(read)
    if (bytes === undefined) inner.remarks.push({ kind: "attachment", text: `${name} (the picture is damaged)` })
    if (bytes === undefined || bytes.length < leastPicture) continue
    try {
      const { confidence, text } = await recognise(bytes, limits.recognise)
      if (text === "") continue
      for (const paragraph of text.split(/\n\s*\n/)) builder.add("paragraph", paragraph)
      confidences.push(confidence)
    } catch (error) {
      if (!(error instanceof ReadFailure)) throw error
      inner.remarks.push({ kind: "attachment", text: `${name} (${error.message})` })
    }
  }
  if (confidences.length === 0) return
  inner.remarks.push({ kind: "recognisedPages", confidence: confidences.reduce((sum, one) => sum + one, 0) / confidences.length })
}

const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

/** The file that an object is; its text, of a formula; `undefined` where it is of a program that we do not know. */
const unwrapped = async (name: string, bytes: Uint8Array | undefined): Promise<InnerFile | string | undefined> => {
  if (bytes === undefined || bytes.length === 0) return undefined
  if (!compound.every((byte, at) => bytes[at] === byte)) return formulaOf(bytes) ?? { name, bytes }
  // The library is large, and most documents hold none of these.
  const { CFB } = await import("@e965/xlsx")
  const file = CFB.read(Buffer.from(bytes), { type: "buffer" })
  const streamOf = (stream: string): Buffer | undefined => {
    const content = CFB.find(file, stream)?.content
    return content === undefined || content.length === 0 ? undefined : Buffer.from(content)
  }
  const packed = streamOf("\u0001Ole10Native") ?? streamOf("!Ole10Native")
  if (packed !== undefined) return packaged(packed)
  const document = streamOf("Package") ?? streamOf("CONTENTS")
  if (document !== undefined) return { name, bytes: document }
  return ["WordDocument", "Workbook", "Book", "PowerPoint Document"].some((stream) => streamOf(stream) !== undefined)
    ? { name, bytes }
    : undefined
}

/** What the Packager of Windows wraps: a label, a path, and the file itself (MS-OLEDS has only its length). */
const packaged = (stream: Buffer): InnerFile | undefined => {
  const textAt = (start: number): { readonly text: string; readonly end: number } => {
    const end = stream.indexOf(0, start)
    return end < 0 ? { text: "", end: stream.length } : { text: stream.toString("latin1", start, end), end: end + 1 }
  }
  const label = textAt(6)
  const path = textAt(label.end)
  const place = path.end + 4
  if (place + 4 > stream.length) return undefined
  const size = place + 4 + stream.readUInt32LE(place)
  if (size + 4 > stream.length) return undefined
  const content = stream.subarray(size + 4, size + 4 + stream.readUInt32LE(size))
  return content.length === 0 ? undefined : { name: label.text.replace(/^.*[\\/]/, ""), bytes: content }
}

/** A formula as its author typed it, or its letters and signs. */
const formulaOf = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 2_000)).toString("latin1")
  if (!/<(?:\w+:)?math[\s>]/.test(head)) return undefined
  const root = parseXml(bytes)
  const find = (element: ReturnType<typeof parseXml>): string | undefined => {
    if (element === undefined) return undefined
    if (/(?:^|:)annotation$/.test(element.name)) return textContent(element)
    for (const child of childElements(element)) {
      const found = find(child)
      if (found !== undefined) return found
    }
    return undefined
  }
  return (find(root) ?? textContent(root)).trim()
}
