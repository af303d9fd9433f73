import { Effect, Layer } from "effect"
import { DocumentError } from "../../../../src/domain/Errors.ts"
import type { CorpusName } from "../../../../src/domain/Corpus.ts"
import type { UploadRequest } from "../../../../src/domain/RagFile.ts"
import * as Embedded from "../../../../src/engines/embedded/Embedded.ts"
import { HashEmbedder } from "../../../../src/models/HashEmbedder.ts"
import { TextPool } from "../../../../src/text/TextPool.ts"

/** Paragraphs are chunks: tests say exactly what is indexed. `corrupt` as content is a document nobody can read. */
export const paragraphs: Layer.Layer<TextPool> = Layer.succeed(TextPool, {
  open: () => Effect.succeed({ kind: "document", parts: [] }),
  locate: ({ quotes }) => Effect.succeed({ spans: quotes.map(() => undefined) }),
  picture: () => Effect.succeed({ pages: 0, pictures: [] }),
  rest: Effect.void,
  prepare: (raw) => {
    const text = new TextDecoder().decode(raw.content)
    if (text === "corrupt") return Effect.fail(new DocumentError({ problem: "corrupt", message: "cannot be read" }))
    let byteStart = 0
    let start = 0
    const chunks = text.split("\n\n").filter((part) => part.trim() !== "").map((part, ordinal) => {
      const bytes = Buffer.byteLength(part)
      const chunk = {
        ordinal,
        text: part,
        headings: [],
        start,
        end: start + part.length,
        byteStart,
        byteEnd: byteStart + bytes,
        tokens: part.split(/\s+/).length
      }
      start = chunk.end + 2
      byteStart = chunk.byteEnd + 2
      return chunk
    })
    return Effect.succeed({ format: "text", chunks, tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0) })
  }
})

/** The embedded engine over a directory, with the offline embedder. */
export const engine = (dataDir: string, options: Omit<Embedded.EmbeddedOptions, "dataDir"> = {}, pool = paragraphs) =>
  Embedded.layer({ dataDir, ...options }).pipe(Layer.provide([HashEmbedder, pool]))

/** An upload of one text. */
export const textFile = (
  corpus: CorpusName,
  displayName: string,
  text: string,
  more: Partial<UploadRequest> = {}
): UploadRequest => ({
  corpus,
  displayName,
  content: new TextEncoder().encode(text),
  chunking: { strategy: "fixed", size: 1024, overlap: 200 },
  ...more
})
