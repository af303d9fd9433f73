import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import { type Corpus, type CorpusOptions, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"
import { asCorpusField, corpusFixedFromWire, corpusPatchFromWire, corpusSpecFromWire, corpusToWire } from "../../wire/rag/Corpora.ts"
import { unserved } from "../../wire/Optional.ts"
import { engineTierFromWire, engineTierToWire } from "../../wire/rag/EngineConfigs.ts"
import { type Handlers, take } from "../Call.ts"
import { isOfPlace } from "../CorpusPlaces.ts"
import { Journal } from "../operations/Journal.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { nextPage, pageOf } from "./Paging.ts"

type Methods = Pick<
  Handlers,
  | "createRagCorpus"
  | "listRagCorpora"
  | "getRagCorpus"
  | "updateRagCorpus"
  | "deleteRagCorpus"
  | "getRagEngineConfig"
  | "updateRagEngineConfig"
>

/**
 * Corpora, and the engine's single configuration, which is stored but has no effect here.
 *
 * Errors of a request are reported at once; the returned operations are done already.
 */
export const corpusHandlers = (defaultEmbedding: string): Effect.Effect<Methods, never, Corpora | Engine | Journal | LongRunning> =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const { parent } = yield* Engine
    const journal = yield* Journal
    const operations = yield* LongRunning

    return {
      createRagCorpus: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const spec = yield* take(corpusSpecFromWire(body))
        const corpus = yield* asWritten(corpora.create({ ...spec, options: { ...spec.options, place: names.location } }))
        if (corpus.errorStatus !== undefined) yield* Effect.logWarning(`corpus ${corpus.name}: ${corpus.errorStatus}`)
        const entry = yield* operations.finished("createCorpus", corpus.name, { corpus, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      listRagCorpora: ({ names, query }) =>
        pageInPlace(corpora, names.location, pageOf(query)).pipe(Effect.map(({ items, nextToken }) => ({
          // Only `get` counts the files of a corpus.
          ragCorpora: items.map(({ filesCount: _, ...corpus }) => corpusToWire(names.renamed(corpus), names.toClient(defaultEmbedding))),
          ...nextPage(nextToken)
        }))),
      getRagCorpus: ({ names, params }) =>
        Effect.map(
          corpora.get(names.corpus(params.name)),
          (corpus) => corpusToWire(names.renamed(corpus), names.toClient(defaultEmbedding))
        ),
      updateRagCorpus: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const name = names.corpus(params.name)
        const patch = yield* take(corpusPatchFromWire(body))
        const changed = changedForGood(yield* corpora.get(name), yield* take(corpusFixedFromWire(body)), defaultEmbedding)
        if (changed !== undefined) {
          return yield* ServiceError.invalid(`rag_corpus.${changed}`, "is fixed at creation", "create another corpus")
        }
        const corpus = yield* asWritten(corpora.update(name, patch))
        const entry = yield* operations.finished("updateCorpus", corpus.name, { corpus, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      deleteRagCorpus: Effect.fnUntraced(function*({ names, params, query, slowBy, version }) {
        const corpus = names.corpus(params.name)
        // Google's Python SDK never sends `force`, and its users delete corpora that have files.
        const { force, forceDelete } = query
        yield* corpora.delete(corpus, { force: force === true || forceDelete === true || (force ?? forceDelete) === undefined })
        const entry = yield* operations.finished("deleteCorpus", corpus, { slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      getRagEngineConfig: ({ params, version }) =>
        Effect.map(journal.tier, (tier) => engineTierToWire(params.name, tier ?? "basic", version)),
      updateRagEngineConfig: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const tier = yield* take(engineTierFromWire(body))
        // On the hosted service this tier deletes everything in the managed database.
        yield* take(
          unserved(tier === "unprovisioned", "rag_engine_config.rag_managed_db_config.unprovisioned", "delete the corpora one by one")
        )
        yield* journal.setTier(tier)
        const entry = yield* operations.finished("updateEngineConfig", parent, { tier, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      })
    }
  })

/**
 * A page of the corpora of one place. It is shorter than requested where corpora of other places lie between, and empty only at
 * the end.
 */
const pageInPlace = (corpora: Corpora["Service"], parent: string, page: PageRequest): Effect.Effect<Page<Corpus>, ServiceError> =>
  Effect.flatMap(corpora.list(page), ({ items, nextToken }) => {
    const own = items.filter((corpus) => isOfPlace(corpus, parent))
    return own.length > 0 || nextToken === undefined
      ? Effect.succeed({ items: own, nextToken })
      : pageInPlace(corpora, parent, { ...page, token: nextToken })
  })

/**
 * The immutable field that an update would change; undefined where it changes none. Clients send back what they received, and
 * a corpus that named no model is shown with the default one.
 */
const changedForGood = (
  corpus: Corpus,
  { embeddingModel, options = {} }: Pick<CorpusSpec, "embeddingModel" | "options">,
  defaultEmbedding: string
): string | undefined => {
  if (embeddingModel !== undefined && !sameModel(corpus.embeddingModel ?? defaultEmbedding, embeddingModel)) {
    return "vector_db_config.rag_embedding_model_config"
  }
  const had = corpus.options ?? {}
  if (options.search !== undefined && !isDeepStrictEqual(inFull(options.search), inFull(had.search))) return optionFields.search
  const changed = (["hybrid", "encryptionKey", "holds"] as const).find((option) =>
    options[option] !== undefined && !isDeepStrictEqual(options[option], had[option])
  )
  return changed === undefined ? undefined : optionFields[changed]
}

/** A search strategy with the service's defaults filled in. */
const inFull = (search: CorpusOptions["search"] = { _tag: "knn" }): CorpusOptions["search"] =>
  search._tag === "ann" ? { treeDepth: 2, leafCount: 500, ...search } : search

const optionFields = {
  search: "vector_db_config.rag_managed_db",
  hybrid: "vector_db_config.rag_embedding_model_config",
  encryptionKey: "encryption_spec.kms_key_name",
  holds: "corpus_type_config"
} as const

/** Renames the fields in the engine's errors to those of the API. */
const asWritten = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
  Effect.mapError(effect, (error) => {
    if (error.code !== "INVALID_ARGUMENT") return renamed(error, (field) => asCorpusField({ field, description: "" }).field)
    const { fix, violations = [] } = error
    return refusalOf(violations.map((violation) => asCorpusField({ ...violation, ...(fix === undefined ? {} : { fix }) }))) ?? error
  })
