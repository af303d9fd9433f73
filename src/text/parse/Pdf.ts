import type { LayoutBlock, LiteParse, LiteParseConfig, ParsedPage } from "@llamaindex/liteparse"
import { pageList, type ParsedDocument, type Remark } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { type BlockSink, BlockWriter, oneLine, rowLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Attached } from "./pdf/Attached.ts"
import { addPdfProperties, pdfFacts } from "./pdf/Facts.ts"
import type { KnownText } from "./pdf/Glyphs.ts"
import { Hyphens } from "./pdf/Hyphens.ts"
import { layoutParser, plainReader } from "./pdf/Packages.ts"
import { PdfObjects } from "./pdf/Objects.ts"
import type { PlainPages } from "./pdf/PlainPages.ts"
import { inUtf8, isNonsense, Vocabulary } from "./pdf/Nonsense.ts"
import { RunningLines, type TextBlock } from "./pdf/RunningLines.ts"
import { looksBroken, spacedAs } from "./pdf/Spacing.ts"
import { lostLines, prefersPlain, wordsOf } from "./pdf/Witness.ts"
import { BrokenInstallation, ReadFailure } from "./ReadFailure.ts"
import type { PropertyList } from "./PropertyList.ts"
import type { InnerFiles, Reader } from "./Reader.ts"
import { png } from "./Png.ts"
import { recognise } from "./Recognise.ts"

/** Pages that are in memory at a time. Lines that recur at page edges are searched for within one batch. */
const batchPages = 64

/** Most characters of a heading; a longer one is text in large type. */
const maxHeading = 300

/** A page has no text if more than this share of it is glyphs that no font explains. */
const mostUnknown = 0.8

/** A document has failed if more than this share of its pages cannot be read. */
const maxFailed = 0.5

/**
 * Reads PDF. Two programs read every page: one knows its layout, the other gives its characters in the order of the content. The layout is
 * used where it has all the words, and words it lost are added; where it lost or broke many (turned pages, text from right to left, unusual
 * fonts), the other's text is used.
 */
export const pdf: Reader = async ({ bytes, format, inner, limits, properties }) => {
  const file = fromHeader(bytes)
  const into = { format, inner, limits, properties }
  const [Layout, withPlainPages] = [await layoutParser(), await plainReader()]
  const layout = Layout === undefined
    ? undefined
    : (options: Partial<LiteParseConfig>) => new Layout({ ocrEnabled: false, quiet: true, ...options })
  if (withPlainPages === undefined) {
    if (layout === undefined) throw new BrokenInstallation("the PDF reader cannot be loaded: @hyzyla/pdfium is not installed")
    return read(file, layout, undefined, into)
  }
  try {
    return await withPlainPages(file, async (plain) => {
      if (layout === undefined || !plain.outlineHasLoop) return read(file, layout, plain, into)
      const mended = withoutOutline(file)
      return await withPlainPages(mended, (again) => Promise.resolve(again.outlineHasLoop))
        ? read(file, undefined, plain, into)
        : read(mended, layout, plain, into)
    })
  } catch (error) {
    // A file that one program cannot open the other may.
    if (layout === undefined || !(error instanceof ReadFailure) || (error.problem !== "encrypted" && error.problem !== "corrupt")) {
      throw error
    }
    try {
      return await read(file, layout, undefined, into)
    } catch (second) {
      // Pages that one program finds damaged are not blank because the other sees nothing there.
      throw second instanceof ReadFailure && second.problem !== "corrupt" && second.problem !== "empty" ? second : error
    }
  }
}

/** The file with its outline under a meaningless name: the layout parser follows a circular outline forever. */
const withoutOutline = (file: Uint8Array): Uint8Array => {
  const copy = Buffer.from(file)
  for (let at = copy.indexOf("/Outlines"); at >= 0; at = copy.indexOf("/Outlines", at)) at += copy.write("/outlines", at, "latin1")
  return copy
}

interface Page {
  readonly number: number
  readonly layout: ParsedPage | undefined
  readonly plain: string | undefined
  /** The page's text, where the layout's is in the wrong order or in wrong characters. */
  readonly mended?: string
  readonly unknown?: KnownText
}

type Layout = (options: Partial<LiteParseConfig>) => LiteParse

/** What a file is read with: its format, limits, the reader of attached files, and where its properties go. */
interface Into {
  readonly format: string
  readonly inner: InnerFiles
  readonly limits: Limits
  readonly properties: PropertyList | undefined
}

