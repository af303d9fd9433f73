import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { byWords, type VectorFile, type VectorHit, type VectorQuery, type VectorStore } from "../../ports/VectorStore.ts"
import { chunkBatches, chunkId, chunkOf, corpusRecordOf, filesOf, heavyTerms, jsonIn, parts, recordsCorpus, versionsOf } from "../Chunks.ts"
import { awaited, orMissing } from "../Rest.ts"
import { type AgentSearchOptions, connect, type Fitted } from "./agentSearch/DataStore.ts"
import { Document, documentOf, type Placed, placeOf, type StructData } from "./agentSearch/Documents.ts"

export type { AgentSearchOptions } from "./agentSearch/DataStore.ts"

/** Documents of one import, the service's limit. */
const importedAtOnce = 100
/** Search results per page, the service's limit. */
const pageSize = 100
/** Documents per page of a list. */
const listedAtOnce = 100
/** Values in one condition of a filter: the service limits a filter's length. */
const mostFiles = 100
/** Concurrent calls where documents are read or deleted one by one. */
const callsAtOnce = 8

const Listed = Schema.Struct({
  documents: Schema.optionalKey(Schema.Array(Document)),
  nextPageToken: Schema.optionalKey(Schema.String)
})
const Found = Schema.Struct({
  results: Schema.optionalKey(Schema.Array(Schema.Struct({
    document: Schema.optionalKey(Document),
    rankSignals: Schema.optionalKey(Schema.Struct({ keywordSimilarityScore: Schema.optionalKey(Schema.Finite) }))
  }))),
  totalSize: Schema.optionalKey(Schema.Int),
  nextPageToken: Schema.optionalKey(Schema.String)
})
type Result = NonNullable<(typeof Found.Type)["results"]>[number]

/**
 * A corpus in a data store of Agent Search (Discovery Engine) for structured documents, which other corpora may share. Corpora
 * are distinguished by `corpusId`. Each chunk is a document with its vector as a custom embedding and its terms as the only
 * searchable property. The service's default ranking is replaced: vectors are ranked by dot product, words by its BM25.
 */
