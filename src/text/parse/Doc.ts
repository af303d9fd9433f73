import { CFB } from "@e965/xlsx"
import WordExtractor from "word-extractor"
import { BlockWriter, oneLine, rowLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"

/** Documents of Word 6 to 2003: paragraphs, table rows, headers once, text boxes, notes and comments. */
export const doc: Reader = async ({ bytes, format, limits }) => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = headOf(file)
  if (head.encrypted) throw new ReadFailure("encrypted", "the document is protected by a password")
  if (head.text !== undefined) {
    const builder = new DocumentBuilder(limits.characters)
    const writer = new BlockWriter(builder)
    addLines(head.text, writer)
    writer.end()
    return builder.build({ format })
  }
  const document = await new WordExtractor().extract(file).catch(() => {
    throw new ReadFailure("corrupt", "the Word document is damaged")
  })
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  // Quotes and dashes stay as they were written.
  const asWritten = { filterUnicode: false }
  const add = (text: string): void => addLines(text, writer)
  add(unique(document.getHeaders({ includeFooters: false, ...asWritten })))
  add(document.getBody(asWritten))
  add(document.getTextboxes({ includeHeadersAndFooters: false, ...asWritten }))
  add(document.getFootnotes(asWritten))
  add(document.getEndnotes(asWritten))
  add(document.getAnnotations(asWritten))
  add(unique(document.getFooters(asWritten)))
  writer.end()
  return builder.build({ format })
}

/** The first version that keeps its text in pieces, which the library follows. */
const word97 = 0xc0

interface Head {
  readonly encrypted: boolean
  /** Of documents of before 1997, whose text stands in one run. */
  readonly text: string | undefined
}

/** The file information block (MS-DOC, 2.5.1), which those of Word 6 and 95 share in its first fields. */
const headOf = (file: Buffer): Head => {
  let stream: Buffer | undefined
  try {
    const content = CFB.find(CFB.read(file, { type: "buffer" }), "WordDocument")?.content
    stream = content === undefined ? undefined : Buffer.from(content)
  } catch {
    throw new ReadFailure("corrupt", "the Word document is damaged")
  }
  if (stream === undefined || stream.length < 32) throw new ReadFailure("corrupt", "the Word document is damaged")
  const flags = stream.readUInt16LE(10)
  const encrypted = (flags & 0x100) !== 0
  if (encrypted || stream.readUInt16LE(2) >= word97) return { encrypted, text: undefined }
  if ((flags & 0x4) !== 0) throw new ReadFailure("unsupported", "a Word document of before 1997, saved in pieces")
  const [from, to] = [stream.readUInt32LE(24), stream.readUInt32LE(28)]
  const text = new TextDecoder("windows-1252").decode(stream.subarray(from, Math.min(to, stream.length)))
  // Cells and rows end with BEL, lines with VT, pages with FF; what a field is made of stands before what it shows.
  return {
    encrypted,
    text: text.replace(/\x13[^\x13-\x15]*\x14|[\x13-\x15]/g, "").replaceAll("\x07\x07", "\n").replaceAll("\x07", "\t").replace(
      /[\v\f]/g,
      "\n"
    )
  }
}

/** Sections repeat their headers. */
const unique = (text: string): string => [...new Set(text.split("\n"))].join("\n")

/** A paragraph a line; lines with tabs that follow each other are the rows of a table. */
const addLines = (text: string, writer: BlockWriter): void => {
  let rows: Array<string> = []
  const endRows = (): void => {
    if (rows.length > 0) writer.add(rows.length === 1 ? "paragraph" : "table", rows.join("\n"))
    rows = []
  }
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    // What fields and pictures leave.
    const clean = line.replace(/[\u0001-\u0008\u000b-\u001f]/g, " ")
    if (/\S\t+\S/.test(clean)) rows.push(rowLine(clean.split("\t").map(oneLine)))
    else {
      endRows()
      writer.add("paragraph", clean.trim())
    }
  }
  endRows()
}
