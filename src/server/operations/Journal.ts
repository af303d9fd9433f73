import type { DatabaseSync } from "node:sqlite"
import { Context, Effect, Layer } from "effect"
import type { Corpus } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Context as FoundContext, RetrievalRequest } from "../../domain/Retrieval.ts"
import type { DataSchema, FileMetadata } from "../../domain/FileMetadata.ts"
import { type ImportRequest, otherImports } from "../../domain/Import.ts"
import type { ImportCounts, Operation, OperationName } from "../../domain/Operation.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"
import type { EngineTier } from "../../wire/rag/EngineConfigs.ts"
import type { ModelResult } from "../../wire/models/ModelOperations.ts"

/** An operation as the server keeps it. Names are the engine's. */
export interface Entry {
  readonly operation: Operation
  /** What a finished operation on a corpus answers: the corpus as it was then. */
  readonly corpus?: Corpus
  /** What a finished operation on the engine's configuration answers. */
  readonly tier?: EngineTier
  /** What a finished operation on models and endpoints answers. */
  readonly model?: ModelResult
  /** What a finished operation made of data schemas or metadata. */
  /** What a retrieval found, and how it was to be ordered. */
  readonly contexts?: ReadonlyArray<FoundContext>
  readonly ordered?: Pick<RetrievalRequest, "hybrid" | "rank">
  readonly schemas?: ReadonlyArray<DataSchema>
  readonly metadata?: ReadonlyArray<FileMetadata>
  readonly import?: ImportEntry
  /** Milliseconds since the epoch, before which it does not say that it is done: a fault asked for it. */
  readonly notBefore?: number
}

export interface ImportEntry {
  readonly request: ImportRequest
  /** The engine's own operation that does the work, once there is one. */
  readonly work?: OperationName
  /** What earlier lives of the server had done of it. */
  readonly before: ImportCounts
  readonly cancelled?: true
}

/** Finished operations kept; the oldest go first. */
const kept = 10_000
const defaultPage = 100
const largestPage = 1_000

/** The server's operations and settings, durable: what a client was told of survives a restart. */
export class Journal extends Context.Service<Journal, {
  readonly add: (id: string, entry: Entry) => Effect.Effect<void>
  /** The same for an import, of which a corpus takes one at a time: `FAILED_PRECONDITION` names the one that is not done. */
  readonly addImport: (id: string, entry: Entry) => Effect.Effect<void, ServiceError>
  /** Changes an entry as it is now, whoever changed it last; undefined where it is gone. */
  readonly change: (id: string, body: (entry: Entry) => Entry) => Effect.Effect<Entry | undefined>
  readonly get: (id: string) => Effect.Effect<Entry | undefined>
  readonly remove: (id: string) => Effect.Effect<void>
  /** Newest first; of one target, where it is given, or of what is under it. */
  readonly list: (page: PageRequest, target?: string) => Effect.Effect<Page<Entry>, ServiceError>
  /** Ids of imports that are not done. */
  readonly unfinished: Effect.Effect<ReadonlyArray<string>>
  /** The engine's operations that do the work of imports. */
  readonly works: Effect.Effect<ReadonlySet<string>>
  readonly tier: Effect.Effect<EngineTier | undefined>
  readonly setTier: (tier: EngineTier) => Effect.Effect<void>
}>()("sluice/server/operations/Journal") {
  /** In the state database, which stays open as long as the layer. */
  static readonly layer = (database: DatabaseSync): Layer.Layer<Journal> => Layer.sync(Journal, () => make(database))
}

