import { symbolCharacter } from "../SymbolFonts.ts"
import { childAt, childElements, descendants, textContent, type XmlElement } from "../Xml.ts"
import { chooseAlternate } from "./AlternateContent.ts"
import { alternativeText, type Graphic, graphicOf } from "./Drawing.ts"
import type { NoteKind } from "./WordNotes.ts"
import { value } from "./WordStyles.ts"

/** Receives what a paragraph contains besides its own text. */
interface ParagraphHooks {
  /** Receives the content of a text box: Word blocks, or DrawingML text. */
  readonly box: (content: XmlElement) => void
  /** Called at a reference to a note; returns the mark to show. */
  readonly note: (kind: NoteKind, id: string) => string
  readonly graphic: (graphic: Graphic) => void
  /** Receives text that Word hides. */
  readonly hidden: (text: string) => void
  /** Called where Word started a new page when it last laid out the document. */
  readonly pageBreak: (afterText: boolean) => void
}

interface Field {
  /** Whether the reading is in the field's result, past its instruction. */
  shows: boolean
  /** The value of a form field, which programs show without writing it as text. */
  readonly entered: string
  /** How many parts its paragraph had before it. */
  readonly since: number
}

/** The chosen entry of a form's list, or the mark of its check box (17.16.7, 17.16.9). */
const entered = (form: XmlElement | undefined): string => {
  const box = childAt(form, "w:checkBox")
  if (box !== undefined) return isOn(childAt(box, "w:checked") ?? childAt(box, "w:default")) ? "☒" : "☐"
  const list = childAt(form, "w:ddList")
  const chosen = value(childAt(list, "w:result")) ?? value(childAt(list, "w:default")) ?? "0"
  return value(childElements(list, "w:listEntry")[Number(chosen)]) ?? ""
}

/** Reads the text of paragraphs in a story. Fields may span several of them. */
export class WordText {
  readonly #hooks: ParagraphHooks
  /** Open complex fields. */
  #fields: Array<Field> = []
  #parts: Array<string> = []

  constructor(hooks: ParagraphHooks) {
    this.#hooks = hooks
  }

  /** The text that a person sees in a `w:p`: insertions and results of fields, without deletions and instructions. */
  of(paragraph: XmlElement): string {
    const outer = this.#parts
    this.#parts = []
    // A field whose result never starts would swallow the rest of the document.
    this.#fields = this.#fields.filter(({ shows }) => shows)
    this.#children(paragraph)
    const text = this.#parts.join("")
    this.#parts = outer
    return text
  }

  #emit(text: string): void {
    if (!this.#inInstruction) this.#parts.push(text)
  }

  get #inInstruction(): boolean {
    return this.#fields.some(({ shows }) => !shows)
  }

  #children(element: XmlElement): void {
    for (const child of childElements(element)) this.#inline(child)
  }

  #inline(element: XmlElement): void {
    switch (element.name) {
      case "w:t":
      case "m:t":
        return this.#emit(textContent(element))
      case "w:tab":
      case "w:ptab":
        return this.#emit("\t")
      case "w:br":
      case "w:cr":
        return this.#emit("\n")
      case "w:noBreakHyphen":
        return this.#emit("-")
      case "w:sym":
        return this.#emit(symbolCharacter(
          element.attributes["w:font"] ?? "",
          Number.parseInt(element.attributes["w:char"] ?? "", 16)
        ))
      case "w:ruby":
        return this.#ruby(element)
      case "w:fldChar":
        return this.#field(element)
      case "w:footnoteReference":
        return this.#emit(this.#hooks.note("footnote", element.attributes["w:id"] ?? ""))
      case "w:endnoteReference":
        return this.#emit(this.#hooks.note("endnote", element.attributes["w:id"] ?? ""))
      case "w:lastRenderedPageBreak":
        return this.#hooks.pageBreak(this.#parts.some((part) => part.trim() !== ""))
      case "w:r":
        return isHidden(element) ? this.#hide(element) : this.#children(element)
      case "m:f":
        return this.#pair(element, "m:num", "/", "m:den")
      case "m:sSup":
        return this.#pair(element, "m:e", "^", "m:sup")
      case "mc:AlternateContent": {
        const chosen = chooseAlternate(element)
        return chosen === undefined ? undefined : this.#children(chosen)
      }
      case "w:txbxContent":
      case "a:txBody":
        return this.#hooks.box(element)
      case "wp:docPr": {
        const description = alternativeText(element)
        if (description === "") return
        if (/\S$/.test(this.#parts.at(-1) ?? "")) this.#emit(" ")
        return this.#emit(`${description} `)
      }
      case "v:textpath":
        return this.#emit(element.attributes["string"] ?? "")
      case "c:chart":
      case "cx:chart":
      case "dgm:relIds": {
        const graphic = graphicOf(element)
        return graphic === undefined ? undefined : this.#hooks.graphic(graphic)
      }
      case "w:del":
      case "w:moveFrom":
      case "w:pPr":
      case "w:rPr":
      case "w:sdtPr":
      case "w:tblPr":
      case "w:instrText":
      case "w:delText":
        return undefined
      default:
        return this.#children(element)
    }
  }

  #hide(run: XmlElement): void {
    if (!this.#inInstruction) this.#hooks.hidden(childElements(run, "w:t").map(textContent).join(""))
  }

  #field(element: XmlElement): void {
    const type = element.attributes["w:fldCharType"]
    const open = this.#fields.at(-1)
    if (type === "begin") this.#fields.push({ shows: false, entered: entered(childAt(element, "w:ffData")), since: this.#parts.length })
    else if (type === "separate" && open !== undefined) open.shows = true
    else if (type === "end" && open !== undefined) {
      this.#fields.pop()
      if (open.entered !== "" && this.#parts.slice(open.since).join("").trim() === "") this.#emit(open.entered)
    }
  }

  /** The reading of characters follows them: it is often all that says how a name is spoken. */
  #ruby(element: XmlElement): void {
    for (const base of childElements(element, "w:rubyBase")) this.#children(base)
    const reading = childAt(element, "w:rt")
    if (reading === undefined || !descendants(reading, "w:t").some((text) => textContent(text).trim() !== "")) return
    this.#emit("(")
    this.#children(reading)
    this.#emit(")")
  }

  #pair(element: XmlElement, first: string, sign: string, second: string): void {
    for (const child of childElements(element, first)) this.#children(child)
    this.#emit(sign)
    for (const child of childElements(element, second)) this.#children(child)
  }
}

const isHidden = (run: XmlElement): boolean => isOn(childAt(run, "w:rPr", "w:vanish"))

const isOn = (toggle: XmlElement | undefined): boolean => toggle !== undefined && !["0", "false", "off"].includes(value(toggle) ?? "")
