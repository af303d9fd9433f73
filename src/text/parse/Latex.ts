import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { LatexBlocks } from "./markup/LatexBlocks.ts"
import type { Reader } from "./Reader.ts"

export const latex: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const facts = new LatexBlocks(decodeLines(bytes), builder).read()
  return builder.build({ format, ...facts })
}
