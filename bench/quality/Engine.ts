import { Effect, Layer, ManagedRuntime } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { RetrievalRequest } from "../../src/domain/Retrieval.ts"
import * as Embedded from "../../src/engines/embedded/Embedded.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import type { Collection } from "./Collection.ts"
import type { Hit } from "./Evaluate.ts"

export type Search = (query: string, how: Pick<RetrievalRequest, "hybrid" | "correctSpelling">) => Promise<ReadonlyArray<Hit>>

const chunking = { strategy: "fixed", size: 1024, overlap: 200 } as const

/** The embedded engine with the offline embedder over one collection, in a directory that is gone when `use` is done. */
export const withEngine = async <A>(collection: Collection, use: (search: Search) => Promise<A>): Promise<A> => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-quality-"))
  const runtime = ManagedRuntime.make(Embedded.layer({ dataDir }).pipe(Layer.provide([HashEmbedder, wholeDocuments])))
  try {
    const corpus = await runtime.runPromise(fill(collection))
    return await use((query, how) =>
      runtime.runPromise(Effect.gen(function*() {
        const retrieval = yield* Retrieval
        const contexts = yield* retrieval.retrieve({ corpus, query, topK: 100, ...how })
        return contexts.map((context) => ({ id: context.sourceDisplayName, score: context.score }))
      }))
    )
  } finally {
    await runtime.dispose()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const fill = Effect.fn("fill")(function*({ documents, name }: Collection) {
  const corpora = yield* Corpora
  const files = yield* Files
  const corpus = yield* corpora.create({ displayName: name, vectorDb: { _tag: "managed" } })
  yield* Effect.forEach(
    documents.filter(({ text }) => text.trim() !== ""),
    ({ id, text }) =>
      files.upload({ corpus: corpus.name, displayName: id, content: Buffer.from(text), chunking }),
    { concurrency: 64, discard: true }
  )
  return corpus.name
})

/** One chunk a document, as the reference was made. */
const wholeDocuments = Layer.succeed(TextPool, {
  prepare: ({ content }) => {
    const text = new TextDecoder().decode(content)
    const chunk = {
      ordinal: 0,
      text,
      headings: [],
      start: 0,
      end: text.length,
      byteStart: 0,
      byteEnd: content.length,
      tokens: Math.ceil(content.length / 4)
    }
    return Effect.succeed({ format: "text", chunks: [chunk], tokens: chunk.tokens })
  }
})
