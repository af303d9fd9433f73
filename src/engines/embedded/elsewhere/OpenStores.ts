import { isDeepStrictEqual } from "node:util"
import { Clock, Context, Deferred, Effect, Exit, Layer, Option, Queue, Semaphore } from "effect"
import type { VectorDb } from "../../../domain/Corpus.ts"
import { defined } from "../../../domain/Defined.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { Embedder, OtherEmbedders } from "../../../ports/Embedder.ts"
import { type CorpusRecord, type VectorFile, type VectorStore, VectorStores } from "../../../ports/VectorStore.ts"
import { Reader } from "../store/Reader.ts"
import { corpusRow, type CorpusRow } from "../store/Rows.ts"
import { Writer } from "../store/Writer.ts"

/** Files that may wait for one database; uploads beyond that wait for a place in the queue. */
const queueSize = 64
/** Most files that one call to a database puts. */
const filesAtOnce = 32
/** Calls to one database at a time. */
const callsAtOnce = 2
/** Milliseconds for which a database is taken to belong to this data directory after it said so. */
const ownedFor = 1_000

/** A corpus's store, as this data directory uses it. */
export interface OpenStore {
  readonly store: VectorStore
  /** Whether the corpus in the database belongs to this data directory, which may then change it. */
  readonly owned: Effect.Effect<boolean, ServiceError>
  /** Makes the store ready to be written. Fails where the corpus is another data directory's. */
  readonly prepared: Effect.Effect<void, ServiceError>
  /** Puts a file, together with others that wait. */
  readonly put: (file: VectorFile) => Effect.Effect<void, ServiceError>
}

/** The databases of corpora that are not in the engine's own: each is opened once, and written by a few calls at a time. */
export class OpenStores extends Context.Service<OpenStores, {
  /** The store of a corpus, by its name; `filledBy` is the embedder whose vectors it has. */
  readonly open: (
    vectorDb: VectorDb,
    corpus: string,
    filledBy: string | undefined
  ) => Effect.Effect<OpenStore, ServiceError>
  /** The row of the corpus of this very name, even where another corpus serves in its place. */
  readonly rowOf: (corpus: string) => Effect.Effect<CorpusRow | undefined, ServiceError>
  /** What a corpus's database records of it; undefined where the corpus is gone. */
  readonly recordOf: (corpus: string) => Effect.Effect<Omit<CorpusRecord, "corpus"> | undefined, ServiceError>
  /** The mark of this data directory on its corpora. */
  readonly owner: Effect.Effect<string, ServiceError>
}>()("sluice/embedded/OpenStores") {
  static readonly layer: Layer.Layer<OpenStores, never, Reader | Writer | Embedder> = Layer.effect(
    OpenStores,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const embedder = yield* Embedder
      const others = yield* OtherEmbedders
      const stores = yield* VectorStores
      const scope = yield* Effect.scope
      const opened = new Map<string, OpenStore>()

      const owner = yield* Effect.cached(
        Effect.map(writer.send("owner", { make: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) }), String)
      )

      const corpusNamed = (name: string) => reader.read((db) => db.prepare("SELECT * FROM corpora WHERE name = ?").get(name))

      const recordOf = Effect.fnUntraced(function*(name: string) {
        const row = yield* corpusNamed(name)
        if (row === undefined) return undefined
        const text = (column: string) => typeof row[column] === "string" ? row[column] : undefined
        return defined({
          displayName: text("display_name") ?? "",
          description: text("description"),
          embeddingModel: text("embedding_model"),
          embedder: text("embedder") ?? "",
          owner: yield* owner
        })
      })

      /** Writes the corpus's record into its database, where it is absent or outdated. Fails where it is another data directory's. */
      const sign = Effect.fnUntraced(function*(store: VectorStore, { _tag }: VectorDb, name: string): Effect.fn.Return<void, ServiceError> {
        const record = yield* recordOf(name)
        if (record === undefined) return
        const there = (yield* store.corpora).find(({ corpus }) => corpus === name)
        if (there !== undefined && there.owner !== record.owner) return yield* takenOver(store, _tag, there)
        if (there === undefined || !isDeepStrictEqual(there, { corpus: name, ...record })) yield* store.sign(record)
      })

      /** Dimensions of the vectors that the embedder `id` made, which may be another one than the pipeline's. */
      const dimensionsOf = (id: string | undefined): Effect.Effect<number> =>
        id === undefined || id === embedder.id
          ? Effect.succeed(embedder.dimensions)
          : Effect.map(others(id), (other) => other?.dimensions ?? embedder.dimensions)

      /** Starts the calls that put files, and returns how a file joins them. */
      const putting = Effect.fnUntraced(function*(store: VectorStore) {
        const queue = yield* Queue.bounded<Waiting>(queueSize)
        const work = Effect.flatMap(Queue.takeBetween(queue, 1, filesAtOnce), puttingAll(store))
        yield* Effect.forEach(Array.from({ length: callsAtOnce }), () => Effect.forkIn(Effect.forever(work), scope), { discard: true })
        return Effect.fnUntraced(function*(file: VectorFile): Effect.fn.Return<void, ServiceError> {
          const done = Deferred.makeUnsafe<void, ServiceError>()
          yield* Queue.offer(queue, { file, done })
          yield* Deferred.await(done)
        })
      })

      const open = Effect.fnUntraced(function*(
        vectorDb: VectorDb,
        corpus: string,
        filledBy: string | undefined
      ): Effect.fn.Return<OpenStore, ServiceError> {
        const key = JSON.stringify([corpus, vectorDb])
        const known = opened.get(key)
        if (known !== undefined) return known
        const store = yield* stores.open(vectorDb, { corpus, dimensions: yield* dimensionsOf(filledBy) })
        const entry: OpenStore = {
          store,
          owned: yield* onceSucceeded(
            Effect.gen(function*() {
              const there = (yield* store.corpora).find((record) => record.corpus === corpus)
              return there === undefined || there.owner === (yield* owner)
            }),
            ownedFor
          ),
          prepared: Effect.andThen(yield* onceSucceeded(store.prepare), yield* onceSucceeded(sign(store, vectorDb, corpus), ownedFor)),
          put: yield* putting(store)
        }
        opened.set(key, entry)
        return entry
      })

      return OpenStores.of({ open, rowOf: (name) => Effect.map(corpusNamed(name), (row) => row && corpusRow(row)), recordOf, owner })
    })
  )
}

