import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Layer, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusPatch, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { corpusPatchBroken, hostedCorpusBroken, vectorDbInPlace } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { pages, type PageRequest } from "../../ports/Paging.ts"
import { corpusFromWire, corpusPatchToWire, corpusSpecToWire } from "../../wire/rag/Corpora.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import type { RagCorpus } from "../../wire/messages/RagCorpus.ts"
import { operationCorpus } from "../../wire/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import { deleteOnce, finish } from "./LongRunning.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { Transport } from "./Transport.ts"

/** Corpora of one project and location, over HTTP. */
export const layer: Layer.Layer<Corpora, never, Transport> = Layer.effect(
  Corpora,
  Effect.gen(function*() {
    const transport = yield* Transport
    const { parent } = transport
    const named = (corpus: RagCorpus) => Effect.fromResult(corpusFromWire(corpus))

    const get = Effect.fn("HostedCorpora.get")(function*(name: CorpusName) {
      return yield* named(yield* transport.call({ route: routes.getRagCorpus, params: { name } }))
    })

    const list = Effect.fn("HostedCorpora.list")(function*(page: PageRequest) {
      const listed = yield* transport.call({ route: routes.listRagCorpora, params: { parent }, query: pageQuery(page) })
      return yield* pageOf(page, listed.ragCorpora, listed.nextPageToken, corpusFromWire)
    })

    /** The corpus that an operation was about, once it is done. */
    const outcome = Effect.fnUntraced(function*(started: Operation) {
      return yield* Effect.fromResult(operationCorpus(yield* finish(transport, started)))
    })

    const create = Effect.fn("HostedCorpora.create")(function*(asked: CorpusSpec) {
      const refused = refusalOf(hostedCorpusBroken(asked))
      if (refused !== undefined) return yield* refused
      const spec = { ...asked, vectorDb: vectorDbInPlace(asked.vectorDb) }
      const body = corpusSpecToWire(
        spec.embeddingModel === undefined ? spec : { ...spec, embeddingModel: endpointName(parent, spec.embeddingModel) }
      )
      const since = yield* Clock.currentTimeMillis
      const made = yield* idempotentWrite<Corpus | Started>({
        retry: transport.retry,
        send: Effect.map(transport.callOnce({ route: routes.createRagCorpus, params: { parent }, body }), (operation) => ({ operation })),
        find: pages(list, 100).pipe(
          Stream.filter((corpus) => isMadeOf(corpus, spec, since)),
          Stream.runHead,
          Effect.map(Option.getOrUndefined)
        )
      })
      return "operation" in made ? yield* outcome(made.operation) : made
    }, Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "the corpus was made", "sluice corpora list"))))

    const update = Effect.fn("HostedCorpora.update")(function*(name: CorpusName, patch: CorpusPatch) {
      const refused = refusalOf(corpusPatchBroken(patch))
      if (refused !== undefined) return yield* refused
      const body = corpusPatchToWire(patch.vectorDb === undefined ? patch : { ...patch, vectorDb: vectorDbInPlace(patch.vectorDb) })
      return yield* outcome(yield* transport.call({ route: routes.updateRagCorpus, params: { name }, body }))
    })

    const remove = Effect.fn("HostedCorpora.delete")(function*(name: CorpusName, options: { readonly force?: boolean } = {}) {
      yield* deleteOnce(transport, { route: routes.deleteRagCorpus, params: { name }, query: { force: options.force === true } })
    })

    return Corpora.of({ create, get, list, update, delete: remove })
  })
)

interface Started {
  readonly operation: Operation
}

/** Clocks are assumed to differ by less. The same corpus is hardly ever requested twice within this time. */
const skewMs = 60_000

/** Whether an unanswered request made a corpus: it has exactly this configuration, and is new. */
const isMadeOf = (corpus: Corpus, spec: CorpusSpec, since: number): boolean =>
  Date.parse(corpus.createTime) >= since - skewMs &&
  corpus.displayName === spec.displayName &&
  (corpus.description ?? "") === (spec.description ?? "") &&
  isDeepStrictEqual(corpus.vectorDb, spec.vectorDb) &&
  (spec.embeddingModel === undefined || sameModel(corpus.embeddingModel, spec.embeddingModel))

/** Full name of a model's endpoint, which the service requires; people write the model's name. */
const endpointName = (parent: string, model: string): string =>
  model.startsWith("projects/") ? model : model.includes("/") ? `${parent}/${model}` : `${parent}/publishers/google/models/${model}`
