import { inflateSync } from "node:zlib"
import type { ParsedDocument } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { isCompound, openCompound, type Storage } from "./Compound.ts"
import { decodePart } from "./Decode.ts"
import type { DocumentBuilder } from "./DocumentBuilder.ts"
import type { InnerFile, InnerFiles } from "./Reader.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { recognise } from "./Recognise.ts"
import { childElements, parseXml, scanXml, textContent } from "./Xml.ts"
import type { Graph } from "./xls/Graph.ts"
import type { Zip } from "./Zip.ts"

/** Files and pictures that a document contains beside its own text. */
export interface Embedded {
  /** Objects of other programs, documents among them: files, or storages of a compound file, whose content shows their program. */
  readonly objects: ReadonlyArray<{ readonly name: string; readonly read: () => Uint8Array | Storage | InnerFile | undefined }>
  readonly pictures: ReadonlyArray<{ readonly name: string; readonly read: () => Uint8Array | undefined }>
}

/** Least bytes of a picture that is read: smaller ones are bullets, rules and logos. */
const leastPicture = 4 * 1024

const isPicture = (name: string): boolean => /\.(?:png|jpe?g|bmp|tiff?|webp)$/i.test(name)

/** The objects and pictures in an Office Open XML package. The workbook of a chart is left out: the chart shows its figures. */
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

/** The objects and pictures in an OpenDocument package: documents in separate folders, objects of other programs, pictures. */
export const embeddedInOpenDocument = (zip: Zip): Embedded => {
  const names = zip.names()
  const folders = new Set(names.flatMap((name) => /^(?!META-INF\/)(.+)\/content\.xml$/.exec(name)?.[1] ?? []))
  return {
    objects: [
      ...[...folders].map((name) => ({ name, read: () => zip.read(`${name}/content.xml`) })),
      ...entries(zip, names.filter((name) => /^Obj[^/]+$/.test(name) && !folders.has(name)))
    ],
    pictures: entries(zip, names.filter((name) => name.startsWith("Pictures/") && isPicture(name)))
  }
}

/** The pictures in an EPUB book. */
export const embeddedInBook = (zip: Zip): Embedded => ({ objects: [], pictures: entries(zip, zip.names().filter(isPicture)) })

/** The objects in storages of a compound file: those of `ObjectPool` in a Word document, `MBD…` in a workbook. */
export const embeddedInStorages = (storages: Iterable<Storage>, pictures: Buffer | undefined): Embedded => ({
  // Controls of a form have settings and no document.
  objects: [...storages].filter((storage) => storage.read("\u0003OCXNAME") === undefined)
    .map((storage) => ({ name: "", read: () => storage })),
  pictures: picturesIn(pictures)
})

/** The name of the program that made an object: a counted string after 28 bytes (MS-OLEDS, 2.3.8). */
const programOf = (storage: Storage): string => {
  const stream = storage.read("\u0001CompObj")
  const length = stream === undefined || stream.length < 32 ? 0 : stream.readUInt32LE(28)
  const name = stream === undefined || length > 100 ? "" : decodePart(stream.subarray(32, 32 + length)).replace(/[\0-\x1f]/g, "").trim()
  return name === "" ? "object" : name
}

/** The objects of a presentation, each packed, with its length in front (MS-PPT, 2.10.34). */
export const embeddedInSlides = (
  objects: ReadonlyArray<{ readonly packed: boolean; readonly content: Buffer }>,
  pictures: Buffer | undefined,
  limits: Limits
): Embedded => ({
  objects: objects.map(({ content, packed }) => ({
    name: "",
    read: () => openCompound(packed ? inflateSync(content.subarray(4), { maxOutputLength: limits.unpackedBytes }) : content)
  })),
  pictures: picturesIn(pictures)
})

/** The objects of an RTF file, in their own form (MS-OLEDS, 2.2.5), and its pictures as they are. */
export const embeddedInRtf = (objects: ReadonlyArray<Buffer>, pictures: ReadonlyArray<Buffer>): Embedded => ({
  objects: objects.flatMap((data) => {
    const object = oldObject(data)
    return object === undefined ? [] : [object]
  }),
  pictures: pictures.flatMap((bytes, i) => {
    const kind = pictureKinds.find(({ first }) => bytes.subarray(0, first.length).equals(first))
    return kind === undefined ? [] : [{ name: `picture ${i + 1}.${kind.kind}`, read: () => bytes }]
  })
})

const embeddedFormat = 2

/** An object of OLE 1: a version, a kind, three counted strings of which the first is the program's name, and the counted object. */
const oldObject = (data: Buffer): Embedded["objects"][number] | undefined => {
  if (data.length < 8 || data.readUInt32LE(4) !== embeddedFormat) return undefined
  const strings: Array<string> = []
  let at = 8
  while (strings.length < 3 && at + 4 <= data.length) {
    const end = at + 4 + data.readUInt32LE(at)
    strings.push(data.toString("latin1", at + 4, Math.max(at + 4, end - 1)))
    at = end
  }
  if (at + 4 > data.length) return undefined
  const name = strings[0] === undefined || strings[0] === "" ? "object" : strings[0]
  const content = data.subarray(at + 4, at + 4 + data.readUInt32LE(at))
  return { name, read: () => name === "Package" ? packaged(content, 0) : content }
}

