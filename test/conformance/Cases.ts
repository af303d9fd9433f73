import type { CorpusName, CorpusSpec } from "../../src/domain/Corpus.ts"
import type { UploadRequest } from "../../src/domain/RagFile.ts"

/** A corpus in the managed database. */
export const managed = (displayName: string): CorpusSpec => ({ displayName, vectorDb: { _tag: "managed" } })

/** An upload of a text that is one chunk. */
export const textFile = (corpus: CorpusName, displayName: string, text: string): UploadRequest => ({
  corpus,
  displayName,
  content: new TextEncoder().encode(text),
  mimeType: "text/plain",
  chunking: { strategy: "fixed", size: 1024, overlap: 200 }
})
