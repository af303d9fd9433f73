import type { LayoutBlock, ParsedPage, ParseResult } from "@llamaindex/liteparse"
import type { ParsedDocument } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { BlockWriter, oneLine, rowLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { pdfFacts } from "./pdf/Facts.ts"
import { layoutParser, plainPages } from "./pdf/Packages.ts"
import { BrokenInstallation, ReadFailure, type Reader } from "./Reader.ts"

/** Pages that are in memory at a time. Running headers are recognised, and left out, within one batch. */
const batchPages = 64

/** Longer ones are text in large type. */
const maxHeading = 300

export const pdf: Reader = async ({ bytes, format, limits }) => {
  const file = fromHeader(bytes)
  try {
    return await readLayout(file, format, limits) ?? await readPlain(file, format, limits)
  } catch (error) {
    if (error instanceof ReadFailure || error instanceof BrokenInstallation) throw error
    const why = error instanceof Error ? error.message : ""
    if (/password/i.test(why)) throw new ReadFailure("encrypted", "the PDF is protected by a password")
    if (/unsupported file format/.test(why)) return readPlain(file, format, limits)
    throw new ReadFailure("corrupt", "the PDF is damaged")
  }
}

/**
 * `undefined` without a layout parser, and for documents written from right to left, which it reads with their words
 * reversed.
 */
const readLayout = async (file: Uint8Array, format: string, limits: Limits): Promise<ParsedDocument | undefined> => {
  const LiteParse = await layoutParser()
  if (LiteParse === undefined) return undefined
  const parser = new LiteParse({
    ocrEnabled: false,
    quiet: true,
    extractBlocks: true,
    extractLinks: false,
    imageMode: "off",
    outputFormat: "markdown",
    continueOnPageError: true,
    extractDocumentMetadata: true
  })
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  let pages = 0
  let xmp: string | undefined
  let heading: string | undefined
  for await (const { result } of parser.parseBatches(file, { batchSize: batchPages })) {
    pages = withinLimit(result.totalPages, limits)
    if (isRightToLeft(result)) return undefined
    xmp ??= result.docMeta?.xmp
    for (const page of result.pages) {
      writer.page(page.pageNum)
      writePage(page, writer)
      if (page.pageNum === 1) heading = firstHeading(page)
    }
  }
  writer.end()
  const title = heading === undefined ? {} : { title: heading }
  return withText(builder, { format, pages, ...title, ...pdfFacts(file, xmp) })
}

const readPlain = async (file: Uint8Array, format: string, limits: Limits): Promise<ParsedDocument> => {
  const builder = new DocumentBuilder(limits.characters)
  let pages = 0
  await plainPages(file, builder, (count) => {
    pages = withinLimit(count, limits)
  })
  return withText(builder, { format, pages, ...pdfFacts(file, undefined) })
}

const withinLimit = (pages: number, limits: Limits): number => {
  if (pages > limits.pages) throw new ReadFailure("limit", `${pages} pages, more than ${limits.pages}`)
  return pages
}

const withText = (builder: DocumentBuilder, facts: Parameters<DocumentBuilder["build"]>[0]): ParsedDocument => {
  const document = builder.build(facts)
  if (document.text !== "") return document
  throw new ReadFailure("empty", "the PDF has no text layer: its pages are pictures, which need text recognition first")
}

/** The layout parser takes other formats too, and looks for the header at the very start. */
const fromHeader = (bytes: Uint8Array): Uint8Array => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = file.indexOf("%PDF-")
  if (start < 0) throw new ReadFailure("corrupt", "the PDF has no header")
  return file.subarray(start)
}

const letters = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Layout that the parser could not make blocks of is still text. */
const blocksCover = (page: ParsedPage): boolean =>
  letters((page.blocks ?? []).map(blockText).join(" ")) >= 0.7 * letters(page.text)

const writePage = (page: ParsedPage, writer: BlockWriter): void => {
  if (blocksCover(page)) for (const block of page.blocks ?? []) writeBlock(block, writer)
  else for (const paragraph of page.text.split(/\n\s*\n/)) writer.add("paragraph", paragraph.replace(/ {2,}/g, " "))
}

const writeBlock = (block: LayoutBlock, writer: BlockWriter): void => {
  const text = blockText(block)
  switch (block.kind) {
    case "heading":
      if (text.length > maxHeading) writer.add("paragraph", text)
      else writer.add("heading", oneLine(text), block.level ?? 1)
      break
    case "list_item":
      writer.item(block.level ?? 0, /[\p{L}\p{N}]/u.test(block.marker ?? "") ? block.marker! : "-", text)
      break
    case "table":
    case "code":
      writer.add(block.kind, text)
      writer.end()
      break
    default:
      writer.add("paragraph", text)
  }
}

const blockText = (block: LayoutBlock): string => {
  if (block.kind === "table") {
    return [block.header ?? [], ...(block.rows ?? [])]
      .map((row) => rowLine(row.map((cell) => oneLine(plain(cell.text)))))
      .filter((row) => row !== "")
      .join("\n")
  }
  return block.lines?.join("\n") ?? plain(block.text ?? "")
}

/** Block texts are Markdown: emphasis by asterisks, other special characters escaped. */
const plain = (text: string): string =>
  text
    .replace(/\\([!-/:-@[-`{-~])|\*{1,3}/g, (_, escaped: string | undefined) => escaped ?? "")
    .replace(/[\u0001-\u0008\u000b-\u001f]/g, " ")

const firstHeading = (page: ParsedPage): string | undefined => {
  const block = page.blocks?.find((block) => block.kind === "heading")
  return block === undefined ? undefined : oneLine(blockText(block)) || undefined
}

const isRightToLeft = (batch: ParseResult): boolean => {
  const text = batch.pages.map((page) => page.text).join("\n").slice(0, 100_000)
  return (text.match(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g)?.length ?? 0) > 0.2 * letters(text)
}
