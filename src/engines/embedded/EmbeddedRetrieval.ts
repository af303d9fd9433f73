import { Effect, Layer, Option, type Scope } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { badMetadataFilter, equalTo, type MetadataFilter, parseMetadataFilter } from "../../domain/MetadataFilter.ts"
import { type Context, mergedContexts, perCorpus, type Ranking, type RetrievalRequest } from "../../domain/Retrieval.ts"
import { wholeNumberRule } from "../../domain/rag/Forms.ts"
import { fileNamesRule, oneCorpusRule, retrievalBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { embedBy, Embedder, OtherEmbedders, unitOf } from "../../ports/Embedder.ts"
import { Ranker, Rankers } from "../../ports/Ranker.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import type { VectorHits, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import { isElsewhere } from "../../domain/Corpus.ts"
import { otherEmbedder } from "./CorpusRules.ts"
import { CorpusVectors } from "./CorpusVectors.ts"
import { IndexUpkeep } from "./IndexUpkeep.ts"
import type { Names } from "./Names.ts"
import { IndexDamage } from "./search/CorpusIndex.ts"
import { ByteCache } from "../../search/ByteCache.ts"
import { isShouted } from "../../search/analysis/Grammar.ts"
import { defaultAlpha } from "../../search/Fusion.ts"
import { ranking } from "../../search/Ranking.ts"
import { type ElsewhereRequest, ElsewhereSearch } from "./search/ElsewhereSearch.ts"
import type { SearchRequest } from "./search/Search.ts"
import { attempt, type Searcher } from "./search/Searcher.ts"
import { StoreDamage } from "./store/Checksum.ts"
import { damageError } from "./store/Commands.ts"
import { embedWeighed as hashedWeighed } from "../../text/hashed/EmbedHashed.ts"
import { dataSchemaSpec } from "./store/Rows.ts"
import type { CorpusRow } from "./store/Rows.ts"
import { Reader } from "./store/Reader.ts"
import { Writer } from "./store/Writer.ts"

const filterField = "filter.metadata_filter"
const defaultTopK = 10
const largestTopK = 1_000
/** UTF-16 units of a query. */
const longestQuery = 100_000
/** Contexts a ranker sees, at least. */
const rankedDepth = 50
/** What questions were answered with has this share of the memory. */
const answersShare = 8
/** Of a context without its text. */
const bytesOfContext = 600
/** Hits of each arm that a corpus's own database is asked for at most, and by how many times more where some do not count. */
const mostHits = 10_000
const moreHits = 4

/** The Retrieval port over the store. `memory`: bytes; corpora elsewhere have a quarter, answers an eighth besides. `searcher` is made once, and ends with the layer. */
export const embeddedRetrieval = (
  names: Names,
  memory: number,
  searcher: Effect.Effect<Searcher, never, Reader | Scope.Scope>
): Layer.Layer<Retrieval, never, Reader | Writer | Embedder | CorpusVectors | IndexUpkeep> =>
  Layer.effect(
    Retrieval,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const own = yield* Embedder
      const others = yield* OtherEmbedders
      const lexical = yield* Effect.serviceOption(Ranker)
      const { of: rankerOf } = Option.getOrElse(yield* Effect.serviceOption(Rankers), () => onlyLexical(Option.getOrUndefined(lexical)))
      const vectors = yield* CorpusVectors
      const upkeep = yield* IndexUpkeep
      const search = yield* searcher
      const elsewhere = yield* Effect.orDie(reader.read((db) => new ElsewhereSearch(db, names, memory / 4)))

      const answers = new ByteCache(memory / answersShare)

      /** What was asked before of a corpus that has not changed since is not searched again. */
      const run = Effect.fnUntraced(function*(corpus: CorpusRow, { vector, ...request }: SearchRequest) {
        const key = JSON.stringify([corpus.id, corpus.generation, vector !== undefined, request])
        const known = answers.peek<ReadonlyArray<Context>>(key)
        if (known !== undefined) return known
        yield* upkeep.asked(corpus)
        const found = yield* searchAnew(corpus, { ...request, vector })
        answers.put(key, found, 2 * key.length + found.reduce((sum, { text }) => sum + 2 * text.length + bytesOfContext, 0))
        return found
      })

      const searchAnew = (corpus: CorpusRow, request: SearchRequest) => {
        const attempted = search(corpus, request)
        return Effect.flatMap(
          attempted,
          (found): Effect.Effect<ReadonlyArray<Context>, ServiceError> =>
            found instanceof StoreDamage
              ? noted(found)
              : found instanceof IndexDamage
              ? afterRebuild(corpus, attempted)
              : Effect.succeed(found)
        )
      }

      const afterRebuild = Effect.fnUntraced(function*(corpus: CorpusRow, attempted: ReturnType<Searcher>) {
        yield* writer.send("rebuildIndex", { corpus: corpus.name })
        const again = yield* attempted
        if (again instanceof StoreDamage) return yield* noted(again)
        return again instanceof IndexDamage
          ? yield* new ServiceError({ code: "DATA_LOSS", message: `the index of corpus ${corpus.name} stays damaged: ${again.message}` })
          : again
      })

      /** The same in a corpus's own database. */
      const runElsewhere = Effect.fnUntraced(function*(
        corpus: CorpusRow,
        request: ElsewhereRequest
      ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
        const store = yield* vectors.store(corpus)
        const checked = Effect.fnUntraced(function*<A>(body: () => A): Effect.fn.Return<A, ServiceError> {
          const found = yield* reader.read(() => attempt(body))
          if (found instanceof IndexDamage) return yield* ServiceError.internal(found.message)
          return found instanceof StoreDamage ? yield* noted(found) : found
        })
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

      /** Of a list that the database mixes, where it is to be explained, both arms too. */
      const hitsOf = (store: VectorStore, query: VectorQuery, explain: boolean): Effect.Effect<VectorHits, ServiceError> =>
        query.alpha === undefined || !explain
          ? store.search(query)
          : Effect.zipWith(
            store.search({ ...query, alpha: undefined }),
            store.search(query),
            (arms, { mixed }) => ({ ...arms, mixed }),
            { concurrent: true }
          )

      /** The damage as an error. Its file is marked, so that the next run reads it again; a reader that may not write lets that be. */
      const noted = Effect.fnUntraced(function*({ file, message }: StoreDamage) {
        if (file !== undefined) yield* Effect.ignore(writer.send("noteDamage", { files: [file], what: message }))
        return yield* damageError(message)
      })

      /** The files that pass, where the request says; refused where it goes against the corpus's data schemas. */
      const metadataFilter = Effect.fnUntraced(
        function*(corpus: number, { metadata, metadataFilter }: NonNullable<RetrievalRequest["filter"]>) {
          const parts: Array<MetadataFilter> = metadata === undefined ? [] : [equalTo(metadata)]
          if (metadataFilter !== undefined) parts.push(yield* Effect.fromResult(parseMetadataFilter(metadataFilter, filterField)))
          if (parts.length === 0) return undefined
          const filter: MetadataFilter = { _tag: "all", of: parts }
          const rows = yield* reader.read((db) => db.prepare("SELECT key, schema FROM data_schemas WHERE corpus = ?").all(corpus))
          const bad = badMetadataFilter(filter, new Map(rows.map((row) => [String(row["key"]), dataSchemaSpec(row)])), filterField)
          return bad === undefined ? filter : yield* bad
        }
      )

      /** The weight of the dense arm, of which `wanted` is asked: all, where the corpus's database has no other. */
      const alphaElsewhere = Effect.fnUntraced(function*(corpus: CorpusRow, wanted: number, { hybrid }: RetrievalRequest) {
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

      const retrieve = Effect.fnUntraced(function*(
        request: RetrievalRequest
      ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
        const bad = badRequest(request)
        if (bad !== undefined) return yield* bad
        const ranker = request.rank === undefined ? undefined : yield* rankerOf(request.rank)
        const id = yield* names.corpusId(request.corpus)
        const corpus = yield* reader.corpus(id)
        const embedder = corpus.embedder === own.id ? own : (yield* others(corpus.embedder)) ?? own
        const { embedWeighed, ofWords } = embedder
        const { hybrid } = request
        const usual = defaultAlpha[embedWeighed !== undefined || ofWords === true ? "words" : "model"]
        const wanted = hybrid === undefined ? usual : hybrid.alpha ?? 0.5
        const alpha = isElsewhere(corpus.vectorDb) ? yield* alphaElsewhere(corpus, wanted, request) : wanted
        const least = leastSimilarity(request)
        const wantsDense = alpha > 0 || least !== undefined || request.explain === true
        if (wantsDense) {
          const mismatch = otherEmbedder(corpus.embedder, embedder.id)
          if (mismatch !== undefined) return yield* mismatch
        }
        const vector = !wantsDense ?
          undefined
          : embedWeighed === hashedWeighed && !isElsewhere(corpus.vectorDb) ?
          "hashed" as const
          : embedWeighed !== undefined ?
          (weigh: (word: string) => number) => embedWeighed(request.query, weigh)
          : yield* embedBy(embedder, [isShouted(request.query) ? request.query.toLowerCase() : request.query], "query").pipe(
            Effect.map(([vector = new Float32Array(embedder.dimensions)]) => unitOf(embedder, vector)),
            Effect.flatMap((vector) => vector instanceof ServiceError ? Effect.fail(vector) : Effect.succeed(() => vector))
          )
        const metadata = request.filter === undefined ? undefined : yield* metadataFilter(corpus.id, request.filter)
        const topK = request.topK ?? defaultTopK
        const files = request.files === undefined ? undefined : yield* Effect.forEach(request.files, (name) => names.fileIds(name))
        for (const [at, { file }] of (files ?? []).entries()) {
          // Ids do not say whose they are.
          if ((yield* reader.find("files", file, corpus.id)) === undefined) {
            return yield* ServiceError.invalid(
              `files[${at}]`,
              `${oneCorpusRule.rule}; ${file} is not one of ${request.corpus}`,
              fileNamesRule.fix
            )
          }
        }
        const asked = {
          query: request.query,
          count: ranker === undefined ? topK : Math.max(topK, rankedDepth),
          alpha,
          explain: request.explain ?? false,
          minSimilarity: least,
          files: files === undefined ? undefined : files.map(({ file }) => file),
          metadata,
          principal: request.principal
        }
        // How rare a word is in the corpus is known to its database alone.
        const found = isElsewhere(corpus.vectorDb)
          ? yield* runElsewhere(corpus, {
            ...asked,
            hybrid: request.hybrid !== undefined,
            vector: typeof vector === "function"
              ? vector(() => 1)
              : undefined
          })
          : yield* run(corpus, { ...asked, correctSpelling: request.correctSpelling ?? true, vector })
        return ranker === undefined ? found : (yield* ranker.rank(request.query, found)).slice(0, topK)
      }, Effect.withSpan("Retrieval.retrieve"))

      /** Another corpus may have taken the place of one that was found and then deleted: once more, it is that one. */
      const retrieveServing = (request: RetrievalRequest) =>
        Effect.catchIf(retrieve(request), ({ code }) => code === "NOT_FOUND", () => retrieve(request))

      return Retrieval.of({
        retrieve: (request) =>
          request.also === undefined || request.also.length === 0
            ? retrieveServing(request)
            : Effect.map(Effect.forEach(perCorpus(request), retrieveServing), (found) => mergedContexts(found, request))
      })
    })
  )

/** A distance is 1 minus the similarity: less than the one is more than the other. */
const leastSimilarity = ({ filter }: RetrievalRequest): number | undefined =>
  filter?.maxDistance === undefined ? filter?.minSimilarity : 1 - filter.maxDistance

const badRequest = (request: RetrievalRequest): ServiceError | undefined => {
  const { query, topK } = request
  const refused = refusalOf(retrievalBroken(request))
  if (refused !== undefined) return refused
  if (query.length > longestQuery) return ServiceError.invalid("query", `must not be longer than ${longestQuery} characters`)
  return topK !== undefined && topK > largestTopK ? ServiceError.invalid("topK", wholeNumberRule(1, largestTopK).rule) : undefined
}

const onlyLexical = (ranker: Ranker["Service"] | undefined): Rankers["Service"] => ({
  of: ({ _tag }: Ranking) =>
    ranker !== undefined && _tag === "lexical"
      ? Effect.succeed(ranker)
      : Effect.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: `ranking by ${_tag} needs a Ranker, and this engine has none for it`,
          fix: "rank by lexical, or leave ranking out"
        })
      )
})
