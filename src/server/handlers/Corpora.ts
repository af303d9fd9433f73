import { Effect } from "effect"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { corpusPatchFromWire, corpusSpecFromWire, corpusToWire } from "../../wire/Corpora.ts"
import { engineTierFromWire, engineTierToWire } from "../../wire/EngineConfigs.ts"
import { type Handlers, take } from "../Call.ts"
import { Journal } from "../operations/Journal.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { pageOf } from "./paging.ts"

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
 * Corpora, and the engine's one configuration, which is kept and changes nothing here.
 *
 * What is wrong with a request is answered at once; an operation stands for what has been done.
 */
export const corpusHandlers = (defaultEmbedding: string): Effect.Effect<Methods, never, Corpora | Engine | Journal | LongRunning> =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const { parent } = yield* Engine
    const journal = yield* Journal
    const operations = yield* LongRunning

    return {
      createRagCorpus: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const corpus = yield* corpora.create(yield* take(corpusSpecFromWire(body)))
        const entry = yield* operations.finished("createCorpus", corpus.name, { corpus, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      listRagCorpora: ({ names, query }) =>
        corpora.list(pageOf(query)).pipe(Effect.map(({ items, nextToken }) => ({
          // Only `get` counts the files of a corpus.
          ragCorpora: items.map(({ filesCount: _, ...corpus }) => corpusToWire(names.renamed(corpus), names.toClient(defaultEmbedding))),
          ...(nextToken === undefined ? {} : { nextPageToken: nextToken })
        }))),
      getRagCorpus: ({ names, params }) =>
        Effect.map(corpora.get(names.corpus(params.name)), (corpus) => corpusToWire(names.renamed(corpus), names.toClient(defaultEmbedding))),
      updateRagCorpus: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const corpus = yield* corpora.update(names.corpus(params.name), yield* take(corpusPatchFromWire(body)))
        const entry = yield* operations.finished("updateCorpus", corpus.name, { corpus, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      deleteRagCorpus: Effect.fnUntraced(function*({ names, params, query, slowBy, version }) {
        const corpus = names.corpus(params.name)
        yield* corpora.delete(corpus, { force: query.force === true || query.forceDelete === true })
        const entry = yield* operations.finished("deleteCorpus", corpus, { slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      getRagEngineConfig: ({ params, version }) =>
        Effect.map(journal.tier, (tier) => engineTierToWire(params.name, tier ?? "basic", version)),
      updateRagEngineConfig: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const tier = yield* take(engineTierFromWire(body))
        yield* journal.setTier(tier)
        const entry = yield* operations.finished("updateEngineConfig", parent, { tier, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      })
    }
  })
