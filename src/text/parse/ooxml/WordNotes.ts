import { roman } from "../Numerals.ts"
import { eachElement, type XmlElement } from "../Xml.ts"
import type { OfficePackage } from "./Package.ts"

export type NoteKind = "footnote" | "endnote"

interface TakenNote {
  /** The mark in the text: `[1]` for a footnote, `[i]` for an endnote. */
  readonly mark: string
  /** The note's content at its first reference; absent later, so that no note is read twice, or inside itself. */
  readonly first?: { readonly part: string; readonly content: XmlElement }
}

/** Footnotes and endnotes of a document, numbered in the order of their references. */
export class WordNotes {
  readonly #pack: OfficePackage
  readonly #notes = new Map<NoteKind, { readonly part: string; readonly contents: ReadonlyMap<string, XmlElement> }>()
  readonly #marks: Record<NoteKind, Map<string, string>> = { footnote: new Map(), endnote: new Map() }

  constructor(pack: OfficePackage) {
    this.#pack = pack
  }

  take(kind: NoteKind, id: string): TakenNote | undefined {
    const marks = this.#marks[kind]
    const known = marks.get(id)
    if (known !== undefined) return { mark: known }
    const { part, contents } = this.#read(kind)
    const content = contents.get(id)
    if (content === undefined) return undefined
    const number = marks.size + 1
    const mark = `[${kind === "footnote" ? number : roman(number)}]`
    marks.set(id, mark)
    return { mark, first: { part, content } }
  }

  #read(kind: NoteKind): { readonly part: string; readonly contents: ReadonlyMap<string, XmlElement> } {
    let notes = this.#notes.get(kind)
    if (notes === undefined) {
      const part = this.#pack.related(this.#pack.main, `${kind}s`)?.target ?? ""
      const contents = new Map<string, XmlElement>()
      eachElement(this.#pack.part(part) ?? new Uint8Array(), (name) => name === `w:${kind}`, (element) => {
        // The other types are the lines between text and notes.
        if ((element.attributes["w:type"] ?? "normal") === "normal") {
          contents.set(element.attributes["w:id"] ?? "", element)
        }
      })
      notes = { part, contents }
      this.#notes.set(kind, notes)
    }
    return notes
  }
}
