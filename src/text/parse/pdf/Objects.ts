import { constants, inflateSync } from "node:zlib"
import { oneLine } from "../BlockSink.ts"
import { stringOf } from "./Facts.ts"

/** Most characters of an object's dictionary that are examined. */
const longest = 256 * 1024
const usual = 1024
const ending = /endobj|stream\r?\n/

/** Most bytes of streams that are unpacked: lists of objects are small, and a page's content is only examined up to a point. */
const mostUnpacked = 64 * 1024 * 1024

/** Deepest nesting of page trees that is followed. */
const deepest = 50
/** Most pages that are listed. */
const mostPages = 100_000

/**
 * What a PDF states that its readers do not report, taken from its objects as they are written (ISO 32000-1, 7.3 and 7.5). The last object
 * of each number counts, including those packed into streams. An encrypted file reveals nothing.
 */
export class PdfObjects {
  readonly #file: Buffer
  readonly #mostBytes: number
  readonly #encrypted: boolean
  /** Offset of each object by its number. */
  readonly #places = new Map<number, number>()
  #packed: Map<number, string> | undefined
  #pages: ReadonlyArray<string | undefined> | undefined

  /** @param mostBytes most bytes that are unpacked */
  constructor(bytes: Uint8Array, mostBytes: number) {
    this.#file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#mostBytes = Math.min(mostBytes, mostUnpacked)
    this.#encrypted = this.#file.includes("/Encrypt")
    for (let at = this.#file.indexOf(" obj"); at >= 0; at = this.#file.indexOf(" obj", at + 4)) {
      const number = /(\d{1,10})\s{1,10}\d{1,5}$/.exec(this.#file.toString("latin1", Math.max(0, at - 30), at))?.[1]
      if (number !== undefined) this.#places.set(Number(number), at + 4)
    }
  }

  /** Whether a 1-based page has content that shows something, or would if it could be read. */
  hasContent(page: number): boolean {
    if (this.#encrypted) return false
    this.#pages ??= this.#listPages()
    if (page > this.#pages.length) return false
    const dictionary = this.#pages[page - 1]
    if (dictionary === undefined) return true
    return references(this.#list(valueOf(dictionary, "Contents"))).some((number) => {
      const object = this.#object(number)
      const filter = object === undefined ? undefined : valueOf(object, "Filter") ?? ""
      if (filter === undefined) return true
      if (!/^(?:\[?\s*\/(?:FlateDecode|Fl)\s*\]?)?$/.test(filter)) return false
      const content = this.#stream(number)
      return content === undefined || shows.test(content.toString("latin1"))
    })
  }

  /** The names of layers that are off when the document is opened, and how they are used (ISO 32000-1, 8.11). */
  hiddenLayers(): ReadonlyMap<string, { readonly byObjects: boolean }> {
    const found = new Map<string, { readonly byObjects: boolean }>()
    if (this.#encrypted || !this.#mayHaveLayers()) return found
    const all = this.#resolved(valueOf(this.#catalog() ?? "", "OCProperties")) ?? ""
    const shown = this.#resolved(valueOf(all, "D")) ?? ""
    const listed = (dictionary: string, key: string): ReadonlyArray<number> => references(this.#list(valueOf(dictionary, key)))
    const on = new Set(listed(shown, "ON"))
    const off = new Set(
      valueOf(shown, "BaseState") === "/OFF" ? listed(all, "OCGs").filter((number) => !on.has(number)) : listed(shown, "OFF")
    )
    if (off.size === 0) return found
    const byObjects = this.#layersOfObjects()
    for (const number of off) {
      const name = oneLine(stringOf(this.#object(number), "Name") ?? "")
      if (name !== "") found.set(name, { byObjects: byObjects.has(number) || found.get(name)?.byObjects === true })
    }
    return found
  }

  #mayHaveLayers(): boolean {
    return this.#file.includes("/OCProperties") || [...this.#unpacked().values()].some((text) => text.includes("/OCProperties"))
  }

  /** The layers in which whole objects stand: those that objects name, and those of the groups that they name. */
  #layersOfObjects(): ReadonlySet<number> {
    const named = new Set<number>()
    for (const number of [...this.#places.keys(), ...this.#unpacked().keys()]) {
      const object = this.#object(number) ?? ""
      for (const one of references(valueOf(object, "OC"))) {
        named.add(one)
        for (const inner of references(this.#list(valueOf(this.#object(one) ?? "", "OCGs")))) named.add(inner)
      }
    }
    return named
  }

  #catalog(): string | undefined {
    const at = this.#file.lastIndexOf("/Root")
    return at < 0 ? undefined : this.#resolved(valueOf(this.#file.toString("latin1", at, at + 60), "Root"))
  }

  /** The dictionaries of the pages in their order; `undefined` where one is missing. */
  #listPages(): ReadonlyArray<string | undefined> {
    const pages: Array<string | undefined> = []
    const seen = new Set<number>()
    const visit = (number: number, depth: number): void => {
      if (seen.has(number) || depth > deepest || pages.length >= mostPages) return
      seen.add(number)
      const object = this.#object(number)
      const kids = object === undefined ? undefined : this.#list(valueOf(object, "Kids"))
      if (kids === undefined) pages.push(object)
      else for (const kid of references(kids)) visit(kid, depth + 1)
    }
    for (const root of references(valueOf(this.#catalog() ?? "", "Pages"))) visit(root, 0)
    return pages
  }

  #object(number: number): string | undefined {
    const place = this.#places.get(number)
    if (place === undefined) return this.#unpacked().get(number)
    // Most are short, and the bytes after them belong to another object.
    const head = this.#file.toString("latin1", place, place + usual)
    const end = head.search(ending)
    if (end >= 0) return head.slice(0, end)
    const text = this.#file.toString("latin1", place, place + longest)
    const last = text.search(ending)
    return last < 0 ? text : text.slice(0, last)
  }

  /** A value, or the object that it refers to. */
  #resolved(value: string | undefined): string | undefined {
    const number = /^(\d{1,10})\s+\d{1,5}\s+R$/.exec(value ?? "")?.[1]
    return number === undefined ? value : this.#object(Number(number))?.trim()
  }

  #list(value: string | undefined): string | undefined {
    const found = this.#resolved(value)
    return found?.startsWith("[") === true ? found : value
  }

  /** The unpacked stream of an object; `undefined` where it cannot be unpacked. */
  #stream(number: number): Buffer | undefined {
    const place = this.#places.get(number)
    const begin = place === undefined ? -1 : this.#file.indexOf("stream", place)
    if (begin < 0) return undefined
    const start = begin + (this.#file[begin + 6] === 0x0d ? 8 : 7)
    const told = Number(this.#resolved(valueOf(this.#object(number) ?? "", "Length")))
    const isTold = Number.isSafeInteger(told) && told >= 0 &&
      /^\s{0,4}endstream/.test(this.#file.toString("latin1", start + told, start + told + 16))
    const end = isTold ? start + told : this.#file.indexOf("endstream", start)
    const packed = this.#file.subarray(start, end < 0 ? this.#file.length : end)
    if (valueOf(this.#object(number) ?? "", "Filter") === undefined) return packed
    try {
      return inflateSync(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: this.#mostBytes })
    } catch {
      return undefined
    }
  }

  /** The objects packed into streams (ISO 32000-1, 7.5.7). */
  #unpacked(): ReadonlyMap<number, string> {
    if (this.#packed !== undefined) return this.#packed
    const found = new Map<number, string>()
    this.#packed = found
    if (this.#encrypted) return found
    let left = this.#mostBytes
    for (const number of this.#places.keys()) {
      const dictionary = this.#object(number) ?? ""
      if (left <= 0 || !dictionary.includes("/ObjStm") || valueOf(dictionary, "Type") !== "/ObjStm") continue
      const content = this.#stream(number)
      if (content === undefined) continue
      left -= content.length
      const first = Number(valueOf(dictionary, "First"))
      const numbers = (content.toString("latin1", 0, first).match(/\d+/g) ?? []).map(Number)
      for (let at = 0; at + 1 < numbers.length; at += 2) {
        const end = numbers[at + 3] === undefined ? content.length : first + numbers[at + 3]!
        found.set(numbers[at]!, content.toString("latin1", first + numbers[at + 1]!, Math.min(end, first + numbers[at + 1]! + longest)))
      }
    }
    return found
  }
}

/** Operators that show text or an object (ISO 32000-1, annex A). */
const shows = /[)>\]]\s{0,100}(?:Tj|TJ|['"])(?![^\s])|\/[^\s/]{1,200}\s{1,20}Do(?![^\s])/

const references = (value: string | undefined): ReadonlyArray<number> =>
  Array.from((value ?? "").matchAll(/(\d{1,10})\s+\d{1,5}\s+R/g), ([, number]) => Number(number))

/** The value of a key of the dictionary itself, as it is written. */
const valueOf = (dictionary: string, key: string): string | undefined => {
  const tokens = /\((?:[^()\\]|\\[^]|\([^()]{0,1000}\)){0,4000}\)|<<|>>|[[\]]|<[\da-fA-F\s]{0,4000}>|\/[^\s()<>[\]/%]*|[^\s()<>[\]/%]+/g
  let depth = dictionary.trimStart().startsWith("<<") ? 0 : 1
  let start = -1
  let within = 0
  for (const { 0: token, index } of dictionary.matchAll(tokens)) {
    if (start >= 0) {
      if (token === "<<" || token === "[") within++
      else if (token === ">>" || token === "]") within--
      if (within < 0) return dictionary.slice(start, index).trim()
      if (within > 0) continue
      if (token === ">>" || token === "]" || !/^[\d.+-]/.test(token)) {
        // A reference has three tokens.
        const isNext = token.startsWith("/") && dictionary.slice(start, index).trim() !== ""
        return dictionary.slice(start, isNext ? index : index + token.length).trim()
      }
      continue
    }
    if (token === "<<" || token === "[") depth++
    else if (token === ">>" || token === "]") depth--
    else if (depth === 1 && token === `/${key}`) start = index + token.length
  }
  return start < 0 ? undefined : dictionary.slice(start).trim()
}
