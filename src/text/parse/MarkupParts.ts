import { Tokenizer, type TokenizerCallbacks } from "htmlparser2"
import { blockElements } from "./Html.ts"
import { isXhtml, walkHtml } from "./html/HtmlTokens.ts"
import { isText } from "./XmlDocument.ts"

/** A part may grow by this share of its size while a better place to cut is sought. */
const stretch = 0.25

/** Most open elements at a cut: each part repeats their start tags, which must be short. */
const deepest = 32
/** Most bytes of the start tags that a part repeats. */
const longestTags = 16 * 1024

/** Deepest nesting of XML that is cut; deeper XML is left to its reader, which refuses it. */
const deepestXml = 1_000

/** Most bytes of a prolog; a longer one is not a prolog. */
const longestProlog = 64 * 1024

/** An open element, by its start tag. */
interface Open {
  readonly name: string
  readonly start: number
  end: number
  /** The number of the last item of an ordered list. */
  item: number
}

/** How much worse it is to cut inside a list or a table than one element deeper. */
const inside = 100
/** How much worse it is to cut in the middle of a text than one element deeper. */
const midText = 1_000

/** Chooses where a file may be cut, and records which elements are open there. */
class Cutter {
  readonly open: Array<Open> = []
  readonly cuts: Array<{ readonly start: number; readonly open: ReadonlyArray<Open> }> = []
  readonly #bytes: number
  #start = 0
  #best: { readonly at: number; readonly weight: number; readonly open: ReadonlyArray<Open> } | undefined

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** The first offset at which a part may end. */
  get next(): number {
    return this.#start + this.#bytes
  }

