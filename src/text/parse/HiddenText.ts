import type { Remark } from "../../domain/Document.ts"

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
