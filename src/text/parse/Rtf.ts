import { BlockWriter } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { embeddedInRtf, withEmbedded } from "./Embedded.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { RtfInterpreter } from "./rtf/Interpreter.ts"
import { scanRtf } from "./rtf/Tokens.ts"

/** Reads Rich Text Format 1.9.1: text, headings, lists, tables, notes, text boxes, headers and footers, embedded objects. */
export const rtf: Reader = ({ bytes, format, inner, limits }) => {
  const signature = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(64, bytes.length)).toString("latin1")
  if (!/^(?:\xef\xbb\xbf)?\s*\{\s*\\rtf/.test(signature)) throw new ReadFailure("corrupt", "not an RTF file")
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const interpreter = new RtfInterpreter(writer)
  scanRtf(bytes, interpreter)
  const isCut = interpreter.isOpen
  interpreter.end()
  writer.end()
  const { title, author } = interpreter
  return withEmbedded(embeddedInRtf(interpreter.objects, interpreter.pictures), { builder, inner, limits }, () =>
    builder.build({
      format,
      title: title === "" ? undefined : title,
      author: author === "" ? undefined : author,
      remarks: [
        ...interpreter.hidden.remarks,
        ...(isCut ? [{ kind: "cut" as const, text: "the file is cut off: read to where it ends" }] : [])
      ]
    }))
}
