import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { AsciiDocBlocks } from "./markup/AsciiDocBlocks.ts"
import type { Reader } from "./Reader.ts"

export const asciiDoc: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const facts = new AsciiDocBlocks(builder).read(decodeLines(bytes).split("\n"))
  return builder.build({ format, ...facts })
}