const make = (db: DatabaseSync): Journal["Service"] => {
  const insert = db.prepare("INSERT INTO server_operations (id, target, done, entry) VALUES (?, ?, ?, ?)")
  const prune = db.prepare("DELETE FROM server_operations WHERE done = 1 AND sequence <= ?")
  const update = db.prepare("UPDATE server_operations SET done = ?, entry = ? WHERE id = ?")
  const find = db.prepare("SELECT entry FROM server_operations WHERE id = ?")
  const remove = db.prepare("DELETE FROM server_operations WHERE id = ?")
  const open = db.prepare("SELECT id FROM server_operations WHERE done = 0 ORDER BY sequence")
  const openOf = db.prepare("SELECT id FROM server_operations WHERE done = 0 AND target = ? ORDER BY sequence")
  const list = db.prepare(
    `SELECT sequence, entry FROM server_operations
     WHERE sequence < ?1 AND (?2 = '' OR target = ?2 OR substr(target, 1, length(?2) + 1) = ?2 || '/')
     ORDER BY sequence DESC LIMIT ?3`
  )
  const works = db.prepare("SELECT entry ->> '$.import.work' AS work FROM server_operations WHERE work IS NOT NULL")
  const read = db.prepare("SELECT value FROM server_settings WHERE key = ?")
  const write = db.prepare("INSERT INTO server_settings VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")

  const add = (id: string, entry: Entry): void => {
    const { lastInsertRowid } = insert.run(id, entry.operation.target, done(entry), JSON.stringify(entry))
    prune.run(Number(lastInsertRowid) - kept)
  }

  return {
    add: (id, entry) => Effect.sync(() => add(id, entry)),
    addImport: (id, entry) =>
      Effect.suspend(() =>
        transaction(db, () => {
          const { target } = entry.operation
          const others = openOf.all(target).map((row) => String(row["id"]))
          if (others.length > 0) return Effect.fail(otherImports(target, others))
          add(id, entry)
          return Effect.void
        })),
    change: (id, body) =>
      Effect.sync(() =>
        transaction(db, () => {
          const row = find.get(id)
          const changed = row === undefined ? undefined : body(parse(row["entry"]))
          if (changed !== undefined) update.run(done(changed), JSON.stringify(changed), id)
          return changed
        })),
    get: (id) =>
      Effect.sync(() => {
        const row = find.get(id)
        return row === undefined ? undefined : parse(row["entry"])
      }),
    remove: (id) => Effect.sync(() => void remove.run(id)),
    list: Effect.fnUntraced(function*({ size = defaultPage, token }, target = "") {
      const limit = size === 0 ? defaultPage : Math.min(size, largestPage)
      const before = token === undefined || token === "" ? Number.MAX_SAFE_INTEGER : Number(/^before:(\d{1,15})$/.exec(fromToken(token))?.[1])
      if (!Number.isInteger(limit) || limit < 0) return yield* ServiceError.invalid("page_size", "must be 1 to 1000")
      if (Number.isNaN(before)) return yield* ServiceError.invalid("page_token", "is not one that a listing gave")
      const rows = list.all(before, target, limit + 1)
      const page = rows.slice(0, limit)
      const items = page.map((row) => parse(row["entry"]))
      return rows.length > limit
        ? { items, nextToken: Buffer.from(`before:${Number(page.at(-1)?.["sequence"])}`).toString("base64url") }
        : { items }
    }),
    works: Effect.sync(() => new Set(works.all().map((row) => String(row["work"])))),
    unfinished: Effect.sync(() => open.all().map((row) => String(row["id"]))),
    // Only `setTier` writes it.
    tier: Effect.sync(() => read.get("tier")?.["value"] as EngineTier | undefined),
    setTier: (tier) => Effect.sync(() => void write.run("tier", tier))
  }
}

/** Others may write to the same database: nothing of theirs comes between a look and the change that follows it. */
const transaction = <A>(db: DatabaseSync, body: () => A): A => {
  db.exec("BEGIN IMMEDIATE")
  try {
    const result = body()
    db.exec("COMMIT")
    return result
  } catch (cause) {
    db.exec("ROLLBACK")
    throw cause
  }
}

const done = ({ operation }: Entry): number => (operation.done ? 1 : 0)

// Only this file writes the column.
const parse = (entry: unknown): Entry => JSON.parse(String(entry)) as Entry

const fromToken = (token: string): string => Buffer.from(token, "base64url").toString("utf8")
