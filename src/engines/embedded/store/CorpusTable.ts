import type { DatabaseSync, StatementSync } from "node:sqlite"
import { isElsewhere } from "../../../domain/Corpus.ts"
import { checkedColumns, isIntact, sumOf } from "./Checksum.ts"
import { refuseDamaged, refuseMissing, type Commands } from "./Commands.ts"
import { asJson, corpusRow } from "./Rows.ts"

/** A corpus's row. `elsewhere`: JSON of its `VectorDb`, where that is not the engine's own database. */
interface Found {
  readonly id: number
  readonly embedder: string
  readonly files: number
  readonly elsewhere?: string
}

/** The rows of corpora, for the writer. Many commands of a transaction are about the same corpus, so it is read and counted once. */
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
  /** Corpora that the current transaction has looked up, by name. */
  readonly #found = new Map<string, Found>()
  /** What the current transaction adds to the corpora's counts. */
  readonly #counted = new Map<number, { files: number; chunks: number; at: number }>()
  /** What the current command added to the counts. */
  #last: Array<{ readonly id: number; readonly files: number; readonly chunks: number }> = []
  /** Corpora whose rows changed and have no new checksum yet. */
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
      "UPDATE corpora SET files = files + ?, chunks = chunks + ?, generation = generation + 1, updated = max(updated, ?) WHERE id = ?"
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
    this.#found.delete(name)
    this.#update.run(displayName ?? null, description ?? null, asJson(vectorDb), at, id)
    this.#unsealed.add(id)
  }

  delete(id: number): void {
    this.#delete.run(id)
    this.#found.clear()
    this.#counted.delete(id)
  }

  /** Finds a corpus by name. @throws {Refusal} NOT_FOUND; DATA_LOSS where the row is not as it was written */
  find(name: string): Found {
    const found = this.#found.get(name) ?? this.#read(name)
    this.#found.set(name, found)
    return { ...found, files: found.files + (this.#counted.get(found.id)?.files ?? 0) }
  }

  #read(name: string): Found {
    const row = this.#find.get(name)
    if (row === undefined) throw refuseMissing("corpus", name)
    // A row that this transaction changed has its old checksum until it is sealed.
    if (!this.#unsealed.has(Number(row["id"])) && !isIntact("corpora", row)) throw refuseDamaged(`the record of corpus ${name}`)
    const found = { id: Number(row["id"]), embedder: String(row["embedder"]), files: Number(row["files"]) }
    const { vectorDb } = corpusRow(row)
    return isElsewhere(vectorDb) ? { ...found, elsewhere: JSON.stringify(vectorDb) } : found
  }

  /** The corpus that a file belongs to, by the file's row id. */
  ofFile(file: number): { readonly id: number; readonly embedder: string } | undefined {
    const row = this.#ofFile.get(file)
    return row === undefined ? undefined : { id: Number(row["id"]), embedder: String(row["embedder"]) }
  }

  embedder(id: number): string {
    return String(this.#embedder.get(id)?.["embedder"])
  }

  /**
   * Adds to a corpus's counts of files and chunks, and starts a new revision: readers drop what they derived from the previous one. `at` is
   * the time of a change of its files.
   */
  count(id: number, files: number, chunks: number, at = 0): void {
    this.#add(id, files, chunks, at)
    this.#last.push({ id, files, chunks })
  }

  #add(id: number, files: number, chunks: number, at = 0): void {
    const counted = this.#counted.get(id) ?? { files: 0, chunks: 0, at: 0 }
    this.#counted.set(id, { files: counted.files + files, chunks: counted.chunks + chunks, at: Math.max(counted.at, at) })
  }

  /** Marks the start of a command, which {@link revert} may undo. */
  mark(): void {
    this.#last = []
  }

  /** Undoes what was counted since {@link mark}: the command failed. */
  revert(): void {
    for (const { chunks, files, id } of this.#last) this.#add(id, -files, -chunks)
    this.#found.clear()
    this.mark()
  }

  /** Writes the counts and a new checksum for every changed row. It is the last step of a transaction. */
  seal(): void {
    for (const [id, { at, chunks, files }] of this.#counted) {
      this.#count.run(files, chunks, at, id)
      this.#unsealed.add(id)
    }
    this.#forget()
    for (const id of this.#unsealed) {
      const row = this.#row.get(id)
      if (row !== undefined) this.#seal.run(sumOf("corpora", row), id)
    }
    this.#unsealed.clear()
  }

  /** Forgets all changes: the transaction failed. */
  discard(): void {
    this.#unsealed.clear()
    this.#forget()
  }

  #forget(): void {
    this.#found.clear()
    this.#counted.clear()
    this.mark()
  }
}
