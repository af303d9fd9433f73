import { availableParallelism } from "node:os"
import { Context, Effect, Layer } from "effect"
import { defined } from "../domain/Defined.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import { traced } from "../domain/Traced.ts"
import { BrokenInstallation } from "./parse/ReadFailure.ts"
import { isRefusal, type Refusal, type Result, type Task } from "./pool/Messages.ts"
import { Pool } from "./pool/Pool.ts"
import { refusalOf } from "./pool/Refusal.ts"
import {
  defaultLimits,
  type Limits,
  type Located,
  type Locating,
  type Opened,
  type Opening,
  type Pictured,
  type Picturing,
  type Prepared,
  type Raw
} from "./Prepared.ts"

export interface TextPoolOptions {
  /** Most worker processes. Default: one per processor, up to 4, and at most one for each 384 MiB of `limits.memory`. */
  readonly size?: number
  /** Starts a worker at once, for callers who know that files will come: starting takes a while. Default false. */
  readonly started?: boolean
  /** Milliseconds that files wait for the existing workers before another one is started. Default 1,000. */
  readonly patience?: number
  /** Milliseconds of wall-clock time that a process has to start. Default 150,000. */
  readonly startup?: number
  /** Limits for one file that differ from the defaults. */
  readonly limits?: Partial<Limits>
  /** Another entry of a worker process, which calls `serve`. Default: the built-in worker. */
  readonly entry?: URL
}

/**
 * Parses and chunks files in separate processes, so that a bomb, a loop or a crash of a native parser costs one file. Calls made at the
 * same time are batched and run in parallel: make many, with bounded concurrency.
 */
export class TextPool extends Context.Service<TextPool, {
  /** Parses and chunks a file. Fails with `UNAVAILABLE` where no process can be started: too little memory, or too many processes. */
  readonly prepare: (raw: Raw) => Effect.Effect<Prepared, DocumentError | ServiceError>
  /**
   * Takes the files out of a mail or an archive, and writes their bytes to the folder `opening.into`. Fails with `UNAVAILABLE` where no
   * process can be started.
   */
  readonly open: (opening: Opening) => Effect.Effect<Opened, DocumentError | ServiceError>
  /** Finds quotes of a file's parsed text in the file's own bytes. Fails with `UNAVAILABLE` where no process can be started. */
  readonly locate: (locating: Locating) => Effect.Effect<Located, DocumentError | ServiceError>
  /**
   * Draws pages of a PDF. A picture file is one page; other formats have none. Fails with `UNAVAILABLE` where no process can be started.
   */
  readonly picture: (picturing: Picturing) => Effect.Effect<Pictured, DocumentError | ServiceError>
  /** Ends the idle processes, for callers who know that no files will come for a while: each holds some 100 MB. */
  readonly rest: Effect.Effect<void>
}>()("sluice/text/TextPool") {
  /** The pool of processes. They end with the scope, when idle for 5 s, and when this process dies in any way. */
  static readonly layer = (options: TextPoolOptions = {}): Layer.Layer<TextPool> =>
    Layer.effect(
      TextPool,
      Effect.gen(function*() {
        const limits = { ...defaultLimits, ...defined(options.limits ?? {}) }
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const pool = new Pool({
              size: options.size ?? Math.max(1, Math.min(4, availableParallelism(), Math.floor(limits.memory / leastShare))),
              entry: options.entry ?? workerEntry,
              limits,
              patience: options.patience,
              startup: options.startup
            })
            if (options.started === true) pool.start()
            return pool
          }),
          (pool) => Effect.sync(() => pool.close())
        )
        const submit = <A extends Result>(task: Task) =>
          Effect.callback<A, DocumentError | ServiceError>((resume) => {
            if (task.content.byteLength > limits.bytes) return resume(tooLarge(limits))
            const cancel = pool.submit(task, (outcome) => {
              if (outcome instanceof Error) resume(Effect.fail(notRead(outcome)))
              else if (isRefusal(outcome)) resume(Effect.fail(documentError(outcome)))
              // The worker answers each task with the result of its kind.
              else resume(Effect.succeed(outcome as A))
            })
            return Effect.sync(cancel)
          })
        return TextPool.of({
          prepare: (raw) => traced("TextPool.prepare")(submit<Prepared>(raw)),
          open: Effect.fn("TextPool.open")((opening: Opening) => submit<Opened>(opening)),
          locate: Effect.fn("TextPool.locate")((locating: Locating) => submit<Located>(locating)),
          picture: Effect.fn("TextPool.picture")((picturing: Picturing) => submit<Pictured>(picturing)),
          rest: Effect.sync(() => pool.rest())
        })
      })
    )

  /**
   * Reads files in the calling thread. Nothing has to start, but a bad file can block or end the process, and the limits of time and memory
   * have no effect. For tests, and for text of trusted origin.
   */
  static readonly layerInline = (limits: Partial<Limits> = {}): Layer.Layer<TextPool> => {
    const all = { ...defaultLimits, ...defined(limits) }
    const here = Effect.fnUntraced(function*<A>({ content }: Task, work: () => Promise<A>) {
      if (content.byteLength > all.bytes) return yield* tooLarge(all)
      return yield* Effect.tryPromise({
        try: work,
        catch: (thrown) => thrown instanceof BrokenInstallation ? notRead(thrown) : documentError(refusalOf(thrown))
      })
    })
    return Layer.succeed(
      TextPool,
      TextPool.of({
        prepare: Effect.fn("TextPool.prepare")((raw: Raw) =>
          here(raw, async () => (await import("./pool/PrepareFile.ts")).prepareFile(raw, all))
        ),
        open: Effect.fn("TextPool.open")((opening: Opening) =>
          here(opening, async () => (await import("./containers/Open.ts")).open(opening, all))
        ),
        locate: Effect.fn("TextPool.locate")((locating: Locating) =>
          here(locating, async () => (await import("./parse/source/FileSpans.ts")).locate(locating, all))
        ),
        picture: Effect.fn("TextPool.picture")((picturing: Picturing) =>
          here(picturing, async () => (await import("./parse/Pictures.ts")).picturesOf(picturing, all))
        ),
        rest: Effect.void
      })
    )
  }
}

/** Bytes of memory that a worker needs to be useful: a smaller limit means fewer workers. */
const leastShare = 384 * 1024 * 1024

/** From source, the worker is a separate file; in the bundle, it stands beside the file that contains this module. */
const workerEntry = import.meta.url.endsWith(".ts")
  ? new URL("./pool/worker.ts", import.meta.url)
  : new URL("./textWorker.js", import.meta.url)

/** The error of a file that could not be read through no fault of its own, so that the next run tries it again. */
const notRead = (error: Error): ServiceError =>
  new ServiceError({
    code: "UNAVAILABLE",
    message: error.message,
    fix: error instanceof BrokenInstallation
      ? "install sluice again with its optional dependencies; `sluice doctor` says what is missing"
      : "try again when the machine has room for another process"
  })

const documentError = ({ message, problem }: Refusal): DocumentError => new DocumentError({ problem, message })

const tooLarge = ({ bytes }: Limits): DocumentError =>
  new DocumentError({ problem: "limit", message: `the file is larger than ${Math.round(bytes / 2 ** 20)} MiB` })