const read = async (
  file: Uint8Array,
  layout: Layout | undefined,
  plain: PlainPages | undefined,
  { format, inner, limits, properties }: Into
): Promise<ParsedDocument> => {
  const builder = new DocumentBuilder(limits.characters)
  const objects = new PdfObjects(file, limits.unpackedBytes)
  const writer = new PdfWriter(builder, plain, objects, limits.recognise)
  let xmp: string | undefined
  let pages = withinLimit(plain?.count ?? 0, limits)
  let next = 1
  try {
    const batches = layout?.(layoutOptions(limits, pages <= batchPages)).parseBatches(file, { batchSize: batchPages }) ?? []
    for await (const { endPage, result, totalPages } of batches) {
      pages = withinLimit(Math.max(pages, totalPages), limits)
      xmp ??= result.docMeta?.xmp
      const found = new Map(result.pages.map((page) => [page.pageNum, page]))
      await writer.write(
        range(next, Math.max(endPage, ...found.keys())).map((number) => ({
          number,
          layout: found.get(number),
          plain: plain?.text(number)
        }))
      )
      next = Math.max(endPage, ...found.keys()) + 1
    }
    if (layout !== undefined && pages > batchPages) xmp = await metadata(file, layout)
  } catch (error) {
    if (error instanceof ReadFailure || error instanceof BrokenInstallation) throw error
    // The rest is read without layout.
    if (plain === undefined) throw new ReadFailure("corrupt", "the PDF is damaged")
  }
  for (; next <= pages; next += batchPages) {
    await writer.write(
      range(next, Math.min(pages, next + batchPages - 1)).map((number) => ({ number, layout: undefined, plain: plain?.text(number) }))
    )
  }
  const remarks = [
    ...writer.end(pages),
    ...(layout === undefined && plain?.outlineHasLoop === true
      ? [{ kind: "cut" as const, text: "its outline leads back to itself: read without headings, lists and tables" }]
      : [])
  ]
  const { heading } = writer
  const facts = pdfFacts(file, xmp)
  if (properties !== undefined) addPdfProperties(file, xmp, properties)
  for (const text of plain?.form(limits.unpackedBytes) ?? []) builder.add("paragraph", text)
  for (const attached of plain?.attached() ?? []) if (!settings.test(attached.name)) await addAttached(attached, builder, inner, limits)
  const document = builder.build({
    format,
    pages,
    ...facts,
    title: facts.title ?? heading,
    ...(remarks.length === 0 ? {} : { remarks })
  })
  if (document.text !== "") return document
  const garbled = remarks.find(({ kind }) => kind === "garbledPages")?.pages
  if (garbled !== undefined) {
    throw new ReadFailure(
      "charset",
      "charset unknown: the PDF's fonts give their characters wrong numbers, and its text reads like no language; text recognition can read it",
      garbled.length
    )
  }
  if (remarks.some(({ kind }) => kind === "picturePages")) {
    throw new ReadFailure(
      "pictures",
      "the PDF has no text layer: its pages are pictures, which need text recognition",
      remarks.find(({ kind }) => kind === "picturePages")?.pages?.length
    )
  }
  throw new ReadFailure("empty", "the PDF has no text: its pages are blank or drawings")
}

/** Names of attachments in which programs that make PDF keep their own settings. */
const settings = /\.joboptions$/i

/** Adds a file attached to the PDF as a section under its name. */
const addAttached = async ({ name, read }: Attached, builder: DocumentBuilder, inner: InnerFiles, limits: Limits): Promise<void> => {
  try {
    const file = read(limits.bytes)
    if (file === undefined) inner.remarks.push({ kind: "attachment", text: `${name} (its content is missing or damaged)` })
    else await inner.add(file, builder, 2)
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error
    inner.remarks.push({ kind: "attachment", text: `${name} (${error.message})` })
  }
}

const layoutOptions = (limits: Limits, metadata: boolean): Partial<LiteParseConfig> => ({
  maxPages: limits.pages,
  extractBlocks: true,
  extractLinks: false,
  extractAnnotations: true,
  extractFormFields: true,
  // Lines that recur at page edges are searched for here, where every digit counts.
  keepHeadersFooters: true,
  preserveVerySmallText: true,
  imageMode: "off",
  outputFormat: "markdown",
  continueOnPageError: true,
  extractDocumentMetadata: metadata
})

/**
 * The document's metadata, read together with one page only: the parser reads it again for each batch, which for a thousand pages takes
 * longer than the pages do.
 */
