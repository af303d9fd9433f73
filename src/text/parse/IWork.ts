import type { Remark } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { headingLevelOf } from "./HeadingStyle.ts"
import { hiddenPage } from "./HiddenText.ts"
import { type Fields, type IWorkObject, messagesOf, numberOf, readObjects, referencesOf, textOf } from "./iwork/Objects.ts"
import { cellsOf } from "./iwork/Table.ts"
import { readIndexXml } from "./iwork/IndexXml.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { SheetRows } from "./SheetRows.ts"
import { openZip, type Zip } from "./Zip.ts"

/**
 * Reads documents of Apple's Pages, Keynote and Numbers: those since 2013 from their objects, earlier ones from their XML. A slide or sheet
 * is a page; headers, text boxes, footnotes, comments and charts follow what they belong to.
 */
export const iWork: Reader = ({ bytes, format, limits }) => {
  const outer = openZip(bytes, limits)
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const xml = outer.names().find((name) => /(?:^|\/)index\.(?:xml|apxl)$/.test(name))
  if (xml !== undefined) {
    const facts = readIndexXml(partOf(outer, xml), writer, limits)
    writer.end()
    return builder.build({ format, ...facts })
  }
  if (outer.names().some((name) => /(?:^|\/)\.iwp[hv]/.test(name))) {
    throw encrypted
  }
  // Documents that are folders to the system are zipped with their objects in an inner archive.
  const inside = outer.names().find((name) => /(?:^|\/)Index\.zip$/.test(name))
  const zip = inside === undefined ? outer : openZip(outer.read(inside) ?? new Uint8Array(), limits)
  const story = new Story(readObjects(objectFiles(zip), limits.unpackedBytes), writer, limits)
  const facts = story.write()
  writer.end()
  return builder.build({ format, ...facts })
}

/** A part of the archive. Documents with a password are ZIP archives with a method that no other program uses. */
const partOf = (zip: Zip, name: string): Uint8Array => {
  try {
    return zip.read(name) ?? new Uint8Array()
  } catch (error) {
    throw error instanceof ReadFailure && error.problem === "unsupported" ? encrypted : error
  }
}

const encrypted = new ReadFailure("encrypted", "the document is protected by a password")

/** Changes that people who share a document make at a time, in a format of their own; the objects have them too. */
const changes = /(?:^|\/)OperationStorage[^/]*\.iwa$/

function* objectFiles(zip: Zip): Generator<Uint8Array> {
  for (const name of zip.names()) if (name.endsWith(".iwa") && !changes.test(name)) yield zip.read(name) ?? new Uint8Array()
}

/** Types of objects, by the programs that own them. Any other object is searched for its references. */
const types = {
  /** Types of Keynote and of Numbers, whose fields differ. */
  document: 1,
  pages: 10_000,
  storages: new Set([2001, 2005]),
  table: 6001,
  comment: 3056,
  chart: 5021,
  /** Types of objects that lead out of a part of the document: shows and sheets, slides and their masters, themes, style sheets, views. */
  others: new Set([1, 2, 4, 5, 6, 10, 222, 401, 402, 601, 10_000, 10_001, 10_010])
}

/** The character of a text that stands for an object. */
const anchor = "\ufffc"
/** Characters that end paragraphs, lines, sections, pages and columns. */
const breaks = /[\n\u2029\u0004\u0005\u000c]/

class Story {
  readonly #objects: ReadonlyMap<number, IWorkObject>
  readonly #writer: BlockWriter
  readonly #limits: Limits
  readonly #visited = new Set<number>()
  readonly #comments = new Set<string>()
  #title: string | undefined = undefined

  constructor(objects: ReadonlyMap<number, IWorkObject>, writer: BlockWriter, limits: Limits) {
    this.#objects = objects
    this.#writer = writer
    this.#limits = limits
  }

