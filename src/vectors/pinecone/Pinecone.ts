import { Effect, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import type { RetryOptions } from "../../net/Retry.ts"
import type { Secrets } from "../../ports/Secrets.ts"
import type { VectorChunk, VectorFile, VectorHit, VectorQuery, VectorSpace, VectorStore } from "../../ports/VectorStore.ts"
import { blamed, chunkBatches, type Fields, needed, parts, propertiesOf, unfit, vectorJson } from "../Chunks.ts"
import { rest, type RestOptions } from "../Rest.ts"

export interface PineconeOptions {
  readonly indexName: string | undefined
  readonly apiKey?: SecretVersion | undefined
  /** Where indexes are looked up. Default `https://api.pinecone.io`. */
  readonly controller?: string | undefined
  readonly space: VectorSpace
  readonly secrets: Secrets["Service"]
  readonly http: HttpClient.HttpClient
  readonly retry?: RetryOptions | undefined
}

/** Of the API: its index is told by the fields of its schema. */
const apiVersion = "2026-07"
const ownController = "https://api.pinecone.io"

const fields: Fields = { address: "pinecone.indexName", key: "pinecone.apiKey", part: "pinecone.indexName" }

/** Where a controller's address leads. */
export const hostOf = (controller: string | undefined): string => controller ?? ownController

/** Vectors of one upsert and ids of one deletion: a request takes 2 MB, and 1,000. */
const vectorsAtOnce = 50
const idsAtOnce = 1_000
/** Bytes of a chunk's text that go along: a record takes 40 kB of metadata in all. */
const mostTextBytes = 30_000
/** Hits of one query, at most. */
const mostHits = 10_000
/** Looks at whether what was written is found, and milliseconds between the first two; each wait is half as long again, at most 5 s. */
const looks = 30
const lookMs = 100

const Index = Schema.Struct({
  host: Schema.String,
  schema: Schema.Struct({
    fields: Schema.Struct({
      // The reserved name of the dense vector of an index for records of vectors.
      _values: Schema.optionalKey(Schema.Struct({ dimension: Schema.Int, metric: Schema.String }))
    })
  }),
  status: Schema.Struct({ ready: Schema.Boolean, state: Schema.optionalKey(Schema.String) })
})
const Stats = Schema.Struct({
  /** Of an index in pods, 1 being full. */
  indexFullness: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  namespaces: Schema.optionalKey(
    Schema.NullOr(Schema.Record(Schema.String, Schema.Struct({ vectorCount: Schema.optionalKey(Schema.Int) })))
  )
})
const Matches = Schema.Struct({
  matches: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ id: Schema.String, score: Schema.optionalKey(Schema.Finite) }))))
})
const Listed = Schema.Struct({
  vectors: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ id: Schema.String })))),
  pagination: Schema.optionalKey(Schema.NullOr(Schema.Struct({ next: Schema.optionalKey(Schema.String) })))
})

/**
 * A corpus in a Pinecone index: a namespace of its own. Records go by `{version}#{place}`, so that a version is listed and
 * deleted by its prefix. The index is dense; what is written counts as there once a query finds it.
 */
