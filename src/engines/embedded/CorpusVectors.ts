import { isDeepStrictEqual } from "node:util"
import { Context, Deferred, Effect, Exit, Layer, Queue, type Scope, Semaphore } from "effect"
import type { CorpusSpec, VectorDb } from "../../domain/Corpus.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { embedBy, Embedder, OtherEmbedders, unitOf } from "../../ports/Embedder.ts"
import { type CorpusRecord, type OtherFile, type Others, type VectorFile, type VectorStore, VectorStores } from "../../ports/VectorStore.ts"
import type { AnalyzerId } from "../../search/analysis/Detection.ts"
import { isAlive } from "../../jobs/JobRunner.ts"
import { newId, now } from "../../domain/Stamps.ts"
import { chunkRecord, type FileRecord, fileRecordOfRow, newFileOf } from "./FileRecord.ts"
import { otherFile, otherName } from "./OtherFiles.ts"
import { readable, sorted } from "./StoredVersions.ts"
import { asBlob, checkedColumns, isIntact } from "./store/Checksum.ts"
import type { NewFile, NewVector } from "./store/Commands.ts"
import { fromHex, textHash } from "./store/Hash.ts"
import { Reader } from "./store/Reader.ts"
import { corpusRow, type CorpusRow, metadataOfRow, permissionsOfRow } from "./store/Rows.ts"
import { cosineOf, packVector, unitVectorOf } from "./store/Vector.ts"
import type { VectorWork } from "./store/VectorTable.ts"
import { Writer } from "./store/Writer.ts"

/** Loaded on use: the analysis is large, and in this thread only corpora in databases of their own need it. */
const terming = Effect.promise(() => import("./TermsElsewhere.ts"))

/** Files that may wait for one database; uploads beyond that wait for a place in the queue. */
const queueSize = 64
/** Most files that one call to a database puts. */
const filesAtOnce = 32
/** Calls to one database at a time. */
const callsAtOnce = 2

/** Rows of noted work that are read at a time. */
const workStep = 500

/** Chunks of other writers that are embedded again, to find out whether this embedder made their vectors. */
const comparedChunks = 3
/** Cosine above which two vectors of a text count as made by the same embedder. */
const leastLikeness = 0.95

/** Most milliseconds that opening an engine spends on what an earlier process left behind. */
const openingLimit = 30_000

/** Versions that this process is writing, in any of its engines. */
const active = new Set<string>()

/** A version on its way into a database. */
export interface Version {
  /** Writes the version's chunks; `fresh` has the vectors that are not stored yet. When it returns, searches of the database find them. */
  readonly put: (fresh: ReadonlyArray<NewVector>) => Effect.Effect<{ readonly analyzers: ReadonlyArray<AnalyzerId> }, ServiceError>
}

/** A corpus of which its database has more than this data directory. */
export interface Lost {
  readonly record: CorpusRecord
  readonly place: string
  /** Whether this data directory does not know the corpus at all. */
  readonly unknown: boolean
  readonly files: ReadonlyArray<{ readonly name: string } & Pick<FileRecord, "marker" | "sizeBytes">>
  /** Takes the files into the corpus, which must exist by then. */
  readonly takeIn: Effect.Effect<void, ServiceError>
}

/** What {@link CorpusVectors.lost} found in a database. */
interface Found extends ReturnType<typeof sorted> {
  readonly store: VectorStore
  /** The corpus. */
  readonly name: string
  readonly others: Others | undefined
  /** Files of others that the corpus does not have yet. */
  readonly fresh: ReadonlyArray<OtherFile>
}

interface Waiting {
  readonly file: VectorFile
  readonly done: Deferred.Deferred<void, ServiceError>
}

interface Opened {
  readonly store: VectorStore
  /** Whether the corpus in the database belongs to this data directory, which may then change it. */
  readonly owned: Effect.Effect<boolean, ServiceError>
  readonly prepared: Effect.Effect<void, ServiceError>
  readonly put: (file: VectorFile) => Effect.Effect<void, ServiceError>
}

