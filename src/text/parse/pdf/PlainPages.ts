import { readFile } from "node:fs/promises"
import { type PDFiumDocument, PDFiumLibrary, type PDFiumPage } from "@hyzyla/pdfium"
import { assetPath } from "../../Assets.ts"
import type { Drawing } from "../Png.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { type Attached, attachedTo, attachedToPage, xfaTexts } from "./Attached.ts"
import { glyphsOf, type KnownText, withoutUnknown } from "./Glyphs.ts"
import { layersOn, outlineHasLoop, type Shown, shownOn } from "./Pdfium.ts"
import { linesOf, looksBroken, respaced, vocabularyOf } from "./Spacing.ts"
import { uprightText } from "./Turned.ts"

/** The text of a PDF's pages in the order of their content, without layout. Kept open while pages are read. */
export interface PlainPages {
  readonly count: number
  /** Whether entries of the outline lead back to one another. */
  readonly outlineHasLoop: boolean
  /** Text of a 1-based page; `undefined` where the page cannot be read. */
  readonly text: (page: number) => string | undefined
  /** What can be told of a page whose text was asked for, where that holds glyphs of which no font says what they are. */
  readonly known: (page: number) => KnownText | undefined
  /** The same text in the order in which it is read where most of it stands on its side or on its head. */
  readonly turned: (page: number) => string | undefined
  /** The names of the layers in which text of a page stands. */
  readonly layers: (page: number) => ReadonlySet<string>
  /** What a page shows besides text. */
  readonly shown: (page: number) => Shown
  /** The files that the document holds, and those pinned to pages whose text was asked for. */
  readonly attached: () => ReadonlyArray<Attached>
  /** What a form that has no pages of its own says and holds. */
  readonly form: (mostBytes: number) => ReadonlyArray<string>
  /** A page as it looks, at 300 dots an inch where neither side gets longer than `pixels` by that, default 5,000. */
  readonly draw: (page: number, pixels?: number) => Promise<Drawing | undefined>
}

/** Dots an inch that recognition is made for, and most dots on a side. */
const resolution = 300
const mostPixels = 5_000

/** One for the process: its memory is used again, and starting it takes longer than most files. */
let library: Promise<PDFiumLibrary> | undefined

/** Opens a PDF for as long as `use` takes. */
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
      // The package leaves pages open until the document is closed: five thousand of them are a gigabyte.
      opened["module"]._FPDF_ClosePage(opened["pageIdx"])
    }
  }
  const pinned: Array<Attached> = []
  const known = new Map<number, KnownText>()
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
          return textOf(opened, text)
        }),
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

/** What no text holds: where numbers of glyphs stand in the place of characters, such are among them. */
const unusual = /[\u0001\u0003-\u0008\u000b\u000e-\u001f\ufffd]|\p{Co}|(?!\ufffe)\p{Cn}/u

const textOf = (page: PDFiumPage, raw: string): string => {
  const text = cleaned(raw)
  const lines = text.split("\n")
  if (!lines.some(looksBroken)) return text
  const vocabulary = vocabularyOf(lines)
  const whole = new Map(linesOf(glyphsOf(page)).map(({ glyphs, text }) => [text, respaced(glyphs, vocabulary)]))
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

/** A hyphen at the end of a line comes as U+0002 or U+FFFE. */
const cleaned = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/[\u0002\ufffe]\n?/g, "-\n").replace(/[\u0001-\u0008\u000b\u000e-\u001f]/g, " ")
