import { oneLine } from "../BlockSink.ts"

/** Share of a page's height, at its top and at its bottom, where headers and footers stand. */
const edge = 0.08

/** Share of a page's width from which a line spans the page: a title at one margin, the page's number at the other. */
const span = 0.5

/** Pages on which a line has to stand, letter for letter, to be a running line; and pages that have to be numbered to have numbers. */
const leastPages = 3
/** Share of the pages between its first and last page on which it has to stand: half, since left and right pages may differ. */
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
  /** Points that it is wide. */
  readonly width?: number
}

/** A page with its blocks. Its height and width are in points, 0 where layout is not known. */
interface TextPage {
  readonly number: number
  readonly height: number
  readonly width: number
  readonly blocks: ReadonlyArray<TextBlock>
}

interface Dropped {
  readonly text: string
  readonly pages: Array<number>
}

/** The pages on which something stands. */
interface Seen {
  readonly first: number
  readonly last: number
  readonly count: number
}

/** A line read as the number of its page, and what it says besides; "" for the number alone. */
interface Numbered {
  /** The series of numbers that it belongs to: Arabic or Roman, and how far they run ahead of the pages. */
  readonly series: string
  readonly rest: string
}

/**
 * Headers, footers and numbers of pages: lines at the edge of pages that recur with the same characters, and lines with a number that grows
 * with the pages. Of each only the first is kept, as a paragraph, so that no word of a document is lost; bare numbers of pages are not.
 */
export class RunningLines {
  readonly #lines = new Map<string, Seen>()
  readonly #series = new Map<string, Seen>()
  readonly #kept = new Set<string>()
  readonly #dropped = new Map<string, Dropped>()

  learn(pages: ReadonlyArray<TextPage>): void {
    for (const page of pages) {
      for (const key of new Set(page.blocks.flatMap((block) => keyOf(block, page) ?? []))) see(this.#lines, key, page.number)
      for (const series of new Set(page.blocks.flatMap((block) => numbersOf(block, page).map(({ series }) => series)))) {
        see(this.#series, series, page.number)
      }
    }
  }

  /** The page's blocks without running lines that have been kept before. */
  without(page: TextPage): ReadonlyArray<TextBlock> {
    // A number that stands alone on its page is the page's text.
    const isAlone = page.blocks.length === 1
    return page.blocks.flatMap((block) => {
      const numbered = numbersOf(block, page).find(({ rest, series }) => recurs(this.#series.get(series)) && !(isAlone && rest === ""))
      if (numbered?.rest === "") {
        this.#drop("page numbers", page.number)
        const before = block.text.trimEnd().split("\n").slice(0, -1).join("\n")
        return before.trim() === "" ? [] : [{ ...block, text: before }]
      }
      const key = numbered?.rest ?? keyOf(block, page)
      if (key === undefined || (numbered === undefined && !recurs(this.#lines.get(key)))) return [block]
      if (this.#kept.has(key)) {
        this.#drop(oneLine(numbered?.rest ?? block.text), page.number)
        return []
      }
      this.#kept.add(key)
      // A heading would stand above all text up to the next one.
      return [block.kind === "heading" ? { ...block, kind: "paragraph" } : block]
    })
  }

  get dropped(): ReadonlyArray<Dropped> {
    return [...this.#dropped.values()]
  }

  #drop(text: string, page: number): void {
    const dropped = this.#dropped.get(text)
    if (dropped === undefined) this.#dropped.set(text, { text, pages: [page] })
    else dropped.pages.push(page)
  }
}

const see = (seen: Map<string, Seen>, key: string, page: number): void => {
  const { count, first } = seen.get(key) ?? { first: page, count: 0 }
  seen.set(key, { first, last: page, count: count + 1 })
}

const recurs = (seen: Seen | undefined): boolean =>
  seen !== undefined && seen.count >= leastPages && seen.count >= (seen.last - seen.first + 1) * leastShare

/** The edge at which a block stands. */
const edgeOf = ({ bottom, kind, text, top }: TextBlock, { height }: TextPage): "top" | "bottom" | undefined => {
  if (top === undefined || bottom === undefined || height <= 0 || text.length > longest || kind === "table") return undefined
  return bottom <= height * edge ? "top" : top >= height * (1 - edge) ? "bottom" : undefined
}

const keyOf = (block: TextBlock, page: TextPage): string | undefined => {
  const at = edgeOf(block, page)
  return at === undefined ? undefined : `${at} ${oneLine(block.text)}`
}

const number = String.raw`(\d{1,5}|[ivxlc]{1,8})`
const pageWord = String.raw`(?:(?:page|seite|página|pagina|sida|strona|страница)\s+)?`
const ofAll = String.raw`(?:\s*(?:\/|of|von|de|di|sur|av|z|из)\s*\d{1,5})?`
/** White space, and perhaps a sign in it. */
const gap = String.raw`(\s+(?:[|•·–—-]\s+)?)`
const sign = String.raw`[^\p{L}\p{N}]*`

/** A number alone: `3`, `- 3 -`, `iv`, `Page 3`, `3 / 12`, `Seite 3 von 12`. */
const alone = new RegExp(`^${sign}${pageWord}${number}${ofAll}${sign}$`, "iu")
/** A number before or after other text. */
const leading = new RegExp(String.raw`^${number}${gap}(\S.*)$`, "iu")
const trailing = new RegExp(String.raw`^(.*\S)${gap}${pageWord}${number}${ofAll}$`, "iu")

/** How a block may be read as the number of its page. */
const numbersOf = (block: TextBlock, page: TextPage): ReadonlyArray<Numbered> => {
  const isLast = block === page.blocks.at(-1)
  const at = edgeOf(block, page)
  // Where the layout lost a page's number, it is the last of the lines that were added to its blocks.
  const line = oneLine(block.top === undefined && isLast ? block.text.trimEnd().split("\n").at(-1) ?? "" : block.text)
  const bare = isLast || block === page.blocks[0] || at !== undefined ? alone.exec(line)?.[1] : undefined
  if (bare !== undefined) return numberedBy(bare, page, "")
  if (at === undefined) return []
  const isWide = (block.width ?? 0) >= page.width * span
  const readings = [
    [leading.exec(line), 1, 3] as const,
    [trailing.exec(line), 3, 1] as const
  ]
  return readings.flatMap(([found, numberAt, rest]) =>
    // `Question 2` at the top of the second page is no number of a page.
    found === null || !(isWide || /\S/.test(found[2]!))
      ? []
      : numberedBy(found[numberAt]!, page, found[rest]!).filter(({ series }) => !series.includes("+"))
  )
}

/** A number that runs ahead of the pages (`Statement 1001`) may count something else: it is a page's only where it stands alone. */
const numberedBy = (label: string, page: TextPage, rest: string): ReadonlyArray<Numbered> => {
  const isRoman = !/\d/.test(label)
  const value = isRoman ? romanValue(label.toLowerCase()) : Number(label)
  if (value === undefined || value === 0) return []
  const ahead = value - page.number
  return [{ series: `${isRoman ? "roman" : "arabic"} ${ahead > 0 ? "+" : ""}${ahead}`, rest }]
}

const digits: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 }

const romanValue = (text: string): number | undefined =>
  /^c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$/.test(text)
    ? Array.from(text, (letter) => digits[letter]!).reduce((sum, value, at, all) => sum + (value < (all[at + 1] ?? 0) ? -value : value), 0)
    : undefined
