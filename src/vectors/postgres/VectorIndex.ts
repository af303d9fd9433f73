import { Duration, Effect, Fiber, type Scope, Semaphore } from "effect"
import type { Connection } from "./Connection.ts"
import { diskFull, undefinedTable } from "./Failures.ts"

/** Most milliseconds of making the index of vectors. */
const indexLimit = 3_600_000
/** Memory that PostgreSQL may use to make it. */
const indexMemory = "512MB"
/** Pause in writing after which the index is made. */
const quiet = Duration.seconds(5)
/** Chunks written by this process after which the index is made even while more are being written. */
const mostWithout = 100_000

/** The index of vectors, which is made once the corpus has a size worth indexing. */
export interface VectorIndex {
  /** Counts newly written chunks, and makes the index in the background when it is due. */
  readonly written: (chunks: number) => Effect.Effect<void>
  /** Stops a build that waits for a pause. To be called before the table is dropped. */
  readonly stop: Effect.Effect<void>
  /** Forgets the index, after the table was dropped. */
  readonly reset: Effect.Effect<void>
}

/** Watches over the index of vectors; one that is due when the scope closes is made then. `indexFrom` is the least number of chunks. */
export const indexOf = Effect.fnUntraced(
  function*({ name, place, schema, table, transaction }: Connection, indexFrom: number): Effect.fn.Return<VectorIndex, never, Scope.Scope> {
    /**
     * Makes the index of vectors, once: indexing a filled table takes a fraction of the time of indexing its rows one by one.
     * Writers wait meanwhile, readers do not.
     */
    const makeIndex = Effect.gen(function*() {
      const [row] = yield* transaction(
        "looking",
        (run) =>
          run(
            `SELECT to_regclass($1) IS NOT NULL AS indexed, (SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ${indexFrom}) AS enough) >= ${indexFrom} AS due`,
            [`"${schema}"."${name}_embedding"`]
          )
      )
      indexed = row?.["indexed"] === true
      if (indexed || row?.["due"] !== true) return
      const build = (settings: Readonly<Record<string, string>>) =>
        transaction("indexing vectors", async (run) => {
          await run(`SELECT pg_advisory_xact_lock(hashtext($1))`, [table])
          return run(`CREATE INDEX IF NOT EXISTS "${name}_embedding" ON ${table} USING hnsw (embedding halfvec_cosine_ops)`)
        }, { limit: indexLimit, settings: { maintenance_work_mem: indexMemory, ...settings } })
      // Parallel builds need that memory as shared memory, of which a container has 64 MB by default.
      yield* Effect.catchIf(build({}), ({ reason }) => reason === diskFull, () => build({ max_parallel_maintenance_workers: "0" }))
      indexed = true
    }).pipe(
      // Without the index searches are only slower, and the next writer tries again.
      Effect.catch(({ message, reason }) =>
        reason === undefinedTable ? Effect.void : Effect.logWarning(`${place} has no index of vectors: ${message}`)
      )
    )
    let indexed = false
    let unindexed = 0
    const indexing = yield* Semaphore.make(1)
    const scope = yield* Effect.scope
    let waiting: Fiber.Fiber<void> | undefined
    /** To be called after each write: indexes a first fill once it has paused or has grown large. */
    const written = Effect.fnUntraced(function*(chunks: number) {
      if (indexed) return
      unindexed += chunks
      const now = unindexed >= mostWithout
      if (now) unindexed = 0
      const before = waiting
      waiting = yield* Effect.forkIn(
        Effect.andThen(now ? Effect.void : Effect.sleep(quiet), Effect.uninterruptible(indexing.withPermit(makeIndex))),
        scope
      )
      if (before !== undefined) yield* Fiber.interrupt(before)
    })
    yield* Effect.addFinalizer(() => Effect.suspend(() => indexed || unindexed === 0 ? Effect.void : indexing.withPermit(makeIndex)))

    return {
      written,
      stop: Effect.suspend(() => waiting === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(waiting))),
      reset: Effect.sync(() => {
        indexed = false
        unindexed = 0
      })
    }
  }
)
