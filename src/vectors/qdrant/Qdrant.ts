import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { byWords, type VectorHit, type VectorQuery, type VectorStore } from "../../ports/VectorStore.ts"
import {
  chunkBatches,
  chunkId,
  chunkOf,
  corpusRecordOf,
  type Fields,
  filesOf,
  isOlder,
  parts,
  propertiesOf,
  recordsCorpus,
  unfit,
  vectorJson,
  versionsOf
} from "../Chunks.ts"
import { decoder, isStranger, orMissing, rest, type RestRequest, type RestStoreOptions } from "../Rest.ts"
import { askedSparse, sparseOf } from "../SparseTerms.ts"

export interface QdrantOptions extends RestStoreOptions {
  readonly url: string
  readonly collection: string
  readonly apiKey?: SecretVersion | undefined
}

/** The first version that answers queries by sparse and dense vectors in one request. */
const leastVersion = [1, 10] as const
const fields: Fields = { address: "qdrant.url", key: "qdrant.apiKey", part: "qdrant.collection" }

/** Points of one request. */
const pointsAtOnce = 100
/** Files of one deletion. */
const filesAtOnce = 500

/** Name of a point's dense vector. */
const denseName = "dense"
/** Name of a point's sparse vector. */
const sparseName = "terms"

/** Indexes of the properties that are filtered by. A server may refuse filters by others (`strict_mode_config`). */
const indexes = { corpusId: { type: "keyword", is_tenant: true }, fileId: { type: "keyword" } }

const Info = Schema.Struct({
  result: Schema.Struct({
    config: Schema.Struct({
      params: Schema.Struct({
        vectors: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
        sparse_vectors: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
      })
    }),
    payload_schema: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
  })
})
const Vector = Schema.Struct({ size: Schema.Int, distance: Schema.String })
const isVector = Schema.is(Vector)
const Root = Schema.Struct({ title: Schema.String.check(Schema.isPattern(/qdrant/i)), version: Schema.String })
const Updated = Schema.Struct({ result: Schema.Struct({ status: Schema.String }) })
const Counted = Schema.Struct({ result: Schema.Struct({ count: Schema.Int }) })
const Point = Schema.Struct({ score: Schema.Finite, payload: Schema.Struct({ fileId: Schema.String, chunkOrdinal: Schema.Int }) })
const Scrolled = Schema.Struct({
  result: Schema.Struct({
    points: Schema.Array(Schema.Struct({
      payload: Schema.Record(Schema.String, Schema.Unknown),
      vector: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Array(Schema.Finite))))
    })),
    next_page_offset: Schema.optionalKey(Schema.Unknown)
  })
})
const Answers = Schema.Struct({ result: Schema.Array(Schema.Struct({ points: Schema.Array(Point) })) })

/**
 * A corpus in a Qdrant collection that other corpora may share. Corpora are distinguished by `corpusId`, which is indexed as a
 * tenant. Each point has a dense vector, and a sparse one with BM25's term frequency component as values; the server
 * multiplies them by inverse document frequency. Both arms go in one request.
 */
