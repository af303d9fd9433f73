import { longestList, longestValue, type Properties } from "../../domain/Properties.ts"
import type { Remark } from "../../domain/Document.ts"

/** Names of one document; of more, nothing is told. */
const mostNames = 500
const longestName = 200

/** Gathers what a document says of itself, within bounds: what is said twice under one name becomes a list. */
export class PropertyList {
  readonly #found = new Map<string, string | Array<string>>()
  readonly remarks: Array<Remark> = []

  /** Nothing is added where there is nothing said. */
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

  /** Only where the name is not there yet: what another part of the document says goes before. */
  addNew(name: string, value: string | undefined): void {
    if (!this.#found.has(name.trim().toLowerCase())) this.add(name, value)
  }

  /** A list, also of one. */
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
