import { remarkOf } from "../../domain/Document.ts"
import { chunk } from "../chunk/Chunk.ts"
import { parse } from "../parse/Parse.ts"
import type { Limits, Prepared, Raw } from "../Prepared.ts"

/** Bytes to chunks. Throws a ReadFailure, or whatever a parser throws on bytes it did not expect. */
export const prepareFile = async (raw: Raw, limits: Limits): Promise<Prepared> => {
  const document = await parse({
    bytes: raw.content,
    name: raw.name,
    limits,
    ...(raw.mimeType === undefined ? {} : { mimeType: raw.mimeType })
  })
  const chunks = chunk(document, raw.chunking)
  const { author, format, language, pages, title } = document
  const remark = remarkOf(document)
  return {
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
