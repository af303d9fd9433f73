import { Clock, Context, Effect, Layer } from "effect"
import type { Corpus } from "../../domain/Corpus.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Context as FoundContext, RetrievalRequest } from "../../domain/Retrieval.ts"
import type { DataSchema, FileMetadata } from "../../domain/FileMetadata.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import { type Deployment, type ImportCounts, type Operation, type OperationKind, OperationName } from "../../domain/Operation.ts"
import { defined } from "../../domain/Defined.ts"
import { newId, now, timestamp } from "../../domain/Stamps.ts"
import { makeJobRunner } from "../../jobs/JobRunner.ts"
import { waitFor } from "../../jobs/Wait.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Operations } from "../../ports/Operations.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"
import type { EngineTier } from "../../wire/rag/EngineConfigs.ts"
import type { ModelResult } from "../../wire/models/ModelOperations.ts"
import { CallVersion } from "../Call.ts"
import { importEnded } from "../Telemetry.ts"
import { added, asked, idOf, noCounts, progressOf } from "./Asked.ts"
import { type Entry, Journal } from "./Journal.ts"

/** Most concurrent imports; others wait. It is the hosted service's limit. */
const concurrentImports = 3
/** Milliseconds between two looks at an operation that a client waits for. */
const looks = { first: 50, longest: 50 }
/** Milliseconds of one wait for the engine. */
const engineWait = 10_000

export interface Finished {
  readonly corpus?: Corpus
  readonly tier?: EngineTier
  readonly model?: ModelResult
  readonly deployment?: Deployment
  /** Result of a retrieval: the contexts found. */
  readonly contexts?: ReadonlyArray<FoundContext>
  /** Settings of a retrieval that decide the order of its contexts. */
  readonly ordered?: Pick<RetrievalRequest, "hybrid" | "rank">
  readonly schemas?: ReadonlyArray<DataSchema>
  readonly metadata?: ReadonlyArray<FileMetadata>
  /** Milliseconds for which it must not appear done. */
  readonly slowBy?: number
}

/**
 * The long-running operations that clients see. Most are done as soon as they exist, because the engine's calls return when
 * they are done. Imports run on in the engine's `Files.import`, and a restarted server resumes them: files that were imported
 * before are skipped then, but count as imported.
 */