export const make = Effect.fnUntraced(function*(options: QdrantOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { collection, space: { corpus, dimensions } } = options
  const { host } = new URL(options.url)
  const place = `collection ${collection} of Qdrant at ${host}`
  const path = `/collections/${encodeURIComponent(collection)}`
  const call = rest({
    http: options.http,
    baseUrl: options.url.replace(/\/+$/, ""),
    what: place,
    fields,
    key: options.apiKey,
    secrets: options.secrets,
    credentials: (key) => ({ "api-key": key }),
    retry: options.retry
  })
  const stranger = () => unfit("qdrant.url", `the server at ${host} is not Qdrant`, "check the address")
  const decoded = decoder(stranger)

  /** Changes the collection, and waits until the change is seen by searches. */
  const change = Effect.fnUntraced(function*(doing: string, to: string, { method = "POST", ...request }: RestRequest) {
    const { json, status } = yield* call(doing, `${path}/${to}?wait=true`, { method, ...request })
    // Without a collection there is nothing to delete.
    if (status === 404) return
    const { result } = yield* decoded(Updated, json)
    // A server waits for a time of its own, and then says `wait_timeout`.
    if (result.status !== "completed") {
      return yield* new ServiceError({ code: "UNAVAILABLE", message: `${doing} in ${place}: not done yet (${result.status})` })
    }
  })

  const recordId = chunkId(recordsCorpus, corpus, 0)

  /** The collection; undefined where it does not exist. Fails where it does not fit the corpus. */
  const fits = Effect.gen(function*() {
    const { json, status } = yield* call("looking", path, { accept: orMissing })
    if (status === 404) return undefined
    const { result } = yield* decoded(Info, json)
    const { params } = result.config
    const dense = params.vectors?.[denseName]
    if (!isVector(dense) || params.sparse_vectors?.[sparseName] === undefined) {
      return yield* unfit(
        "qdrant.collection",
        `${place} is somebody else's: it lacks the vector ${denseName} or the sparse vector ${sparseName}`,
        "use another collection, or let one be made"
      )
    }
    if (dense.distance !== "Cosine") {
      return yield* unfit(
        "qdrant.collection",
        `${place} compares vectors by ${dense.distance}, and the corpus by cosine`,
        "use another collection, or let one be made"
      )
    }
    if (dense.size !== dimensions) {
      return yield* unfit(
        "qdrant.collection",
        `${place} holds vectors of ${dense.size} dimensions, and the embedder gives ${dimensions}`,
        "use another collection, or the embedding model that filled it"
      )
    }
    // No point has this id: the call only tests whether the key may write.
    yield* change("looking what the key may do", "points/delete", {
      body: { points: ["00000000-0000-8000-8000-000000000000"] }
    })
    return result
  })

  const server = Effect.gen(function*() {
    const { json } = yield* Effect.catchIf(call("looking", "/"), isStranger, () => Effect.fail(stranger()))
    const { version } = yield* decoded(Root, json)
    if (isOlder(version, leastVersion)) {
      return yield* unfit(
        "qdrant.url",
        `${host} runs Qdrant ${version}, and ${leastVersion.join(".")} is the first that is searched by words and vectors at once`,
        "update the server"
      )
    }
    return version
  })

  const prepare = Effect.gen(function*() {
    yield* server
    if ((yield* fits) === undefined) {
      yield* call("making the collection", path, {
        method: "PUT",
        body: { vectors: { [denseName]: { size: dimensions, distance: "Cosine" } }, sparse_vectors: { [sparseName]: { modifier: "idf" } } },
        // 409: another process made it first.
        accept: (status) => status === 200 || status === 409
      })
    }
    const made = yield* fits
    if (made === undefined) return yield* unfit("qdrant.collection", `${place} cannot be made`, "check what the key is allowed to do")
    for (const [field_name, field_schema] of unindexed(made)) {
      yield* change(`indexing ${field_name}`, "index", { method: "PUT", body: { field_name, field_schema } })
    }
  })

  const filterOf = (files?: ReadonlyArray<string>) => ({
    must: [{ key: "corpusId", match: { value: corpus } }, ...(files === undefined ? [] : [{ key: "fileId", match: { any: files } }])]
  })

  const check: VectorStore["check"] = Effect.gen(function*() {
    const version = yield* server
    const found = yield* fits
    if (found === undefined) return yield* ServiceError.notFound(`${place} (Qdrant ${version})`)
    const [lacking] = unindexed(found)
    if (lacking !== undefined) return yield* ServiceError.notFound(`the index of ${lacking[0]} in ${place} (Qdrant ${version})`)
    const { json } = yield* call("counting", `${path}/points/count`, { method: "POST", body: { filter: filterOf(), exact: true } })
    const { result } = yield* decoded(Counted, json)
    return { chunks: result.count, dimensions, version: `Qdrant ${version}` }
  })

  const put: VectorStore["put"] = (files) =>
    Effect.forEach(chunkBatches(files, pointsAtOnce), (batch) => {
      const points = batch.map(([file, chunk]) => {
        const payload = { ...propertiesOf(corpus, file, chunk), fileMetadata: file.metadata, filePermissions: file.permissions }
        const head = JSON.stringify({ id: payload.chunkId, payload }).slice(0, -1)
        return `${head},"vector":{"${denseName}":${vectorJson(chunk.vector)},"${sparseName}":${JSON.stringify(sparseOf(chunk.terms))}}}`
      })
      return change("writing chunks", "points", { method: "PUT", body: `{"points":[${points.join(",")}]}` })
    }, { discard: true })

  const removeWhere = (filter: unknown) => change("deleting chunks", "points/delete", { body: { filter }, accept: orMissing })

  const search: VectorStore["search"] = Effect.fnUntraced(function*({ count, files, terms, vector }: VectorQuery) {
    const common = `"filter":${JSON.stringify(filterOf(files))},"limit":${count},"with_payload":["fileId","chunkOrdinal"]`
    const wantsDense = vector !== undefined && vector.some((value) => value !== 0)
    const wantsSparse = terms !== undefined && terms.length > 0
    const searches = [
      ...(wantsDense ? [`{"query":${vectorJson(vector)},"using":"${denseName}",${common}}`] : []),
      ...(wantsSparse ? [`{"query":${JSON.stringify(askedSparse(terms))},"using":"${sparseName}",${common}}`] : [])
    ]
    if (searches.length === 0) return { dense: [], sparse: [] }
    const { json, status } = yield* call("searching", `${path}/points/query/batch`, {
      method: "POST",
      body: `{"searches":[${searches.join(",")}]}`,
      accept: orMissing
    })
    if (status === 404) return { dense: [], sparse: [] }
    const { result } = yield* decoded(Answers, json)
    const arms = result.map(({ points }) => points.map(hitOf))
    return { dense: wantsDense ? arms[0] ?? [] : [], sparse: (wantsSparse ? arms.at(-1) : undefined) ?? [] }
  })

  /** Every point that passes a filter, read page by page. */
  const scroll = Effect.fnUntraced(function*(doing: string, filter: unknown, wanted: object) {
    const found: Array<(typeof Scrolled.Type)["result"]["points"][number]> = []
    for (let offset: unknown = undefined, more = true; more;) {
      const { json, status } = yield* call(doing, `${path}/points/scroll`, {
        method: "POST",
        body: { filter, limit: pointsAtOnce, offset, with_payload: true, ...wanted },
        accept: orMissing
      })
      if (status === 404) break
      const { next_page_offset, points } = (yield* decoded(Scrolled, json)).result
      found.push(...points)
      offset = next_page_offset
      more = offset !== undefined && offset !== null
    }
    return found
  })
  const ofRecords = { must: [{ key: "corpusId", match: { value: recordsCorpus } }] }

  return {
    corpora: Effect.map(
      Effect.catchIf(
        scroll("looking for corpora", ofRecords, {}),
        // `prepare` has not made the index yet, and without it the server refuses the filter.
        ({ message }) => /index required/i.test(message),
        () => Effect.succeed([])
      ),
      (points) => points.flatMap(({ payload }) => corpusRecordOf(String(payload["fileId"]), payload["chunkData"]))
    ),
    sign: (record) => {
      const payload = { fileId: corpus, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData: JSON.stringify(record) }
      return change("signing the corpus", "points", { method: "PUT", body: { points: [{ id: recordId, payload, vector: {} }] } })
    },
    versions: Effect.map(
      scroll("looking for files", filterOf(), { with_payload: ["fileId", "chunkOrdinal", "chunkRecord"] }),
      (points) =>
        versionsOf(points.map(({ payload: { chunkOrdinal, chunkRecord, fileId } }) => ({
          file: String(fileId),
          ordinal: Number(chunkOrdinal),
          record: typeof chunkRecord === "string" ? chunkRecord : undefined
        })))
    ),
    read: (files) =>
      Effect.map(
        scroll("reading files", filterOf(files), { with_vector: [denseName] }),
        (points) =>
          filesOf(points.flatMap(({ payload, vector }) => {
            const { fileMetadata: metadata, filePermissions: permissions } = payload as {
              readonly [K in "fileMetadata" | "filePermissions"]?: never
            }
            return chunkOf(payload, vector?.[denseName] ?? [], { metadata, permissions }) ?? []
          }))
      ),
    place,
    abilities: Effect.succeed(byWords),
    mostFiles: 5_000,
    prepare,
    check,
    put,
    delete: (files) => Effect.forEach(parts(files, filesAtOnce), (some) => removeWhere(filterOf(some)), { discard: true }),
    drop: Effect.andThen(
      removeWhere(filterOf()),
      removeWhere({ must: [...ofRecords.must, { key: "fileId", match: { value: corpus } }] })
    ),
    search
  }
})

/** The {@link indexes} that a collection lacks, as where another program made it, or a process that was killed before it made them. */
const unindexed = ({ payload_schema }: (typeof Info.Type)["result"]) =>
  Object.entries(indexes).filter(([field]) => payload_schema?.[field] === undefined)

const hitOf = ({ payload, score }: typeof Point.Type): VectorHit => ({ file: payload.fileId, ordinal: payload.chunkOrdinal, score })