export const make = Effect.fnUntraced(function*(options: PineconeOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { space: { corpus: namespace, dimensions } } = options
  const indexName = yield* needed("pinecone.indexName", options.indexName)
  const key = options.apiKey
  if (key === undefined) {
    return yield* unfit("pinecone.apiKey", "is not set, and Pinecone answers nobody without a key", "name the secret version that holds it")
  }
  const place = `namespace ${namespace} of Pinecone's index ${indexName}`
  const restOf = (baseUrl: string) =>
    rest(
      {
        http: options.http,
        baseUrl,
        what: place,
        fields,
        key,
        secrets: options.secrets,
        credentials: (value) => ({ "api-key": value }),
        headers: { "x-pinecone-api-version": apiVersion },
        retry: options.retry
      } satisfies RestOptions
    )
  const control = restOf(hostOf(options.controller))
  const decoded = <A>(schema: Schema.Decoder<A>, json: unknown): Effect.Effect<A, ServiceError> =>
    Effect.mapError(
      Schema.decodeUnknownEffect(schema)(json),
      () =>
        unfit(
          "pinecone.indexName",
          `${place} answers otherwise than version ${apiVersion} of its API says`,
          "make an index of that version, or use a Sluice that knows the one it has"
        )
    )

  let found: ReturnType<typeof rest> | undefined
  /** Looks the index up, and holds it against what the corpus needs. */
  const index = Effect.gen(function*() {
    const { json, status } = yield* control("looking", `/indexes/${encodeURIComponent(indexName)}`, {
      accept: (status) => status === 200 || status === 404
    })
    if (status === 404) {
      return yield* unfit(
        "pinecone.indexName",
        `Pinecone has no index ${indexName} for this key`,
        `make one of ${dimensions} dimensions, metric cosine`
      )
    }
    const { host, schema: { fields: { _values } }, status: state } = yield* decoded(Index, json)
    if (_values === undefined) {
      return yield* unfit("pinecone.indexName", `the index ${indexName} is not one of dense vectors`, "name one that is")
    }
    const { dimension, metric } = _values
    if (dimension !== dimensions) {
      return yield* unfit(
        "pinecone.indexName",
        `the index ${indexName} has ${dimension} dimensions, and the embedder gives ${dimensions}`,
        `make one of ${dimensions} dimensions, or use another embedding model`
      )
    }
    // Vectors have length 1: their dot product is the cosine.
    if (metric !== "cosine" && metric !== "dotproduct") {
      return yield* unfit(
        "pinecone.indexName",
        `the index ${indexName} compares vectors by ${metric}, and the corpus by cosine`,
        "make one of metric cosine"
      )
    }
    if (!state.ready) {
      return yield* blamed(fields)(
        new ServiceError({ code: "UNAVAILABLE", message: `the index ${indexName} is not ready (${state.state ?? "no state"})` })
      )
    }
    return restOf(host.includes("://") ? host : `https://${host}`)
  })
  const call = (...args: Parameters<ReturnType<typeof rest>>) =>
    Effect.flatMap(
      Effect.suspend(() =>
        found === undefined ? Effect.tap(index, (made) => Effect.sync(() => void (found = made))) : Effect.succeed(found)
      ),
      (data) => data(...args)
    )

  const check: VectorStore["check"] = Effect.gen(function*() {
    found = yield* index
    const { json } = yield* call("counting", "/describe_index_stats", { method: "POST", body: {} })
    const { indexFullness, namespaces } = yield* decoded(Stats, json)
    if ((indexFullness ?? 0) >= 1) {
      return yield* unfit("pinecone.indexName", `the index ${indexName} is full`, "add pods or make room in it, or use another index")
    }
    // Nothing is called so: what is looked for is whether the key may write.
    yield* call("looking what the key may do", "/vectors/delete", {
      method: "POST",
      body: { namespace, ids: ["#nobody"] },
      accept: (status) => status === 200 || status === 404
    })
    const own = namespaces?.[namespace]
    return { chunks: own?.vectorCount ?? 0, dimensions, version: `API ${apiVersion}` }
  })

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    // It takes no vector of zeros, and would find none.
    const some = files.map((file) => ({ ...file, chunks: file.chunks.filter(({ vector }) => vector.some((value) => value !== 0)) }))
    for (const batch of chunkBatches(some, vectorsAtOnce)) {
      const vectors = batch.map(([file, chunk]) =>
        `{"id":${JSON.stringify(idOf(file.file, chunk.ordinal))},"values":${vectorJson(chunk.vector)},"metadata":${
          JSON.stringify(metadataOf(namespace, file, chunk))
        }}`
      )
      const { headers } = yield* call("writing chunks", "/vectors/upsert", {
        method: "POST",
        body: `{"namespace":${JSON.stringify(namespace)},"vectors":[${vectors.join(",")}]}`
      })
      const [file, chunk] = batch.at(-1)!
      yield* settled(headers["x-pinecone-request-lsn"], idOf(file.file, chunk.ordinal), chunk.vector)
    }
  })

  /** Returns when what was written last is found. The service says how far its index is, where it does; else the record is asked for. */
  const settled = Effect.fnUntraced(function*(lsn: string | undefined, id: string, vector: Float32Array) {
    const [file = ""] = id.split("#")
    const body = `{"namespace":${JSON.stringify(namespace)},"topK":1,"vector":${vectorJson(vector)},"filter":${
      JSON.stringify({ fileId: { $eq: file } })
    }}`
    for (let look = 0; look < looks; look++) {
      const { headers, json } = yield* call("looking for what was written", "/query", { method: "POST", body })
      const indexed = headers["x-pinecone-max-indexed-lsn"]
      const { matches } = yield* decoded(Matches, json)
      if (lsn !== undefined && indexed !== undefined ? Number(indexed) >= Number(lsn) : (matches?.length ?? 0) > 0) return
      yield* Effect.sleep(Math.min(5_000, lookMs * 1.5 ** look))
    }
    return yield* new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${place} does not show what was written` })
  })

  const remove = Effect.fnUntraced(function*(file: string) {
    let token: string | undefined
    do {
      const query = new URLSearchParams({ namespace, prefix: `${file}#`, ...(token === undefined ? {} : { paginationToken: token }) })
      const { json, status } = yield* call("listing chunks", `/vectors/list?${query}`, {
        accept: (status) => status === 200 || status === 404
      })
      if (status === 404) return
      const { pagination, vectors } = yield* decoded(Listed, json)
      token = pagination?.next
      for (const ids of parts((vectors ?? []).map(({ id }) => id), idsAtOnce)) {
        yield* call("deleting chunks", "/vectors/delete", { method: "POST", body: { namespace, ids } })
      }
    } while (token !== undefined)
  })

  const search: VectorStore["search"] = Effect.fnUntraced(function*({ count, files, vector }: VectorQuery) {
    if (vector === undefined || vector.every((value) => value === 0)) return { dense: [], sparse: [] }
    const filter = files === undefined ? "" : `,"filter":${JSON.stringify({ fileId: { $in: files } })}`
    const body = `{"namespace":${JSON.stringify(namespace)},"topK":${Math.min(mostHits, count)},"vector":${vectorJson(vector)}${filter}}`
    const { json, status } = yield* call("searching", "/query", {
      method: "POST",
      body,
      accept: (status) => status === 200 || status === 404
    })
    if (status === 404) return { dense: [], sparse: [] }
    const { matches } = yield* decoded(Matches, json)
    return { dense: (matches ?? []).flatMap(hitOf), sparse: [] }
  })

  return {
    place,
    words: false,
    mostFiles: 1_000,
    // Indexes cost money: making one is not for a pipeline to do by itself. A namespace is made by its first record.
    prepare: Effect.asVoid(check),
    check,
    put,
    delete: (files) => Effect.forEach(files, remove, { concurrency: 4, discard: true }),
    drop: Effect.asVoid(
      call("deleting the namespace", "/vectors/delete", {
        method: "POST",
        body: { namespace, deleteAll: true },
        accept: (status) => status === 200 || status === 404
      })
    ),
    search
  }
})

