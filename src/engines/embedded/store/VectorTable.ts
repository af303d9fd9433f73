import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { Refusal } from "./Commands.ts"

/** A row of `vector_work`. */
export interface VectorWork {
  readonly id: number
  readonly corpus: string
  /** The file; empty for everything of the corpus. */
  readonly file: string
  readonly action: "writing" | "rewrite" | "delete"
  /** JSON of the `VectorDb`. */
  readonly place: string
  readonly owner: number
}

/** Notes of work to be done in other databases, for the writer, made in the transaction that makes the work necessary. */
export class VectorTable {
  readonly #note: StatementSync
  readonly #begun: StatementSync
  readonly #settle: StatementSync
  readonly #forget: StatementSync
  readonly #analyzer: StatementSync
  readonly #dropAnalyzers: StatementSync
  readonly #owner: StatementSync
  readonly #makeOwner: StatementSync

  constructor(db: DatabaseSync) {
    // Each note has its own id, so that finished work does not settle notes that came since.
    this.#note = db.prepare("INSERT OR REPLACE INTO vector_work (corpus, file, action, place, owner) VALUES (?, ?, ?, ?, ?)")
    this.#begun = db.prepare("DELETE FROM vector_work WHERE corpus = ? AND file = ? AND action = 'writing'")
    this.#settle = db.prepare("DELETE FROM vector_work WHERE id = ?")
    this.#forget = db.prepare("DELETE FROM vector_work WHERE corpus = ?")
    this.#analyzer = db.prepare("INSERT OR IGNORE INTO vector_analyzers VALUES (?, ?)")
    this.#owner = db.prepare("SELECT value FROM counters WHERE name = 'owner'")
    this.#makeOwner = db.prepare("INSERT OR IGNORE INTO counters VALUES ('owner', ?)")
    this.#dropAnalyzers = db.prepare("DELETE FROM vector_analyzers WHERE corpus = ?")
  }

  note({ action, corpus, file, owner, place }: Omit<VectorWork, "id">): void {
    this.#note.run(corpus, file, action, place, owner)
  }

  /**
   * Deletes the note that a version is half written, as it becomes visible.
   *
   * @throws {Refusal} ABORTED where another process took this one for dead, and deleted the version
   */
  finish(corpus: string, file: string): void {
    if (this.#begun.run(corpus, file).changes === 0) {
      throw new Refusal("ABORTED", `what was written of file ${file} was taken away meanwhile by another process`)
    }
  }

  settle(ids: ReadonlyArray<number>): void {
    for (const id of ids) this.#settle.run(id)
  }

  owner(make: number): number {
    this.#makeOwner.run(make)
    return Number(this.#owner.get()?.["value"])
  }

  analyzedBy(corpus: number, analyzers: ReadonlyArray<AnalyzerId>): void {
    for (const analyzer of analyzers) this.#analyzer.run(corpus, analyzer)
  }

  /** Notes that a corpus is to be deleted, in place of all notes about its files. */
  drop(id: number, work: Omit<VectorWork, "id" | "file" | "action">): void {
    this.#dropAnalyzers.run(id)
    this.#forget.run(work.corpus)
    this.note({ ...work, file: "", action: "delete" })
  }
}
