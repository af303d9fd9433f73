/** LanceDB: columns in files, with its full-text index and an exact scan of vectors. See `program.ts`. */
import { connect, Index, rerankers } from "@lancedb/lancedb"
import { HashedEmbeddings } from "./HashedEmbeddings.ts"
import { piecesOf } from "./pieces.ts"
import { run, topK } from "./program.ts"

await run({
  ingest: async (docs, store, chunkSize, chunkOverlap) => {
    const embeddings = new HashedEmbeddings()
    const pieces = await piecesOf(docs, chunkSize, chunkOverlap)
    const vectors = await embeddings.embedDocuments(pieces.map(({ text }) => text))
    const db = await connect(store)
    const table = await db.createTable("pieces", pieces.map((piece, at) => ({ ...piece, vector: vectors[at]! })), { mode: "overwrite" })
    await table.createIndex("text", { config: Index.fts({ stem: true }) })
    return { chunks: pieces.length, embedded: embeddings.embedded }
  },
  open: async (store) => {
    const embeddings = new HashedEmbeddings()
    const table = await (await connect(store)).openTable("pieces")
    const mixed = await rerankers.RRFReranker.create()

    return {
      sparse: async (query) => table.query().fullTextSearch(query).select(["text", "source", "_score"]).limit(topK).toArray(),
      dense: async (query) => table.vectorSearch(await embeddings.embedQuery(query)).select(["text", "source", "_distance"]).limit(topK).toArray(),
      hybrid: async (query) =>
        table.query().fullTextSearch(query).nearestTo(await embeddings.embedQuery(query)).rerank(mixed).limit(topK).toArray()
    }
  }
})
