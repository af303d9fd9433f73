import type { Remark } from "../../domain/Document.ts"

/** The remark that a document hides one of its pages, slides or sheets; its text is read. */
export const hiddenPage = (name: string, page: number): Remark => ({ kind: "hidden", text: name, pages: [page] })

/** Counts the hidden text of a Word document, which is left out and which its author may not know of. */
export class HiddenText {
  #characters = 0

  add(text: string): void {
    this.#characters += text.replace(/\s+/g, "").length
  }

  get remarks(): ReadonlyArray<Remark> {
    return this.#characters === 0
      ? []
      : [{ kind: "cut", text: `hidden text of ${this.#characters} character${this.#characters === 1 ? "" : "s"}, left out` }]
  }
}
