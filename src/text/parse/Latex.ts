import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { LatexBlocks } from "./markup/LatexBlocks.ts"
import type { Reader } from "./Reader.ts"

/** Charsets by the names that `inputenc` has for them, where they have no other that decoders know. */
const charsets: Readonly<Record<string, string>> = {
  latin9: "iso-8859-15",
  latin10: "iso-8859-16",
  ansinew: "windows-1252",
  applemac: "macintosh",
  cp437de: "ibm437",
  cp858: "ibm850"
}

/** The charset that a source names for its own text. */
const latexCharset = (head: string): string | undefined => {
  const name = /^[^%\n]*\\(?:usepackage[ \t]*\[([\w-]+)\][ \t]*\{inputenc\}|inputencoding[ \t]*\{([\w-]+)\})/m.exec(head)
  const encoding = (name?.[1] ?? name?.[2])?.toLowerCase()
  // Bytes that are no UTF-8 are read by their letters, whatever the source says.
  return encoding === undefined || encoding.startsWith("utf8") ? undefined : charsets[encoding] ?? encoding
}

export const latex: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const facts = new LatexBlocks(decodeLines(bytes, latexCharset), builder).read()
  return builder.build({ format, ...facts })
}
