import { Context, Effect, Layer } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Operation, OperationKind, OperationName } from "../../domain/Operation.ts"
import { cancelled, claim, isOrphan, makeJobRunner, type Outcome, release } from "../../jobs/JobRunner.ts"
import type { ImportProgress } from "./Importer.ts"
import type { Names } from "./Names.ts"
import type { OperationProgress } from "./store/Commands.ts"
import { Reader } from "./store/Reader.ts"
import { operationOfRow } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"
import { newId, now } from "../../domain/Stamps.ts"

/** Milliseconds between checks whether another process has cancelled an operation. */
const cancelPoll = 500

type Work = (report: (progress: ImportProgress) => Effect.Effect<void, ServiceError>) => Effect.Effect<ImportProgress, ServiceError>

/**
 * Runs long-running operations. Each is a row, written when it starts, progresses and ends, so that any process can read it. Operations
 * whose process died are ended as interrupted when an engine opens.
 */
export class OperationRunner extends Context.Service<OperationRunner, {
  /** Records the operation, starts its work, and returns without waiting for it. */
  readonly start: (kind: OperationKind, target: string, work: Work) => Effect.Effect<Operation, ServiceError>
  readonly get: (name: OperationName) => Effect.Effect<Operation, ServiceError>
  /** Requests that an operation stop, here or in the process that runs it. */
  readonly cancel: (name: OperationName) => Effect.Effect<void, ServiceError>
}>()("sluice/embedded/OperationRunner") {
  static readonly layer = (names: Names): Layer.Layer<OperationRunner, ServiceError, Reader | Writer> =>
    Layer.effect(
      OperationRunner,
      Effect.gen(function*() {
        const reader = yield* Reader
        const writer = yield* Writer
        const jobs = yield* makeJobRunner({ what: "operation" })

        const update = Effect.fnUntraced(function*(name: string, progress: OperationProgress) {
          yield* writer.send("updateOperation", { name, progress, at: yield* now })
        })

        const get = Effect.fnUntraced(function*(name: OperationName): Effect.fn.Return<Operation, ServiceError> {
          const found = yield* reader.find("operations", names.operationId(name))
          return found === undefined ? yield* ServiceError.notFound(`operation ${name}`) : operationOfRow(found, names)
        })

        const run = (name: string, work: Work) => {
          let last: ImportProgress = { progress: 0, counts: { imported: 0, failed: 0, skipped: 0 }, failures: [] }
          const report = (progress: ImportProgress) => {
            last = progress
            return update(name, { done: false, ...progress })
          }
          const asked = Effect.map(reader.find("operations", name), (found) => found?.["cancel"] === 1)
          return jobs.start(name, Effect.raceFirst(work(report), cancelled(asked, { pollMs: cancelPoll, what: "operation" })), (outcome) =>
            update(name, ended(outcome, last)))
        }

        yield* endOrphans(reader, update)

        return OperationRunner.of({
          get,
          start: Effect.fn("OperationRunner.start")(function*(kind, target, work) {
            const name = newId()
            const create = Effect.flatMap(now, (at) =>
              writer.send("createOperation", { name, kind, target, owner: process.pid, at }))
            claim(name)
            yield* create.pipe(
              // It may be refused because of an operation whose process died since this engine opened.
              Effect.catchIf(({ code }) =>
                code === "FAILED_PRECONDITION", () => Effect.andThen(endOrphans(reader, update), create)),
              Effect.tapError(() => Effect.sync(() => release(name)))
            )
            yield* run(name, work)
            return yield* get(names.operation(name))
          }),
          cancel: Effect.fn("OperationRunner.cancel")(function*(name) {
            yield* writer.send("cancelOperation", { name: names.operationId(name), at: yield* now })
          })
        })
      })
    )
}

/** Ends the operations of processes that no longer exist. */
const endOrphans = Effect.fnUntraced(function*(
  reader: Reader["Service"],
  update: (name: string, progress: OperationProgress) => Effect.Effect<void, ServiceError>
) {
  const open = yield* reader.read((db) => db.prepare("SELECT * FROM operations WHERE done = 0").all())
  for (const row of open) {
    if (!isOrphan(String(row["name"]), Number(row["owner"]))) continue
    yield* update(String(row["name"]), {
      done: true,
      progress: typeof row["progress"] === "number" ? row["progress"] : undefined,
      error: aborted,
      // The columns are written by updateOperation, from an array of PartialFailure and from counts.
      failures: JSON.parse(String(row["failures"])) as OperationProgress["failures"],
      counts: typeof row["counts"] === "string" ? JSON.parse(row["counts"]) as ImportProgress["counts"] : undefined
    })
  }
})

const aborted = { code: "ABORTED", message: "interrupted: the process that ran it ended" } as const

const ended = (outcome: Outcome<ImportProgress>, last: ImportProgress): OperationProgress =>
  outcome._tag === "done"
    ? { done: true, ...outcome.value, progress: 100 }
    : { done: true, ...last, error: outcome._tag === "failed" ? outcome.error : aborted }
