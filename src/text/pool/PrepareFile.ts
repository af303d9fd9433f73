import { isUtf8 } from "node:buffer"
import { defined } from "../../domain/Defined.ts"
import { type Chunk, type ParsedDocument, remarkOf } from "../../domain/Document.ts"
import type { Properties } from "../../domain/MetadataRules.ts"
import { chunk } from "../chunk/Chunk.ts"
import { decode, guessOf } from "../parse/Decode.ts"
import { separatorOf } from "../parse/Delimited.ts"
import type { FormatKey } from "../parse/Formats.ts"
import { parse } from "../parse/Parse.ts"
import { ReadFailure } from "../parse/ReadFailure.ts"
import { sniff } from "../parse/Sniff.ts"
import type { Limits, Prepared, Raw } from "../Prepared.ts"
import { jsonParts } from "./JsonParts.ts"

/** Longer texts are read and cut in parts of some this many bytes: text and token tables of all of it would not fit. */
const partBytes = 8 * 1024 * 1024

/** Where a part of a file may end, at or after an offset: the next record begins there. -1: nowhere before its end. */
type Cut = (file: Buffer, from: number, start: number) => number

const after = (separator: string): Cut => (file, from) => {
  const at = file.indexOf(separator, from)
  return at < 0 ? -1 : at + 1
}

/** The end of a row: of a line with an even number of quotes before it, unless a quote is never closed. */
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

/** Before a heading that is in no code block; the highest of those nearby, so that few stand under one that is not in their part. */
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

/** Bytes to chunks. Throws a ReadFailure, or whatever a parser throws on bytes it did not expect. */
export const prepareFile = async (raw: Raw, limits: Limits): Promise<Prepared> => {
  if (raw.counts !== true || limits.recognise.length === 0) return prepare(raw, limits)
  try {
    return await prepare(raw, { ...limits, recognise: [] })
  } catch (error) {
    if (error instanceof ReadFailure && error.problem === "pictures") {
      return { format: "picture", chunks: [], tokens: 0, waits: error.waits }
    }
    throw error
  }
}

const prepare = async (raw: Raw, limits: Limits): Promise<Prepared> => {
  const { content, mimeType, name } = raw
  if (content.byteLength > 2 * partBytes && content.byteLength <= limits.bytes) {
    const format = sniff(content, name, limits, mimeType)
    const parts = partsOf(content, format)
    if (parts !== undefined && raw.chunking === undefined) {
      // What a document says of itself stands at its beginning.
      const [first] = parts
      return prepareWhole({ ...raw, content: first?.() ?? content }, limits)
    }
    if (parts !== undefined) return prepareParts(raw, limits, format, parts)
  }
  return prepareWhole(raw, limits)
}

const prepareWhole = async (
  { chunking, content, counts, mimeType, name, opened, properties: wanted = [] }: Raw,
  limits: Limits
): Promise<Prepared & { readonly text: string }> => {
  const document = await parse({ bytes: content, name, limits, opened, mimeType, properties: wanted.length > 0 })
  const chunks = chunking === undefined ? [] : chunk(document, chunking)
  const { author, format, language, pages, remarks = [], text, title } = document
  const waits = counts !== true
    ? 0
    : remarks.reduce(
      (sum, { count = 0, kind, pages }) =>
        sum + (kind === "picturePages" || kind === "garbledPages" ? pages?.length ?? 0 : kind === "pictures" ? count : 0),
      0
    )
  const remark = remarkOf(document)
  return {
    text,
    format,
    chunks,
    tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    pages,
    title,
    author,
    language,
    properties: wanted.length === 0 ? undefined : propertiesOf(document, wanted),
    remark,
    waits: waits === 0 ? undefined : waits
  }
}

/** Those of a document's properties that are wanted; what all readers tell is among them. */
const propertiesOf = ({ author, language, properties, title }: ParsedDocument, wanted: ReadonlyArray<string>): Properties => {
  const all: Properties = { ...defined({ title, author, language }), ...properties }
  return Object.fromEntries(wanted.flatMap((name) => Object.hasOwn(all, name) ? [[name, all[name] ?? ""]] : []))
}

/** The parts of a long file in UTF-8, each a file of its format; `undefined` where it is read as a whole. */
const partsOf = (content: Uint8Array, format: FormatKey): Iterable<() => Buffer> | undefined => {
  const cut = cuts[format]
  if (cut === undefined && format !== "json") return undefined
  // A charset is told from all of a file, not from each part. Mailboxes have one for each message.
  const inUtf8 = format === "mbox" || isUtf8(content)
  const file = inUtf8 ? Buffer.from(content.buffer, content.byteOffset, content.byteLength) : Buffer.from(decode(content))
  if (cut === undefined) return jsonParts(file, partBytes)
  return recordParts(
    file,
    cut,
    format === "csv" || format === "tsv" ? separatorOf(file.toString("latin1", 0, partBytes), format) : undefined
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

/** The same part by part; offsets count through all of them, as though a blank line stood between. */
const prepareParts = async (raw: Raw, limits: Limits, format: FormatKey, parts: Iterable<() => Buffer>): Promise<Prepared> => {
  const guess = guessOf(raw.content)
  const chunks: Array<Chunk> = []
  const remarks = new Set<string>()
  if (guess !== undefined) {
    remarks.add(remarkOf({ remarks: [{ kind: "charset", text: guess.charset, confidence: guess.confidence }] }) ?? "")
  }
  let title: string | undefined
  let properties: Properties | undefined
  let tokens = 0
  let characters = 0
  let bytes = 0
  for (const part of parts) {
    let prepared: Prepared & { readonly text: string }
    try {
      // The name says the format, which a part from the middle may not show.
      prepared = await prepareWhole({ ...raw, name: partNames[format] ?? raw.name, content: part() }, {
        ...limits,
        characters: limits.characters - characters
      })
    } catch (error) {
      // A stretch of blank lines is no failure of the file.
      if (error instanceof ReadFailure && error.problem === "empty") continue
      if (error instanceof ReadFailure && error.problem === "limit") {
        throw new ReadFailure("limit", `more than ${limits.characters} characters of text`)
      }
      throw error
    }
    for (const one of prepared.chunks) {
      chunks.push({
        ...one,
        ordinal: chunks.length,
        start: one.start + characters,
        end: one.end + characters,
        byteStart: one.byteStart + bytes,
        byteEnd: one.byteEnd + bytes
      })
    }
    if (prepared.remark !== undefined) remarks.add(prepared.remark)
    title ??= prepared.title
    properties ??= prepared.properties
    tokens += prepared.tokens
    characters += prepared.text.length + 2
    bytes += Buffer.byteLength(prepared.text) + 2
  }
  if (chunks.length === 0) throw new ReadFailure("empty", "the file has no text")
  return { format, chunks, tokens, title, properties, remark: remarks.size === 0 ? undefined : [...remarks].slice(0, 5).join("; ") }
}

const partNames: Partial<Record<FormatKey, string>> = {
  text: "part.txt",
  jsonl: "part.jsonl",
  mbox: "part.mbox",
  csv: "part.csv",
  tsv: "part.tsv",
  markdown: "part.md",
  json: "part.json"
}
