import type { DatabaseSync } from "node:sqlite"
import { Context, Effect, Layer } from "effect"
import type { Corpus } from "../../domain/Corpus.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Context as FoundContext, RetrievalRequest } from "../../domain/Retrieval.ts"
import type { DataSchema, FileMetadata } from "../../domain/FileMetadata.ts"
import { type ImportRequest, otherImports } from "../../domain/Import.ts"
import type { ImportCounts, Operation, OperationName } from "../../domain/Operation.ts"
import { type Job, JobTable, pageOfJobs } from "../../jobs/JobTable.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"
import type { ApiVersion } from "../../wire/Message.ts"
import type { EngineTier } from "../../wire/rag/EngineConfigs.ts"
import type { ModelResult } from "../../wire/models/ModelOperations.ts"

/** An operation as the server stores it, under the engine's names. */
export interface Entry {
  readonly operation: Operation
  /** API version of the call that started it. */
  readonly version?: ApiVersion
  /** Result of a finished operation on a corpus: the corpus as it was then. */
  readonly corpus?: Corpus
  /** Result of a finished operation on the engine's configuration. */
  readonly tier?: EngineTier
  /** Result of a finished operation on models and endpoints. */
  readonly model?: ModelResult
  /** Result of a retrieval: the contexts found. */
  readonly contexts?: ReadonlyArray<FoundContext>
  /** Settings of a retrieval that decide the order of its contexts. */
  readonly ordered?: Pick<RetrievalRequest, "hybrid" | "rank">
  /** Result of a finished operation that made data schemas. */
  readonly schemas?: ReadonlyArray<DataSchema>
  /** Result of a finished operation that made metadata of files. */
  readonly metadata?: ReadonlyArray<FileMetadata>
  readonly import?: ImportEntry
  /** Whether it was requested to stop. Not stored with the entry. */
  readonly cancelled?: true
  /** Milliseconds since the epoch before which it must not appear done. Set by injected faults. */
  readonly notBefore?: number
}

export interface ImportEntry {
  readonly request: ImportRequest
  /** The engine's operation that does the work, once it exists. */
  readonly work?: OperationName
  /** Counts of what was done before the last restart of the server. */
  readonly before: ImportCounts
}

/** Most finished operations kept; the oldest are deleted first. */
const kept = 10_000

/** The server's operations and settings. They are durable: what a client was told survives a restart. */
export class Journal extends Context.Service<Journal, {
  readonly add: (id: string, entry: Entry) => Effect.Effect<void>
  /** Adds an import. A corpus allows one at a time: `FAILED_PRECONDITION` names the import that is not done. */
  readonly addImport: (id: string, entry: Entry) => Effect.Effect<void, ServiceError>
  /** Changes the current state of an entry atomically, unless it is done. Returns the entry; undefined where it is gone. */
  readonly change: (id: string, body: (entry: Entry) => Entry) => Effect.Effect<Entry | undefined>
  /** Requests an operation to stop. Returns its entry; undefined where it is gone. */
  readonly cancel: (id: string) => Effect.Effect<Entry | undefined>
  readonly get: (id: string) => Effect.Effect<Entry | undefined>
  readonly remove: (id: string) => Effect.Effect<void>
  /** Lists operations, newest first. With a `target`, only those of it or of resources under it. */
  readonly list: (page: PageRequest, target?: string) => Effect.Effect<Page<Entry>, ServiceError>
  /** Ids of imports that are not done. */
  readonly unfinished: Effect.Effect<ReadonlyArray<string>>
  /** Names of the engine's operations that do the work of imports. */
  readonly works: Effect.Effect<ReadonlySet<string>>
  readonly tier: Effect.Effect<EngineTier | undefined>
  readonly setTier: (tier: EngineTier) => Effect.Effect<void>
}>()("sluice/server/operations/Journal") {
  /** A journal in the state database, which has to stay open as long as the layer. */
  static readonly layer = (database: DatabaseSync): Layer.Layer<Journal> => Layer.sync(Journal, () => make(database))
}

const make = (db: DatabaseSync): Journal["Service"] => {
  const jobs = new JobTable<Entry>(db, { table: "server_operations", done: ({ operation }) => operation.done, kept })
  const works = db.prepare("SELECT body ->> '$.import.work' AS work FROM server_operations WHERE work IS NOT NULL")
  const read = db.prepare("SELECT value FROM server_settings WHERE key = ?")
  const write = db.prepare("INSERT INTO server_settings VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
  return {
    add: (id, entry) => Effect.sync(() => void jobs.create(id, entry.operation.target, () => entry)),
    addImport: (id, entry) =>
      Effect.suspend(() => {
        const { target } = entry.operation
        let others: ReadonlyArray<string> = []
        const added = jobs.create(id, target, (_, open) => {
          others = open
          return open.length > 0 ? undefined : entry
        })
        return added === undefined ? Effect.fail(otherImports(target, others)) : Effect.void
      }),
    change: (id, body) => Effect.sync(() => known(jobs.change(id, (job) => body(job.body)))),
    cancel: (id) =>
      Effect.sync(() => {
        jobs.cancel(id)
        return known(jobs.find(id))
      }),
    get: (id) => Effect.sync(() => known(jobs.find(id))),
    remove: (id) => Effect.sync(() => jobs.remove(id)),
    list: (page, target) =>
      pageOfJobs(
        page,
        { size: "page_size", token: "page_token" },
        (before, limit) => Effect.sync(() => jobs.before(before, limit, target)),
        (job) => Effect.succeed(entryOf(job))
      ),
    works: Effect.sync(() => new Set(works.all().map((row) => String(row["work"])))),
    unfinished: Effect.sync(() => jobs.open().map(({ id }) => id)),
    // Only `setTier` writes it.
    tier: Effect.sync(() => read.get("tier")?.["value"] as EngineTier | undefined),
    setTier: (tier) => Effect.sync(() => void write.run("tier", tier))
  }
}

const entryOf = ({ body, cancelled }: Job<Entry>): Entry => cancelled ? { ...body, cancelled } : body

const known = (job: Job<Entry> | undefined): Entry | undefined => job === undefined ? undefined : entryOf(job)