export class LongRunning extends Context.Service<LongRunning, {
  /** Records an operation that is done already. `target` is the resource's name in the engine. */
  readonly finished: (kind: OperationKind, target: string, result: Finished) => Effect.Effect<Entry>
  /** Starts an import. A second one into the same corpus fails with `FAILED_PRECONDITION`, which names the first. */
  readonly startImport: (request: ImportRequest, slowBy?: number) => Effect.Effect<Entry, ServiceError>
  /** Number of imports running or waiting. */
  readonly imports: Effect.Effect<number>
  /** The operation with the last segment of a name as its id, whatever its parent. */
  readonly get: (name: string) => Effect.Effect<Entry, ServiceError>
  readonly list: (page: PageRequest, target?: string) => Effect.Effect<Page<Entry>, ServiceError>
  readonly cancel: (name: string) => Effect.Effect<void, ServiceError>
  readonly delete: (name: string) => Effect.Effect<void, ServiceError>
  readonly wait: (name: string, timeoutMs: number) => Effect.Effect<Entry, ServiceError>
}>()("sluice/server/operations/LongRunning") {
  static readonly layer: Layer.Layer<LongRunning, never, Journal | Files | Operations | Engine> = Layer.effect(
    LongRunning,
    Effect.gen(function*() {
      const journal = yield* Journal
      const files = yield* Files
      const operations = yield* Operations
      const { parent } = yield* Engine
      const jobs = yield* makeJobRunner({ what: "import", atOnce: concurrentImports })

      const { cancel, list, view, workOf, ...others } = asked(journal, operations)

      /** Starts the work of an import, or finds it started, and waits until it has ended. */
      const drive = Effect.fnUntraced(function*(id: string) {
        const entry = yield* journal.get(id)
        if (entry?.import === undefined) return
        const earlier = yield* workOf(entry.import)
        const before = earlier === undefined ? entry.import.before : added(entry.import.before, earlier.counts ?? noCounts)
        const ended = entry.cancelled === true
          ? { done: true, error: { code: "CANCELLED" as const, message: "the operation was cancelled" }, updateTime: yield* stamp }
          : earlier !== undefined && (earlier.done && earlier.error?.code !== "ABORTED")
          ? finishedImport(entry, earlier)
          : yield* work(
            id,
            { ...entry.import.request, recordedAs: { operation: id, createTime: entry.operation.createTime } },
            before,
            entry.import.work
          )
        if (ended !== undefined) yield* end(id, ended)
      })

      const end = Effect.fnUntraced(function*(id: string, ended: Partial<Operation>) {
        const entry = yield* journal.change(id, (now) => ({ ...now, operation: { ...now.operation, ...defined(ended) } }))
        if (entry !== undefined) yield* importEnded(entry.operation)
      })

      const work = Effect.fnUntraced(
        function*(id: string, request: ImportRequest, before: ImportCounts, earlier: OperationName | undefined) {
          let state = yield* files.import(request)
          const work = state.name
          let entry = yield* journal.change(
            id,
            (now) => now.import === undefined ? now : { ...now, import: { ...now.import, work, before } }
          )
          // Its counts are in `before`.
          if (earlier !== undefined) yield* Effect.ignore(operations.delete(earlier))
          while (!state.done) {
            if (entry?.cancelled === true) yield* Effect.ignore(operations.cancel(work))
            state = yield* operations.wait(work, engineWait)
            entry = yield* journal.get(id)
          }
          // It was interrupted with the process that ran it, and is left for the next server.
          return entry === undefined || state.error?.code === "ABORTED" ? undefined : finishedImport(entry, state)
        }
      )

      /** Runs an import in the background. One that is interrupted is resumed by the next server; any failure ends it. */
      const start = (id: string) =>
        jobs.start(
          id,
          drive(id),
          (outcome) =>
            outcome._tag === "failed"
              ? Effect.flatMap(stamp, (updateTime) => end(id, { done: true, error: outcome.error, updateTime }))
              : Effect.void
        )

      const make = Effect.fnUntraced(function*(
        kind: OperationKind,
        target: string,
        done: boolean,
        more: Omit<Entry, "operation">,
        slowBy: number | undefined,
        deployment?: Deployment
      ) {
        const id = newId()
        const at = yield* stamp
        const operation: Operation = {
          name: OperationName.make(`${target}/operations/${id}`),
          kind,
          target,
          done,
          partialFailures: [],
          deployment,
          createTime: at,
          updateTime: at
        }
        const entry: Entry = {
          operation,
          version: yield* CallVersion,
          ...more,
          ...(slowBy === undefined ? {} : { notBefore: (yield* Clock.currentTimeMillis) + slowBy })
        }
        return { id, entry }
      })

      const get = Effect.fn("LongRunning.get")(function*(name: string): Effect.fn.Return<Entry, ServiceError> {
        // Operations that were started through the library.
        return (yield* others.find(name)) ?? { operation: yield* operations.get(OperationName.make(`${parent}/operations/${idOf(name)}`)) }
      })

      for (const id of yield* journal.unfinished) yield* start(id)

      return LongRunning.of({
        get,
        finished: Effect.fn("LongRunning.finished")(function*(kind, target, { deployment, slowBy, ...result }) {
          const { entry, id } = yield* make(kind, target, true, result, slowBy, deployment)
          yield* journal.add(id, entry)
          return yield* view(entry)
        }),
        startImport: Effect.fn("LongRunning.startImport")(function*(request, slowBy) {
          const { entry, id } = yield* make("importFiles", request.corpus, false, { import: { request, before: noCounts } }, slowBy)
          yield* journal.addImport(id, entry)
          yield* start(id)
          return entry
        }),
        imports: jobs.size,
        list,
        cancel: Effect.fn("LongRunning.cancel")(function*(name) {
          const entry = yield* others.find(name)
          if (entry !== undefined) return yield* cancel(entry)
          const { operation } = yield* get(name)
          if (!operation.done) yield* operations.cancel(operation.name)
        }),
        delete: Effect.fn("LongRunning.delete")(function*(name) {
          const entry = yield* others.find(name)
          yield* entry === undefined ? operations.delete((yield* get(name)).operation.name) : others.delete(entry)
        }),
        wait: Effect.fn("LongRunning.wait")(function*(name, timeoutMs) {
          return yield* waitFor(get(name), ({ operation }) => operation.done, looks, { timeoutMs })
        })
      })
    })
  )
}

const stamp = Effect.map(now, timestamp)

const finishedImport = (entry: Entry, state: Operation): Partial<Operation> => ({
  ...progressOf(entry, state),
  done: true,
  ...(state.error === undefined ? { progress: 100 } : { error: state.error })
})