const pictureKinds = [
  { kind: "png", first: Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), record: 0xf01e },
  { kind: "jpg", first: Buffer.from("\xff\xd8\xff", "latin1"), record: 0xf01d }
] as const

/** Bytes from a picture back to the header of its record, with one or two checksums between (MS-ODRAW, 2.2.23). */
const pictureHeaders = [25, 41] as const
const recordHeader = 8

/** PNG and JPEG pictures among the drawings of old Office formats. */
const picturesIn = (stream: Buffer | undefined): Embedded["pictures"] =>
  stream === undefined ? [] : pictureKinds.flatMap(({ first, kind, record }) => {
    const found: Array<Buffer> = []
    for (let at = stream.indexOf(first); at >= 0; at = stream.indexOf(first, at + 1)) {
      const header = pictureHeaders.find((back) => at >= back && stream.readUInt16LE(at - back + 2) === record)
      if (header !== undefined) found.push(stream.subarray(at, at - header + recordHeader + stream.readUInt32LE(at - header + 4)))
    }
    return found.map((bytes, i) => ({ name: `picture ${i + 1}.${kind}`, read: () => bytes }))
  })

const entries = (
  zip: Zip,
  names: ReadonlyArray<string>
): ReadonlyArray<{ readonly name: string; readonly read: () => Uint8Array | undefined }> =>
  names.map((name) => ({ name: name.replace(/^.*\//, ""), read: () => zip.read(name) }))

/**
 * Writes a document's embedded objects and pictures after its own text, and finishes it: objects as sections under their names, the text of
 * pictures where recognition is on. Returns without a promise where the document embeds nothing.
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
      const object = attempt(read)
      // Macros are not text of the document.
      if (object !== undefined && "storages" in object && object.storages.has("VBA")) continue
      const label = object !== undefined && "storages" in object && name === "" ? programOf(object) : name
      const file = await unwrapped(label, object)
      if (file === undefined) inner.remarks.push({ kind: "attachment", text: `${label} (an object of another program)` })
      else if (typeof file === "string") builder.add("paragraph", file)
      else if ("table" in file) addGraph(label, file, builder)
      else await inner.add(file, builder, 2)
    }
    if (recognises) await addPictures(pictures, builder, inner, limits)
    return done()
  })()
}

/** Adds a chart: its figures and the texts around them. */
const addGraph = (name: string, { table, texts }: Graph, builder: DocumentBuilder): void => {
  builder.add("heading", name, 2)
  for (const text of texts) builder.add("paragraph", text)
  builder.add("table", table)
}

/** Runs `read`; a part that is damaged costs only itself, and is undefined. */
const attempt = <A>(read: () => A): A | undefined => {
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

/** The file inside an object, or a formula's text, or a chart's figures; `undefined` for objects of unknown programs. */
const unwrapped = async (
  name: string,
  object: Uint8Array | Storage | InnerFile | undefined
): Promise<InnerFile | Graph | string | undefined> => {
  if (object === undefined || "bytes" in object) return object
  if (object instanceof Uint8Array && object.length === 0) return undefined
  if (object instanceof Uint8Array && !isCompound(object)) return formulaOf(object) ?? { name, bytes: object }
  const file = object instanceof Uint8Array ? attempt(() => openCompound(object)) : object
  if (file === undefined) return undefined
  const packed = file.read("\u0001Ole10Native") ?? file.read("!Ole10Native")
  if (packed !== undefined) return packaged(packed)
  const document = file.read("Package") ?? file.read("CONTENTS")
  if (document !== undefined && document.length > 0) return { name, bytes: document }
  const book = file.read("Workbook")
  const chart = book === undefined ? undefined : (await import("./xls/Graph.ts")).graphIn(book)
  if (chart !== undefined) return chart.table === "" && chart.texts.length === 0 ? undefined : chart
  if (!["WordDocument", "Workbook", "Book", "PowerPoint Document"].some((stream) => file.read(stream) !== undefined)) return undefined
  return { name, bytes: object instanceof Uint8Array ? object : await compoundFile(object) }
}

/** A storage as a separate file, its streams named as programs write them. */
const compoundFile = async (storage: Storage): Promise<Uint8Array> => {
  // The library is large, and few documents need it.
  const { CFB } = await import("@e965/xlsx")
  const file = CFB.utils.cfb_new()
  CFB.utils.cfb_del(file, "/\u0001Sh33tJ5")
  const add = ({ read, storages, streams }: Storage, path: string): void => {
    for (const name of streams) CFB.utils.cfb_add(file, path + (usualNames.get(name.toLowerCase()) ?? name), read(name) ?? Buffer.alloc(0))
    for (const [name, inner] of storages) add(inner, `${path}${name}/`)
  }
  add(storage, "/")
  return Buffer.from(CFB.write(file, { type: "buffer" }))
}

const usualNames = new Map(
  ["WordDocument", "0Table", "1Table", "Data", "Workbook", "Book", "PowerPoint Document", "Current User"].map((
    name
  ) => [name.toLowerCase(), name])
)

/** The file wrapped by the Packager of Windows: a label, a path, and the file itself (MS-OLEDS has only its length). */
const packaged = (stream: Buffer, start = 4): InnerFile | undefined => {
  const textAt = (start: number): { readonly text: string; readonly end: number } => {
    const end = stream.indexOf(0, start)
    return end < 0 ? { text: "", end: stream.length } : { text: decodePart(stream.subarray(start, end)), end: end + 1 }
  }
  const label = textAt(start + 2)
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
