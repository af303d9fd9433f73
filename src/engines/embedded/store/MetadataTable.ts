import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Result } from "effect"
import { fitted } from "../../../domain/FileMetadata.ts"
import type { DataSchemaSpec } from "../../../domain/MetadataValue.ts"
import { type Described, ruleId } from "../../../domain/MetadataRules.ts"
import { type Commands, Refusal, refuseMissing } from "./Commands.ts"

/** The rows of data schemas and of the metadata that people write for files, for the writer. */
export class MetadataTable {
  readonly #insertSchema: StatementSync
  readonly #findSchema: StatementSync
  readonly #deleteSchema: StatementSync
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #deleteKey: StatementSync
  readonly #deleteMade: StatementSync
  readonly #move: StatementSync

  constructor(db: DatabaseSync) {
    this.#insertSchema = db.prepare("INSERT INTO data_schemas (corpus, name, key, schema) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
    this.#findSchema = db.prepare("SELECT schema FROM data_schemas WHERE corpus = ? AND key = ?")
    this.#deleteSchema = db.prepare("DELETE FROM data_schemas WHERE corpus = ? AND name = ?")
    this.#insert = db.prepare("INSERT INTO file_metadata (file, name, key, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
    this.#find = db.prepare("SELECT key FROM file_metadata WHERE file = ? AND name = ?")
    this.#update = db.prepare("UPDATE file_metadata SET value = ? WHERE file = ? AND name = ?")
    this.#delete = db.prepare("DELETE FROM file_metadata WHERE file = ? AND name = ?")
    this.#deleteKey = db.prepare("DELETE FROM file_metadata WHERE file = ? AND key = ?")
    this.#deleteMade = db.prepare(`DELETE FROM file_metadata WHERE file = ? AND name GLOB '${ruleId("*")}'`)
    this.#move = db.prepare("UPDATE file_metadata SET file = ? WHERE file = ?")
  }

  insertSchemas(corpus: number, { schemas }: Commands["createSchemas"]["in"]): void {
    for (const { name, ...schema } of schemas) {
      const { changes } = this.#insertSchema.run(corpus, name, schema.key, JSON.stringify(schema))
      if (changes === 0) throw new Refusal("ALREADY_EXISTS", `the corpus has a data schema with the id ${name} or the key ${schema.key}`)
    }
  }

  deleteSchemas(corpus: number, { schemas }: Commands["deleteSchemas"]["in"]): void {
    for (const name of schemas) {
      if (this.#deleteSchema.run(corpus, name).changes === 0) throw refuseMissing("data schema", name)
    }
  }

  insert(corpus: number, file: number, { metadata }: Pick<Commands["createMetadata"]["in"], "metadata">): void {
    for (const { name, ...spec } of metadata) {
      const { changes } = this.#insert.run(file, name, spec.key, this.#fitted(corpus, spec))
      if (changes === 0) throw new Refusal("ALREADY_EXISTS", `the file has metadata with the id ${name} or the key ${spec.key}`)
    }
  }

  update(corpus: number, file: number, { name, spec }: Commands["updateMetadata"]["in"]): void {
    const key = this.#find.get(file, name)?.["key"]
    if (key === undefined) throw refuseMissing("metadata", name)
    if (key !== spec.key) {
      throw new Refusal(
        "INVALID_ARGUMENT",
        `rag_metadata.user_specified_metadata.key: is ${String(key)} for good`,
        "delete it and create another"
      )
    }
    this.#update.run(this.#fitted(corpus, spec), file, name)
  }

  delete(file: number, { metadata }: Commands["deleteMetadata"]["in"]): void {
    for (const name of metadata) {
      if (this.#delete.run(file, name).changes === 0) throw refuseMissing("metadata", name)
    }
  }

  /** Writes metadata that rules derive from a file, in place of what they derived before and of other values of their keys. */
  describe(corpus: number, file: number, { keys, values, whole }: Described): void {
    if (whole) this.#deleteMade.run(file)
    for (const key of keys) this.#deleteKey.run(file, key)
    this.insert(corpus, file, { metadata: values.map((spec) => ({ ...spec, name: ruleId(spec.key) })) })
  }

  /** Moves metadata from a file to the version that replaces it. */
  move(from: number, to: number): void {
    this.#move.run(to, from)
  }

  /** JSON of a value, in the type of its key's schema. */
  #fitted(corpus: number, spec: Commands["updateMetadata"]["in"]["spec"]): string {
    const row = this.#findSchema.get(corpus, spec.key)
    // The column is written by insertSchemas.
    const schema = row === undefined ? undefined : JSON.parse(String(row["schema"])) as DataSchemaSpec
    const value = fitted(schema, spec)
    if (Result.isFailure(value)) throw new Refusal("INVALID_ARGUMENT", value.failure.message, value.failure.fix)
    return JSON.stringify(value.success)
  }
}