/**
 * Corpora whose vectors are in a database of their own. The engine's tables alone decide what is visible: a version of a file is written
 * whole, under its own ids, before its row is committed, and deleted after its row is gone. Each such step is noted before it is done,
 * so that the next process finishes what a killed one left undone.
 */
export class CorpusVectors extends Context.Service<CorpusVectors, {
  /** Starts a version of a file. Where the scope closes before the file was committed, what was written is deleted. */
  readonly begin: (corpus: CorpusRow, file: NewFile) => Effect.Effect<Version, ServiceError, Scope.Scope>
  /** Does the work that is noted for a corpus; what fails stays noted, and is tried again by the next call. */
  readonly tidy: (corpus: string) => Effect.Effect<void>
  readonly store: (corpus: CorpusRow) => Effect.Effect<VectorStore, ServiceError>
  /** Writes a corpus's new name into the database; where that fails, the next process that writes does it. */
  readonly renamed: (corpus: string) => Effect.Effect<void>
  /** What `Corpora.lost` of the port finds, with the engine's own names: a corpus of which the database has more than is known here. */
  readonly lost: (spec: Pick<CorpusSpec, "displayName" | "vectorDb">) => Effect.Effect<Lost | undefined, ServiceError>
}>()("sluice/embedded/CorpusVectors") {
  static readonly layer: Layer.Layer<CorpusVectors, never, Reader | Writer | Embedder> = Layer.effect(
    CorpusVectors,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const embedder = yield* Embedder
      const others = yield* OtherEmbedders
      const stores = yield* VectorStores
      const scope = yield* Effect.scope
      const opened = new Map<string, Opened>()
      const tidying = yield* Semaphore.make(1)

      /** The row of the corpus of this very name, even where another corpus serves in its place. */
      const itself = (name: string) => reader.read((db) => db.prepare("SELECT * FROM corpora WHERE name = ?").get(name))

      const owner = yield* Effect.cached(
        Effect.map(writer.send("owner", { make: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) }), String)
      )

      /** The record of a corpus for its database; undefined where the corpus is gone. */
      const recordOf = Effect.fnUntraced(function*(name: string) {
        const row = yield* itself(name)
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

      const open = Effect.fnUntraced(function*(
        vectorDb: VectorDb,
        corpus: string,
        filledBy: string | undefined
      ): Effect.fn.Return<Opened, ServiceError> {
        const key = JSON.stringify([corpus, vectorDb])
        const known = opened.get(key)
        if (known !== undefined) return known
        const store = yield* stores.open(vectorDb, { corpus, dimensions: yield* dimensionsOf(filledBy) })
        const queue = yield* Queue.bounded<Waiting>(queueSize)
        const work = Effect.flatMap(Queue.takeBetween(queue, 1, filesAtOnce), (batch) => putAll(store, batch))
        yield* Effect.forEach(Array.from({ length: callsAtOnce }), () => Effect.forkIn(Effect.forever(work), scope), { discard: true })
        const preparing = yield* Semaphore.make(1)
        let ready = false
        let owned: boolean | undefined
        const entry: Opened = {
          store,
          owned: Effect.suspend(() =>
            owned !== undefined ? Effect.succeed(owned) : Effect.gen(function*() {
              const there = (yield* store.corpora).find((record) => record.corpus === corpus)
              return owned = there === undefined || there.owner === (yield* owner)
            })
          ),
          // A failure is not kept: the database may be reachable the next time.
          prepared: preparing.withPermit(
            Effect.suspend(() =>
              ready
                ? Effect.void
                : Effect.andThen(store.prepare, sign(store, vectorDb, corpus)).pipe(Effect.andThen(Effect.sync(() => void (ready = true))))
            )
          ),
          put: Effect.fnUntraced(function*(file) {
            const done = Deferred.makeUnsafe<void, ServiceError>()
            yield* Queue.offer(queue, { file, done })
            yield* Deferred.await(done)
          })
        }
        opened.set(key, entry)
        return entry
      })

      /** Vectors of texts, by their hashes: from `fresh`, or else from the cache of embeddings. */
      const vectorsOf = (corpus: CorpusRow, file: string, hashes: ReadonlyArray<string>, fresh: ReadonlyArray<NewVector>) =>
        reader.read((db) => {
          const given = new Map(fresh.map(({ hash, vector }) => [hash, vector]))
          const stored = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
          return hashes.map((hash) => {
            const known = given.get(hash)
            if (known !== undefined) return unitVectorOf(known, embedder.dimensions)
            const row = stored.get(fromHex(hash), corpus.embedder)
            if (!isIntact("embeddings", row)) throw new ServiceError({ code: "ABORTED", message: `a vector of ${file} disappeared` })
            return unitVectorOf(asBlob(row["vector"]), embedder.dimensions)
          })
        })

      const begin = Effect.fnUntraced(function*(corpus: CorpusRow, file: NewFile): Effect.fn.Return<Version, ServiceError, Scope.Scope> {
        const entry = yield* open(corpus.vectorDb, corpus.name, corpus.embedder)
        yield* Effect.mapError(entry.prepared, unusable)
        yield* Effect.acquireRelease(
          Effect.andThen(
            Effect.sync(() => active.add(file.name)),
            writer.send("beginVersion", { corpus: corpus.name, file: file.name })
          ),
          (_, exit) =>
            Effect.andThen(
              Exit.isSuccess(exit)
                ? Effect.void
                : Effect.ignore(writer.send("beginVersion", { corpus: corpus.name, file: file.name, failed: true })),
              Effect.sync(() => active.delete(file.name))
            )
        )
        const { analyzers, terms } = (yield* terming).termsOf(file)
        return {
          put: Effect.fnUntraced(function*(fresh) {
            const vectors = yield* vectorsOf(corpus, file.displayName, file.chunks.map(({ hash }) => hash), fresh)
            const { displayName, metadata, name, permissions, sourceUri } = file
            const created = yield* now
            const chunks = file.chunks.map((chunk, ordinal) => ({
              ...chunk,
              ordinal,
              vector: vectors[ordinal]!,
              terms: terms[ordinal]!,
              record: chunkRecord(chunk, ordinal === 0 ? { ...file, chunks: file.chunks.length, created } : undefined)
            }))
            // A call under way cannot be taken back, and must not arrive after the version's deletion.
            yield* Effect.uninterruptible(entry.put({ file: name, sourceUri, displayName, metadata, permissions, chunks }))
            return { analyzers }
          })
        }
      })

      /** A stored file, to be written to the database again because its facts changed; undefined where it is gone. */
      const storedFile = Effect.fnUntraced(
        function*(corpus: CorpusRow, name: string): Effect.fn.Return<VectorFile | undefined, ServiceError> {
          const row = yield* reader.find("files", name, corpus.id)
          if (row === undefined) return undefined
          const stored: Array<NewFile["chunks"][number]> = []
          for (let token: string | undefined, more = true; more;) {
            const page = yield* reader.chunks(corpus.id, name, token === undefined ? { size: 1_000 } : { size: 1_000, token })
            if (page === undefined) return undefined
            for (const { ordinal: _, ...chunk } of page.items) stored.push({ ...chunk, hash: textHash(chunk.text) })
            token = page.nextToken
            more = token !== undefined
          }
          const { language, title } = row
          const { terms } = (yield* terming).termsOf(defined({
            chunks: stored,
            language: typeof language === "string" ? language : undefined,
            title: typeof title === "string" ? title : undefined
          }))
          const displayName = String(row["display_name"])
          const vectors = yield* vectorsOf(corpus, displayName, stored.map(({ hash }) => hash), [])
          return {
            file: name,
            sourceUri: String(row["source_uri"]),
            displayName,
            metadata: metadataOfRow(row),
            permissions: permissionsOfRow(row),
            chunks: stored.map((chunk, ordinal) => ({
              ...chunk,
              ordinal,
              vector: vectors[ordinal]!,
              terms: terms[ordinal]!,
              record: chunkRecord(chunk, ordinal === 0 ? fileRecordOfRow(row) : undefined)
            }))
          }
        }
      )

      const isDue = ({ action, file, owner }: VectorWork): boolean =>
        action !== "writing" || (owner === process.pid ? !active.has(file) : !isAlive(owner))

      /** Does the noted work of a corpus in its database. */
      const settle = Effect.fnUntraced(function*(name: string, work: ReadonlyArray<VectorWork>): Effect.fn.Return<void, ServiceError> {
        const [first] = work
        if (first === undefined) return
        const found = yield* itself(name)
        const corpus = found === undefined ? undefined : corpusRow(found)
        // Written by VectorTable from a VectorDb. A key may have been replaced since.
        const { owned, store } = yield* open(corpus?.vectorDb ?? JSON.parse(first.place) as VectorDb, name, corpus?.embedder)
        const done = (ids: ReadonlyArray<VectorWork>) => writer.send("settleVectors", { ids: ids.map(({ id }) => id) })
        // Another data directory took the corpus over, and owns what is there now.
        if (!(yield* owned)) return yield* done(work)
        const whole = work.filter(({ file }) => file === "")
        if (whole.length > 0) {
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
          const noted = yield* workOf(reader, name)
          yield* done(noted.filter(({ action, file }) => action === "delete" && halves.some((half) => half.file === file)))
        }
        yield* done(deleted)
        for (const rewrite of work.filter(({ action }) => action === "rewrite")) {
          const file = corpus === undefined ? undefined : yield* storedFile(corpus, rewrite.file)
          if (file !== undefined) yield* store.put([file])
          yield* done([rewrite])
        }
      })

      const tidy = Effect.fn("CorpusVectors.tidy")(function*(name: string) {
        for (let again = true; again;) {
          const due = (yield* workOf(reader, name)).filter(isDue)
          yield* settle(name, due)
          again = due.length === workStep
        }
      })

      const tidied = (name: string): Effect.Effect<void> =>
        tidying.withPermit(tidy(name)).pipe(
          Effect.catch((error) =>
            Effect.logWarning(`what is left of corpus ${name} in its database stays until the next run: ${error.message}`)
          )
        )

      const left = yield* Effect.orElseSucceed(workOf(reader), () => [])
      const names = new Set(left.filter(isDue).map(({ corpus }) => corpus))
      yield* Effect.forEach(names, (name) => Effect.ignore(Effect.timeout(tidied(name), openingLimit)), { discard: true })

      /** The record that the database has of a corpus unknown here, by its display name. Fails where several have that name. */
      const leftRecord = Effect.fnUntraced(function*(store: VectorStore, vectorDb: VectorDb, displayName: string) {
        const dropped = new Set((yield* workOf(reader)).filter(({ file }) => file === "").map(({ corpus }) => corpus))
        const [left, another] = (yield* store.corpora).filter((each) => each.displayName === displayName && !dropped.has(each.corpus))
        if (another !== undefined) return yield* severalOf(store, vectorDb, displayName)
        return left
      })

      const lost = Effect.fn("CorpusVectors.lost")(
        function*({ displayName, vectorDb }: Pick<CorpusSpec, "displayName" | "vectorDb">): Effect.fn.Return<
          Lost | undefined,
          ServiceError
        > {
          // The records do not depend on the corpus that a store is opened for.
          const any = yield* stores.open(vectorDb, { corpus: "none", dimensions: embedder.dimensions })
          const left = yield* leftRecord(any, vectorDb, displayName)
          const { others } = any
          const theirs = others === undefined ? [] : yield* usableOthers(any.place, others)
          if (left === undefined && theirs.length === 0) return undefined
          const record = left ?? {
            corpus: (yield* calledHere(displayName, vectorDb)) ?? newId(),
            displayName,
            embedder: embedder.id,
            owner: yield* owner
          }
          const { corpus: name } = record
          const row = yield* itself(name)
          const { store } = yield* open(vectorDb, name, record.embedder)
          const known = row === undefined ? new Map<string, FileRecord | undefined>() : yield* filesOf(Number(row["id"]))
          // Vectors of another embedder are of no use here. The corpus is, and a rebuild then replaces it.
          const usable = record.embedder === embedder.id
          const fresh = usable ? theirs.filter((file) => !known.has(otherName(name, file))) : []
          const { broken, whole } = sorted(usable ? yield* unknownVersions(store, name, known) : [], [...known.values()])
          const found: Found = { store, name, whole, broken, others, fresh }
          return {
            record,
            place: store.place,
            unknown: row === undefined,
            files: [
              ...whole.map(({ file, of: { marker, sizeBytes } }) => ({ name: file, marker, sizeBytes })),
              ...fresh.map((file) => ({ name: otherName(name, file), marker: undefined, sizeBytes: 0 }))
            ],
            takeIn: takeIn(found)
          }
        }
      )

      /** Versions in the database that this data directory neither has nor is working on. */
      const unknownVersions = Effect.fnUntraced(function*(store: VectorStore, name: string, known: ReadonlyMap<string, unknown>) {
        const noted = new Set((yield* workOf(reader, name)).map(({ file }) => file))
        return (yield* store.versions).filter(({ file }) => !known.has(file) && !noted.has(file))
      })

      /** Takes what was found into the corpus, and deletes versions that cannot be taken in. */
      const takeIn = Effect.fnUntraced(function*({ broken, fresh, name, others, store, whole }: Found) {
        const record = yield* recordOf(name)
        if (record !== undefined) yield* store.sign(record)
        const unread = yield* takeWhole(store, name, whole)
        if (others !== undefined) yield* Effect.forEach(fresh, (file) => takeOther(name, others, file), { discard: true })
        const gone = [...broken.map(({ file }) => file), ...unread]
        if (gone.length === 0) return
        yield* store.delete(gone)
        yield* Effect.logWarning(
          `${gone.length} versions of files in ${store.place} are not whole or older than others, and were deleted: what of them the sources have is stored again`
        )
      })

      /** Takes whole versions into a corpus, and returns the names of those that could not be read. */
      const takeWhole = Effect.fnUntraced(function*(store: VectorStore, name: string, whole: Found["whole"]) {
        const unread = new Set(whole.map(({ file }) => file))
        for (const some of readable(whole)) {
          for (const file of yield* store.read(some.map(({ file }) => file))) {
            const taken = newFileOf(file)
            if (taken === undefined) continue
            const { analyzers } = (yield* terming).termsOf(taken)
            const vectors = new Map(taken.chunks.map(({ hash }, i) => [hash, { hash, vector: packVector(file.chunks[i]!.vector) }]))
            yield* writer.send("putFile", {
              corpus: name,
              file: taken,
              vectors: [...vectors.values()],
              elsewhere: { analyzers, found: true },
              at: yield* now
            })
            unread.delete(file.file)
          }
        }
        return unread
      })

      /** Takes a file of others into a corpus: the corpus gets the same chunks by its own rules, and theirs stay as they are. */
      const takeOther = Effect.fnUntraced(
        function*(name: string, others: Others, other: OtherFile): Effect.fn.Return<void, ServiceError, Scope.Scope> {
          const chunks = yield* others.read(other)
          const found = yield* itself(name)
          if (found === undefined || chunks.length === 0) return
          const file = otherFile(otherName(name, other), other, chunks)
          const vectors = new Map(file.chunks.map(({ hash }, i) => [hash, { hash, vector: packVector(chunks[i]!.vector) }]))
          const version = yield* begin(corpusRow(found), file)
          const elsewhere = yield* version.put([...vectors.values()])
          yield* writer.send("putFile", { corpus: name, file, vectors: [...vectors.values()], elsewhere, at: yield* now })
        },
        Effect.scoped
      )

      /** Files of others, if this embedder made their vectors: a few texts are embedded again to find out. */
      const usableOthers = Effect.fnUntraced(function*(place: string, others: Others) {
        const files = yield* others.files
        const [first] = files
        if (first === undefined) return []
        const chunks = (yield* others.read(first)).slice(0, comparedChunks)
        const own = yield* embedBy(embedder, chunks.map(({ text }) => text), "document")
        const near = chunks.map(({ vector }, at) => {
          const mine = unitOf(embedder, own[at]!)
          return mine instanceof ServiceError ? -1 : cosineOf(packVector(vector), mine)
        })
        if (near.some((cosine) => cosine > leastLikeness)) return files
        yield* Effect.logWarning(
          `${files.length} files that others put into ${place} are not taken in: their vectors are not those of ${embedder.id}`
        )
        return []
      })

      /** Name of a corpus with this display name in this data directory, which may have nothing in its database yet. */
      const calledHere = (displayName: string, { _tag }: VectorDb) =>
        reader.read((db) =>
          db.prepare("SELECT * FROM corpora WHERE display_name = ? ORDER BY id").all(displayName).map(corpusRow)
            .find(({ vectorDb }) => vectorDb._tag === _tag)?.name
        )

      const filesOf = (corpus: number) =>
        reader.read((db) =>
          new Map(
            db.prepare("SELECT * FROM files WHERE corpus = ?").all(corpus).map((row) =>
              [String(row["name"]), fileRecordOfRow(row)] as const
            )
          )
        )

      return CorpusVectors.of({
        begin,
        lost,
        renamed: Effect.fnUntraced(
          function*(name) {
            const { embedder: filledBy, vectorDb } = yield* reader.read(() => reader.corpusNow(name))
            const { owned, store } = yield* open(vectorDb, name, filledBy)
            const record = yield* recordOf(name)
            const there = (yield* store.corpora).some(({ corpus }) => corpus === name)
            if (record !== undefined && there && (yield* owned)) yield* store.sign(record)
          },
          Effect.catch(({ message }) => Effect.logWarning(`the database still has the corpus under its old name: ${message}`))
        ),
        tidy: tidied,
        store: (corpus) => Effect.map(open(corpus.vectorDb, corpus.name, corpus.embedder), ({ store }) => store)
      })
    })
  )
}

