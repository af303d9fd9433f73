import { isUtf8 } from "node:buffer"
import type { ParsedDocument } from "../../domain/Document.ts"
import type { DocumentPart } from "../Prepared.ts"
import { decode, guessOf } from "./Decode.ts"
import { separatorOf } from "./Delimited.ts"
import type { FormatKey } from "./Formats.ts"
import { htmlCharset } from "./Html.ts"
import { jsonParts } from "./json/JsonParts.ts"
import { htmlParts, xmlParts } from "./MarkupParts.ts"
import { parse, type ParseInput } from "./Parse.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { sniff } from "./Sniff.ts"
import { decodeXml, xmlEncoding } from "./Xml.ts"

/** Bytes from which texts are read in parts of about this size: text, blocks and token tables of all of it would not fit in memory. */
const partBytes = 8 * 1024 * 1024

/** The text between two parts. */
export const betweenParts = "\n\n"

/**
 * Does the same as {@link parse}, but reads a long text part by part where its format allows it. Throws a ReadFailure as {@link parse}
 * does.
 */
export async function* parseParts(input: ParseInput): AsyncGenerator<DocumentPart> {
  const { bytes, limits, mimeType, name } = input
  const isLong = bytes.length > 2 * partBytes && bytes.length <= limits.bytes
  const format = input.format ?? (isLong ? sniff(bytes, name, limits, mimeType) : undefined)
  const parts = !isLong || format === undefined ? undefined : partsOf(bytes, format)
  if (parts === undefined) {
    yield { document: await parse({ ...input, format }), start: 0, byteStart: 0 }
    return
  }
  const guess = guessOf(bytes)
  let remarks: ParsedDocument["remarks"] = guess === undefined
    ? []
    : [{ kind: "charset", text: guess.charset, confidence: guess.confidence }]
  let start = 0
  let byteStart = 0
  for (const part of parts) {
    let document: ParsedDocument
    try {
      document = await parse({ ...input, format, bytes: part(), limits: { ...limits, characters: limits.characters - start } })
    } catch (error) {
      // A part that is only blank lines is not a failure of the file.
      if (error instanceof ReadFailure && error.problem === "empty") continue
      if (error instanceof ReadFailure && error.message.endsWith("characters of text")) {
        throw new ReadFailure("limit", `more than ${limits.characters} characters of text`)
      }
      throw error
    }
    yield {
      document: remarks.length === 0 ? document : { ...document, remarks: [...remarks, ...document.remarks ?? []] },
      start,
      byteStart
    }
    remarks = []
    start += document.text.length + betweenParts.length
    byteStart += Buffer.byteLength(document.text) + betweenParts.length
  }
  if (start === 0) throw new ReadFailure("empty", "the file has no text")
}

/** Where a part of a file may end, at or after an offset, so that the next record starts there; -1 where it can only end with the file. */
type Cut = (file: Buffer, from: number, start: number) => number

const after = (separator: string): Cut => (file, from) => {
  const at = file.indexOf(separator, from)
  return at < 0 ? -1 : at + 1
}

/** Cuts at the end of a row: of a line with an even number of quotes before it, unless a quote is never closed. */
const row: Cut = (file, from, start) => {
  let odd = false
  let at = file.indexOf(quote, start)
  const first = file.indexOf("\n", from)
  for (let end = first; end >= 0 && end < from + partBytes; end = file.indexOf("\n", end + 1)) {
    for (; at >= 0 && at < end; at = file.indexOf(quote, at + 1)) odd = !odd
    if (!odd) return end + 1
  }
  return first < 0 ? -1 : first + 1
}
const quote = 0x22

/** Cuts before the highest nearby heading that is not in a code block. */
const section: Cut = (file, from, start) => {
  const text = file.toString("latin1", start, Math.min(file.length, from + partBytes))
  let fence: string | undefined
  let best = -1
  let level = 7
  for (const { 0: line, index } of text.matchAll(/^(?:(`{3,}|~{3,})|#{1,6}[ \t]|(?=\S).)/gm)) {
    const mark = /^(?:`{3}|~{3})/.exec(line)?.[0]
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence
    else if (fence === undefined && line.startsWith("#") && start + index > from && line.length < level) {
      best = start + index
      level = line.length
      if (level === 2) break
    }
  }
  return best
}

/** Formats whose files are one record after the other. */
const cuts: Partial<Record<FormatKey, Cut>> = {
  text: after("\n"),
  jsonl: after("\n"),
  mbox: after("\nFrom "),
  csv: row,
  tsv: row,
  markdown: section
}

/** The parts of a long file in UTF-8, each a file of its format; `undefined` where it is read as a whole. */
const partsOf = (content: Uint8Array, format: FormatKey): Iterable<() => Buffer> | undefined => {
  const file = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (format === "xml") return xmlParts(xmlEncoding(file) === "utf-8" ? file : Buffer.from(decodeXml(content)), partBytes)
  const cut = cuts[format]
  if (cut === undefined && format !== "json" && format !== "html") return undefined
  // The charset is determined from all of a file, not from each part. Mailboxes have one for each message.
  const text = format === "mbox" || isUtf8(content) ? file : Buffer.from(decode(content, format === "html" ? htmlCharset : undefined))
  if (format === "html") return htmlParts(text, partBytes)
  if (cut === undefined) return jsonParts(text, partBytes)
  return recordParts(
    text,
    cut,
    format === "csv" || format === "tsv" ? separatorOf(text.toString("latin1", 0, partBytes), format) : undefined
  )
}

function* recordParts(file: Buffer, cut: Cut, separator: string | undefined): Generator<() => Buffer> {
  for (let start = 0; start < file.length;) {
    const next = start + partBytes >= file.length ? -1 : cut(file, start + partBytes, start)
    const end = next < 0 ? file.length : next
    const part = file.subarray(start, end)
    const isFirst = start === 0
    yield () => isFirst || separator === undefined ? part : Buffer.concat([Buffer.from(`sep=${separator}\n`), part])
    start = end
  }
}
