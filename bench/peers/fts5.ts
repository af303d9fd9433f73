/** SQLite's full-text index: words only, in one file. See `program.ts`. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { piecesOf } from "./pieces.ts"
import { run, topK } from "./program.ts"

const file = (store: string): string => join(store, "fts5.db")

await run({
  ingest: async (docs, store, chunkSize, chunkOverlap) => {
    mkdirSync(store, { recursive: true })
    const db = new DatabaseSync(file(store))
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    db.exec("CREATE VIRTUAL TABLE pieces USING fts5(text, source UNINDEXED, tokenize = 'porter unicode61')")
    const insert = db.prepare("INSERT INTO pieces (text, source) VALUES (?, ?)")
    const pieces = await piecesOf(docs, chunkSize, chunkOverlap)
    db.exec("BEGIN")
    for (const { source, text } of pieces) insert.run(text, source)
    db.exec("COMMIT")
    db.close()
    return { chunks: pieces.length, embedded: 0 }
  },
  open: async (store) => {
    const db = new DatabaseSync(file(store), { readOnly: true })
    const best = db.prepare("SELECT text, source, rank FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT ?")
    return {
      // Matches any of the words, as the other peers do. Quoted words are not taken for syntax.
      sparse: async (query) => best.all((query.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`).join(" OR "), topK)
    }
  }
})
