import type { Chunk, Remark } from "../../domain/Document.ts"
import { printable } from "../../domain/Text.ts"
import type { ReadDocument } from "../../text/ReadDocument.ts"
import type { Output } from "../Output.ts"
import { count, plural } from "./Numbers.ts"
import { wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

export type StoredChunk = Pick<Chunk, "text"> & Partial<Chunk>

/** Renders a document's blocks for people, with what was left out at the end. */
export const renderDocument = (document: ReadDocument, look: Look): string => {
  const { author, blocks, chunks, format, language, name, pages, parts = [], remarks, text, title, tokens } = document
  const facts = [
    format,
    ...(pages === undefined ? [] : [plural(pages, "page")]),
    `${count(text.length)} characters`,
    `${plural(chunks.length, "chunk")} of ${plural(tokens, "token")}`,
    ...(language === undefined ? [] : [`language ${language}`]),
    ...(title === undefined ? [] : [`title "${title}"`]),
    ...(author === undefined ? [] : [`by ${author}`])
  ]
  let page: number | undefined
  const lines = blocks.flatMap((block) => {
    if (block.kind === "pageBreak") return []
    const turned = block.page !== undefined && block.page !== page
    page = block.page
    const kind = block.level === undefined ? block.kind : `${block.kind} ${block.level}`
    return [
      ...(turned ? [look.paint("dim", `page ${block.page}`)] : []),
      `${look.paint("cyan", kind.padEnd(10))} ${look.paint("dim", `${block.start}-${block.end}`)}`,
      indented(block.text, look)
    ]
  })
  return [
    `${look.paint("bold", printable(name))}  ${printable(facts.join(", "))}`,
    ...lines,
    ...renderParts(parts, look),
    ...renderRemarks(remarks, look)
  ].join("\n")
}

/** Renders chunks with their places. */
export const renderChunks = (chunks: ReadonlyArray<StoredChunk>, look: Look): string =>
  chunks.map((chunk, i) =>
    `${look.paint("cyan", `chunk ${(chunk.ordinal ?? i) + 1}`)} ${look.paint("dim", placeOf(chunk))}\n${indented(chunk.text, look)}`
  ).join("\n\n")

export const renderDifference = (
  { added, removed, same }: {
    readonly same: number
    readonly added: ReadonlyArray<StoredChunk>
    readonly removed: ReadonlyArray<StoredChunk>
  },
  look: Look
): string =>
  [
    `${plural(same, "chunk")} the same, ${count(removed.length)} gone, ${count(added.length)} new`,
    ...removed.map((chunk) => look.paint("red", `- ${placeOf(chunk)}\n${indented(chunk.text, look)}`)),
    ...added.map((chunk) => look.paint("green", `+ ${placeOf(chunk)}\n${indented(chunk.text, look)}`))
  ].join("\n")

const placeOf = (
  { byteEnd, byteStart, end = byteEnd, firstPage, headings = [], lastPage, start = byteStart, tokens }: StoredChunk
): string =>
  printable([
    ...(start === undefined || end === undefined ? [] : [`${start}-${end}`]),
    ...(tokens === undefined ? [] : [plural(tokens, "token")]),
    ...(firstPage === undefined
      ? []
      : [firstPage === lastPage || lastPage === undefined ? `page ${firstPage}` : `pages ${firstPage}-${lastPage}`]),
    ...(headings.length === 0 ? [] : [headings.join(" > ")])
  ].join(", "))

const indented = (text: string, { width }: Look): string =>
  text.split("\n").map((line) => `  ${wrap(printable(line), width, "  ")}`).join("\n")

const reasons: Record<Remark["kind"], string> = {
  runningLine: "left out, since it recurs at the edge of pages",
  failedPages: "pages that cannot be read",
  picturePages: "pages that are pictures without text",
  garbledPages: "pages in characters of no language, since their fonts give them wrong numbers",
  drawingPages: "pages that are drawings without text",
  blankPages: "blank pages",
  recognisedPages: "pages whose text was recognised in pictures",
  hidden: "hidden in the document",
  attachment: "not read",
  pictures: "not looked at, since text recognition is off",
  properties: "not read",
  charset: "charset taken for",
  own: "reported by your own code",
  cut: "read in part"
}

const renderParts = (parts: NonNullable<ReadDocument["parts"]>, { paint, width }: Look): ReadonlyArray<string> =>
  parts.length === 0 ? [] : [
    "",
    paint("bold", "holds, as documents of their own:"),
    ...parts.map(({ path, refused, size }) =>
      `  ${wrap(printable(`${path}  ${refused === undefined ? plural(size, "byte") : `not taken: ${refused.message}`}`), width, "    ")}`
    )
  ]

const renderRemarks = (remarks: ReadonlyArray<Remark>, { paint, width }: Look): ReadonlyArray<string> =>
  remarks.length === 0 ? [] : [
    "",
    paint("yellow", "left out or uncertain:"),
    ...remarks.map(({ confidence, kind, pages = [], text }) => {
      const where = pages.length === 0
        ? ""
        : ` (${pages.length > 12 ? `${pages.slice(0, 12).join(", ")} and ${pages.length - 12} more` : `page ${pages.join(", ")}`})`
      const sure = confidence === undefined ? "" : `, confidence ${confidence.toFixed(2)}`
      return `  ${wrap(printable(`${reasons[kind]}${text === undefined ? "" : `: ${text}`}${where}${sure}`), width, "    ")}`
    })
  ]