/** The error for a corpus that belongs to another data directory now: two that write the same corpus would delete each other's files. */
const takenOver = ({ place }: VectorStore, kind: VectorDb["_tag"], { displayName }: CorpusRecord): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    field: `corpus.vectorDb.${kind}`,
    message: `corpus.vectorDb.${kind}: corpus "${displayName}" in ${place} was taken over by another data directory, which writes it now`,
    fix:
      "run where that one is; or give this one another displayName; or move this one's folder away and run again, which takes the corpus back"
  })

const severalOf = ({ place }: VectorStore, kind: VectorDb, displayName: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    field: `corpus.vectorDb.${kind._tag}`,
    message:
      `corpus.vectorDb.${kind._tag}: several corpora of the database are called "${displayName}", and this data directory knows none of them (${place})`,
    fix: "give this one another displayName, or delete those that nobody uses"
  })

/** A database that cannot be used concerns every file, so the error ends the run: otherwise each file would fail with it separately. */
const unusable = (error: ServiceError): ServiceError =>
  error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED" || error.code === "FAILED_PRECONDITION"
    ? error
    : error.with({ code: "FAILED_PRECONDITION", message: `the corpus's vector database cannot be used: ${error.message}` })

/** Puts files in one call. Where that fails, each file is put alone, so that one bad file does not fail the others. */
const putAll = Effect.fnUntraced(function*(store: VectorStore, batch: ReadonlyArray<Waiting>) {
  const exit = yield* Effect.exit(store.put(batch.map(({ file }) => file)))
  if (Exit.isSuccess(exit) || batch.length === 1) {
    for (const { done } of batch) yield* Deferred.done(done, exit)
    return
  }
  yield* Effect.forEach(batch, ({ done, file }) => Effect.flatMap(Effect.exit(store.put([file])), (alone) => Deferred.done(done, alone)), {
    discard: true
  })
})

const workOf = (reader: Reader["Service"], corpus?: string): Effect.Effect<ReadonlyArray<VectorWork>, ServiceError> =>
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
