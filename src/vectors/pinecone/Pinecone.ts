import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import type { VectorChunk, VectorFile, VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import {
  blamed,
  chunkBatches,
  chunkOf,
  corpusRecordOf,
  type Fields,
  filesOf,
  jsonIn,
  needed,
  parts,
  propertiesOf,
  type ReadChunk,
  recordsCorpus,
  unfit,
  vectorJson,
  versionsOf
} from "../Chunks.ts"
import { awaited, decoder, orMissing, rest, type RestOptions, type RestStoreOptions } from "../Rest.ts"
import { askedSparse, fullShare, sparseOf, type SparseVector } from "../SparseTerms.ts"

export interface PineconeOptions extends RestStoreOptions {
  readonly indexName: string | undefined
  readonly apiKey?: SecretVersion | undefined
  /** Base URL of the control plane, which describes indexes. Default `https://api.pinecone.io`. */
  readonly controller?: string | undefined
}

/** Version of the API. It describes an index by the fields of its schema. */
const apiVersion = "2026-07"
const ownController = "https://api.pinecone.io"

const fields: Fields = { address: "pinecone.indexName", key: "pinecone.apiKey", part: "pinecone.indexName" }

/** Base URL of the control plane: the given one, or Pinecone's own. */
export const hostOf = (controller: string | undefined): string => controller ?? ownController

/** Vectors of one upsert. */
const vectorsAtOnce = 50
/** Most bytes of the vectors of one upsert: a request takes 2 MB. */
const upsertBytes = 1_900_000
/** Ids of one deletion, Pinecone's limit. */
const idsAtOnce = 1_000
/** Most bytes of a record's metadata, as JSON, a little less than Pinecone's limit of 40 kB. */
const mostMetadataBytes = 40_000
/** Most bytes of a chunk's text in its metadata. */
const mostTextBytes = 30_000
/** Most different terms in a chunk's sparse vector, Pinecone's limit. */
const mostTerms = 1_000
/** Most bytes of a file's metadata, of the engine's record and of a chunk's headings, in a chunk's metadata. */
const mostFactBytes = 3_500
/** Most principals in a chunk's metadata. */
const mostPrincipals = 100
/** Records of one read: their ids are part of the URL. */
const fetchedAtOnce = 50
/** Most hits of one query. */
const mostHits = 10_000
/**
 * Length of the dense vector in a search by words: Pinecone requires one that is not zero. It is too short to change the
 * order; a hit that scores no more than it has none of the words.
 */
const faint = 1e-6
/** Looks at whether a written record is found. */
const looks = 30

const Described = Schema.Struct({
  host: Schema.String,
  schema: Schema.Struct({
    fields: Schema.Struct({
      // The reserved name of the dense vector in an index of vectors.
      _values: Schema.optionalKey(Schema.Struct({ dimension: Schema.Int, metric: Schema.String }))
    })
  }),
  status: Schema.Struct({ ready: Schema.Boolean, state: Schema.optionalKey(Schema.String) })
})
/** The index that the corpus is in. */
interface Index {
  /** Calls the data plane, at the index's own address. */
  readonly call: ReturnType<typeof rest>
  /** Whether records may have a sparse vector. */
  readonly sparse: boolean
}
const Stats = Schema.Struct({
  /** Fullness of an index in pods, from 0 to 1. */
  indexFullness: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  namespaces: Schema.optionalKey(
    Schema.NullOr(Schema.Record(Schema.String, Schema.Struct({ vectorCount: Schema.optionalKey(Schema.Int) })))
  )
})
const Upserted = Schema.Struct({ upsertedCount: Schema.optionalKey(Schema.Int) })
const Matches = Schema.Struct({
  matches: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ id: Schema.String, score: Schema.optionalKey(Schema.Finite) }))))
})
const Fetched = Schema.Struct({
  vectors: Schema.Record(
    Schema.String,
    Schema.Struct({
      values: Schema.Array(Schema.Finite),
      metadata: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
    })
  )
})
const Listed = Schema.Struct({
  vectors: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ id: Schema.String })))),
  pagination: Schema.optionalKey(Schema.NullOr(Schema.Struct({ next: Schema.optionalKey(Schema.String) })))
})

