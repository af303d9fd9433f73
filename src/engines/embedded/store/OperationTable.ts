import type { DatabaseSync, StatementSync } from "node:sqlite"
import { otherImports } from "../../../domain/Import.ts"
import { Refusal, refuseMissing, type Commands } from "./Commands.ts"
import { asJson } from "./Rows.ts"

/** The rows of long-running operations, for the writer. */
export class OperationTable {
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #cancel: StatementSync
  readonly #delete: StatementSync
  readonly #find: StatementSync
  readonly #imports: StatementSync

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO operations (name, kind, target, done, failures, owner, created, updated) VALUES (?, ?, ?, 0, '[]', ?, ?, ?)`
    )
    this.#update = db.prepare(
      `UPDATE operations SET done = ?, progress = ?, error = ?, failures = ?, counts = ?, updated = ? WHERE name = ? AND done = 0`
    )
    this.#cancel = db.prepare("UPDATE operations SET cancel = 1, updated = ? WHERE name = ? AND done = 0")
    this.#delete = db.prepare("DELETE FROM operations WHERE name = ?")
    this.#find = db.prepare("SELECT done FROM operations WHERE name = ?")
    this.#imports = db.prepare("SELECT name FROM operations WHERE kind = 'importFiles' AND target = ? AND done = 0 ORDER BY created")
  }

  /** Adds an operation. A second import into a corpus is refused: neither would see the other's files, and both would store them. */
  insert({ at, kind, name, owner, target }: Commands["createOperation"]["in"]): void {
    if (kind === "importFiles") {
      const running = this.#imports.all(target).map((row) => String(row["name"]))
      if (running.length > 0) {
        const { code, fix, message } = otherImports(target, running)
        throw new Refusal(code, message, fix)
      }
    }
    this.#insert.run(name, kind, target, owner, at, at)
  }

  /** Updates an operation's progress, unless it is done. */
  update({ at, name, progress }: Commands["updateOperation"]["in"]): void {
    this.#update.run(
      progress.done ? 1 : 0,
      progress.progress ?? null,
      asJson(progress.error),
      JSON.stringify(progress.failures),
      asJson(progress.counts),
      at,
      name
    )
  }

  /** Requests that an operation stop, unless it is done. */
  cancel({ at, name }: Commands["cancelOperation"]["in"]): void {
    this.#done(name)
    this.#cancel.run(at, name)
  }

  delete({ name }: Commands["deleteOperation"]["in"]): void {
    if (!this.#done(name)) {
      throw new Refusal("FAILED_PRECONDITION", `operation ${name} is still running`, "cancel it and wait for it to end")
    }
    this.#delete.run(name)
  }

  #done(name: string): boolean {
    const row = this.#find.get(name)
    if (row === undefined) throw refuseMissing("operation", name)
    return row["done"] === 1
  }
}
