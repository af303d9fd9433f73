import { addParagraphs } from "./Text.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { recognise } from "./Recognise.ts"

/** Reads a picture of text, where text recognition is on. */
export const picture: Reader = async ({ bytes, format, limits }) => {
  if (limits.recognise.length === 0) throw new ReadFailure("pictures", "a picture: its text, if any, waits for text recognition")
  const { confidence, text } = await recognise(bytes, limits.recognise)
  const builder = new DocumentBuilder(limits.characters)
  addParagraphs(text, builder)
  return builder.build({ format, remarks: [{ kind: "recognisedPages", confidence }] })
}
