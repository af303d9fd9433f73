import { Effect, Layer } from "effect"
import { type Corpus, type CorpusName, isElsewhere, isOfGoogle, type VectorDb } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { corpusBroken, corpusPatchBroken, vectorDbInPlace } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Embedder } from "../../ports/Embedder.ts"
import { VectorStores } from "../../ports/VectorStore.ts"
import { unservedOption, updatedVectorDb } from "./CorpusRules.ts"
import { CorpusVectors } from "./elsewhere/CorpusVectors.ts"
import { LostCorpora } from "./elsewhere/LostCorpora.ts"
import type { Names } from "./Names.ts"
import type { Row } from "./store/Checksum.ts"
import { Reader } from "./store/Reader.ts"
import { corpusOfRow } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"
import { newId, now } from "../../domain/Stamps.ts"

/** The Corpora port over the store. */
export const embeddedCorpora = (names: Names): Layer.Layer<Corpora, never, Reader | Writer | Embedder | CorpusVectors | LostCorpora> =>
  Layer.effect(
    Corpora,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const embedder = yield* Embedder
      const vectors = yield* CorpusVectors
      const lost = yield* LostCorpora
      const { callsGoogle = false } = yield* VectorStores

      /** A vector database as it is stored: with its names in place, and a note on whether Google is called for it. */
      const placed = (db: VectorDb): VectorDb => {
        const kept = vectorDbInPlace(db)
        return isOfGoogle(kept) && callsGoogle ? { ...kept, served: "byGoogle" } : kept
      }

      /** Corpora by their rows: a server asks for them in every request. */
      const made = new WeakMap<Row, Corpus>()
      const ofRow = (row: Row): Corpus => {
        const corpus = made.get(row) ?? corpusOfRow(row, names)
        made.set(row, corpus)
        return corpus
      }

      const get = Effect.fn("Corpora.get")(function*(name: CorpusName): Effect.fn.Return<Corpus, ServiceError> {
        const id = yield* names.corpusId(name)
        const row = yield* reader.find("corpora", id)
        return row === undefined ? yield* ServiceError.notFound(`corpus ${name}`) : ofRow(row)
      })

      return Corpora.of({
        create: Effect.fn("Corpora.create")(function*(spec) {
          const refused = refusalOf(corpusBroken(spec)) ?? unservedOption(placed(spec.vectorDb), spec.options)
          if (refused !== undefined) return yield* refused
          const name = newId()
          yield* writer.send("createCorpus", {
            ...spec,
            vectorDb: placed(spec.vectorDb),
            name,
            embedder: embedder.id,
            at: yield* now
          })
          return yield* get(names.corpus(name))
        }),
        get,
        list: Effect.fn("Corpora.list")(function*(request) {
          const page = yield* reader.page("corpora", request)
          return { ...page, items: page.items.map((row) => corpusOfRow(row, names)) }
        }),
        update: Effect.fn("Corpora.update")(function*(name, patch) {
          const id = yield* names.corpusId(name)
          const stored = yield* reader.corpus(id)
          const refused = refusalOf(corpusPatchBroken(patch))
          if (refused !== undefined) return yield* refused
          const vectorDb = updatedVectorDb(stored.vectorDb, patch)
          if (vectorDb instanceof ServiceError) return yield* vectorDb
          yield* writer.send("updateCorpus", {
            name: stored.name,
            displayName: patch.displayName,
            description: patch.description,
            vectorDb,
            at: yield* now
          })
          // A corpus without files has no record in its database yet.
          if (isElsewhere(stored.vectorDb) && stored.files > 0 && patch.displayName !== undefined) yield* vectors.renamed(id)
          return yield* get(name)
        }),
        lost: Effect.fn("Corpora.lost")(function*(spec) {
          const vectorDb = placed(spec.vectorDb)
          const found = isElsewhere(vectorDb) ? yield* lost.find({ ...spec, vectorDb }) : undefined
          if (found === undefined || (!found.unknown && found.files.length === 0)) return undefined
          const { files, place, record, takeIn, unknown } = found
          const { corpus, owner: _, ...known } = record
          const create = Effect.gen(function*() {
            yield* writer.send("createCorpus", { ...known, name: corpus, vectorDb, at: yield* now })
          })
          return {
            corpus: names.corpus(corpus),
            place,
            files: files.map(({ name, ...file }) => ({ ...file, name: names.file(corpus, name) })),
            takeIn: unknown ? Effect.andThen(create, takeIn) : takeIn
          }
        }),
        delete: Effect.fn("Corpora.delete")(function*(name, options) {
          const { name: id } = yield* reader.corpus(yield* names.corpusId(name))
          yield* writer.send("deleteCorpus", { name: id, force: options?.force ?? false, at: yield* now })
          yield* vectors.tidy(id)
        })
      })
    })
  )
