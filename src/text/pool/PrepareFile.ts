import { defined } from "../../domain/Defined.ts"
import { type Chunk, type ParsedDocument, remarkOf } from "../../domain/Document.ts"
import type { Properties } from "../../domain/Properties.ts"
import { chunkParts } from "../chunk/Chunk.ts"
import { parseParts } from "../parse/Parts.ts"
import { ReadFailure } from "../parse/ReadFailure.ts"
import type { DocumentPart, Limits, Prepared, Raw } from "../Prepared.ts"

/** Most remarks about one file. */
const mostRemarks = 5

/** Parses and chunks a file. Throws a ReadFailure, or whatever a parser throws on bytes it did not expect. */
export const prepareFile = async (raw: Raw, limits: Limits): Promise<Prepared> => {
  // Where recognition is off, nothing waits for it.
  if (raw.counts !== true || limits.recognise.length === 0) return prepare({ ...raw, counts: false }, limits)
  try {
    return await prepare(raw, { ...limits, recognise: [] })
  } catch (error) {
    if (error instanceof ReadFailure && error.problem === "pictures") {
      return { format: "picture", chunks: [], tokens: 0, waits: error.waits }
    }
    throw error
  }
}

const prepare = async (
  { chunking, content, counts, mimeType, name, opened, parts: whole, properties: wanted = [] }: Raw,
  limits: Limits
): Promise<Prepared> => {
  const cut = chunking === undefined ? undefined : chunkParts(chunking)
  const chunks: Array<Chunk> = []
  const parts: Array<DocumentPart> = []
  const remarks = new Set<string>()
  let facts: Omit<Prepared, "chunks" | "tokens"> | undefined
  let tokens = 0
  let waits = 0
  for await (const part of parseParts({ bytes: content, name, limits, opened, mimeType, properties: wanted.length > 0 })) {
    const { author, format, language, pages, title } = part.document
    facts ??= {
      format,
      pages,
      title,
      author,
      language,
      properties: wanted.length === 0 ? undefined : propertiesOf(part.document, wanted)
    }
    const remark = remarkOf(part.document)
    if (remark !== undefined) remarks.add(remark)
    if (counts === true) waits += waitsOf(part.document)
    if (whole === true) {
      parts.push(part)
      continue
    }
    // What a document says about itself stands at its start.
    if (cut === undefined) break
    for (const one of cut(part)) {
      chunks.push(one)
      tokens += one.tokens
    }
  }
  if (facts === undefined) throw new ReadFailure("empty", "the file has no text")
  const told = [...remarks].slice(0, mostRemarks)
  if (remarks.size > mostRemarks) told.push(`and ${remarks.size - mostRemarks} remarks more`)
  return {
    ...facts,
    chunks,
    tokens,
    parts: whole === true ? parts : undefined,
    remark: told.length === 0 ? undefined : told.join("; "),
    waits: waits === 0 ? undefined : waits
  }
}

/** How many pages and pictures text recognition would process. */
const waitsOf = ({ remarks = [] }: ParsedDocument): number =>
  remarks.reduce(
    (sum, { count = 0, kind, pages }) =>
      sum + (kind === "picturePages" || kind === "garbledPages" ? pages?.length ?? 0 : kind === "pictures" ? count : 0),
    0
  )

/** The wanted properties of a document, among them those that every reader finds. */
const propertiesOf = ({ author, language, properties, title }: ParsedDocument, wanted: ReadonlyArray<string>): Properties => {
  const all: Properties = { ...defined({ title, author, language }), ...properties }
  return Object.fromEntries(wanted.flatMap((name) => Object.hasOwn(all, name) ? [[name, all[name] ?? ""]] : []))
}
