import type { PDFiumDocument, PDFiumPage } from "@hyzyla/pdfium"

/** Functions of PDFium that the package does not type, but that its WebAssembly exports. */
export interface Pdfium {
  readonly _FPDFText_LoadPage: (page: number) => number
  readonly _FPDFText_ClosePage: (text: number) => void
  readonly _FPDFText_CountChars: (text: number) => number
  readonly _FPDFText_GetUnicode: (text: number, at: number) => number
  /** 1 where the font does not map the glyph to a character, so that its number stands in for one. */
  readonly _FPDFText_HasUnicodeMapError: (text: number, at: number) => number
  readonly _FPDFText_IsGenerated: (text: number, at: number) => number
  /** Angle in radians, clockwise. */
  readonly _FPDFText_GetCharAngle: (text: number, at: number) => number
  /** Writes left, top, right and bottom as 32-bit floats. */
  readonly _FPDFText_GetLooseCharBox: (text: number, at: number, box: number) => number
  readonly _FPDFPage_CountObjects: (page: number) => number
  readonly _FPDFPage_GetObject: (page: number, at: number) => number
  readonly _FPDFPageObj_CountMarks: (object: number) => number
  readonly _FPDFPageObj_GetMark: (object: number, at: number) => number
  /** Writes UTF-16 with a NUL, and its number of bytes to `length`. */
  readonly _FPDFPageObjMark_GetName: (mark: number, to: number, size: number, length: number) => number
  /** Writes UTF-16 with a NUL, and its number of bytes to `length`. */
  readonly _FPDFPageObjMark_GetParamStringValue: (mark: number, key: number, to: number, size: number, length: number) => number
  readonly _FPDFFormObj_CountObjects: (form: number) => number
  readonly _FPDFFormObj_GetObject: (form: number, at: number) => number
  readonly _FPDFPageObj_GetType: (object: number) => number
  /** Writes left, bottom, right and top as 32-bit floats. */
  readonly _FPDFPageObj_GetBounds: (object: number, left: number, bottom: number, right: number, top: number) => number
  readonly _FPDFDoc_GetAttachmentCount: (document: number) => number
  readonly _FPDFDoc_GetAttachment: (document: number, at: number) => number
  /** Writes UTF-16 with a NUL; returns its number of bytes. */
  readonly _FPDFAttachment_GetName: (attachment: number, to: number, size: number) => number
  /** Writes the file's size to `length`, and its bytes where there is room. */
  readonly _FPDFAttachment_GetFile: (attachment: number, to: number, size: number, length: number) => number
  readonly _FPDFPage_GetAnnotCount: (page: number) => number
  readonly _FPDFPage_GetAnnot: (page: number, at: number) => number
  readonly _FPDFPage_CloseAnnot: (annotation: number) => void
  readonly _FPDFAnnot_GetSubtype: (annotation: number) => number
  readonly _FPDFAnnot_GetFileAttachment: (annotation: number) => number
  /** The first entry of the outline where `entry` is 0. */
  readonly _FPDFBookmark_GetFirstChild: (document: number, entry: number) => number
  readonly _FPDFBookmark_GetNextSibling: (document: number, entry: number) => number
  readonly _FPDF_GetFormType: (document: number) => number
  readonly _FPDF_GetXFAPacketCount: (document: number) => number
  readonly _FPDF_GetXFAPacketName: (document: number, at: number, to: number, size: number) => number
  readonly _FPDF_GetXFAPacketContent: (document: number, at: number, to: number, size: number, length: number) => number
  readonly HEAPU8: Uint8Array
  readonly wasmExports: { readonly malloc: (bytes: number) => number; readonly free: (at: number) => void }
}

// The package types only its own methods, and keeps its module private.
export const pdfiumOf = (part: PDFiumPage | PDFiumDocument): Pdfium => (part as unknown as { readonly module: Pdfium }).module

/** Decodes a text that ends with a NUL. */
export const utf16 = (bytes: Buffer): string => bytes.toString("utf16le").replace(/\0.*$/s, "")

const types = { text: 1, path: 2, image: 3, shading: 4, form: 5 }

/** Deepest nesting of forms that is examined. */
const deepest = 8
/** Most objects of a page that are examined. */
const mostObjects = 20_000

/** A picture that covers less than this share of its page shows nothing readable. */
const leastCover = 0.005

/** What a page shows besides text; `empty` where it has nothing at all, or nothing of it can be read. */
export type Shown = "picture" | "drawing" | "nothing" | "empty"

