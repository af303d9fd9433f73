import { symbolCharacter } from "../SymbolFonts.ts"
import { childAt, childElements, textContent, type XmlElement } from "../Xml.ts"
import { chooseAlternate } from "./AlternateContent.ts"
import { alternativeText, type Graphic, graphicOf } from "./Drawing.ts"
import type { NoteKind } from "./WordNotes.ts"
import { value } from "./WordStyles.ts"

/** What a paragraph holds beside its own text. */
interface ParagraphHooks {
  /** Content of a text box: Word blocks, or DrawingML text. */
  readonly box: (content: XmlElement) => void
  /** A note is referred to here; gives the mark to show. */
  readonly note: (kind: NoteKind, id: string) => string
  readonly graphic: (graphic: Graphic) => void
  /** Told of text that Word hides. */
  readonly hidden: (text: string) => void
  /** Word began a new page here when it last laid out the document. */
  readonly pageBreak: (afterText: boolean) => void
}

/** Reads the text of paragraphs in a story. Fields may run over several of them. */
export class WordText {
  readonly #hooks: ParagraphHooks
  /** Open complex fields, and whether we are in what they show rather than in their instruction. */
  #fields: Array<"instruction" | "result"> = []
  #parts: Array<string> = []

  constructor(hooks: ParagraphHooks) {
    this.#hooks = hooks
  }

  /** The text a person sees in a `w:p`: insertions in, deletions out, results of fields, no instructions. */
  of(paragraph: XmlElement): string {
    const outer = this.#parts
    this.#parts = []
    // A field whose result never begins would swallow the rest of the document.
    this.#fields = this.#fields.filter((field) => field === "result")
    this.#children(paragraph)
    const text = this.#parts.join("")
    this.#parts = outer
    return text
  }

  #emit(text: string): void {
    if (!this.#fields.includes("instruction")) this.#parts.push(text)
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
      case "w:fldChar":
        return this.#field(element.attributes["w:fldCharType"])
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
      case "w:rt":
        return undefined
      default:
        return this.#children(element)
    }
  }

  #hide(run: XmlElement): void {
    if (!this.#fields.includes("instruction")) this.#hooks.hidden(childElements(run, "w:t").map(textContent).join(""))
  }

  #field(type: string | undefined): void {
    if (type === "begin") this.#fields.push("instruction")
    else if (type === "end") this.#fields.pop()
    else if (type === "separate" && this.#fields.length > 0) this.#fields[this.#fields.length - 1] = "result"
  }

  #pair(element: XmlElement, first: string, sign: string, second: string): void {
    for (const child of childElements(element, first)) this.#children(child)
    this.#emit(sign)
    for (const child of childElements(element, second)) this.#children(child)
  }
}

const isHidden = (run: XmlElement): boolean => {
  const hidden = childAt(run, "w:rPr", "w:vanish")
  return hidden !== undefined && !["0", "false", "off"].includes(value(hidden) ?? "")
}
