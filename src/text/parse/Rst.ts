import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { Prose } from "./markup/Prose.ts"
import { RstBlocks } from "./markup/RstBlocks.ts"
import { rstInline, substitutionsIn } from "./markup/RstInline.ts"
import type { Reader } from "./Reader.ts"

export const rst: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const source = decodeLines(bytes).replaceAll("\t", "        ")
  const substitutions = substitutionsIn(source)
  const prose = new Prose(builder, (text) => rstInline(text, substitutions))
  new RstBlocks(prose).read(source.split("\n"), 0)
  prose.end()
  // Standards documents start with a mail-like header.
  const title = /^Title: (\S.*)$/m.exec(source.slice(0, 1_000))?.[1] ?? prose.firstHeading
  return builder.build({ format, title })
}