  /** Offers a place where the next part may start; the place with the least weight is taken. */
  consider(at: number, weight: number): void {
    const length = at - this.#start
    if (length < this.#bytes || this.open.length > deepest) return
    if (this.#best === undefined || weight < this.#best.weight) {
      if (this.open.reduce((sum, { end, start }) => sum + end - start, 0) <= longestTags) {
        this.#best = { at, weight, open: this.open.map((one) => ({ ...one })) }
      }
    }
    if (this.#best !== undefined && (this.#best.weight <= 2 || length >= this.#bytes * (1 + stretch))) {
      this.cuts.push({ start: this.#best.at, open: this.#best.open })
      this.#start = this.#best.at
      this.#best = undefined
    }
  }
}

/**
 * Cuts HTML in UTF-8 into several pages of some `bytes` each, at the start of an element, each repeating the elements around it. Places
 * between blocks are preferred to those in a list, a table or a text. `undefined` where it cannot be cut.
 */
export const htmlParts = (file: Buffer, bytes: number): ReadonlyArray<() => Buffer> | undefined => {
  const cutter = new Cutter(bytes)
  const { open } = cutter
  const lists: Array<Open> = []
  /** How many of the open elements are better kept whole. */
  let whole = 0
  /** How many of the open elements cannot be cut between their elements. */
  let closed = 0
  // One character for each byte, so that positions are bytes.
  const source = file.toString("latin1")
  walkHtml(source, {
    open: (name, attributes, start, end) => {
      const weight = open.length + whole * inside
      if (closed === 0 && blockElements.has(name)) cutter.consider(start, /^h[1-6]$/.test(name) ? weight - 1 : weight)
      else if (closed === 0 && name === "br") cutter.consider(start, weight + midText)
      if (name === "li") {
        const list = lists.at(-1)
        if (list !== undefined) list.item = numberIn(attributes.get("value")) ?? list.item + 1
      }
      const one = { name, start, end, item: (numberIn(attributes.get("start")) ?? 1) - 1 }
      open.push(one)
      if (name === "ol" || name === "ul") lists.push(one)
      if (wholeElements.has(name)) whole++
      if (closedElements.has(name)) closed++
    },
    close: (name) => {
      if (open.pop() === lists.at(-1)) lists.pop()
      if (wholeElements.has(name)) whole--
      if (closedElements.has(name)) closed--
    },
    text: (_, start, end) => {
      if (end <= cutter.next || (closed > 0 && open.at(-1)?.name !== "pre")) return
      for (let at = lineAfter(file, Math.max(start, cutter.next)); at > 0 && at < end; at = lineAfter(file, Math.max(at, cutter.next))) {
        cutter.consider(at, open.length + whole * inside + midText)
      }
    }
  }, isXhtml(source))
  const prolog = /^(?:\xef\xbb\xbf|\s|<\?[^>]*>|<![^>]*>)*/.exec(source.slice(0, longestProlog))?.[0] ?? ""
  return partsOf(file, cutter, Buffer.from(prolog, "latin1"), (one, within) => {
    const tag = file.subarray(one.start, one.end)
    if (one.name !== "ol") return [tag]
    const named = 1 + one.name.length
    // An item that continues in the next part keeps its number.
    return [tag.subarray(0, named), Buffer.from(` start="${within ? one.item : one.item + 1}"`), tag.subarray(named)]
  })
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "))
const wholeElements = names("table ul ol dl li dd dt menu dir")
const closedElements = names("pre listing xmp h1 h2 h3 h4 h5 h6 svg math head select object")

const numberIn = (value: string | undefined): number | undefined => {
  const number = Number.parseInt(value ?? "", 10)
  return Number.isNaN(number) ? undefined : number
}

/** The start of the next line; 0 where there is none. */
const lineAfter = (file: Buffer, from: number): number => file.indexOf(0x0a, from) + 1

/**
 * Cuts XML in UTF-8 into several documents of some `bytes` each, between elements and never where {@link isText} is true. Each part repeats
 * the document's declarations except for its charset. `undefined` where it cannot be cut.
 */
export const xmlParts = (file: Buffer, bytes: number): ReadonlyArray<() => Buffer> | undefined => {
  const cutter = new Cutter(bytes)
  const { open } = cutter
  let texts = 0
  let root = -1
  let start = 0
  const close = (): void => {
    if (isText(open.pop()?.name ?? "")) texts--
  }
  const tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: false }, {
    onopentagname(from, to) {
      start = from - 1
      if (root < 0) root = start
      else if (texts === 0) cutter.consider(start, 1 + open.length)
      const name = file.toString("latin1", from, to)
      open.push({ name, start, end: to, item: 0 })
      if (isText(name)) texts++
    },
    onopentagend(last) {
      const one = open.at(-1)
      if (one !== undefined) one.end = last + 1
    },
    onselfclosingtag: close,
    onclosetag(from, to) {
      const name = file.toString("latin1", from, to)
      const depth = open.findLastIndex((one) => one.name === name)
      for (let left = depth < 0 ? 0 : open.length - depth; left > 0; left--) close()
    },
    isInForeignContext: () => false,
    ...ignored
  })
  for (let at = 0; at < file.length; at += longestProlog) {
    tokenizer.write(file.toString("latin1", at, at + longestProlog))
    if (open.length > deepestXml) return undefined
  }
  tokenizer.end()
  if (root < 0 || root > longestProlog) return undefined
  const prolog = file.toString("latin1", 0, root).replace(/^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\?>/, "")
  return partsOf(file, cutter, Buffer.from(prolog, "latin1"), ({ end, start }) => [file.subarray(start, end)], root)
}

const nothing = (): void => {}
const ignored = {
  onattribdata: nothing,
  onattribend: nothing,
  onattribentity: nothing,
  onattribname: nothing,
  oncdata: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onprocessinginstruction: nothing,
  ontext: nothing,
  ontextentity: nothing
} satisfies Partial<TokenizerCallbacks>

/**
 * The stretches between the cuts, each after the prolog and the start tags of the elements open there. Readers close what is open at the
 * end.
 */
const partsOf = (
  file: Buffer,
  { cuts }: Cutter,
  prolog: Buffer,
  tagsOf: (open: Open, within: boolean) => ReadonlyArray<Buffer>,
  root?: number
): ReadonlyArray<() => Buffer> | undefined => {
  if (cuts.length === 0) return undefined
  const ends = [...cuts.map(({ start }) => start), file.length]
  const first = (): Buffer => root === undefined ? file.subarray(0, ends[0]) : Buffer.concat([prolog, file.subarray(root, ends[0])])
  return [
    first,
    ...cuts.map(({ open, start }, i) => () =>
      Buffer.concat([
        prolog,
        ...open.flatMap((one, depth) => tagsOf(one, open.slice(depth + 1).some(({ name }) => name === "li"))),
        file.subarray(start, ends[i + 1])
      ])
    )
  ]
}
