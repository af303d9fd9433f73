import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Reader } from "./Reader.ts"

/** Reads source code verbatim, in blocks that start where a definition or its comment starts at the left margin. */
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

/** A line at the margin that does not end the definition before it. */
const startsDefinition = /^(?!end\b|else\b|elif\b|except\b|catch\b|finally\b|then\b)[^\s})\]]/
