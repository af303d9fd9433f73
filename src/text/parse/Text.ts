import { decode, unixLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Reader } from "./Reader.ts"

/** Reads plain text verbatim; blank lines separate paragraphs. */
export const text: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  addParagraphs(decode(bytes), builder)
  return builder.build({ format })
}

export const addParagraphs = (source: string, builder: DocumentBuilder): void => {
  for (const paragraph of unixLines(source).split(/\n(?:[ \t\f]*\n)+|\f/)) {
    builder.add("paragraph", paragraph)
  }
}