export const make = Effect.fnUntraced(function*(options: AgentSearchOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { branch, call, corpus, decoded, dimensions, finished, fitted, keep, patience, place, servingConfig } = yield* connect(options)

  const documentPath = (branch: string, id: string): string => `/${branch}/documents/${id}`
  const removeIds = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
    const from = yield* branch
    yield* Effect.forEach(
      ids,
      (id) => call("deleting chunks", documentPath(from, id), { method: "DELETE", accept: orMissing }),
      { concurrency: callsAtOnce, discard: true }
    )
  })
  const get = Effect.fnUntraced(function*(id: string) {
    const { json, status } = yield* call("reading chunks", documentPath(yield* branch, id), { accept: orMissing })
    return status === 404 ? undefined : (yield* decoded(Document, json)).structData
  })

  const has = (name: string, values: ReadonlyArray<string>): string =>
    `${name}: ANY(${values.map((value) => JSON.stringify(value)).join(", ")})`
  const ofCorpus = has("corpusId", [corpus])

  /** At most `count` results, best first, with the service's estimate of the total. */
  const find = Effect.fnUntraced(function*(doing: string, filter: string, count: number, more: object = {}) {
    const results: Array<Result> = []
    for (let pageToken: string | undefined = undefined, total: number | undefined;;) {
      const { json } = yield* call(doing, `/${servingConfig}:search`, {
        method: "POST",
        body: {
          filter,
          pageSize: Math.min(pageSize, count),
          ...(pageToken === undefined ? {} : { pageToken }),
          queryExpansionSpec: { condition: "DISABLED" },
          spellCorrectionSpec: { mode: "SUGGESTION_ONLY" },
          ...more
        }
      })
      const page: typeof Found.Type = yield* decoded(Found, json)
      results.push(...page.results ?? [])
      total ??= page.totalSize ?? 0
      pageToken = page.nextPageToken
      if (results.length >= count || pageToken === undefined || pageToken === "") return { results: results.slice(0, count), total }
    }
  })

  /** Passes every document of the data store to `each`: of any corpus, whether searches find it yet or not. */
  const listed = Effect.fnUntraced(function*(each: (structData: typeof StructData.Type) => void) {
    const from = yield* branch
    for (let pageToken = "";;) {
      const query = `pageSize=${listedAtOnce}${pageToken === "" ? "" : `&pageToken=${encodeURIComponent(pageToken)}`}`
      const { json } = yield* call("looking for files", `/${from}/documents?${query}`)
      const { documents = [], nextPageToken = "" } = yield* decoded(Listed, json)
      for (const { structData } of documents) if (structData !== undefined) each(structData)
      if (nextPageToken === "") return
      pageToken = nextPageToken
    }
  })

  const settled = (filter: string, count: number, holds: (results: ReadonlyArray<Result>) => boolean) =>
    awaited(
      Effect.map(find("looking for what was written", filter, count), ({ results }) => holds(results) ? true : undefined),
      { late: `${place} does not show what was written`, ...patience }
    )

  const importAll = Effect.fnUntraced(function*(documents: ReadonlyArray<string>) {
    const { json } = yield* call("writing chunks", `/${yield* branch}/documents:import`, {
      method: "POST",
      body: `{"inlineSource":{"documents":[${documents.join(",")}]},"reconciliationMode":"INCREMENTAL"}`
    })
    yield* finished("writing chunks", json)
  })

  /** Fails where the credentials may not write. */
  const writable = Effect.fnUntraced(function*(found: Fitted) {
    keep(found)
    // No document has this id: the call only tests whether the credentials may write.
    yield* removeIds(["nobody"])
  })

  const remove = Effect.fnUntraced(function*(files: ReadonlyArray<string>) {
    for (const file of files) {
      const first = placeOf(yield* get(chunkId(corpus, file, 0)))
      // Imports run one after the other: where the first chunk is missing, at most the first import's chunks exist.
      const count = first?.chunkCount ?? importedAtOnce
      yield* removeIds(Array.from({ length: count }, (_, ordinal) => chunkId(corpus, file, ordinal)))
    }
    for (const some of parts(files, mostFiles)) {
      yield* settled(`${ofCorpus} AND ${has("fileId", some)}`, 1, (results) => results.length === 0)
    }
  })

  const recordId = chunkId(recordsCorpus, corpus, 0)
  const ofRecord = has("chunkId", [recordId])

  return {
    place,
    abilities: Effect.succeed(byWords),
    mostFiles,
    prepare: Effect.gen(function*() {
      const found = yield* fitted
      yield* writable(found)
      if (found.wanted !== undefined) {
        const { json } = yield* call("writing the schema", `/${found.schema}?allowMissing=true`, {
          method: "PATCH",
          body: { structSchema: found.wanted }
        })
        yield* finished("writing the schema", json)
      }
    }),
    check: Effect.gen(function*() {
      const found = yield* fitted
      yield* writable(found)
      if (found.wanted !== undefined) {
        return yield* new ServiceError({ code: "NOT_FOUND", message: `the schema of ${place} lacks properties of chunks` })
      }
      const { total } = yield* find("counting", ofCorpus, 1)
      return { chunks: total, dimensions, version: "API v1beta" }
    }),
    put: Effect.fnUntraced(function*(files) {
      const last: Array<string> = []
      for (const batch of chunkBatches(files, importedAtOnce)) {
        yield* importAll(batch.map(([file, chunk]) => documentOf(corpus, file, chunk)))
      }
      for (const { chunks, file } of files) last.push(...chunks.slice(-1).map(({ ordinal }) => chunkId(corpus, file, ordinal)))
      for (const some of parts(last, mostFiles)) {
        yield* settled(has("chunkId", some), some.length, (results) => results.length === some.length)
      }
    }),
    delete: remove,
    drop: Effect.gen(function*() {
      const files = new Set<string>()
      yield* listed((structData) => {
        const fileId = placeOf(structData)?.fileId
        if (structData["corpusId"] === corpus && fileId !== undefined) files.add(fileId)
      })
      yield* remove([...files])
      yield* removeIds([recordId])
      yield* settled(ofRecord, 1, (results) => results.length === 0)
    }),
    search: Effect.fnUntraced(function*({ count, files, terms = [], vector }: VectorQuery) {
      const filter = files === undefined ? ofCorpus : `${ofCorpus} AND ${has("fileId", files)}`
      const near = vector === undefined || vector.every((value) => value === 0) ? [] : (yield* find("searching", filter, count, {
        embeddingSpec: { embeddingVectors: [{ fieldPath: "chunkVector", vector: [...vector] }] },
        rankingExpression: "1.0 * dotProduct(chunkVector)"
      })).results
      const query = heavyTerms(terms).join(" ")
      const said = query === "" ? [] : (yield* find("searching", filter, count, {
        query,
        rankingExpression: "fill_nan(keyword_similarity_score, 0)",
        rankingExpressionBackend: "RANK_BY_FORMULA",
        relevanceScoreSpec: { returnRelevanceScore: true }
      })).results
      return {
        dense: near.flatMap((result) => hitOf(result, ({ chunkVector = [] }) => cosine(chunkVector, vector!))),
        sparse: said.flatMap((result) => hitOf(result, () => result.rankSignals?.keywordSimilarityScore)).filter(({ score }) => score > 0)
      }
    }),
    corpora: Effect.gen(function*() {
      // A filter may only name properties that the schema has.
      if ((yield* fitted).wanted !== undefined) return []
      const { results } = yield* find("looking for corpora", has("corpusId", [recordsCorpus]), Infinity)
      return results.flatMap(({ document }) =>
        corpusRecordOf(String(document?.structData?.["fileId"]), document?.structData?.["chunkData"])
      )
    }),
    sign: Effect.fnUntraced(function*(record) {
      const chunkData = JSON.stringify(record)
      const structData = { chunkId: recordId, fileId: corpus, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData }
      yield* importAll([JSON.stringify({ id: recordId, structData })])
      yield* settled(ofRecord, 1, (results) => results.some(({ document }) => document?.structData?.["chunkData"] === chunkData))
    }),
    versions: Effect.gen(function*() {
      const found: Array<{ readonly file: string; readonly ordinal: number; readonly record?: string | undefined }> = []
      yield* listed((structData) => {
        const chunk = structData["corpusId"] === corpus ? placeOf(structData) : undefined
        if (chunk !== undefined) found.push({ file: chunk.fileId, ordinal: chunk.chunkOrdinal, record: chunk.chunkRecord })
      })
      return versionsOf(found)
    }),
    read: Effect.fnUntraced(function*(files) {
      const found = yield* Effect.forEach(files, (file) =>
        Effect.gen(function*() {
          const first = yield* get(chunkId(corpus, file, 0))
          const others = Array.from({ length: (placeOf(first)?.chunkCount ?? 1) - 1 }, (_, at) => chunkId(corpus, file, at + 1))
          return [first, ...yield* Effect.forEach(others, get, { concurrency: callsAtOnce })]
        }))
      return filesOf(
        found.flat().flatMap((structData = {}) => {
          const { fileMetadata, filePermissions } = structData
          const vector = placeOf(structData)?.chunkVector ?? Array.from({ length: dimensions }, () => 0)
          return chunkOf(structData, vector, {
            metadata: jsonIn<NonNullable<VectorFile["metadata"]>>(fileMetadata)?.value,
            permissions: jsonIn<NonNullable<VectorFile["permissions"]>>(filePermissions)?.value
          }) ?? []
        })
      )
    })
  }
})

const hitOf = (
  { document }: Result,
  scoreOf: (chunk: typeof Placed.Type) => number | undefined
): ReadonlyArray<VectorHit> => {
  const chunk = placeOf(document?.structData)
  const score = chunk === undefined ? undefined : scoreOf(chunk)
  return chunk === undefined || score === undefined ? [] : [{ file: chunk.fileId, ordinal: chunk.chunkOrdinal, score }]
}

/** Cosine of two unit vectors; undefined where their lengths differ. */
const cosine = (stored: ReadonlyArray<number>, asked: Float32Array): number | undefined =>
  stored.length === asked.length ? stored.reduce((sum, value, at) => sum + value * asked[at]!, 0) : undefined
