import { availableParallelism } from "node:os"
import { Context, Effect, Layer } from "effect"
import { DocumentError } from "../domain/Errors.ts"
import { isRefusal, type Refusal } from "./pool/messages.ts"
import { Pool } from "./pool/Pool.ts"
import { refusalOf } from "./pool/refusal.ts"
import { defaultLimits, type Limits, type Prepared, type Raw } from "./Prepared.ts"

export interface TextPoolOptions {
  /** Worker processes, each of some 150 MB; default one per processor, at most 4. Started when first needed. */
  readonly size?: number
  /** Bounds of one file; what is not given is the default. */
  readonly limits?: Partial<Limits>
  /** Another entry of a worker process, which calls `serve`. */
  readonly entry?: URL
}

/**
 * Parses and chunks files in processes of their own, so that a bomb, a loop or a crash of a native parser costs
 * one file. Calls made at the same time are batched and run in parallel: make many, with bounded concurrency.
 */
export class TextPool extends Context.Service<TextPool, {
  readonly prepare: (raw: Raw) => Effect.Effect<Prepared, DocumentError>
}>()("sluice/text/TextPool") {
  /** The pool of processes. They end with the scope, when idle for 5 s, and when this process dies in any way. */
  static readonly layer = (options: TextPoolOptions = {}): Layer.Layer<TextPool> =>
    Layer.effect(
      TextPool,
      Effect.gen(function*() {
        const limits = { ...defaultLimits, ...options.limits }
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() =>
            new Pool({
              size: options.size ?? Math.min(4, availableParallelism()),
              entry: options.entry ?? workerEntry,
              limits
            })
          ),
          (pool) => Effect.sync(() => pool.close())
        )
        const prepare = Effect.fn("TextPool.prepare")(function*(raw: Raw) {
          if (raw.content.byteLength > limits.bytes) return yield* tooLarge(limits)
          return yield* Effect.callback<Prepared, DocumentError>((resume) => {
            const cancel = pool.submit(raw, (outcome) => {
              if (outcome instanceof Error) resume(Effect.die(outcome))
              else if (isRefusal(outcome)) resume(Effect.fail(documentError(outcome)))
              else resume(Effect.succeed(outcome))
            })
            return Effect.sync(cancel)
          })
        })
        return TextPool.of({ prepare })
      })
    )

  /**
   * Reads files in the calling thread: nothing to start, but a bad file can block or end the process, and limits of
   * time and memory do not hold. For tests and for text one has written oneself.
   */
  static readonly layerInline = (limits: Partial<Limits> = {}): Layer.Layer<TextPool> => {
    const all = { ...defaultLimits, ...limits }
    return Layer.succeed(
      TextPool,
      TextPool.of({
        prepare: Effect.fn("TextPool.prepare")(function*(raw: Raw) {
          if (raw.content.byteLength > all.bytes) return yield* tooLarge(all)
          return yield* Effect.tryPromise({
            try: async () => (await import("./pool/prepareFile.ts")).prepareFile(raw, all),
            catch: (thrown) => documentError(refusalOf(thrown))
          })
        })
      })
    )
  }
}

/** From source the worker is a file of its own; the bundle has it beside the file that holds this module. */
const workerEntry = import.meta.url.endsWith(".ts")
  ? new URL("./pool/worker.ts", import.meta.url)
  : new URL("./textWorker.js", import.meta.url)

const documentError = ({ message, problem }: Refusal): DocumentError => new DocumentError({ problem, message })

const tooLarge = ({ bytes }: Limits): DocumentError =>
  new DocumentError({ problem: "limit", message: `the file is larger than ${Math.round(bytes / 2 ** 20)} MiB` })
