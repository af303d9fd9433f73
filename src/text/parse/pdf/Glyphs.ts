import type { PDFiumPage } from "@hyzyla/pdfium"
import { isNoise } from "./Nonsense.ts"
import { pdfiumOf } from "./Pdfium.ts"

/** A character at its position on a page; blanks that PDFium infers from gaps have none. */
export interface PlacedGlyph {
  /** The character; `\n` at the end of a line. */
  readonly text: string
  /** Whether PDFium inferred it; it is not in the file. */
  readonly generated: boolean
  readonly box: Box
  /** Quarter turns to the right in which it stands, before the page itself is turned; `undefined` at any other angle. */
  readonly turns: 0 | 1 | 2 | 3 | undefined
}

/** Points from the lower left corner of the page, including the space of the glyph in its line. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const boxBytes = 16

/** The characters of a page in the order in which PDFium reads them. */
export const glyphsOf = (page: PDFiumPage): ReadonlyArray<PlacedGlyph> => {
  const pdfium = pdfiumOf(page)
  const text = pdfium._FPDFText_LoadPage(page["pageIdx"])
  if (text === 0) return []
  const place = pdfium.wasmExports.malloc(boxBytes)
  try {
    return Array.from({ length: pdfium._FPDFText_CountChars(text) }, (_, at) => {
      const code = pdfium._FPDFText_GetUnicode(text, at)
      pdfium._FPDFText_GetLooseCharBox(text, at, place)
      const [left = 0, top = 0, right = 0, bottom = 0] = new Float32Array(pdfium.HEAPU8.buffer, place, 4)
      return {
        text: code === 0 || code > 0x10ffff ? " " : code === 10 || code === 13 ? "\n" : String.fromCodePoint(code),
        generated: pdfium._FPDFText_IsGenerated(text, at) === 1,
        box: { left, top, right, bottom },
        turns: quarterTurns(pdfium._FPDFText_GetCharAngle(text, at))
      }
    })
  } finally {
    pdfium.wasmExports.free(place)
    pdfium._FPDFText_ClosePage(text)
  }
}

/** Fewer unknown glyphs than this on a page are bullets and signs, too few to be judged. */
const fewestUnknown = 20
/** A smaller share of unknown glyphs than this on a page is bullets and signs, too few to be judged. */
const leastUnknown = 0.02

/** The known part of a page's text. */
export interface KnownText {
  readonly text: string
  /** Number of glyphs left out. */
  readonly unknown: number
  /** Share of the glyphs left out, 0 to 1. */
  readonly share: number
}

/** The text of a page without glyphs that no font maps to characters; `undefined` where these are few or make sense as text. */
export const withoutUnknown = (page: PDFiumPage): KnownText | undefined => {
  const pdfium = pdfiumOf(page)
  const text = pdfium._FPDFText_LoadPage(page["pageIdx"])
  if (text === 0) return undefined
  try {
    let [known, unknown] = ["", ""]
    let count = 0
    const all = pdfium._FPDFText_CountChars(text)
    for (let at = 0; at < all; at++) {
      const code = pdfium._FPDFText_GetUnicode(text, at)
      const character = code > 0x10ffff ? " " : String.fromCodePoint(code)
      const isUnknown = pdfium._FPDFText_HasUnicodeMapError(text, at) === 1
      if (isUnknown) count++
      known += isUnknown || code === 0 ? " " : character
      unknown += isUnknown ? character : " "
    }
    return count < fewestUnknown || count < all * leastUnknown || !isNoise(unknown)
      ? undefined
      : { text: known.replace(/ {2,}/g, " "), unknown: count, share: count / all }
  } finally {
    pdfium._FPDFText_ClosePage(text)
  }
}

/** Quarters of a turn by which upright text may be off. */
const askew = 0.05

const quarterTurns = (angle: number): PlacedGlyph["turns"] => {
  const quarters = angle / (Math.PI / 2)
  const turns = Math.round(quarters)
  if (Math.abs(quarters - turns) > askew) return undefined
  return turns === 1 || turns === 2 || turns === 3 ? turns : 0
}
