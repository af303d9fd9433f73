/** Orama, in memory, saved to a file by its own export. See `program.ts`. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { create, insertMultiple, load, save, search } from "@orama/orama"
import { HashedEmbeddings } from "./HashedEmbeddings.ts"
import { piecesOf } from "./pieces.ts"
import { run, topK } from "./program.ts"
import { readValue, writeValue } from "./values.ts"

const database = () => create({ schema: { text: "string", source: "string", vector: "vector[256]" }, components: { tokenizer: { stemming: true } } })
const file = (store: string): string => join(store, "orama")

await run({
  ingest: async (docs, store, chunkSize, chunkOverlap) => {
    mkdirSync(store, { recursive: true })
    const embeddings = new HashedEmbeddings()
    const pieces = await piecesOf(docs, chunkSize, chunkOverlap)
    const vectors = await embeddings.embedDocuments(pieces.map(({ text }) => text))
    const db = database()
    await insertMultiple(db, pieces.map((piece, at) => ({ ...piece, vector: vectors[at]! })))
    writeValue(file(store), save(db))
    return { chunks: pieces.length, embedded: embeddings.embedded }
  },
  open: async (store) => {
    const embeddings = new HashedEmbeddings()
    const db = database()
    load(db, readValue(file(store)))
    const near = async (query: string) => ({ value: await embeddings.embedQuery(query), property: "vector" })
    return {
      sparse: async (term) => search(db, { term, properties: ["text"], limit: topK }),
      dense: async (term) => search(db, { mode: "vector", vector: await near(term), similarity: 0, limit: topK }),
      hybrid: async (term) => search(db, { mode: "hybrid", term, properties: ["text"], vector: await near(term), similarity: 0, limit: topK })
    }
  }
})
