import { readFile } from "node:fs/promises"
import { type PDFiumDocument, PDFiumLibrary, type PDFiumPage } from "@hyzyla/pdfium"
import { assetPath } from "../../Assets.ts"
import type { Drawing } from "../Png.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { accentedLetters, hasAccents, withAccents } from "./Accents.ts"
import { type Attached, attachedTo, attachedToPage, xfaTexts } from "./Attached.ts"
import { doubledWords, hasDoubled, withoutDoubled } from "./Doubled.ts"
import { glyphsOf, type KnownText, type PlacedGlyph, withoutUnknown } from "./Glyphs.ts"
import { layersOn, outlineHasLoop, type Shown, shownOn } from "./Pdfium.ts"
import { linesOf, looksBroken, respaced, vocabularyOf } from "./Spacing.ts"
import { uprightText } from "./Turned.ts"

/** The text of a PDF's pages in the order of their content, without layout. The PDF stays open while pages are read. */
export interface PlainPages {
  readonly count: number
  /** Whether entries of the outline lead back to one another. */
  readonly outlineHasLoop: boolean
  /** Text of a 1-based page; `undefined` where the page cannot be read. */
  readonly text: (page: number) => string | undefined
  /**
   * A text of a page whose text was read, with the accents on their letters that the page draws as glyphs of their own, and with the letters
   * once that it draws twice to look bold.
   */
  readonly whole: (page: number, text: string) => string
  /** The known part of a page whose text was read, where it has glyphs that no font maps to characters. */
  readonly known: (page: number) => KnownText | undefined
  /** The page's text in reading order, where most of it stands on its side or upside down; otherwise `undefined`. */
  readonly turned: (page: number) => string | undefined
  /** The names of the layers in which text of a page stands. */
  readonly layers: (page: number) => ReadonlySet<string>
  /** What a page shows besides text. */
  readonly shown: (page: number) => Shown
  /** The files attached to the document, and to pages whose text was read. */
  readonly attached: () => ReadonlyArray<Attached>
  /** The texts and values of a form without pages of its own. */
  readonly form: (mostBytes: number) => ReadonlyArray<string>
  /** Draws a page at 300 dots per inch, or fewer where a side would be longer than `pixels`, default 5,000. */
  readonly draw: (page: number, pixels?: number) => Promise<Drawing | undefined>
}

/** Dots per inch that recognition is made for. */
const resolution = 300
/** Most dots on a side. */
const mostPixels = 5_000

/** One for the process: its memory is reused, and starting it takes longer than most files. */
let library: Promise<PDFiumLibrary> | undefined

/** Opens a PDF for as long as `use` runs. */
export const withPlainPages = async <A>(file: Uint8Array, use: (pages: PlainPages) => Promise<A>): Promise<A> => {
  library ??= readFile(assetPath("pdfium.wasm", "@hyzyla/pdfium/pdfium.wasm")).then((wasm) =>
    PDFiumLibrary.init({ wasmBinary: new Uint8Array(wasm).buffer })
  )
  const document = await open(await library, file)
  const count = document.getPageCount()
  const onPage = <B>(page: number, read: (page: PDFiumPage) => B): B | undefined => {
    if (page < 1 || page > count) return undefined
    const opened = document.getPage(page - 1)
    if (opened["pageIdx"] === 0) return undefined
    try {
      return read(opened)
    } catch {
      return undefined
    } finally {
      // The package leaves pages open until the document is closed: five thousand of them take a gigabyte.
      opened["module"]._FPDF_ClosePage(opened["pageIdx"])
    }
  }
  const pinned: Array<Attached> = []
  const known = new Map<number, KnownText>()
  const mended = new Map<number, (text: string) => string>()
  try {
    return await use({
      count,
      outlineHasLoop: outlineHasLoop(document),
      text: (page) =>
        onPage(page, (opened) => {
          pinned.push(...attachedToPage(opened))
          const text = opened.getText()
          const found = unusual.test(text) ? withoutUnknown(opened) : undefined
          if (found !== undefined) known.set(page, { ...found, text: cleaned(found.text) })
          let placed: ReadonlyArray<PlacedGlyph> | undefined
          const glyphs = () => placed ??= glyphsOf(opened)
          const plain = textOf(text, glyphs)
          if (!hasAccents(text) && !hasDoubled(text)) return plain
          const [letters, words] = [accentedLetters(glyphs()), doubledWords(glyphs())]
          if (letters.size + words.size === 0) return plain
          const mend = (one: string): string => withAccents(withoutDoubled(one, words), letters)
          mended.set(page, mend)
          return mend(plain)
        }),
      whole: (page, text) => mended.get(page)?.(text) ?? text,
      known: (page) => known.get(page),
      attached: () => [...attachedTo(document), ...pinned],
      form: (mostBytes) => xfaTexts(document, mostBytes),
      turned: (page) => {
        const text = onPage(page, (opened) => uprightText(glyphsOf(opened)))
        return text === undefined ? undefined : cleaned(text)
      },
      draw: async (page, pixels = mostPixels) => {
        if (page < 1 || page > count) return undefined
        const opened = document.getPage(page - 1)
        if (opened["pageIdx"] === 0) return undefined
        const { originalHeight, originalWidth } = opened.getOriginalSize()
        const scale = Math.min(resolution / 72, pixels / Math.max(1, originalHeight, originalWidth))
        // Drawing closes the page.
        return opened.render({ scale, render: "bitmap" })
      },
      layers: (page) => onPage(page, layersOn) ?? new Set(),
      shown: (page) => onPage(page, shownOn) ?? "nothing"
    })
  } finally {
    document.destroy()
  }
}

/** Characters that no text contains: where glyph numbers stand in for characters, some of them are among these. */
const unusual = /[\u0001\u0003-\u0008\u000b\u000e-\u001f\ufffd]|\p{Co}|(?!\ufffe)\p{Cn}/u

const textOf = (raw: string, glyphs: () => ReadonlyArray<PlacedGlyph>): string => {
  const text = cleaned(raw)
  const lines = text.split("\n")
  if (!lines.some(looksBroken)) return text
  const vocabulary = vocabularyOf(lines)
  const whole = new Map(linesOf(glyphs()).map(({ glyphs, text }) => [text, respaced(glyphs, vocabulary)]))
  return lines.map((line) => whole.get(line.trim()) ?? line).join("\n")
}

const open = async (library: PDFiumLibrary, file: Uint8Array): Promise<PDFiumDocument> => {
  try {
    return await library.loadDocument(file)
  } catch (error) {
    const why = error instanceof Error ? error.message : ""
    if (/password/i.test(why)) throw new ReadFailure("encrypted", "the PDF is protected by a password")
    if (/security/i.test(why)) throw new ReadFailure("encrypted", "the PDF is encrypted in a way that is not supported")
    throw new ReadFailure("corrupt", "the PDF is damaged")
  }
}

/** A text with its hyphens at line ends, which come as U+0002 or U+FFFE. */
const cleaned = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/[\u0002\ufffe]\n?/g, "-\n").replace(/[\u0001-\u0008\u000b\u000e-\u001f]/g, " ")