  write(): { readonly title?: string; readonly pages?: number; readonly remarks?: ReadonlyArray<Remark> } {
    const root = this.#objects.get(1)
    if (root?.type === types.pages) {
      for (const id of referencesOf(root.fields, 4)) this.#visit(id)
      for (const id of root.references) this.#visit(id)
      return { title: this.#title }
    }
    if (root?.type !== types.document) throw new ReadFailure("corrupt", "the document has no beginning")
    const [show] = referencesOf(root.fields, 2).flatMap((id) => this.#objects.get(id) ?? [])
    const slides = show === undefined ? [] : messagesOf(show.fields, 3).flatMap((tree) => referencesOf(tree, 2))
    const sheets = slides.length > 0 ? [] : referencesOf(root.fields, 1)
    const pages = Math.max(slides.length, sheets.length)
    if (pages > this.#limits.pages) throw new ReadFailure("limit", `${pages} slides or sheets, more than ${this.#limits.pages}`)
    const hidden = slides.flatMap((id, i) => this.#slide(id, i + 1) ? [i + 1] : [])
    for (const [i, id] of sheets.entries()) this.#sheet(id, i + 1)
    return {
      title: this.#title,
      pages,
      remarks: hidden.map((page) => hiddenPage(`slide ${page}`, page))
    }
  }

  /** Writes a slide; returns whether it is hidden. */
  #slide(node: number, page: number): boolean {
    this.#writer.page(page)
    const fields = this.#objects.get(node)?.fields ?? []
    for (const id of referencesOf(fields, 2)) {
      const slide = this.#objects.get(id)
      if (slide === undefined) continue
      this.#visited.add(id)
      for (const title of referencesOf(slide.fields, 5)) this.#visit(title, true)
      // The body, an object, free-standing elements, and the presenter's notes.
      for (const field of [6, 30, 7, 42, 27]) for (const one of referencesOf(slide.fields, field)) this.#visit(one)
      // Comments.
      for (const one of slide.references) if (this.#objects.get(one)?.type === types.comment) this.#visit(one)
    }
    return (numberOf(fields, 4) ?? 0) !== 0
  }

  #sheet(id: number, page: number): void {
    this.#writer.page(page)
    const sheet = this.#objects.get(id)
    if (sheet === undefined) return
    const name = oneLine(textOf(sheet.fields, 1) ?? "")
    this.#writer.add("heading", name, 1)
    for (const one of referencesOf(sheet.fields, 2)) this.#visit(one)
  }

  /** Writes an object and everything it refers to, each once. */
  #visit(start: number, heading = false): void {
    // Not recursive: a chain may be as long as its author likes.
    const open = [start]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const object = this.#objects.get(id)
      if (object === undefined || this.#visited.has(id) || types.others.has(object.type)) continue
      this.#visited.add(id)
      if (types.storages.has(object.type)) this.#storage(object, heading)
      else if (object.type === types.table) this.#table(object.fields)
      else if (object.type === types.comment) {
        const text = oneLine(textOf(object.fields, 1) ?? "")
        if (text !== "") this.#writer.add("paragraph", `Comment: ${text}`)
        this.#comments.add(text)
        open.push(...referencesOf(object.fields, 4).toReversed())
      } else {
        if (object.type === types.chart) this.#chart(object.fields)
        open.push(...object.references.toReversed())
      }
    }
  }

  #storage({ fields }: IWorkObject, heading: boolean): void {
    const text = this.#kept(fields)
    // Notes that became comments have their text twice.
    if (this.#comments.has(oneLine(text))) return
    const styles = runsOf(fields, 5)
    const lists = runsOf(fields, 7)
    const levels = messagesOf(fields, 6).flatMap((table) =>
      messagesOf(table, 1).map((entry) => [numberOf(entry, 1) ?? 0, numberOf(entry, 2) ?? 0] as const)
    )
    const anchored = [...runsOf(fields, 9), ...runsOf(fields, 16), ...runsOf(fields, 23)]
    let number = 0
    for (let start = 0; start <= text.length;) {
      const found = text.slice(start).search(breaks)
      const end = found < 0 ? text.length : start + found
      const paragraph = text.slice(start, end).replaceAll(anchor, "").replace(/\u2028|\u000b/g, "\n").replace(
        /[\0-\u0008\u000e-\u001f]/g,
        ""
      )
      const depth = valueAt(levels, start) ?? 0
      const label = this.#labelOf(valueAt(lists, start), depth)
      number = label === "number" && paragraph.trim() !== "" ? number + 1 : label === "number" ? number : 0
      const level = heading ? 1 : this.#headingOf(valueAt(styles, start))
      if (level !== undefined && paragraph.trim() !== "" && paragraph.length < mostHeading) {
        this.#title ??= oneLine(paragraph)
        this.#writer.add("heading", oneLine(paragraph), level)
      } else if (label === undefined) this.#writer.add("paragraph", paragraph)
      else this.#writer.item(depth, label === "number" ? `${number}.` : "-", paragraph)
      for (const [at, id] of anchored) if (at >= start && at <= end && id !== undefined) this.#visit(id)
      start = end + 1
    }
  }

  /** The text, without what tracked changes removed from it. */
  #kept(fields: Fields): string {
    const text = fields.flatMap(([field, value]) => field === 3 && typeof value !== "number" ? [value.toString("utf8")] : []).join("")
    let out = text
    const runs = runsOf(fields, 22)
    for (const [i, [start, change]] of runs.entries()) {
      const end = runs[i + 1]?.[0] ?? text.length
      if (change !== undefined) out = out.slice(0, start) + "\0".repeat(Math.max(0, end - start)) + out.slice(end)
    }
    return out
  }

  #headingOf(style: number | undefined): number | undefined {
    const name = this.#styleOf(style, (fields) => messagesOf(fields, 1).flatMap((own) => textOf(own, 1) ?? [])[0])
    return name === undefined ? undefined : headingLevelOf(name)
  }