const metadata = async (file: Uint8Array, layout: Layout): Promise<string | undefined> =>
  (await layout({ maxPages: 1, outputFormat: "text", extractDocumentMetadata: true }).parse(file)).docMeta?.xmp

const range = (from: number, to: number): ReadonlyArray<number> => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

const withinLimit = (pages: number, limits: Limits): number => {
  if (pages > limits.pages) throw new ReadFailure("limit", `${pages} pages, more than ${limits.pages}`)
  return pages
}

/** The file from its header on: the layout parser takes other formats too, and expects the header at the very start. */
export const fromHeader = (bytes: Uint8Array): Uint8Array => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = file.indexOf("%PDF-")
  if (start < 0) throw new ReadFailure("corrupt", "the PDF has no header")
  return file.subarray(start)
}

/** Writes pages to a document, and collects remarks about them. */
class PdfWriter {
  readonly #writer: BlockWriter
  readonly #pages: PlainPages | undefined
  readonly #running = new RunningLines()
  readonly #hyphens = new Hyphens()
  readonly #vocabulary = new Vocabulary()
  readonly #failed: Array<number> = []
  readonly #pictures: Array<number> = []
  readonly #drawings: Array<number> = []
  readonly #blank: Array<number> = []
  readonly #garbled: Array<number> = []
  /** Number of glyphs left out, by page that was read. */
  readonly #unknown = new Map<number, number>()
  readonly #recognised: Array<{ readonly page: number; readonly confidence: number }> = []
  readonly #languages: ReadonlyArray<string>
  readonly #objects: PdfObjects
  /** Layers that are turned off, and the pages on which their text stands. */
  readonly #layers: ReadonlyMap<string, { readonly byObjects: boolean; readonly pages: Array<number> }>
  heading: string | undefined

  constructor(builder: DocumentBuilder, pages: PlainPages | undefined, objects: PdfObjects, languages: ReadonlyArray<string>) {
    this.#writer = new BlockWriter(builder)
    this.#pages = pages
    this.#objects = objects
    this.#layers = new Map([...objects.hiddenLayers()].map(([name, { byObjects }]) => [name, { byObjects, pages: [] }]))
    this.#languages = languages
  }

