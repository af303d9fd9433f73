import { oneLine } from "../BlockSink.ts"

/** Share of a page's height, at its top and at its bottom, where headers and footers stand. */
const edge = 0.08

/** Pages on which a line has to stand, letter for letter, to be a running line. */
const leastPages = 3
/** Share of the pages seen on which a line has to stand to be a running line. */
const leastShare = 0.5

/** Most characters of a running line; longer ones are text. */
const longest = 200

/** A block of a page, as text. */
export interface TextBlock {
  readonly kind: "heading" | "list_item" | "table" | "code" | "paragraph"
  readonly text: string
  readonly level?: number
  readonly marker?: string
  /** Points from the top of the page; `undefined` where layout is not known. */
  readonly top?: number
  readonly bottom?: number
}

interface Dropped {
  readonly text: string
  readonly pages: Array<number>
}

/**
 * Headers and footers: lines at the edge of pages that recur with the same characters, digits and all. Each is kept at its first place, so
 * that no word of a document is lost.
 */
export class RunningLines {
  readonly #counts = new Map<string, number>()
  readonly #kept = new Set<string>()
  readonly #dropped = new Map<string, Dropped>()
  #pages = 0

  learn(pages: ReadonlyArray<{ readonly blocks: ReadonlyArray<TextBlock>; readonly height: number }>): void {
    for (const { blocks, height } of pages) {
      this.#pages++
      const keys = new Set(blocks.flatMap((block) => keyOf(block, height) ?? []))
      for (const key of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    }
  }

  /** Whether the block is a running line that has been kept before. */
  drops(block: TextBlock, page: number, height: number): boolean {
    const key = keyOf(block, height)
    const count = key === undefined ? 0 : this.#counts.get(key) ?? 0
    if (key === undefined || count < leastPages || count < this.#pages * leastShare) return false
    if (!this.#kept.has(key)) {
      this.#kept.add(key)
      return false
    }
    const dropped = this.#dropped.get(key)
    if (dropped === undefined) this.#dropped.set(key, { text: oneLine(block.text), pages: [page] })
    else dropped.pages.push(page)
    return true
  }

  get dropped(): ReadonlyArray<Dropped> {
    return [...this.#dropped.values()]
  }
}

const keyOf = ({ bottom, kind, text, top }: TextBlock, height: number): string | undefined => {
  if (top === undefined || bottom === undefined || height <= 0 || text.length > longest || kind === "table") return undefined
  const atTop = bottom <= height * edge
  if (!atTop && top < height * (1 - edge)) return undefined
  return `${atTop ? "top" : "bottom"} ${oneLine(text)}`
}
