import { Effect, Layer, Option } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { badMetadataFilter, equalTo, type MetadataFilter, parseMetadataFilter } from "../../domain/MetadataFilter.ts"
import { type Context, mergedContexts, perCorpus, type Ranking, type RetrievalRequest } from "../../domain/Retrieval.ts"
import { oneCorpusRule, retrievalBroken, wholeNumberRule } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Embedder, OtherEmbedders } from "../../ports/Embedder.ts"
import { Ranker, Rankers } from "../../ports/Ranker.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { elsewhere, otherEmbedder } from "./CorpusRules.ts"
import type { Names } from "./Names.ts"
import { IndexDamage } from "./search/CorpusIndex.ts"
import { defaultAlpha } from "../../search/Fusion.ts"
import { Search, type SearchRequest } from "./search/Search.ts"
import { StoreDamage } from "./store/Checksum.ts"
import { damageFix } from "./store/Commands.ts"
import { dataSchemaSpec } from "./store/Rows.ts"
import { Reader } from "./store/Reader.ts"
import { Writer } from "./store/Writer.ts"

const filterField = "filter.metadata_filter"
const defaultTopK = 10
const largestTopK = 1_000
/** UTF-16 units of a query. */
const longestQuery = 100_000
/** Contexts a ranker sees, at least. */
const rankedDepth = 50

/** The Retrieval port over the store. */
export const embeddedRetrieval = (
  names: Names,
  memory: number
): Layer.Layer<Retrieval, never, Reader | Writer | Embedder> =>
  Layer.effect(
    Retrieval,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const own = yield* Embedder
      const embedders = [own, ...yield* OtherEmbedders]
      const lexical = yield* Effect.serviceOption(Ranker)
      const { of: rankerOf } = Option.getOrElse(yield* Effect.serviceOption(Rankers), () => onlyLexical(Option.getOrUndefined(lexical)))
      const search = yield* Effect.orDie(reader.read((db) => new Search(db, names, memory)))

      const run = Effect.fnUntraced(function*(corpus: string, request: SearchRequest) {
        const once = reader.read(() => attempt(() => search.run(reader.corpusNow(corpus), request)))
        const found = yield* once
        if (found instanceof StoreDamage) return yield* noted(found)
        if (!(found instanceof IndexDamage)) return found
        yield* writer.send("rebuildIndex", { corpus })
        const again = yield* once
        if (again instanceof StoreDamage) return yield* noted(again)
        return again instanceof IndexDamage
          ? yield* new ServiceError({ code: "DATA_LOSS", message: `the index of corpus ${corpus} stays damaged: ${again.message}` })
          : again
      })

      /** The damage as an error. Its file is marked, so that the next run reads it again; a reader that may not write lets that be. */
      const noted = Effect.fnUntraced(function*({ file, message }: StoreDamage) {
        if (file !== undefined) yield* Effect.ignore(writer.send("noteDamage", { files: [file], what: message }))
        return yield* new ServiceError({ code: "DATA_LOSS", message, fix: damageFix })
      })

      /** The files that pass, where the request says; refused where it goes against the corpus's data schemas. */
      const metadataFilter = Effect.fnUntraced(function*(corpus: number, { metadata, metadataFilter }: NonNullable<RetrievalRequest["filter"]>) {
        const parts: Array<MetadataFilter> = metadata === undefined ? [] : [equalTo(metadata)]
        if (metadataFilter !== undefined) parts.push(yield* Effect.fromResult(parseMetadataFilter(metadataFilter, filterField)))
        if (parts.length === 0) return undefined
        const filter: MetadataFilter = { _tag: "all", of: parts }
        const rows = yield* reader.read((db) => db.prepare("SELECT key, schema FROM data_schemas WHERE corpus = ?").all(corpus))
        const bad = badMetadataFilter(filter, new Map(rows.map((row) => [String(row["key"]), dataSchemaSpec(row)])), filterField)
        return bad === undefined ? filter : yield* bad
      })

      const retrieve = Effect.fn("Retrieval.retrieve")(function*(
        request: RetrievalRequest
      ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
        const bad = badRequest(request)
        if (bad !== undefined) return yield* bad
        const ranker = request.rank === undefined ? undefined : yield* rankerOf(request.rank)
        const id = yield* names.corpusId(request.corpus)
        const corpus = yield* reader.corpus(id)
        const other = elsewhere(corpus.vectorDb)
        if (other !== undefined) return yield* other

        const alpha = request.hybrid === undefined ? defaultAlpha : request.hybrid.alpha ?? 0.5
        const least = leastSimilarity(request)
        const wantsDense = alpha > 0 || least !== undefined || request.explain === true
        const embedder = embedders.find(({ id }) => id === corpus.embedder) ?? own
        if (wantsDense) {
          const mismatch = otherEmbedder(corpus.embedder, embedder.id)
          if (mismatch !== undefined) return yield* mismatch
        }
        const { embedWeighed } = embedder
        const vector = !wantsDense ? undefined
          : embedWeighed !== undefined ? (weigh: (word: string) => number) => embedWeighed(request.query, weigh)
          : yield* embedder.embed([request.query], "query").pipe(Effect.map(([vector]) => () => vector ?? new Float32Array(embedder.dimensions)))
        const metadata = request.filter === undefined ? undefined : yield* metadataFilter(corpus.id, request.filter)
        const topK = request.topK ?? defaultTopK
        const files = request.files === undefined ? undefined : yield* Effect.forEach(request.files, (name) => names.fileIds(name))
        for (const [at, { file }] of (files ?? []).entries()) {
          // Ids do not say whose they are.
          if ((yield* reader.find("files", file, corpus.id)) === undefined) {
            return yield* ServiceError.invalid(`files[${at}]`, `${oneCorpusRule.rule}; ${file} is not one of ${request.corpus}`)
          }
        }
        const found = yield* run(id, {
          query: request.query,
          count: ranker === undefined ? topK : Math.max(topK, rankedDepth),
          alpha,
          correctSpelling: request.correctSpelling ?? true,
          explain: request.explain ?? false,
          vector,
          ...(least === undefined ? {} : { minSimilarity: least }),
          ...(files === undefined ? {} : { files: files.map(({ file }) => file) }),
          ...(metadata === undefined ? {} : { metadata }),
          ...(request.principal === undefined ? {} : { principal: request.principal })
        })
        return ranker === undefined ? found : (yield* ranker.rank(request.query, found)).slice(0, topK)
      })

      return Retrieval.of({
        retrieve: (request) =>
          request.also === undefined || request.also.length === 0
            ? retrieve(request)
            : Effect.map(Effect.forEach(perCorpus(request), retrieve), (found) => mergedContexts(found, request))
      })
    })
  )

const attempt = <A>(body: () => A): A | IndexDamage | StoreDamage => {
  try {
    return body()
  } catch (cause) {
    if (cause instanceof IndexDamage || cause instanceof StoreDamage) return cause
    throw cause
  }
}

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