/**
 * A corpus in one namespace of a Pinecone index. Ids of records are `{version}#{ordinal}`, so that a version is listed and
 * deleted by its prefix. The index is dense; where its metric is the dot product, records also have a sparse vector of their
 * terms, and a query mixes both. A write is complete once a query finds it.
 */
export const make = Effect.fnUntraced(function*(options: PineconeOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { space: { corpus: namespace, dimensions } } = options
  const indexName = yield* needed("pinecone.indexName", options.indexName)
  const key = options.apiKey
  if (key === undefined) {
    return yield* unfit("pinecone.apiKey", "is not set, and Pinecone requires a key", "name the secret version that holds it")
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
  const decoded = decoder(() =>
    unfit(
      "pinecone.indexName",
      `${place} does not answer as version ${apiVersion} of its API specifies`,
      "make an index of that version, or use a version of Sluice that supports the index's"
    )
  )

  let found: Index | undefined
  /** Looks up the index, and checks that it fits the corpus. */
  const index = Effect.gen(function*(): Effect.fn.Return<Index, ServiceError> {
    const { json, status } = yield* control("looking", `/indexes/${encodeURIComponent(indexName)}`, {
      accept: orMissing
    })
    if (status === 404) {
      return yield* unfit(
        "pinecone.indexName",
        `Pinecone has no index ${indexName} for this key`,
        `make one of ${dimensions} dimensions, metric cosine`
      )
    }
    const { host, schema: { fields: { _values } }, status: state } = yield* decoded(Described, json)
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
    // Sparse vectors beside dense ones need the metric dotproduct.
    return { call: restOf(host.includes("://") ? host : `https://${host}`), sparse: metric === "dotproduct" }
  })
  const known = Effect.suspend(() =>
    found === undefined ? Effect.tap(index, (made) => Effect.sync(() => void (found = made))) : Effect.succeed(found)
  )
  const call = (...args: Parameters<ReturnType<typeof rest>>) => Effect.flatMap(known, ({ call }) => call(...args))

  let together: boolean | undefined
  /** Whether a query may have a sparse vector beside its dense one, which the description of an index does not state. */
  const mixes = Effect.gen(function*() {
    if (!(yield* known).sparse) return false
    if (together !== undefined) return together
    const { status } = yield* call("looking whether it finds words", "/query", {
      method: "POST",
      body: { namespace, topK: 1, vector: Array.from({ length: dimensions }, () => 1), sparseVector: { indices: [0], values: [1] } },
      accept: (status) => status === 200 || status === 400 || status === 404
    })
    return together = status !== 400
  })

  const check: VectorStore["check"] = Effect.gen(function*() {
    found = yield* index
    const { json } = yield* call("counting", "/describe_index_stats", { method: "POST", body: {} })
    const { indexFullness, namespaces } = yield* decoded(Stats, json)
    if ((indexFullness ?? 0) >= 1) {
      return yield* unfit("pinecone.indexName", `the index ${indexName} is full`, "add pods or make room in it, or use another index")
    }
    // No record has this id: the call only tests whether the key may write.
    yield* call("looking what the key may do", "/vectors/delete", {
      method: "POST",
      body: { namespace, ids: ["#nobody"] },
      accept: orMissing
    })
    const own = namespaces?.[namespace]
    return { chunks: own?.vectorCount ?? 0, dimensions, version: `API ${apiVersion}` }
  })

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    // Pinecone refuses vectors of zeros, and no search would find them.
    const some = files.map((file) => ({ ...file, chunks: file.chunks.filter(({ vector }) => vector.some((value) => value !== 0)) }))
    const { sparse } = yield* known
    for (const batch of chunkBatches(some, vectorsAtOnce)) {
      const records = batch.map(([file, chunk]) => ({
        chunk,
        id: idOf(file.file, chunk.ordinal),
        json: `{"id":${JSON.stringify(idOf(file.file, chunk.ordinal))},"values":${vectorJson(chunk.vector)},${
          sparse && chunk.terms.length > 0 ? `"sparseValues":${JSON.stringify(sparseOf(chunk.terms, mostTerms))},` : ""
        }"metadata":${JSON.stringify(metadataOf(namespace, file, chunk))}}`
      }))
      for (const vectors of ofBytes(records, ({ json }) => Buffer.byteLength(json), upsertBytes)) {
        const { headers, json } = yield* call("writing chunks", "/vectors/upsert", {
          method: "POST",
          body: `{"namespace":${JSON.stringify(namespace)},"vectors":[${vectors.map(({ json }) => json).join(",")}]}`
        })
        const { upsertedCount = vectors.length } = yield* decoded(Upserted, json)
        if (upsertedCount < vectors.length) {
          return yield* new ServiceError({
            code: "UNAVAILABLE",
            message: `writing chunks in ${place}: it took ${upsertedCount} of ${vectors.length} records`
          })
        }
        const { chunk, id } = vectors.at(-1)!
        yield* settled(headers["x-pinecone-request-lsn"], id, chunk.vector)
      }
    }
  })

  /**
   * Waits until the last written record is found: until the index has reached its log sequence number, where the service
   * reports both, or else until a query returns the record.
   */
  const settled = Effect.fnUntraced(function*(lsn: string | undefined, id: string, vector: Float32Array) {
    const [file = ""] = id.split("#")
    const body = `{"namespace":${JSON.stringify(namespace)},"topK":1,"vector":${vectorJson(vector)},"filter":${
      JSON.stringify({ fileId: { $eq: file } })
    }}`
    yield* awaited(
      Effect.gen(function*() {
        const { headers, json } = yield* call("looking for what was written", "/query", { method: "POST", body })
        const indexed = headers["x-pinecone-max-indexed-lsn"]
        const { matches } = yield* decoded(Matches, json)
        const isFound = lsn !== undefined && indexed !== undefined ? Number(indexed) >= Number(lsn) : (matches?.length ?? 0) > 0
        return isFound ? true : undefined
      }),
      { late: `${place} does not show what was written`, looks }
    )
  })

  /** Ids of the records in a namespace, all or those with a prefix. */
  const idsOf = Effect.fnUntraced(function*(of: string, prefix?: string) {
    const ids: Array<string> = []
    let token: string | undefined
    do {
      const query = new URLSearchParams({
        namespace: of,
        ...(prefix === undefined ? {} : { prefix }),
        ...(token === undefined ? {} : { paginationToken: token })
      })
      const { json, status } = yield* call("listing chunks", `/vectors/list?${query}`, {
        accept: orMissing
      })
      if (status === 404) break
      const { pagination, vectors } = yield* decoded(Listed, json)
      ids.push(...(vectors ?? []).map(({ id }) => id))
      token = pagination?.next
    } while (token !== undefined)
    return ids
  })

  const fetched = Effect.fnUntraced(function*(of: string, ids: ReadonlyArray<string>) {
    const found: Array<readonly [id: string, record: (typeof Fetched.Type)["vectors"][string]]> = []
    for (const some of parts(ids, fetchedAtOnce)) {
      const query = new URLSearchParams([["namespace", of], ...some.map((id): [string, string] => ["ids", id])])
      const { json } = yield* call("reading chunks", `/vectors/fetch?${query}`)
      found.push(...Object.entries((yield* decoded(Fetched, json)).vectors))
    }
    return found
  })

  const remove = Effect.fnUntraced(function*(file: string) {
    for (const ids of parts(yield* idsOf(namespace, `${file}#`), idsAtOnce)) {
      yield* call("deleting chunks", "/vectors/delete", { method: "POST", body: { namespace, ids } })
    }
  })

  /** Hits of one query, best first. */
  const matchesOf = Effect.fnUntraced(
    function*({ count, files }: VectorQuery, vector: Float32Array, sparse: SparseVector | undefined) {
      const filter = files === undefined ? "" : `,"filter":${JSON.stringify({ fileId: { $in: files } })}`
      const words = sparse === undefined ? "" : `,"sparseVector":${JSON.stringify(sparse)}`
      const { json, status } = yield* call("searching", "/query", {
        method: "POST",
        body: `{"namespace":${JSON.stringify(namespace)},"topK":${Math.min(mostHits, count)},"vector":[${
          vector.join(",")
        }]${words}${filter}}`,
        accept: orMissing
      })
      if (status === 404) return []
      const { matches } = yield* decoded(Matches, json)
      return (matches ?? []).flatMap(hitOf)
    }
  )

  const search: VectorStore["search"] = Effect.fnUntraced(function*(query: VectorQuery) {
    const { alpha, terms = [], vector } = query
    const near = vector === undefined || vector.every((value) => value === 0) ? undefined : vector
    const { indices, values } = askedSparse(terms)
    const all = values.reduce((sum, weight) => sum + weight, 0) * fullShare
    const askFor = (share: number): SparseVector => ({ indices, values: values.map((weight) => share * weight / all) })
    // Scales the words' score to at most 1, for a chunk of nothing but these words, as the cosine is at most 1.
    if (alpha !== undefined && near !== undefined && all > 0) {
      return { dense: [], sparse: [], mixed: yield* matchesOf(query, near.map((value) => alpha * value), askFor(1 - alpha)) }
    }
    const weak = near?.map((value) => faint * value) ?? new Float32Array(dimensions).fill(faint, 0, 1)
    const [dense, sparse] = yield* Effect.all([
      near === undefined ? Effect.succeed([]) : matchesOf(query, near, undefined),
      all === 0 ? Effect.succeed([]) : matchesOf(query, weak, askFor(1))
    ], { concurrency: 2 })
    return { dense, sparse: sparse.filter(({ score }) => score > 2 * faint) }
  })

  return {
    corpora: Effect.gen(function*() {
      const ids = yield* idsOf(recordsCorpus)
      const records = yield* fetched(recordsCorpus, ids)
      return records.flatMap(([id, { metadata }]) => corpusRecordOf(id, metadata?.["chunkData"]))
    }),
    sign: (record) => {
      // Pinecone refuses records without a vector.
      const values = Array.from({ length: dimensions }, (_, at) => at === 0 ? 1 : 0)
      const metadata = { fileId: namespace, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData: JSON.stringify(record) }
      return Effect.asVoid(call("signing the corpus", "/vectors/upsert", {
        method: "POST",
        body: { namespace: recordsCorpus, vectors: [{ id: namespace, values, metadata }] }
      }))
    },
    versions: Effect.gen(function*() {
      const places = (yield* idsOf(namespace)).flatMap((id) => hitOf({ id }))
      const firsts = new Map(yield* fetched(namespace, places.filter(({ ordinal }) => ordinal === 0).map(({ file }) => idOf(file, 0))))
      return versionsOf(places.map(({ file, ordinal }) => {
        const record = ordinal === 0 ? firsts.get(idOf(file, 0))?.metadata?.["chunkRecord"] : undefined
        return { file, ordinal, record: typeof record === "string" ? record : undefined }
      }))
    }),
    read: Effect.fnUntraced(function*(files) {
      const chunks: Array<ReadChunk> = []
      const cut = new Set<string>()
      for (const file of files) {
        for (const [, { metadata, values }] of yield* fetched(namespace, yield* idsOf(namespace, `${file}#`))) {
          const chunk = chunkOf(metadata, values, factsOf(metadata ?? {}))
          if (chunk === undefined || metadata?.["chunkCut"] === true) cut.add(file)
          else chunks.push(chunk)
        }
      }
      return filesOf(chunks).filter(({ file }) => !cut.has(file))
    }),
    place,
    abilities: Effect.map(mixes, (mixes) => ({ words: mixes, mixes, rarity: false })),
    mostFiles: 1_000,
    // Indexes cost money: a pipeline must not make one on its own. A namespace is made by its first record.
    prepare: Effect.asVoid(check),
    check,
    put,
    delete: (files) => Effect.forEach(files, remove, { concurrency: 4, discard: true }),
    drop: Effect.forEach(
      [{ namespace, deleteAll: true }, { namespace: recordsCorpus, ids: [namespace] }],
      (body) =>
        call("deleting the namespace", "/vectors/delete", {
          method: "POST",
          body,
          accept: orMissing
        }),
      { discard: true }
    ),
    search
  }
})

