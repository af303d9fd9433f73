import type { Remark } from "../../domain/Document.ts"

/** The remark that a document hides a page of its own, a slide or a sheet; its text is read. */
export const hiddenPage = (name: string, page: number): Remark => ({ kind: "hidden", text: name, pages: [page] })

/** Counts the text of a Word document that is hidden and left out, of which an author may not know. */
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
