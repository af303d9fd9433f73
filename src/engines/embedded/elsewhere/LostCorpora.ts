import { Context, Effect, Layer, type Scope } from "effect"
import type { CorpusSpec, VectorDb } from "../../../domain/Corpus.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { newId, now } from "../../../domain/Stamps.ts"
import { embedBy, Embedder, unitOf } from "../../../ports/Embedder.ts"
import { type CorpusRecord, type OtherFile, type Others, type VectorStore, VectorStores } from "../../../ports/VectorStore.ts"
import { Reader } from "../store/Reader.ts"
import { corpusRow } from "../store/Rows.ts"
import { cosineOf, packVector } from "../store/Vector.ts"
import { Writer } from "../store/Writer.ts"
import { CorpusVectors } from "./CorpusVectors.ts"
import { type FileRecord, fileRecordOfRow, newFileOf } from "./FileRecord.ts"
import { NotedWork } from "./NotedWork.ts"
import { OpenStores } from "./OpenStores.ts"
import { otherFile, otherName } from "./OtherFiles.ts"
import { elsewhereTerms } from "./StoredFiles.ts"
import { readable, sorted } from "./StoredVersions.ts"

/** Chunks of other writers that are embedded again, to find out whether this embedder made their vectors. */
const comparedChunks = 3
/** Cosine above which two vectors of a text count as made by the same embedder. */
const leastLikeness = 0.95

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

/** What {@link LostCorpora.find} found in a database. */
interface Found extends ReturnType<typeof sorted> {
  readonly store: VectorStore
  /** The corpus. */
  readonly name: string
  readonly others: Others | undefined
  /** Files of others that the corpus does not have yet. */
  readonly fresh: ReadonlyArray<OtherFile>
}

/** Finds what corpora's own databases have and this data directory does not: after the loss of its data, or of another program's. */
export class LostCorpora extends Context.Service<LostCorpora, {
  /** What `Corpora.lost` of the port finds, with the engine's own names. */
  readonly find: (spec: Pick<CorpusSpec, "displayName" | "vectorDb">) => Effect.Effect<Lost | undefined, ServiceError>
}>()("sluice/embedded/LostCorpora") {
  static readonly layer: Layer.Layer<LostCorpora, never, Reader | Writer | Embedder> = Layer.effect(
    LostCorpora,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const embedder = yield* Embedder
      const stores = yield* VectorStores
      const noted = yield* NotedWork
      const { begin } = yield* CorpusVectors
      const { open, owner, recordOf, rowOf } = yield* OpenStores

      /** Versions in the database that this data directory neither has nor is working on. */
      const unknownVersions = Effect.fnUntraced(function*(store: VectorStore, name: string, known: ReadonlyMap<string, unknown>) {
        const atWork = new Set((yield* noted.files).flatMap(({ corpus, file }) => corpus === name ? [file] : []))
        return (yield* store.versions).filter(({ file }) => !known.has(file) && !atWork.has(file))
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
            const { analyzers } = (yield* elsewhereTerms).termsOf(taken)
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
          const corpus = yield* rowOf(name)
          if (corpus === undefined || chunks.length === 0) return
          const file = otherFile(otherName(name, other), other, chunks)
          const vectors = new Map(file.chunks.map(({ hash }, i) => [hash, { hash, vector: packVector(chunks[i]!.vector) }]))
          const version = yield* begin(corpus, file)
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

      /** The record that the database has of a corpus unknown here, by its display name. Fails where several have that name. */
      const leftRecord = Effect.fnUntraced(function*(store: VectorStore, vectorDb: VectorDb, displayName: string) {
        const dropped = new Set((yield* noted.files).flatMap(({ corpus, file }) => file === "" ? [corpus] : []))
        const [left, another] = (yield* store.corpora).filter((each) => each.displayName === displayName && !dropped.has(each.corpus))
        if (another !== undefined) return yield* severalOf(store, vectorDb, displayName)
        return left
      })

      const find = Effect.fn("LostCorpora.find")(
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
          const corpus = yield* rowOf(name)
          const { store } = yield* open(vectorDb, name, record.embedder)
          const known = corpus === undefined ? new Map<string, FileRecord | undefined>() : yield* filesOf(corpus.id)
          // Vectors of another embedder are of no use here. The corpus is, and a rebuild then replaces it.
          const usable = record.embedder === embedder.id
          const fresh = usable ? theirs.filter((file) => !known.has(otherName(name, file))) : []
          const { broken, whole } = sorted(usable ? yield* unknownVersions(store, name, known) : [], [...known.values()])
          const found: Found = { store, name, whole, broken, others, fresh }
          return {
            record,
            place: store.place,
            unknown: corpus === undefined,
            files: [
              ...whole.map(({ file, of: { marker, sizeBytes } }) => ({ name: file, marker, sizeBytes })),
              ...fresh.map((file) => ({ name: otherName(name, file), marker: undefined, sizeBytes: 0 }))
            ],
            takeIn: takeIn(found)
          }
        }
      )

      return LostCorpora.of({ find })
    })
  ).pipe(Layer.provide(CorpusVectors.layer), Layer.provide(NotedWork.layer), Layer.provide(OpenStores.layer))
}

const severalOf = ({ place }: VectorStore, kind: VectorDb, displayName: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    field: `corpus.vectorDb.${kind._tag}`,
    message:
      `corpus.vectorDb.${kind._tag}: several corpora of the database are called "${displayName}", and this data directory knows none of them (${place})`,
    fix: "give this one another displayName, or delete those that nobody uses"
  })
