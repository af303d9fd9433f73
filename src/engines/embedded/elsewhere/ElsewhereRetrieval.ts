import { Effect } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import type { Context, RetrievalRequest } from "../../../domain/Retrieval.ts"
import type { VectorHits, VectorQuery, VectorStore } from "../../../ports/VectorStore.ts"
import { ranking } from "../../../search/Ranking.ts"
import type { CorpusVectors } from "./CorpusVectors.ts"
import { IndexDamage } from "../search/CorpusIndex.ts"
import type { ElsewhereRequest, ElsewhereSearch } from "./ElsewhereSearch.ts"
import { attempt } from "../search/Searcher.ts"
import { StoreDamage } from "../store/Checksum.ts"
import type { Reader } from "../store/Reader.ts"
import type { CorpusRow } from "../store/Rows.ts"
import type { NoteDamage } from "../retrieval/DamageNote.ts"

/** Most hits of each arm that a database is asked for. */
const mostHits = 10_000
/** How many times more hits are requested where too few of the first ones count. */
const moreHits = 4

export interface ElsewhereRetrievalOptions {
  readonly reader: Reader["Service"]
  readonly vectors: CorpusVectors["Service"]
  readonly elsewhere: ElsewhereSearch
  readonly noteDamage: NoteDamage
}

/** Searches corpora whose vectors are in a database of their own. */
export const elsewhereRetrieval = ({ elsewhere, noteDamage, reader, vectors }: ElsewhereRetrievalOptions) => {
  const checked = Effect.fnUntraced(function*<A>(body: () => A): Effect.fn.Return<A, ServiceError> {
    const found = yield* reader.read(() => attempt(body))
    if (found instanceof IndexDamage) return yield* ServiceError.internal(found.message)
    return found instanceof StoreDamage ? yield* noteDamage(found) : found
  })

  /** Requests more and more hits until enough of them are visible and pass the filter. */
  const run = Effect.fnUntraced(function*(
    corpus: CorpusRow,
    request: ElsewhereRequest
  ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
    const store = yield* vectors.store(corpus)
    const abilities = yield* store.abilities
    const asked = yield* checked(() => elsewhere.asked(reader.corpusNow(corpus.name), request, abilities, store.mostFiles))
    if (asked === undefined) return []
    let count = Math.max(ranking.candidates, request.count)
    while (true) {
      const hits = yield* hitsOf(store, { ...asked, count }, request.explain)
      const { contexts, more } = yield* checked(() => elsewhere.found(reader.corpusNow(corpus.name), request, hits, count))
      if (!more || count >= mostHits) return contexts
      count = Math.min(mostHits, count * moreHits)
    }
  })

  /** The weight of the dense arm: `wanted`, or 1 where the database has dense vectors only and the request does not insist. */
  const alphaOf = Effect.fnUntraced(function*(corpus: CorpusRow, wanted: number, { hybrid }: RetrievalRequest) {
    if (wanted === 1) return wanted
    const { abilities, place } = yield* vectors.store(corpus)
    if ((yield* abilities).words) return wanted
    if (hybrid === undefined) return 1
    return yield* new ServiceError({
      code: "UNIMPLEMENTED",
      message: `hybrid: ${place} holds dense vectors only, and searches by nothing else`,
      violations: [{ field: "hybrid", description: "is for databases that search by words" }],
      fix: "leave hybrid out, or say alpha 1"
    })
  })

  return { run, alphaOf }
}

/** A list that the database itself mixes is explained by both of its arms, which are requested besides. */
const hitsOf = (store: VectorStore, query: VectorQuery, explain: boolean): Effect.Effect<VectorHits, ServiceError> =>
  query.alpha === undefined || !explain
    ? store.search(query)
    : Effect.zipWith(
      store.search({ ...query, alpha: undefined }),
      store.search(query),
      (arms, { mixed }) => ({ ...arms, mixed }),
      { concurrent: true }
    )
