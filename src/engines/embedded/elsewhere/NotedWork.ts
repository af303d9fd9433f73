import { Context, Effect, Layer, Semaphore } from "effect"
import type { VectorDb } from "../../../domain/Corpus.ts"
import type { ServiceError } from "../../../domain/Errors.ts"
import { isAlive } from "../../../jobs/JobRunner.ts"
import type { Embedder } from "../../../ports/Embedder.ts"
import { Reader } from "../store/Reader.ts"
import type { VectorWork } from "../store/VectorTable.ts"
import { Writer } from "../store/Writer.ts"
import { OpenStores } from "./OpenStores.ts"
import { storedFile } from "./StoredFiles.ts"

/** Notes that are read at a time. */
const workStep = 500

/** Most milliseconds that opening an engine spends on what an earlier process left behind. */
const openingLimit = 30_000

/** Versions that this process is writing, in any of its engines. */
export const active = new Set<string>()

/**
 * Work in corpora's databases that was noted before it was done, so that the next process finishes what a killed one left undone. The layer
 * does what is due when it opens.
 */
export class NotedWork extends Context.Service<NotedWork, {
  /** Does the work that is noted for a corpus; what fails stays noted, and is tried again by the next call. */
  readonly tidy: (corpus: string) => Effect.Effect<void>
  /** Files that work is noted for, due or not; "" stands for a whole corpus that is to be dropped. */
  readonly files: Effect.Effect<ReadonlyArray<Pick<VectorWork, "corpus" | "file">>, ServiceError>
}>()("sluice/embedded/NotedWork") {
  static readonly layer: Layer.Layer<NotedWork, never, OpenStores | Reader | Writer | Embedder> = Layer.effect(
    NotedWork,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const { open, rowOf } = yield* OpenStores
      const stored = yield* Effect.context<Reader | Embedder>()
      const tidying = yield* Semaphore.make(1)

      const files = reader.read((db) =>
        db.prepare("SELECT corpus, file FROM vector_work").all().map((row) => ({
          corpus: String(row["corpus"]),
          file: String(row["file"])
        }))
      )

      /** Some of the work that is noted, due or not, of one corpus or all. */
      const list = (corpus?: string): Effect.Effect<ReadonlyArray<VectorWork>, ServiceError> =>
        reader.read((db) => {
          const rows = corpus === undefined
            ? db.prepare("SELECT * FROM vector_work ORDER BY id LIMIT ?").all(workStep)
            : db.prepare("SELECT * FROM vector_work WHERE corpus = ? ORDER BY id LIMIT ?").all(corpus, workStep)
          return rows.map((row) => ({
            id: Number(row["id"]),
            corpus: String(row["corpus"]),
            file: String(row["file"]),
            // Written from a VectorWork.
            action: String(row["action"]) as VectorWork["action"],
            place: String(row["place"]),
            owner: Number(row["owner"])
          }))
        })

      const done = (work: ReadonlyArray<VectorWork>) => writer.send("settleVectors", { ids: work.map(({ id }) => id) })

      /** Does the noted work of a corpus in its database. */
      const settle = Effect.fnUntraced(function*(name: string, work: ReadonlyArray<VectorWork>): Effect.fn.Return<void, ServiceError> {
        const [first] = work
        if (first === undefined) return
        const corpus = yield* rowOf(name)
        // Written by VectorTable from a VectorDb. A key may have been replaced since.
        const { owned, store } = yield* open(corpus?.vectorDb ?? JSON.parse(first.place) as VectorDb, name, corpus?.embedder)
        // Another data directory took the corpus over, and owns what is there now.
        if (!(yield* owned)) return yield* done(work)
        if (work.some(({ file }) => file === "")) {
          yield* store.drop
          return yield* done(work)
        }
        const halves = work.filter(({ action }) => action === "writing")
        // From now on a writer that was only asleep cannot make its version visible.
        for (const { file } of halves) yield* writer.send("beginVersion", { corpus: name, file, failed: true })
        const deleted = work.filter(({ action }) => action === "delete")
        const files = [...halves, ...deleted].map(({ file }) => file)
        if (files.length > 0) yield* store.delete(files)
        if (halves.length > 0) {
          const noted = yield* list(name)
          yield* done(noted.filter(({ action, file }) => action === "delete" && halves.some((half) => half.file === file)))
        }
        yield* done(deleted)
        for (const rewrite of work.filter(({ action }) => action === "rewrite")) {
          const file = corpus === undefined ? undefined : yield* Effect.provide(storedFile(corpus, rewrite.file), stored)
          if (file !== undefined) yield* store.put([file])
          yield* done([rewrite])
        }
      })

      const settleAll = Effect.fn("CorpusVectors.tidy")(function*(name: string) {
        for (let again = true; again;) {
          const due = (yield* list(name)).filter(isDue)
          yield* settle(name, due)
          again = due.length === workStep
        }
      })

      const tidy = (name: string): Effect.Effect<void> =>
        tidying.withPermit(settleAll(name)).pipe(
          Effect.catch((error) =>
            Effect.logWarning(`what is left of corpus ${name} in its database stays until the next run: ${error.message}`)
          )
        )

      const left = yield* Effect.orElseSucceed(list(), () => [])
      const names = new Set(left.filter(isDue).map(({ corpus }) => corpus))
      yield* Effect.forEach(names, (name) => Effect.ignore(Effect.timeout(tidy(name), openingLimit)), { discard: true })

      return NotedWork.of({ tidy, files })
    })
  )
}

/** A version that is being written is not due while its writer lives. */
const isDue = ({ action, file, owner }: VectorWork): boolean =>
  action !== "writing" || (owner === process.pid ? !active.has(file) : !isAlive(owner))