const idOf = (file: string, ordinal: number): string => `${file}#${ordinal}`

const hitOf = ({ id, score = 0 }: { readonly id: string; readonly score?: number }): ReadonlyArray<VectorHit> => {
  const [, file, ordinal] = /^(.*)#(\d+)$/.exec(id) ?? []
  return file === undefined ? [] : [{ file, ordinal: Number(ordinal), score }]
}

/** Metadata is flat: texts, numbers, yes or no, lists of texts. */
const metadataOf = (corpus: string, file: VectorFile, chunk: VectorChunk): Readonly<Record<string, unknown>> => {
  const { chunkData, ...properties } = propertiesOf(corpus, file, chunk)
  return {
    ...properties,
    chunkData: cut(chunkData),
    ...(file.metadata === undefined ? {} : { fileMetadata: cut(JSON.stringify(file.metadata), 4_000) }),
    ...(file.permissions === undefined
      ? {}
      : { filePublic: file.permissions.public, filePrincipals: file.permissions.principals.slice(0, 100) })
  }
}

/** The text's first bytes, whole characters: the engine keeps it whole. */
const cut = (text: string, bytes = mostTextBytes): string =>
  Buffer.byteLength(text) <= bytes ? text : Buffer.from(text).subarray(0, bytes).toString("utf8").replace(/\ufffd$/, "")
