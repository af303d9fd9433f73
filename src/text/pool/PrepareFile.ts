import { type Chunk, remarkOf } from "../../domain/Document.ts"
import { chunk } from "../chunk/Chunk.ts"
import type { FormatKey } from "../parse/Formats.ts"
import { parse } from "../parse/Parse.ts"
import { ReadFailure } from "../parse/Reader.ts"
import { sniff } from "../parse/Sniff.ts"
import type { Limits, Prepared, Raw } from "../Prepared.ts"

/** Longer texts are read and cut in parts of some this many bytes: text and token tables of all of it would not fit. */
const partBytes = 8 * 1024 * 1024

/** Formats whose files are one record after the other, and what stands between two of them. */
const separators: Partial<Record<FormatKey, string>> = { text: "\n", jsonl: "\n", mbox: "\nFrom " }

/** Bytes to chunks. Throws a ReadFailure, or whatever a parser throws on bytes it did not expect. */
export const prepareFile = async (raw: Raw, limits: Limits): Promise<Prepared> => {
  const { content, mimeType, name } = raw
  if (content.byteLength > 2 * partBytes && content.byteLength <= limits.bytes) {
    const format = sniff(content, name, limits, mimeType)
    const separator = separators[format]
    // In UTF-16 a line end is two bytes, of which either may stand in another character.
    if (separator !== undefined && !content.subarray(0, 4096).includes(0)) return prepareParts(raw, limits, format, separator)
  }
  return prepareWhole(raw, limits)
}

const prepareWhole = async ({ chunking, content, mimeType, name, opened }: Raw, limits: Limits): Promise<Prepared & { readonly text: string }> => {
  const document = await parse({ bytes: content, name, limits, opened, ...(mimeType === undefined ? {} : { mimeType }) })
  const chunks = chunk(document, chunking)
  const { author, format, language, pages, text, title } = document
  const remark = remarkOf(document)
  return {
    text,
    format,
    chunks,
    tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    ...(pages === undefined ? {} : { pages }),
    ...(title === undefined ? {} : { title }),
    ...(author === undefined ? {} : { author }),
    ...(language === undefined ? {} : { language }),
    ...(remark === undefined ? {} : { remark })
  }
}

/** The same part by part; offsets count through all of them, as though a blank line stood between. */
const prepareParts = async (raw: Raw, limits: Limits, format: FormatKey, separator: string): Promise<Prepared> => {
  const file = Buffer.from(raw.content.buffer, raw.content.byteOffset, raw.content.byteLength)
  const chunks: Array<Chunk> = []
  const remarks = new Set<string>()
  let tokens = 0
  let characters = 0
  let bytes = 0
  for (let start = 0; start < file.length;) {
    const next = start + partBytes >= file.length ? -1 : file.indexOf(separator, start + partBytes)
    const end = next < 0 ? file.length : next + 1
    const content = file.subarray(start, end)
    start = end
    let part: Prepared & { readonly text: string }
    try {
      // The name says the format, which a part from the middle may not show.
      part = await prepareWhole({ ...raw, name: partNames[format] ?? raw.name, content }, { ...limits, characters: limits.characters - characters })
    } catch (error) {
      // A stretch of blank lines is no failure of the file.
      if (error instanceof ReadFailure && error.problem === "empty") continue
      if (error instanceof ReadFailure && error.problem === "limit") throw new ReadFailure("limit", `more than ${limits.characters} characters of text`)
      throw error
    }
    for (const one of part.chunks) {
      chunks.push({
        ...one,
        ordinal: chunks.length,
        start: one.start + characters,
        end: one.end + characters,
        byteStart: one.byteStart + bytes,
        byteEnd: one.byteEnd + bytes
      })
    }
    if (part.remark !== undefined) remarks.add(part.remark)
    tokens += part.tokens
    characters += part.text.length + 2
    bytes += Buffer.byteLength(part.text) + 2
  }
  if (chunks.length === 0) throw new ReadFailure("empty", "the file has no text")
  return { format, chunks, tokens, ...(remarks.size === 0 ? {} : { remark: [...remarks].slice(0, 5).join("; ") }) }
}

const partNames: Partial<Record<FormatKey, string>> = { text: "part.txt", jsonl: "part.jsonl", mbox: "part.mbox" }