  async write(pages: ReadonlyArray<Page>): Promise<void> {
    for (const { layout, plain } of pages) this.#hyphens.learn(plain ?? layout?.text ?? "")
    const read = pages.map((page) => withMendedText(page, this.#pages)).map((page) => ({
      ...page,
      isGarbled: (page.unknown?.share ?? 0) > mostUnknown || this.#isGarbled(page.mended ?? page.plain ?? page.layout?.text ?? ""),
      blocks: this.#blocks(page)
    }))
    const placed = read.map((page) => ({ ...page, height: page.layout?.height ?? 0, width: page.layout?.width ?? 0 }))
    this.#running.learn(placed)
    for (const page of placed) {
      const { blocks, isGarbled, layout, number, plain, unknown } = page
      this.#writer.page(number)
      if (unknown !== undefined && !isGarbled) this.#unknown.set(number, unknown.unknown)
      const notes = layout === undefined ? [] : notesOf(layout, `${blocks.map(({ text }) => text).join("\n")}`)
      if (isGarbled) await this.#unreadable(number)
      else if (blocks.length === 0 && notes.length === 0) await this.#empty(number, layout === undefined && plain === undefined)
      else {
        const kept = this.#running.without(page)
        for (const block of kept) writeBlock(block, this.#writer)
        if (number === 1) this.heading = firstHeading(kept)
      }
      for (const note of notes) this.#writer.add("paragraph", note)
      if (this.#layers.size > 0) {
        for (const name of this.#pages?.layers(number) ?? []) this.#layers.get(oneLine(name))?.pages.push(number)
      }
    }
  }

  end(pages: number): ReadonlyArray<Remark> {
    this.#writer.end()
    if (this.#failed.length > pages * maxFailed) {
      throw new ReadFailure("corrupt", `only ${pages - this.#failed.length} of ${pages} pages can be read`)
    }
    const groups = [["failedPages", this.#failed], ["garbledPages", this.#garbled], ["picturePages", this.#pictures], [
      "drawingPages",
      this.#drawings
    ], ["blankPages", this.#blank]] as const
    const found = this.#recognised
    return [
      ...(found.length === 0 ? [] : [{
        kind: "recognisedPages" as const,
        pages: found.map(({ page }) => page),
        confidence: found.reduce((sum, { confidence }) => sum + confidence, 0) / found.length
      }]),
      ...groups.flatMap(([kind, pages]) => pages.length === 0 ? [] : [{ kind, pages }]),
      // Their text is read, since a layer that is off can be turned on.
      ...[...this.#layers].flatMap(([name, { byObjects, pages }]) =>
        pages.length > 0
          ? [{ kind: "hidden" as const, text: `layer ${name} on ${pages.length === 1 ? "page" : "pages"} ${pageList(pages)}`, pages }]
          : byObjects
          ? [{ kind: "hidden" as const, text: `layer ${name}` }]
          : []
      ),
      ...(this.#unknown.size === 0 ? [] : [{ kind: "cut" as const, text: unknownGlyphs(this.#unknown) }]),
      ...this.#running.dropped.map(({ pages, text }) => ({ kind: "runningLine" as const, text, pages }))
    ]
  }

  /** Whether a page's text is garbled. An index of codes reads like no language either, but its pages share words with the others. */
  #isGarbled(text: string): boolean {
    const isGarbled = isNonsense(text) && !this.#vocabulary.knows(text)
    if (!isGarbled) this.#vocabulary.learn(text)
    return isGarbled
  }

  /** The blocks of a page, all of which have text. */
  #blocks({ layout, mended, number, plain }: Page): ReadonlyArray<TextBlock> {
    if (mended !== undefined) return plainBlocks(this.#hyphens.join(mended))
    if (layout === undefined) return plainBlocks(this.#hyphens.join(plain ?? ""))
    if (plain === undefined) return layoutBlocks(layout)
    const whole = layoutBlocks(layout).map((block) => ({ ...block, text: this.#pages?.whole(number, block.text) ?? block.text }))
    const blocks = withWholeWords(whole, plain)
    const text = blocks.map((block) => block.text).join("\n")
    const joined = this.#hyphens.join(plain)
    if (prefersPlain(text, joined, isTurned(layout))) return plainBlocks(joined)
    const lost = lostLines(text, joined)
    return [
      ...blocks.map((block) => ({ ...block, text: this.#hyphens.mend(block.text, plain) })),
      ...(lost.length === 0 ? [] : plainBlocks(lost.join("\n")))
    ]
  }

  async #unreadable(number: number): Promise<void> {
    if (!(await this.#recognise(number))) this.#garbled.push(number)
  }

  async #empty(number: number, failed: boolean): Promise<void> {
    if (failed) {
      this.#failed.push(number)
      return
    }
    const shown = this.#pages?.shown(number) ?? "nothing"
    if (shown === "empty" && this.#objects.hasContent(number)) this.#failed.push(number)
    else if (shown === "nothing" || shown === "empty") this.#blank.push(number)
    else if (!(await this.#recognise(number))) (shown === "picture" ? this.#pictures : this.#drawings).push(number)
  }

  /** Recognises the text in a page's picture; returns whether it found any. */
  async #recognise(number: number): Promise<boolean> {
    const drawn = this.#languages.length === 0 ? undefined : await this.#pages?.draw(number)
    if (drawn === undefined) return false
    const { confidence, text } = await recognise(png(drawn, "grey"), this.#languages)
    if (text === "") return false
    for (const paragraph of text.split(/\n\s*\n/)) this.#writer.add("paragraph", paragraph)
    this.#recognised.push({ page: number, confidence })
    return true
  }
}

const unknownGlyphs = (counts: ReadonlyMap<number, number>): string =>
  `${[...counts.values()].reduce((sum, count) => sum + count, 0)} characters left out on ${counts.size === 1 ? "page" : "pages"} ${
    pageList([...counts.keys()])
  }: their fonts do not say which they are`

const plainBlocks = (text: string): ReadonlyArray<TextBlock> =>
  text.trim() === "" ? [] : [{ kind: "paragraph", text: text.split("\n").map((line) => line.trimEnd()).join("\n").trim() }]

/** Replaces a page's text where its layout is of no use: the page stands on its side or upside down, or its characters are wrong. */
const withMendedText = (page: Page, pages: PlainPages | undefined): Page => {
  const unknown = pages?.known(page.number)
  if (unknown !== undefined) return { ...page, mended: unknown.text, unknown }
  const turned = page.layout !== undefined && isTurned(page.layout) ? pages?.turned(page.number) : undefined
  const mended = inUtf8(turned ?? page.plain ?? "") ?? turned
  return mended === undefined ? page : { ...page, mended }
}

/** Replaces lines of blocks whose words the layout took apart by the plain text's lines. */
const withWholeWords = (blocks: ReadonlyArray<TextBlock>, plain: string): ReadonlyArray<TextBlock> => {
  let spacing: ((line: string) => string) | undefined
  return blocks.map((block) => {
    if (block.kind === "table" || !looksBroken(block.text)) return block
    const spaced = spacing ??= spacedAs(plain)
    return { ...block, text: block.text.split("\n").map((line) => looksBroken(line) ? spaced(line) : line).join("\n") }
  })
}

const letters = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

const layoutBlocks = (page: ParsedPage): ReadonlyArray<TextBlock> => {
  const blocks = (page.blocks ?? []).map(textBlock).filter(({ text }) => text.trim() !== "")
  // Layout that the parser could not divide into blocks is still text.
  if (letters(blocks.map(({ text }) => text).join(" ")) >= 0.7 * letters(page.text)) return blocks
  return page.text.split(/\n\s*\n/).filter((text) => text.trim() !== "").map((text) => ({
    kind: "paragraph",
    text: text.replace(/ {2,}/g, " ")
  }))
}

/** Whether most of a page's text is not upright. */
const isTurned = ({ textItems }: ParsedPage): boolean => {
  let upright = 0
  let turned = 0
  for (const { rotation, text } of textItems) {
    if (Math.abs(rotation ?? 0) > 2) turned += text.length
    else upright += text.length
  }
  return turned > upright
}

const kinds: ReadonlySet<string> = new Set<TextBlock["kind"]>(["heading", "list_item", "table", "code"])

const isKind = (kind: string): kind is TextBlock["kind"] => kinds.has(kind)

const textBlock = (block: LayoutBlock): TextBlock => ({
  kind: isKind(block.kind) ? block.kind : "paragraph",
  text: blockText(block),
  level: block.level,
  marker: block.marker,
  top: block.bbox?.y,
  bottom: block.bbox === undefined ? undefined : block.bbox.y + block.bbox.height,
  width: block.bbox?.width
})

const writeBlock = ({ kind, level, marker, text }: TextBlock, writer: BlockSink & { readonly end: () => void }): void => {
  switch (kind) {
    case "heading":
      if (text.length > maxHeading) writer.add("paragraph", text)
      else writer.add("heading", oneLine(text), level ?? 1)
      break
    case "list_item":
      writer.item(level ?? 0, /[\p{L}\p{N}]/u.test(marker ?? "") ? marker! : "-", text)
      break
    case "table":
    case "code":
      writer.add(kind, text)
      writer.end()
      break
    case "paragraph":
      writer.add("paragraph", text)
  }
}

const blockText = (block: LayoutBlock): string => {
  if (block.kind === "table") {
    return [block.header ?? [], ...(block.rows ?? [])]
      .map((row) => rowLine(row.map((cell) => oneLine(plainText(cell.text)))))
      .filter((row) => row !== "")
      .join("\n")
  }
  return block.lines?.join("\n") ?? plainText(block.text ?? "")
}

/** A block's text without Markdown: emphasis is marked by asterisks, and other special characters are escaped. */
const plainText = (text: string): string =>
  text
    .replace(/\\([!-/:-@[-`{-~])|\*{1,3}/g, (_, escaped: string | undefined) => escaped ?? "")
    .replace(/[\u0001-\u0008\u000b-\u001f]/g, " ")

const firstHeading = (blocks: ReadonlyArray<TextBlock>): string | undefined => {
  const block = blocks.find(({ kind }) => kind === "heading")
  return block === undefined ? undefined : oneLine(block.text) || undefined
}

/** The texts of annotations, and the fields of forms whose values the page does not show. */
const notesOf = ({ annotations, formFields }: ParsedPage, text: string): ReadonlyArray<string> => {
  const shown = wordsOf(text)
  const isShown = (value: string): boolean => [...wordsOf(value).keys()].every((word) => shown.has(word))
  const comments = (annotations ?? []).flatMap(({ contents, subtype }) =>
    contents === undefined || subtype === "widget" || subtype === "link" || isShown(contents) ? [] : [contents]
  )
  const values = (formFields ?? []).flatMap(({ alternateName, checked, name, selectedOptions, type, value }) => {
    const label = alternateName ?? name
    if (checked === false || type === "pushbutton" || type === "signature") return []
    const text = selectedOptions.length > 0 ? selectedOptions.join(", ") : value ?? ""
    return text === "" || isShown(text) ? [] : [label === undefined || label === "" ? text : `${label}: ${text}`]
  })
  return [...new Set([...comments, ...values])]
}
