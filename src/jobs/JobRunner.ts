import { Cause, Effect, Exit, FiberMap, type Scope, Semaphore } from "effect"
import { type Code, ServiceError } from "../domain/Errors.ts"

/** How a job's work ended in this process. */
export type Outcome<A> =
  | { readonly _tag: "done"; readonly value: A }
  | { readonly _tag: "failed"; readonly error: { readonly code: Code; readonly message: string } }
  /** With the process: for the next one to take up, or to end. */
  | { readonly _tag: "interrupted" }

/** Runs the work of jobs whose rows say how they go. */
export interface JobRunner {
  /** Runs a job's work, and has `settle` write down how it ended. Fails with what that fails with. */
  readonly run: <A>(
    id: string,
    work: Effect.Effect<A, ServiceError>,
    settle: (outcome: Outcome<A>) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<void, ServiceError>
  /** The same in the background, for as long as the runner's scope. One that runs here already is left to it. */
  readonly start: <A>(
    id: string,
    work: Effect.Effect<A, ServiceError>,
    settle: (outcome: Outcome<A>) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<void>
  /** Jobs under way or waiting. */
  readonly size: Effect.Effect<number>
}

/** `what` is what its jobs are called where one fails unexpectedly; `atOnce` bounds those that run, others wait. */
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

/** Fails once `asked` says that somebody asked for the job to stop, here or in another process: it is looked at every `pollMs`. */
export const cancelled = Effect.fnUntraced(function*(
  asked: Effect.Effect<boolean, ServiceError>,
  { pollMs, what }: { readonly pollMs: number; readonly what: string }
): Effect.fn.Return<never, ServiceError> {
  while (!(yield* asked)) yield* Effect.sleep(pollMs)
  return yield* new ServiceError({ code: "CANCELLED", message: `the ${what} was cancelled` })
})

/** Jobs that this process runs, whichever runner of it: their rows are no orphans. */
const here = new Set<string>()

/** Says that this process is going to run a job, before its row can be seen. */
export const claim = (id: string): void => void here.add(id)

export const release = (id: string): void => void here.delete(id)

/**
 * Whether nobody runs a job any more that the process `owner` ran. One with our process id that does not run here is from
 * an earlier life of that id: in containers they repeat.
 */
export const isOrphan = (id: string, owner: number): boolean => owner === process.pid ? !here.has(id) : !isAlive(owner)

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
