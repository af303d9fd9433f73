import type { DatabaseSync, StatementSync } from "node:sqlite"
import { isElsewhere } from "../../../domain/Corpus.ts"
import { checkedColumns, isIntact, sumOf } from "./Checksum.ts"
import { refuseDamaged, refuseMissing, type Commands } from "./Commands.ts"
import { asJson, corpusRow } from "./Rows.ts"

/** The rows of corpora, for the writer. */
export class CorpusTable {
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #find: StatementSync
  readonly #embedder: StatementSync
  readonly #count: StatementSync
  readonly #row: StatementSync
  readonly #seal: StatementSync
  readonly #ofFile: StatementSync
  /** Corpora whose rows changed and have not got their new sums yet. */
  readonly #unsealed = new Set<number>()

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
    this.#find = db.prepare(`SELECT ${checkedColumns("corpora")} FROM corpora WHERE name = ?`)
    this.#embedder = db.prepare("SELECT embedder FROM corpora WHERE id = ?")
    this.#count = db.prepare(
      "UPDATE corpora SET files = files + ?, chunks = chunks + ?, generation = generation + 1 WHERE id = ?"
    )
    this.#row = db.prepare("SELECT * FROM corpora WHERE id = ?")
    this.#ofFile = db.prepare("SELECT id, embedder FROM corpora WHERE id = (SELECT corpus FROM files WHERE id = ?)")
    this.#seal = db.prepare("UPDATE corpora SET sum = ? WHERE id = ?")
  }

  insert(corpus: Commands["createCorpus"]["in"]): void {
    const { lastInsertRowid } = this.#insert.run(
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
    this.#unsealed.add(Number(lastInsertRowid))
  }

  update({ at, description, displayName, name, vectorDb }: Commands["updateCorpus"]["in"]): void {
    const { id } = this.find(name)
    this.#update.run(displayName ?? null, description ?? null, asJson(vectorDb), at, id)
    this.#unsealed.add(id)
  }

  delete(id: number): void {
    this.#delete.run(id)
  }

  /** `elsewhere`: the JSON of its VectorDb, where that is not this one. @throws {Refusal} NOT_FOUND; DATA_LOSS where the row is not as it was written */
  find(name: string): { readonly id: number; readonly embedder: string; readonly files: number; readonly elsewhere?: string } {
    const row = this.#find.get(name)
    if (row === undefined) throw refuseMissing("corpus", name)
    // Between a change and its seal the row is ours and has the old sum.
    if (!this.#unsealed.has(Number(row["id"])) && !isIntact("corpora", row)) throw refuseDamaged(`the record of corpus ${name}`)
    const found = { id: Number(row["id"]), embedder: String(row["embedder"]), files: Number(row["files"]) }
    const { vectorDb } = corpusRow(row)
    return isElsewhere(vectorDb) ? { ...found, elsewhere: JSON.stringify(vectorDb) } : found
  }

  /** The corpus that a file's row is in. */
  ofFile(file: number): { readonly id: number; readonly embedder: string } | undefined {
    const row = this.#ofFile.get(file)
    return row === undefined ? undefined : { id: Number(row["id"]), embedder: String(row["embedder"]) }
  }

  embedder(id: number): string {
    return String(this.#embedder.get(id)?.["embedder"])
  }

  /** Adds to a corpus's counts of files and chunks, and starts a new generation: readers drop what they derived from the one before. */
  count(id: number, files: number, chunks: number): void {
    this.#count.run(files, chunks, id)
    this.#unsealed.add(id)
  }

  /** Gives every row that was changed its new sum; the last thing a transaction does. */
  seal(): void {
    for (const id of this.#unsealed) {
      const row = this.#row.get(id)
      if (row !== undefined) this.#seal.run(sumOf("corpora", row), id)
    }
    this.#unsealed.clear()
  }

  /** Forgets what was changed: the transaction failed. */
  discard(): void {
    this.#unsealed.clear()
  }
}