export const shownOn = (page: PDFiumPage): Shown => {
  const pdfium = pdfiumOf(page)
  const { originalHeight, originalWidth } = page.getOriginalSize()
  let left = mostObjects
  let drawing = false
  const isPicture = (count: number, objectAt: (at: number) => number, depth: number): boolean => {
    for (let at = 0; at < count && left > 0; at++, left--) {
      const object = objectAt(at)
      const type = pdfium._FPDFPageObj_GetType(object)
      if (type === types.path || type === types.shading) drawing = true
      // Pictures inside a form are measured in the form's own units.
      else if (type === types.image && (depth > 0 || area(pdfium, object) >= leastCover * originalWidth * originalHeight)) return true
      else if (
        type === types.form && depth < deepest &&
        isPicture(pdfium._FPDFFormObj_CountObjects(object), (at) => pdfium._FPDFFormObj_GetObject(object, at), depth + 1)
      ) return true
    }
    return false
  }
  const number = page["pageIdx"]
  if (isPicture(pdfium._FPDFPage_CountObjects(number), (at) => pdfium._FPDFPage_GetObject(number, at), 0)) return "picture"
  return drawing ? "drawing" : pdfium._FPDFPage_CountObjects(number) > 0 ? "nothing" : "empty"
}

/** Objects of a page that stand in layers have a mark of type `OC` with the name of the layer. */
const layerMark = "OC"
const longestMark = 2_048

/** The names of the layers in which text of a page stands. */
export const layersOn = (page: PDFiumPage): ReadonlySet<string> => {
  const pdfium = pdfiumOf(page)
  const found = new Set<string>()
  const number = page["pageIdx"]
  const place = pdfium.wasmExports.malloc(longestMark + 4)
  const read = (ask: (to: number, size: number, length: number) => number): string => {
    if (ask(place, longestMark, place + longestMark) === 0) return ""
    const length = Math.min(longestMark, Buffer.from(pdfium.HEAPU8.buffer, place + longestMark, 4).readUInt32LE(0))
    return utf16(Buffer.from(pdfium.HEAPU8.slice(place, place + length)))
  }
  const key = pdfium.wasmExports.malloc(8)
  Buffer.from(pdfium.HEAPU8.buffer, key, 8).write("Name\0")
  try {
    for (let at = Math.min(mostObjects, pdfium._FPDFPage_CountObjects(number)) - 1; at >= 0; at--) {
      const object = pdfium._FPDFPage_GetObject(number, at)
      const type = pdfium._FPDFPageObj_GetType(object)
      if (type !== types.text && type !== types.form) continue
      for (let i = pdfium._FPDFPageObj_CountMarks(object) - 1; i >= 0; i--) {
        const mark = pdfium._FPDFPageObj_GetMark(object, i)
        if (read((to, size, length) => pdfium._FPDFPageObjMark_GetName(mark, to, size, length)) !== layerMark) continue
        found.add(read((to, size, length) => pdfium._FPDFPageObjMark_GetParamStringValue(mark, key, to, size, length)))
      }
    }
    return found
  } finally {
    pdfium.wasmExports.free(place)
    pdfium.wasmExports.free(key)
  }
}

/** Most entries of an outline that are examined: no readable outline has as many. */
const mostEntries = 200_000

/** Whether entries of the outline lead back to one another, or are too many to check. */
export const outlineHasLoop = (document: PDFiumDocument): boolean => {
  const pdfium = pdfiumOf(document)
  const handle = document["documentIdx"]
  const seen = new Set<number>()
  const open = [pdfium._FPDFBookmark_GetFirstChild(handle, 0)]
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    if (entry === 0) continue
    if (seen.has(entry) || seen.size >= mostEntries) return true
    seen.add(entry)
    open.push(pdfium._FPDFBookmark_GetNextSibling(handle, entry), pdfium._FPDFBookmark_GetFirstChild(handle, entry))
  }
  return false
}

const area = (pdfium: Pdfium, object: number): number => {
  const place = pdfium.wasmExports.malloc(16)
  try {
    if (pdfium._FPDFPageObj_GetBounds(object, place, place + 4, place + 8, place + 12) === 0) return 0
    const [left = 0, bottom = 0, right = 0, top = 0] = new Float32Array(pdfium.HEAPU8.buffer, place, 4)
    return (right - left) * (top - bottom)
  } finally {
    pdfium.wasmExports.free(place)
  }
}
