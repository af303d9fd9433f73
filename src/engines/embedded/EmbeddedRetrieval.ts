import { Effect, Layer, Option, type Scope } from "effect"
import { principalsOf } from "../../domain/Asker.ts"
import { isElsewhere } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { badMetadataFilter, equalTo, type MetadataFilter, parseMetadataFilter } from "../../domain/MetadataFilter.ts"
import {
  type Context,
  defaultTopK,
  hybridAlpha,
  largestTopK,
  mergedContexts,
  perCorpus,
  type Ranking,
  type RetrievalRequest
} from "../../domain/Retrieval.ts"
import { wholeNumberRule } from "../../domain/rag/Forms.ts"
import { fileNamesRule, oneCorpusRule, retrievalBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { alternativesIn, textOf } from "../../domain/Synonyms.ts"
import { Embedder, OtherEmbedders } from "../../ports/Embedder.ts"
import { Ranker, Rankers } from "../../ports/Ranker.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { defaultAlpha } from "../../search/Fusion.ts"
import { otherEmbedder } from "./CorpusRules.ts"
import { CorpusVectors } from "./elsewhere/CorpusVectors.ts"
import { IndexUpkeep } from "./IndexUpkeep.ts"
import type { Names } from "./Names.ts"
import { noteDamage } from "./retrieval/DamageNote.ts"
import { elsewhereRetrieval } from "./elsewhere/ElsewhereRetrieval.ts"
import { managedSearch } from "./retrieval/ManagedSearch.ts"
import { queryVector } from "./retrieval/QueryVector.ts"
import { ElsewhereSearch } from "./elsewhere/ElsewhereSearch.ts"
import type { Searcher } from "./search/Searcher.ts"
import { Reader } from "./store/Reader.ts"
import { type CorpusRow, dataSchemaSpec } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"

const filterField = "filter.metadata_filter"
/** UTF-16 units of a query. */
const longestQuery = 100_000
/** Least number of contexts that a ranker gets to order. */
const rankedDepth = 50
/** What the memory is divided by: for kept answers, and for searches in other databases. */
const answersShare = 8
const elsewhereShare = 4

/**
 * The Retrieval port over the store. `memory`: bytes, of which kept answers may take an eighth and searches in other databases a
 * quarter. `searcher` is run once, and what it opens is closed with the layer.
 */
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
      const noted = noteDamage(writer)
      const managed = managedSearch({ search, writer, upkeep, noteDamage: noted, answerBytes: memory / answersShare })
      const elsewhere = elsewhereRetrieval({
        reader,
        vectors,
        elsewhere: yield* Effect.orDie(reader.read((db) => new ElsewhereSearch(db, names, memory / elsewhereShare))),
        noteDamage: noted
      })

      /** The weight of the dense arm: the request's, else the default for this kind of embedder. */
      const alphaOf = (corpus: CorpusRow, { embedWeighed, ofWords }: Embedder["Service"], request: RetrievalRequest) => {
        const { hybrid } = request
        const usual = defaultAlpha[embedWeighed !== undefined || ofWords === true ? "words" : "model"]
        const wanted = hybrid === undefined ? usual : hybrid.alpha ?? hybridAlpha
        return isElsewhere(corpus.vectorDb) ? elsewhere.alphaOf(corpus, wanted, request) : Effect.succeed(wanted)
      }

      /** The embedder that filled a corpus; the pipeline's own where that is not at hand. */
      const embedderFor = Effect.fnUntraced(function*({ embedder }: CorpusRow) {
        return embedder === own.id ? own : (yield* others(embedder)) ?? own
      })

      const vectorOf = Effect.fnUntraced(function*(corpus: CorpusRow, embedder: Embedder["Service"], query: string) {
        const mismatch = otherEmbedder(corpus.embedder, embedder.id)
        if (mismatch !== undefined) return yield* mismatch
        return yield* queryVector(embedder, query, !isElsewhere(corpus.vectorDb))
      })

      /** The filter on files that the request states, if any. Fails where the corpus's data schemas do not allow it. */
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

      /** Ids of the files that the request is restricted to. Fails where one is not in the corpus. */
      const filesOf = Effect.fnUntraced(function*(corpus: CorpusRow, request: RetrievalRequest) {
        if (request.files === undefined) return undefined
        const ids = yield* Effect.forEach(request.files, (name) => names.fileIds(name))
        for (const [at, { file }] of ids.entries()) {
          // An id does not say which corpus it belongs to.
          if ((yield* reader.find("files", file, corpus.id)) === undefined) {
            return yield* ServiceError.invalid(
              `files[${at}]`,
              `${oneCorpusRule.rule}; ${file} is not one of ${request.corpus}`,
              fileNamesRule.fix
            )
          }
        }
        return ids.map(({ file }) => file)
      })

      const retrieve = Effect.fnUntraced(function*(
        request: RetrievalRequest
      ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
        const bad = badRequest(request)
        if (bad !== undefined) return yield* bad
        const { explain = false, query, topK = defaultTopK } = request
        const ranker = request.rank === undefined ? undefined : yield* rankerOf(request.rank)
        const id = yield* names.corpusId(request.corpus)
        const corpus = yield* reader.corpus(id)
        const embedder = yield* embedderFor(corpus)
        const alpha = yield* alphaOf(corpus, embedder, request)
        const minSimilarity = leastSimilarity(request)
        const wantsVector = alpha > 0 || minSimilarity !== undefined || explain
        const alternatives = alternativesIn(query, request.synonyms ?? [])
        const expanded = textOf(query, alternatives)
        const vector = wantsVector ? yield* vectorOf(corpus, embedder, expanded) : undefined
        const metadata = request.filter === undefined ? undefined : yield* metadataFilter(corpus.id, request.filter)
        const files = yield* filesOf(corpus, request)
        // In one form, as answers are kept by what was asked.
        const principal = request.principal === undefined ? undefined : principalsOf(request.principal)
        const count = ranker === undefined ? topK : Math.max(topK, rankedDepth)
        const asked = { query, count, alpha, explain, minSimilarity, files, metadata, principal }
        const found = isElsewhere(corpus.vectorDb)
          ? yield* elsewhere.run(corpus, {
            ...asked,
            query: expanded,
            hybrid: request.hybrid !== undefined,
            // Only the other database knows how rare each word is in the corpus: here all words weigh the same.
            vector: typeof vector === "function" ? vector(() => 1) : undefined
          })
          : yield* managed(corpus, {
            ...asked,
            alternatives,
            correctSpelling: request.correctSpelling ?? true,
            vector
          })
        return ranker === undefined ? found : (yield* ranker.rank(query, found)).slice(0, topK)
      }, Effect.withSpan("Retrieval.retrieve"))

      /** Tries again where a corpus was deleted after it was found: another one may have taken its place. */
      const retrieveServing = (request: RetrievalRequest) =>
        Effect.catchIf(retrieve(request), ({ code }) => code === "NOT_FOUND", () => retrieve(request))

      return Retrieval.of({
        embedderOf: (file) =>
          Effect.gen(function*() {
            const { corpus: id } = yield* names.fileIds(file)
            const corpus = yield* reader.corpus(id)
            const embedder = yield* embedderFor(corpus)
            return embedder.id === corpus.embedder ? embedder : undefined
          }).pipe(Effect.orElseSucceed(() => undefined)),
        retrieve: (request) =>
          request.also === undefined || request.also.length === 0
            ? retrieveServing(request)
            : Effect.map(Effect.forEach(perCorpus(request), retrieveServing), (found) => mergedContexts(found, request))
      })
    })
  )

/** The threshold as a similarity: a distance is 1 minus the similarity. */
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
