import { Cause, Context, Effect, Exit, FiberMap, Layer } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Operation, OperationKind, OperationName } from "../../domain/Operation.ts"
import type { ImportProgress } from "./Importer.ts"
import { newId, type Names } from "./Names.ts"
import type { OperationProgress } from "./store/Commands.ts"
import { Reader } from "./store/Reader.ts"
import { operationOfRow } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"
import { now } from "./Timestamp.ts"

/** Milliseconds between looks at whether another process asked for an operation to be cancelled. */
const cancelPoll = 500

/** Operations this process runs, whichever engine of it: their rows are no orphans. */
const here = new Set<string>()

type Work = (report: (progress: ImportProgress) => Effect.Effect<void, ServiceError>) => Effect.Effect<ImportProgress, ServiceError>

/**
 * Runs long-running operations as rows: each is written when it starts, as it goes on and when it ends, so that
 * it can be asked for from any process. Those whose process died are ended as interrupted when an engine opens.
 */
export class OperationRunner extends Context.Service<OperationRunner, {
  /** Writes the operation down, starts the work, and returns without waiting for it. */
  readonly start: (kind: OperationKind, target: string, work: Work) => Effect.Effect<Operation, ServiceError>
  readonly get: (name: OperationName) => Effect.Effect<Operation, ServiceError>
  /** Asks it to stop, here or in the process that runs it. */
  readonly cancel: (name: OperationName) => Effect.Effect<void, ServiceError>
}>()("sluice/embedded/OperationRunner") {
  static readonly layer = (names: Names): Layer.Layer<OperationRunner, ServiceError, Reader | Writer> =>
    Layer.effect(
      OperationRunner,
      Effect.gen(function*() {
        const reader = yield* Reader
        const writer = yield* Writer
        const running = yield* FiberMap.make<string, void, ServiceError>()

        const update = Effect.fnUntraced(function*(name: string, progress: OperationProgress) {
          yield* writer.send("updateOperation", { name, progress, at: yield* now })
        })

        const get = Effect.fnUntraced(function*(name: OperationName): Effect.fn.Return<Operation, ServiceError> {
          const found = yield* reader.find("operations", names.operationId(name))
          return found === undefined ? yield* ServiceError.notFound(`operation ${name}`) : operationOfRow(found, names)
        })

        /** Returns when somebody asked for the operation to be cancelled. */
        const cancelled = Effect.fnUntraced(function*(name: string) {
          while (true) {
            yield* Effect.sleep(cancelPoll)
            const found = yield* reader.find("operations", name)
            if (found?.["cancel"] === 1) return
          }
        })

        const run = Effect.fnUntraced(function*(name: string, work: Work) {
          let last: ImportProgress = { progress: 0, counts: { imported: 0, failed: 0, skipped: 0 }, failures: [] }
          const report = (progress: ImportProgress) => {
            last = progress
            return update(name, { done: false, ...progress })
          }
          const stopped = cancelled(name).pipe(
            Effect.andThen(new ServiceError({ code: "CANCELLED", message: "the operation was cancelled" }))
          )
          yield* Effect.raceFirst(work(report), stopped).pipe(
            Effect.onExit((exit) => update(name, ended(exit, last))),
            Effect.ensuring(Effect.sync(() => here.delete(name)))
          )
        })

        yield* endOrphans(reader, update)

        return OperationRunner.of({
          get,
          start: Effect.fn("OperationRunner.start")(function*(kind, target, work) {
            const name = newId()
            const create = Effect.flatMap(now, (at) => writer.send("createOperation", { name, kind, target, owner: process.pid, at }))
            here.add(name)
            yield* create.pipe(
              // Those it is refused for may be of a process that died since this engine opened.
              Effect.catchIf(({ code }) => code === "FAILED_PRECONDITION", () => Effect.andThen(endOrphans(reader, update), create)),
              Effect.tapError(() => Effect.sync(() => here.delete(name)))
            )
            yield* FiberMap.run(running, name, Effect.asVoid(run(name, work)))
            return yield* get(names.operation(name))
          }),
          cancel: Effect.fn("OperationRunner.cancel")(function*(name) {
            yield* writer.send("cancelOperation", { name: names.operationId(name), at: yield* now })
          })
        })
      })
    )
}

/**
 * Ends the operations of processes that are gone. One with our process id that does not run here is from an earlier
 * life of that id: in containers they repeat.
 */
const endOrphans = Effect.fnUntraced(function*(
  reader: Reader["Service"],
  update: (name: string, progress: OperationProgress) => Effect.Effect<void, ServiceError>
) {
  const open = yield* reader.read((db) => db.prepare("SELECT * FROM operations WHERE done = 0").all())
  for (const row of open) {
    const owner = Number(row["owner"])
    if (owner === process.pid ? here.has(String(row["name"])) : isAlive(owner)) continue
    yield* update(String(row["name"]), {
      done: true,
      progress: typeof row["progress"] === "number" ? row["progress"] : undefined,
      error: { code: "ABORTED", message: "interrupted: the process that ran it ended" },
      // Written by updateOperation as an array of PartialFailure, and the counts likewise.
      failures: JSON.parse(String(row["failures"])) as OperationProgress["failures"],
      counts: typeof row["counts"] === "string" ? JSON.parse(row["counts"]) as ImportProgress["counts"] : undefined
    })
  }
})

/** Whether there is a process of this id. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // There, but another user's.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

const ended = (exit: Exit.Exit<ImportProgress, ServiceError>, last: ImportProgress): OperationProgress => {
  if (Exit.isSuccess(exit)) return { done: true, ...exit.value, progress: 100 }
  const error = Cause.squash(exit.cause)
  return {
    done: true,
    ...last,
    error: error instanceof ServiceError
      ? { code: error.code, message: error.message }
      : Cause.hasInterruptsOnly(exit.cause)
      ? { code: "ABORTED", message: "interrupted: the process that ran it ended" }
      : { code: "INTERNAL", message: "the operation failed unexpectedly" }
  }
}
