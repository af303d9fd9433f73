import { createHash } from "node:crypto"
import { countTokens } from "../../../text/Tokens.ts"
import type { OtherFile, VectorChunk } from "../../../ports/VectorStore.ts"
import type { NewChunk } from "../store/ChunkPage.ts"
import type { NewFile } from "../store/Commands.ts"
import { textHash } from "../store/Hash.ts"

/** Id in the corpus for a file that others put into its database: it looks like any other id, and is always the same for that file. */
export const otherName = (corpus: string, { corpus: theirs, file }: OtherFile): string => {
  const digest = createHash("sha256").update(JSON.stringify([corpus, theirs, file])).digest()
  return (digest.readBigUInt64BE() >> 2n | 1n << 60n).toString()
}

/** A file of others as a file of the corpus. It has no marker, since no source put it there, and so no source removes it. */
export const otherFile = (name: string, { file, sourceUri }: OtherFile, texts: ReadonlyArray<Pick<VectorChunk, "text">>): NewFile => {
  const chunks: Array<NewChunk> = []
  let byteStart = 0
  for (const { text } of texts) {
    const byteEnd = byteStart + Buffer.byteLength(text)
    chunks.push({ text, headings: [], byteStart, byteEnd, tokens: countTokens(text), hash: textHash(text) })
    byteStart = byteEnd + 1
  }
  return {
    name,
    displayName: sourceUri.split("/").findLast((part) => part !== "") ?? file,
    sourceUri: sourceUri === "" ? file : sourceUri,
    sizeBytes: Math.max(0, byteStart - 1),
    tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    chunks
  }
}