  #labelOf(style: number | undefined, depth: number): "bullet" | "number" | undefined {
    const kinds = this.#styleOf(style, (fields) => {
      const found = fields.flatMap(([field, value]) => field !== 11 ? [] : typeof value === "number" ? [value] : [...value])
      return found.length === 0 ? undefined : found
    })
    const kind = kinds?.[Math.min(depth, kinds.length - 1)] ?? 0
    return kind === 0 ? undefined : kind === 3 ? "number" : "bullet"
  }

  /** A property of a style, or else of the style that it varies. */
  #styleOf<A>(style: number | undefined, read: (fields: Fields) => A | undefined): A | undefined {
    for (let id = style, left = mostParents; id !== undefined && left > 0; left--) {
      const fields = this.#objects.get(id)?.fields ?? []
      const found = read(fields)
      if (found !== undefined) return found
      id = messagesOf(fields, 1).flatMap((own) => referencesOf(own, 3))[0]
    }
    return undefined
  }

  #table(model: Fields): void {
    if ((numberOf(model, 22) ?? 0) !== 0) this.#writer.add("paragraph", oneLine(textOf(model, 8) ?? ""))
    const rows = new SheetRows(this.#writer, this.#limits.characters)
    const comments: Array<number> = []
    const payload = (id: number): string => {
      const storage = referencesOf(this.#objects.get(id)?.fields ?? [], 1).flatMap((one) => {
        this.#visited.add(one)
        return this.#objects.get(one) ?? []
      })[0]
      return storage === undefined ? "" : oneLine(this.#kept(storage.fields).replace(/[\ufffc\0-\u0008\u000e-\u001f]/g, " "))
    }
    for (const { cells, row } of cellsOf(model, this.#objects, payload, (id) => comments.push(id))) rows.row(row, cells)
    rows.end()
    for (const id of comments) this.#visit(id)
  }

  #chart(drawable: Fields): void {
    for (const chart of messagesOf(drawable, 10_000)) {
      for (const grid of messagesOf(chart, 7)) {
        const names = (field: number) =>
          grid.flatMap(([one, value]) => one === field && typeof value !== "number" ? [oneLine(value.toString("utf8"))] : [])
        const [rows, columns] = [names(1), names(2)]
        const values = messagesOf(grid, 3).map((row) =>
          messagesOf(row, 1).map((cell) =>
            cell.map(([, value]) => typeof value !== "number" && value.length === 8 ? String(value.readDoubleLE()) : "")[0] ?? ""
          )
        )
        const lines = values.map((row, i) => [rows[i] ?? "", ...row].join(" | "))
        if (lines.length > 0) this.#writer.add("table", [["", ...columns].join(" | "), ...lines].join("\n"))
      }
    }
  }
}

/** Most characters of a heading; a longer paragraph in a heading's style is not one. */
const mostHeading = 300
const mostParents = 8

/** A text's table of attributes: where each starts, in UTF-16 units, and the object that it is; no object where one ends. */
const runsOf = (fields: Fields, field: number): ReadonlyArray<readonly [at: number, id: number | undefined]> =>
  messagesOf(fields, field).flatMap((table) =>
    messagesOf(table, 1).map((entry) => [numberOf(entry, 1) ?? 0, referencesOf(entry, 2)[0]] as const)
  )

const valueAt = <A>(runs: ReadonlyArray<readonly [at: number, value: A]>, at: number): A | undefined =>
  runs.findLast(([start]) => start <= at)?.[1]