/** Parts of a list in order, each of one item or of `most` bytes at most. */
const ofBytes = <A>(items: ReadonlyArray<A>, bytesOf: (item: A) => number, most: number): ReadonlyArray<ReadonlyArray<A>> => {
  const all: Array<Array<A>> = []
  let room = 0
  for (const item of items) {
    const bytes = bytesOf(item)
    if (bytes > room) {
      all.push([])
      room = most
    }
    all.at(-1)!.push(item)
    room -= bytes
  }
  return all
}

const idOf = (file: string, ordinal: number): string => `${file}#${ordinal}`

const hitOf = ({ id, score = 0 }: { readonly id: string; readonly score?: number }): ReadonlyArray<VectorHit> => {
  const [, file, ordinal] = /^(.*)#(\d+)$/.exec(id) ?? []
  return file === undefined ? [] : [{ file, ordinal: Number(ordinal), score }]
}

/** Metadata of a record. Pinecone allows strings, numbers, booleans and lists of strings, without nesting. */
const metadataOf = (corpus: string, file: VectorFile, chunk: VectorChunk): Readonly<Record<string, unknown>> => {
  const { chunkData, chunkHeadings, chunkRecord = "", ...properties } = propertiesOf(corpus, file, chunk)
  const metadata = file.metadata === undefined ? "" : JSON.stringify(file.metadata)
  const principals = file.permissions?.principals ?? []
  const withText = (text: string, whole: boolean) => ({
    ...properties,
    chunkData: text,
    chunkHeadings: bytesOf(chunkHeadings) <= mostFactBytes ? chunkHeadings : [],
    ...(whole ? { chunkRecord: chunk.record } : { chunkCut: true }),
    ...(metadata === "" ? {} : { fileMetadata: cut(metadata, mostFactBytes) }),
    ...(file.permissions === undefined
      ? {}
      : { filePublic: file.permissions.public, filePrincipals: principals.slice(0, mostPrincipals) })
  })
  const whole = withText(chunkData, true)
  const isWhole = Buffer.byteLength(chunkData) <= mostTextBytes && Buffer.byteLength(metadata) <= mostFactBytes &&
    Buffer.byteLength(chunkRecord) <= mostFactBytes && bytesOf(chunkHeadings) <= mostFactBytes && principals.length <= mostPrincipals
  if (isWhole && bytesOf(whole) <= mostMetadataBytes) return whole
  const room = mostMetadataBytes - bytesOf(withText("", false))
  let text = cut(chunkData)
  // Escapes make JSON longer than its text.
  while (text !== "" && bytesOf(text) > room) text = cut(text, Math.floor(Buffer.byteLength(text) * 0.9))
  return withText(text, false)
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** A file's metadata and permissions as {@link metadataOf} wrote them into a record that was not cut. */
const factsOf = (metadata: Readonly<Record<string, unknown>>): Pick<VectorFile, "metadata" | "permissions"> => {
  const { fileMetadata, filePrincipals, filePublic } = metadata
  return {
    metadata: jsonIn<NonNullable<VectorFile["metadata"]>>(fileMetadata)?.value,
    permissions: typeof filePublic === "boolean"
      ? { public: filePublic, principals: Array.isArray(filePrincipals) ? filePrincipals.map(String) : [] }
      : undefined
  }
}

/** The first bytes of a text, up to a whole character. The engine keeps the whole text. */
const cut = (text: string, bytes = mostTextBytes): string =>
  Buffer.byteLength(text) <= bytes ? text : Buffer.from(text).subarray(0, bytes).toString("utf8").replace(/\ufffd$/, "")