interface Waiting {
  readonly file: VectorFile
  readonly done: Deferred.Deferred<void, ServiceError>
}

/** Runs an effect until it has succeeded, once in `forMs`. A failure is not kept: the database may be reachable the next time. */
const onceSucceeded = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>, forMs = Infinity) {
  const one = yield* Semaphore.make(1)
  let done: { readonly value: A; readonly at: number } | undefined
  return one.withPermit(Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    if (done === undefined || at - done.at >= forMs) done = { value: yield* effect, at }
    return done.value
  }))
})

/** Calls in a row that may fail for a reason that may pass; after more of them the reason is the database's, not a file's. */
const mostFailures = 2

/**
 * Puts files in one call. Where that fails, each file is put alone, so that one bad file does not fail the others; until
 * something is put again, not where the database is what failed.
 */
const puttingAll = (store: VectorStore) => {
  let failures = 0
  const put = (files: ReadonlyArray<VectorFile>) =>
    Effect.tap(Effect.exit(store.put(files)), (exit) => Effect.sync(() => void (failures = isTransient(exit) ? failures + 1 : 0)))
  return Effect.fnUntraced(function*(batch: ReadonlyArray<Waiting>) {
    const together = yield* put(batch.map(({ file }) => file))
    let exit = together
    for (const { done, file } of batch) {
      if (Exit.isFailure(together) && batch.length > 1 && failures <= mostFailures) exit = yield* put([file])
      yield* Deferred.done(done, exit)
    }
  })
}

const isTransient = (exit: Exit.Exit<void, ServiceError>): boolean =>
  Option.exists(Exit.findErrorOption(exit), ({ retryable }) => retryable)

/** The error for a corpus that belongs to another data directory now: two that write the same corpus would delete each other's files. */
const takenOver = ({ place }: VectorStore, kind: VectorDb["_tag"], { displayName }: CorpusRecord): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    field: `corpus.vectorDb.${kind}`,
    message: `corpus.vectorDb.${kind}: corpus "${displayName}" in ${place} was taken over by another data directory, which writes it now`,
    fix:
      "run where that one is; or give this one another displayName; or move this one's folder away and run again, which takes the corpus back"
  })
