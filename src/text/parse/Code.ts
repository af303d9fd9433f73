import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Reader } from "./Reader.ts"

/** Source code, verbatim, in blocks that begin where a definition or its comment begins at the left margin. */
export const code: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  let block: Array<string> = []
  let blank = false
  for (const line of decodeLines(bytes).split("\n")) {
    if (line.trim() === "") blank = true
    else if (blank) {
      if (startsDefinition.test(line)) {
        builder.add("code", block.join("\n"))
        block = []
      }
      blank = false
    }
    block.push(line)
  }
  builder.add("code", block.join("\n"))
  return builder.build({ format })
}

/** At the margin, and not the end of what came before. */
const startsDefinition = /^(?!end\b|else\b|elif\b|except\b|catch\b|finally\b|then\b)[^\s})\]]/
