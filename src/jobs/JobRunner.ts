import { Cause, Effect, Exit, FiberMap, type Scope, Semaphore } from "effect"
import { type Code, ServiceError } from "../domain/Errors.ts"

/** How a job's work ended in this process. */
export type Outcome<A> =
  | { readonly _tag: "done"; readonly value: A }
  | { readonly _tag: "failed"; readonly error: { readonly code: Code; readonly message: string } }
  /** The process was interrupted: the next one continues the job, or ends it. */
  | { readonly _tag: "interrupted" }

/** Runs the work of jobs, which are rows that record their state. */
export interface JobRunner {
  /** Runs a job's work, and calls `settle` to record how it ended. Fails with the errors of `settle`. */
  readonly run: <A>(
    id: string,
    work: Effect.Effect<A, ServiceError>,
    settle: (outcome: Outcome<A>) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<void, ServiceError>
  /** Runs a job like {@link run}, but in the background, within the runner's scope. Does nothing where the job runs here already. */
  readonly start: <A>(
    id: string,
    work: Effect.Effect<A, ServiceError>,
    settle: (outcome: Outcome<A>) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<void>
  /** Number of jobs that run or wait. */
  readonly size: Effect.Effect<number>
}

/** Makes a runner. `what` names its jobs in messages about unexpected failures; at most `atOnce` jobs run, others wait. */
export const makeJobRunner = Effect.fnUntraced(function*(
  { atOnce, what }: { readonly what: string; readonly atOnce?: number }
): Effect.fn.Return<JobRunner, never, Scope.Scope> {
  const running = yield* FiberMap.make<string>()
  const places = atOnce === undefined ? undefined : yield* Semaphore.make(atOnce)
  const run: JobRunner["run"] = (id, work, settle) =>
    Effect.suspend(() => {
      claim(id)
      return work.pipe(Effect.onExit((exit) => Effect.flatMap(outcomeOf(exit, what), settle)))
    }).pipe(Effect.asVoid, Effect.ensuring(Effect.sync(() => release(id))))
  return {
    run,
    start: (id, work, settle) =>
      FiberMap.run(
        running,
        id,
        (places === undefined ? run(id, work, settle) : places.withPermit(run(id, work, settle))).pipe(Effect.ignore),
        {
          onlyIfMissing: true
        }
      ).pipe(Effect.asVoid),
    size: FiberMap.size(running)
  }
})

const outcomeOf = <A>(exit: Exit.Exit<A, ServiceError>, what: string): Effect.Effect<Outcome<A>> => {
  if (Exit.isSuccess(exit)) return Effect.succeed({ _tag: "done", value: exit.value })
  if (Cause.hasInterruptsOnly(exit.cause)) return Effect.succeed({ _tag: "interrupted" })
  const error = Cause.squash(exit.cause)
  if (error instanceof ServiceError) return Effect.succeed({ _tag: "failed", error: { code: error.code, message: error.message } })
  return Effect.as(Effect.logError(`the ${what} failed`, Cause.pretty(exit.cause)), {
    _tag: "failed",
    error: { code: "INTERNAL", message: `the ${what} failed unexpectedly` }
  })
}

/** Fails once `asked` reports that the job was cancelled, here or in another process; it is checked every `pollMs`. */
export const cancelled = Effect.fnUntraced(function*(
  asked: Effect.Effect<boolean, ServiceError>,
  { pollMs, what }: { readonly pollMs: number; readonly what: string }
): Effect.fn.Return<never, ServiceError> {
  while (!(yield* asked)) yield* Effect.sleep(pollMs)
  return yield* new ServiceError({ code: "CANCELLED", message: `the ${what} was cancelled` })
})

/** Jobs that runners of this process run: their rows are no orphans. */
const here = new Set<string>()

/** Registers a job of this process, before its row becomes visible. */
export const claim = (id: string): void => void here.add(id)

export const release = (id: string): void => void here.delete(id)

/**
 * Whether no process runs a job any more that the process `owner` ran. A job with this process's id that does not run here was run by an
 * earlier process with the same id: in containers they repeat.
 */
export const isOrphan = (id: string, owner: number): boolean => owner === process.pid ? !here.has(id) : !isAlive(owner)

/** Whether a process with this id exists. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // The process exists, but belongs to another user.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}
