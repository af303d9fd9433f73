import type { DatabaseSync, StatementSync } from "node:sqlite"
import { refuseMissing, type Commands } from "./Commands.ts"
import { asJson } from "./Rows.ts"

/** The rows of corpora, for the writer. */
export class CorpusTable {
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #find: StatementSync
  readonly #embedder: StatementSync
  readonly #count: StatementSync
  readonly #bump: StatementSync

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO corpora (name, display_name, description, vector_db, embedding_model, options, embedder, created, updated)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
    )
    this.#update = db.prepare(
      `UPDATE corpora SET display_name = coalesce(?, display_name), description = coalesce(?, description),
        vector_db = coalesce(?, vector_db), updated = ? WHERE id = ?`
    )
    this.#delete = db.prepare("DELETE FROM corpora WHERE id = ?")
    this.#find = db.prepare("SELECT id, embedder, files FROM corpora WHERE name = ?")
    this.#embedder = db.prepare("SELECT embedder FROM corpora WHERE id = ?")
    this.#count = db.prepare("UPDATE corpora SET files = files + ?, chunks = chunks + ? WHERE id = ?")
    this.#bump = db.prepare("UPDATE corpora SET generation = generation + 1 WHERE id = ?")
  }

  insert(corpus: Commands["createCorpus"]["in"]): void {
    this.#insert.run(
      corpus.name,
      corpus.displayName,
      corpus.description ?? null,
      JSON.stringify(corpus.vectorDb),
      corpus.embeddingModel ?? null,
      asJson(corpus.options),
      corpus.embedder,
      corpus.at,
      corpus.at
    )
  }

  update({ at, description, displayName, name, vectorDb }: Commands["updateCorpus"]["in"]): void {
    this.#update.run(displayName ?? null, description ?? null, asJson(vectorDb), at, this.find(name).id)
  }

  delete(id: number): void {
    this.#delete.run(id)
  }

  /** @throws {Refusal} NOT_FOUND */
  find(name: string): { readonly id: number; readonly embedder: string; readonly files: number } {
    const row = this.#find.get(name)
    if (row === undefined) throw refuseMissing("corpus", name)
    return { id: Number(row["id"]), embedder: String(row["embedder"]), files: Number(row["files"]) }
  }

  embedder(id: number): string {
    return String(this.#embedder.get(id)?.["embedder"])
  }

  /** Adds to a corpus's counts of files and chunks. */
  count(id: number, files: number, chunks: number): void {
    this.#count.run(files, chunks, id)
  }

  /** Starts a new generation: readers drop what they derived from the one before. */
  bump(id: number): void {
    this.#bump.run(id)
  }
}
