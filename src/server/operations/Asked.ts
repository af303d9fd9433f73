import { Clock, Effect } from "effect"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { ImportCounts, Operation } from "../../domain/Operation.ts"
import type { Operations } from "../../ports/Operations.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"
import type { Entry, ImportEntry, Journal } from "./Journal.ts"

export const noCounts: ImportCounts = { imported: 0, failed: 0, skipped: 0 }

/** Id of an operation: the last segment of its name, whatever its parent. */
export const idOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

/**
 * The operations that a server's clients started, with their state in the engine. It runs none of them, so that it also serves
 * processes that only look into a server's data.
 */
export const asked = (journal: Journal["Service"], operations: Operations["Service"]) => {
  /** The engine's operation behind an import; undefined where there is none yet, or none any more. */
  const workOf = ({ work }: ImportEntry) =>
    work === undefined ? Effect.undefined : operations.get(work).pipe(Effect.catch(() => Effect.undefined))

  const view = Effect.fnUntraced(function*(entry: Entry): Effect.fn.Return<Entry> {
    const early = entry.notBefore !== undefined && (yield* Clock.currentTimeMillis) < entry.notBefore
    if (early) return { ...entry, operation: unfinished(entry.operation) }
    if (entry.operation.done || entry.import === undefined) return entry
    const state = yield* workOf(entry.import)
    return state === undefined ? entry : { ...entry, operation: { ...entry.operation, ...defined(progressOf(entry, state)) } }
  })

  /** The entry of an operation; undefined where it was started through the library, not the server. */
  const find = (name: string): Effect.Effect<Entry | undefined> =>
    Effect.flatMap(journal.get(idOf(name)), (entry) => entry === undefined ? Effect.undefined : view(entry))

  return {
    workOf,
    view,
    find,
    list: Effect.fnUntraced(function*(page: PageRequest, target?: string): Effect.fn.Return<Page<Entry>, ServiceError> {
      const found = yield* journal.list(page, target)
      return { ...found, items: yield* Effect.forEach(found.items, view) }
    }),
    /** Requests an operation to stop. The process that runs it notices. */
    cancel: Effect.fnUntraced(function*({ operation }: Entry): Effect.fn.Return<void, ServiceError> {
      if (operation.done) return
      const entry = yield* journal.cancel(idOf(operation.name))
      if (entry?.import?.work !== undefined) yield* operations.cancel(entry.import.work)
    }),
    delete: Effect.fnUntraced(function*({ import: imported, operation }: Entry): Effect.fn.Return<void, ServiceError> {
      if (!operation.done) {
        return yield* new ServiceError({ code: "FAILED_PRECONDITION", message: `operation ${operation.name} is still running` })
      }
      if (imported?.work !== undefined) yield* Effect.ignore(operations.delete(imported.work))
      yield* journal.remove(idOf(operation.name))
    })
  }
}

/** Sums the counts of an import before and after a restart. */
export const added = (a: ImportCounts, b: ImportCounts): ImportCounts => ({
  imported: a.imported + b.imported,
  // After a restart an import sees every file again.
  failed: b.failed,
  skipped: Math.max(0, b.skipped - a.imported)
})

export const progressOf = (
  { import: imported }: Entry,
  state: Operation
): Pick<Operation, "partialFailures" | "updateTime"> & Partial<Operation> => ({
  partialFailures: state.partialFailures,
  updateTime: state.updateTime,
  progress: state.progress,
  counts: state.counts === undefined ? undefined : added(imported?.before ?? noCounts, state.counts)
})

const unfinished = ({ counts: _, error: __, progress: ___, ...operation }: Operation): Operation => ({ ...operation, done: false })
