import { longestList, longestValue, type Properties } from "../../domain/Properties.ts"
import type { Remark } from "../../domain/Document.ts"

/** Most names of one document; any more are ignored. */
const mostNames = 500
const longestName = 200

/** Collects the properties of a document, within bounds. A name that occurs twice becomes a list. */
export class PropertyList {
  readonly #found = new Map<string, string | Array<string>>()
  readonly remarks: Array<Remark> = []

  /** Adds a value; an absent or empty one is ignored. */
  add(name: string, value: string | undefined): void {
    const text = value?.trim() ?? ""
    const key = name.trim().toLowerCase()
    if (text === "" || key === "" || key.length > longestName) return
    const cut = text.length > longestValue ? text.slice(0, longestValue + 1).toWellFormed() : text
    const known = this.#found.get(key)
    if (known === undefined) {
      if (this.#found.size < mostNames) this.#found.set(key, cut)
    } else if (typeof known === "string") this.#found.set(key, [known, cut])
    else if (known.length <= longestList) known.push(cut)
  }

  /** Adds a value only where the name is not there yet: other parts of the document take precedence. */
  addNew(name: string, value: string | undefined): void {
    if (!this.#found.has(name.trim().toLowerCase())) this.add(name, value)
  }

  /** Adds a list, even of one value. */
  addList(name: string, values: ReadonlyArray<string>): void {
    const key = name.trim().toLowerCase()
    const [first, ...rest] = values
    if (first === undefined) return
    this.add(key, first)
    const known = this.#found.get(key)
    if (typeof known === "string") this.#found.set(key, [known])
    for (const value of rest) this.add(key, value)
  }

  get properties(): Properties {
    return Object.fromEntries(this.#found)
  }
}
