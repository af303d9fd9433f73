import { createHash } from "node:crypto"
import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorChunk, VectorFile, VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import {
  chunkBatches,
  chunkOf,
  corpusRecordOf,
  type Fields,
  filesOf,
  jsonIn,
  needed,
  parts,
  propertiesOf,
  recordsCorpus,
  unfit,
  vectorJson,
  versionsOf
} from "../Chunks.ts"
import { awaited, orMissing, rest } from "../Rest.ts"
import { askedSparse, sparseOf } from "../SparseTerms.ts"
import { decoderOf, type GoogleStoreOptions, idOf, placeIn } from "./Service.ts"

export interface VectorSearchOptions extends GoogleStoreOptions {
  /** `projects/{p}/locations/{l}/indexes/{i}`. */
  readonly index: string | undefined
  /** `projects/{p}/locations/{l}/indexEndpoints/{e}`, the endpoint that the index is deployed to. */
  readonly indexEndpoint: string | undefined
}

const fields: Fields = { address: "vectorSearch.indexEndpoint", key: "vectorSearch.index", part: "vectorSearch.index" }

/** Datapoints of one upsert. */
const upsertedAtOnce = 100
/** Datapoints of one read, of which the service allows 1,000. */
const readAtOnce = 100
/** Datapoints of one removal. */
const removedAtOnce = 1_000
/** Queries of one request for a list. */
const queriesAtOnce = 16
/** Most neighbours of one query. */
const mostHits = 1_000
/** Most different terms in a chunk's sparse vector. */
const mostTerms = 1_000
/** Chunks of a file that are listed together: fewer than {@link mostHits}. */
const partSize = 500
/** Shards that the files of a corpus are listed by, each of fewer files than {@link mostHits}. */
const shards = 256

const Index = Schema.Struct({
  displayName: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Struct({
    config: Schema.optionalKey(Schema.Struct({
      dimensions: Schema.optionalKey(Schema.Union([Schema.Int, Schema.NumberFromString])),
      distanceMeasureType: Schema.optionalKey(Schema.String)
    }))
  })),
  indexUpdateMethod: Schema.optionalKey(Schema.String)
})
const IndexEndpoint = Schema.Struct({
  publicEndpointDomainName: Schema.optionalKey(Schema.String),
  deployedIndexes: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String, index: Schema.String })))
})
const Datapoint = Schema.Struct({
  datapointId: Schema.String,
  featureVector: Schema.optionalKey(Schema.Array(Schema.Finite)),
  crowdingTag: Schema.optionalKey(Schema.Struct({ crowdingAttribute: Schema.optionalKey(Schema.String) })),
  embeddingMetadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
const Found = Schema.Struct({
  nearestNeighbors: Schema.optionalKey(Schema.Array(Schema.Struct({
    neighbors: Schema.optionalKey(Schema.Array(Schema.Struct({
      datapoint: Datapoint,
      distance: Schema.optionalKey(Schema.Finite),
      sparseDistance: Schema.optionalKey(Schema.Finite)
    })))
  })))
})
type Neighbor = NonNullable<NonNullable<(typeof Found.Type)["nearestNeighbors"]>[number]["neighbors"]>[number]
const Read = Schema.Struct({ datapoints: Schema.optionalKey(Schema.Array(Datapoint)) })

/** Content of the crowding tag in a version's datapoints. */
interface Tag {
  readonly file: string
  /** Number of chunks that the version was written with. */
  readonly chunks: number
  /** Ordinal of its last chunk. */
  readonly last: number
}

/** The deployed index. */
interface Deployed {
  /** Calls the endpoint at its own address. */
  readonly find: ReturnType<typeof rest>
  readonly id: string
  /** Whether a distance is 1 minus the cosine; otherwise it is the dot product. */
  readonly cosine: boolean
}

const restricted = (namespace: string, ...allowList: ReadonlyArray<string>) => ({ namespace, allowList })

/**
 * A corpus in an index of Vertex AI Vector Search with streamed updates, which other corpora may share. Corpora are
 * distinguished by the restriction `corpusId`. Ids of datapoints are `{corpus}/{version}/{ordinal}`; each datapoint has a
 * sparse vector of its terms, and the chunk in its metadata. The service cannot list datapoints, so they are found by
 * restrictions: a version by `fileId`, the versions of a corpus by `shard`, one datapoint of each, whose crowding tag names
 * its version.
 */
export const make = Effect.fnUntraced(function*(options: VectorSearchOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { space: { corpus, dimensions } } = options
  const indexName = yield* needed("vectorSearch.index", options.index)
  const endpointName = yield* needed("vectorSearch.indexEndpoint", options.indexEndpoint)
  const place = `${indexName.split("/").slice(-2).join(" ")} of Vector Search`
  const restOf = (baseUrl: string) =>
    rest({ http: options.http, baseUrl, what: place, fields, secrets: options.secrets, auth: options.auth, retry: options.retry })
  const location = indexName.split("/")[3] ?? ""
  const call = restOf(`${options.endpoint ?? `https://${location}-aiplatform.googleapis.com`}/v1`)
  const decoded = decoderOf("vectorSearch.index", place)

  const look = Effect.gen(function*(): Effect.fn.Return<Deployed, ServiceError> {
    const found = yield* call("looking", `/${indexName}`, { accept: orMissing })
    if (found.status === 404) {
      return yield* unfit(
        "vectorSearch.index",
        `there is no index ${indexName} for these credentials`,
        `make one of ${dimensions} dimensions with streamed updates, and deploy it`
      )
    }
    const { indexUpdateMethod, metadata } = yield* decoded(Index, found.json)
    const { dimensions: has, distanceMeasureType = "DOT_PRODUCT_DISTANCE" } = metadata?.config ?? {}
    if (has !== dimensions) {
      return yield* unfit(
        "vectorSearch.index",
        `${place} has ${has ?? "no"} dimensions, and the embedder gives ${dimensions}`,
        `make one of ${dimensions} dimensions, or use another embedding model`
      )
    }
    // Vectors have length 1: their dot product is the cosine.
    if (distanceMeasureType !== "DOT_PRODUCT_DISTANCE" && distanceMeasureType !== "COSINE_DISTANCE") {
      return yield* unfit(
        "vectorSearch.index",
        `${place} compares vectors by ${distanceMeasureType}, and the corpus by cosine`,
        "make one of DOT_PRODUCT_DISTANCE"
      )
    }
    if (indexUpdateMethod !== "STREAM_UPDATE") {
      return yield* unfit(
        "vectorSearch.index",
        `${place} is filled in batches from Cloud Storage, and takes no single datapoints`,
        "make one whose indexUpdateMethod is STREAM_UPDATE"
      )
    }
    const endpoint = yield* call("looking", `/${endpointName}`, { accept: orMissing })
    if (endpoint.status === 404) {
      return yield* unfit("vectorSearch.indexEndpoint", `there is no index endpoint ${endpointName} for these credentials`, "make one")
    }
    const { deployedIndexes = [], publicEndpointDomainName } = yield* decoded(IndexEndpoint, endpoint.json)
    // Resource names may have the project's id or its number.
    const last = (name: string) => name.split("/").slice(2).join("/")
    const deployed = deployedIndexes.find(({ index }) => last(index) === last(indexName))
    if (deployed === undefined) {
      return yield* unfit(
        "vectorSearch.indexEndpoint",
        `${place} is not deployed to ${endpointName}`,
        "deploy it there, or name the endpoint that it is deployed to"
      )
    }
    if (publicEndpointDomainName === undefined || publicEndpointDomainName === "") {
      return yield* unfit(
        "vectorSearch.indexEndpoint",
        `${endpointName} has no public address, and is reached within its own network only`,
        "use an index endpoint with publicEndpointEnabled"
      )
    }
    return {
      find: restOf(`${options.endpoint ?? `https://${publicEndpointDomainName}`}/v1`),
      id: deployed.id,
      cosine: distanceMeasureType === "COSINE_DISTANCE"
    }
  })
  let known: Deployed | undefined
  const deployed = Effect.suspend(() =>
    known === undefined ? Effect.tap(look, (made) => Effect.sync(() => void (known = made))) : Effect.succeed(known)
  )

  /** The neighbours of each query; `queries` are JSON. */
  const neighbors = Effect.fnUntraced(function*(doing: string, queries: ReadonlyArray<string>, full = false) {
    const { find, id } = yield* deployed
    const { json } = yield* find(doing, `/${endpointName}:findNeighbors`, {
      method: "POST",
      body: `{"deployedIndexId":${JSON.stringify(id)},"returnFullDatapoint":${full},"queries":[${queries.join(",")}]}`
    })
    const { nearestNeighbors = [] } = yield* decoded(Found, json)
    return queries.map((_, at) => nearestNeighbors[at]?.neighbors ?? [])
  })

  // A vector that is about equally near to every chunk, for lists.
  const anywhere = vectorJson(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)))
  /** A query for every datapoint that passes the restrictions: it visits the whole tree, and keeps as many neighbours as allowed. */
  const listing = (restricts: ReadonlyArray<object>, each?: number): string =>
    `{"datapoint":{"datapointId":"query","featureVector":${anywhere},"restricts":${JSON.stringify(restricts)}},` +
    `"neighborCount":${mostHits},"approximateNeighborCount":${mostHits},"fractionLeafNodesToSearchOverride":1` +
    `${each === undefined ? "" : `,"perCrowdingAttributeNeighborCount":${each}`}}`

  /** The versions in the index by their `file`, whole or not. */
  const listed = Effect.gen(function*() {
    const found = new Map<string, Tag>()
    for (const some of parts(Array.from({ length: shards }, (_, shard) => String(shard)), queriesAtOnce)) {
      const queries = some.map((shard) => listing([restricted("corpusId", corpus), restricted("shard", shard)], 1))
      for (const shard of yield* neighbors("looking for files", queries)) {
        if (shard.length >= mostHits) {
          return yield* new ServiceError({
            code: "FAILED_PRECONDITION",
            message: `${place} holds more versions of files than can be listed, about ${shards * mostHits}`,
            fix: "move a part of them to another index"
          })
        }
        for (const tag of shard.flatMap(tagOf)) found.set(tag.file, tag)
      }
    }
    return found
  })

  /** The datapoints with these ids; missing ones are left out. */
  const read = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
    const { find, id } = yield* deployed
    const found: Array<typeof Datapoint.Type> = []
    for (const some of parts(ids, readAtOnce)) {
      const { json, status } = yield* find("reading chunks", `/${endpointName}:readIndexDatapoints`, {
        method: "POST",
        body: { deployedIndexId: id, ids: some },
        accept: orMissing
      })
      if (status === 200) found.push(...(yield* decoded(Read, json)).datapoints ?? [])
    }
    return found
  })

  const remove = (ids: ReadonlyArray<string>) =>
    Effect.forEach(parts(ids, removedAtOnce), (datapointIds) =>
      call("deleting chunks", `/${indexName}:removeDatapoints`, {
        method: "POST",
        body: { datapointIds },
        accept: orMissing
      }), { discard: true })

  /** Waits until `holds` is true of a query's neighbours. */
  const settled = (query: string, full: boolean, holds: (found: ReadonlyArray<Neighbor>) => boolean) =>
    awaited(
      Effect.map(neighbors("looking for what was written", [query], full), ([found = []]) => holds(found) ? true : undefined),
      { late: `${place} does not show what was written`, firstMs: options.retry?.baseMs }
    )
  const partQuery = (file: string, part: number): string =>
    listing([restricted("corpusId", corpus), restricted("fileId", file), restricted("part", String(part))])
  const has = (id: string) => (found: ReadonlyArray<Neighbor>): boolean => found.some(({ datapoint }) => datapoint.datapointId === id)

  const check: VectorStore["check"] = Effect.gen(function*() {
    known = yield* look
    // No datapoint has this id: the call only tests whether the credentials may write.
    yield* remove(["nobody"])
    const versions = yield* listed
    return { chunks: [...versions.values()].reduce((sum, { chunks }) => sum + chunks, 0), dimensions, version: "API v1" }
  })

  const upsert = (datapoints: ReadonlyArray<string>) =>
    call("writing chunks", `/${indexName}:upsertDatapoints`, { method: "POST", body: `{"datapoints":[${datapoints.join(",")}]}` })

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    // A vector of zeros has no direction, and no search would find it.
    const some = files.map((file) => ({ ...file, chunks: file.chunks.filter(({ vector }) => vector.some((value) => value !== 0)) }))
    for (const batch of chunkBatches(some, upsertedAtOnce)) {
      yield* upsert(batch.map(([file, chunk]) => datapointOf(corpus, file, chunk)))
    }
    for (const { chunks, file } of some) {
      const last = chunks.at(-1)
      if (last !== undefined) yield* settled(partQuery(file, partOf(last.ordinal)), false, has(idOf(corpus, file, last.ordinal)))
    }
  })

  const removeFile = Effect.fnUntraced(function*(file: string) {
    const ids: Array<string> = []
    for (let part = 0, last = 0; part <= partOf(last); part++) {
      const [found = []] = yield* neighbors("looking for chunks", [partQuery(file, part)])
      ids.push(...found.map(({ datapoint }) => datapoint.datapointId))
      last = Math.max(last, ...found.flatMap(tagOf).map((tag) => tag.last), part === 0 && found.length === 0 ? partSize : 0)
    }
    const one = ids.at(-1)
    if (one === undefined) return
    yield* remove(ids)
    yield* settled(partQuery(file, partOf(placeIn(one)?.ordinal ?? 0)), false, (found) => !has(one)(found))
  })

  const search: VectorStore["search"] = Effect.fnUntraced(function*({ alpha, count, files, terms = [], vector }: VectorQuery) {
    const dense = vector === undefined || vector.every((value) => value === 0) ? undefined : `"featureVector":${vectorJson(vector)}`
    const { indices, values } = askedSparse(terms)
    const sparse = indices.length === 0 ? undefined : `"sparseEmbedding":${JSON.stringify({ values, dimensions: indices.map(String) })}`
    const restricts = JSON.stringify([restricted("corpusId", corpus), ...(files === undefined ? [] : [restricted("fileId", ...files)])])
    const asking = (by: string, ranking = "") =>
      `{"datapoint":{"datapointId":"query",${by},"restricts":${restricts}},"neighborCount":${Math.min(mostHits, count)}${ranking}}`
    const both = (alpha: number) => asking(`${dense ?? `"featureVector":${anywhere}`},${sparse}`, `,"rrf":{"alpha":${alpha}}`)
    if (alpha !== undefined && dense !== undefined && sparse !== undefined) {
      const [mixed = []] = yield* neighbors("searching", [both(alpha)])
      // For mixed queries the service returns only an order, no scores.
      return { dense: [], sparse: [], mixed: mixed.flatMap((neighbor, at) => hitOf(neighbor, 1 / (1 + at))) }
    }
    // A query needs a dense vector; with a weight of 0 for it, the order is that of the words alone.
    const queries = [...(dense === undefined ? [] : [asking(dense)]), ...(sparse === undefined ? [] : [both(0)])]
    if (queries.length === 0) return { dense: [], sparse: [] }
    const { cosine } = yield* deployed
    const arms = yield* neighbors("searching", queries)
    const near = dense === undefined ? [] : arms[0] ?? []
    const said = (sparse === undefined ? undefined : arms.at(-1)) ?? []
    return {
      dense: near.flatMap((neighbor) => hitOf(neighbor, cosine ? 1 - (neighbor.distance ?? 0) : neighbor.distance ?? 0)),
      sparse: said.flatMap((neighbor) => hitOf(neighbor, neighbor.sparseDistance ?? 0)).filter(({ score }) => score > 0)
    }
  })

  const recordId = `${recordsCorpus}/${corpus}`
  const records = listing([restricted("corpusId", recordsCorpus)])

  return {
    place,
    abilities: Effect.succeed({ words: true, mixes: true, rarity: false }),
    mostFiles: 500,
    // Indexes and their machines cost money: a pipeline must not make one on its own.
    prepare: Effect.asVoid(check),
    check,
    put,
    delete: (files) => Effect.forEach(files, removeFile, { concurrency: 4, discard: true }),
    drop: Effect.gen(function*() {
      yield* Effect.forEach([...(yield* listed).keys()], removeFile, { concurrency: 4, discard: true })
      yield* remove([recordId])
      yield* settled(records, false, (found) => !has(recordId)(found))
    }),
    search,
    corpora: Effect.gen(function*() {
      const [found = []] = yield* neighbors("looking for corpora", [records], true)
      return found.flatMap(({ datapoint: { datapointId, embeddingMetadata } }) =>
        corpusRecordOf(datapointId.split("/")[1] ?? "", embeddingMetadata?.["chunkData"])
      )
    }),
    sign: Effect.fnUntraced(function*(record) {
      const chunkData = JSON.stringify(record)
      const metadata = { fileId: corpus, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData }
      yield* upsert([
        `{"datapointId":${JSON.stringify(recordId)},"featureVector":${anywhere},"restricts":${
          JSON.stringify([restricted("corpusId", recordsCorpus)])
        },"embeddingMetadata":${JSON.stringify(metadata)}}`
      ])
      yield* settled(
        records,
        true,
        (found) =>
          found.some(({ datapoint: { datapointId, embeddingMetadata } }) =>
            datapointId === recordId && embeddingMetadata?.["chunkData"] === chunkData
          )
      )
    }),
    versions: Effect.gen(function*() {
      const found: Array<{ readonly file: string; readonly ordinal: number; readonly record?: string | undefined }> = []
      for (const { file, last } of (yield* listed).values()) {
        for (let part = 0; part <= partOf(last); part++) {
          const [there = []] = yield* neighbors("looking for chunks", [partQuery(file, part)])
          found.push(...there.flatMap(({ datapoint }) => placeIn(datapoint.datapointId) ?? []).filter(({ ordinal }) => ordinal !== 0))
        }
        const [first] = yield* read([idOf(corpus, file, 0)])
        const record = first?.embeddingMetadata?.["chunkRecord"]
        if (first !== undefined) found.push({ file, ordinal: 0, record: typeof record === "string" ? record : undefined })
      }
      return versionsOf(found)
    }),
    read: Effect.fnUntraced(function*(files) {
      const there = yield* listed
      const ids = files.flatMap((file) =>
        Array.from({ length: (there.get(file)?.last ?? -1) + 1 }, (_, ordinal) => idOf(corpus, file, ordinal))
      )
      return filesOf((yield* read(ids)).flatMap(({ embeddingMetadata = {}, featureVector = [] }) => {
        const { fileMetadata, filePermissions } = embeddingMetadata
        return chunkOf(embeddingMetadata, featureVector, {
          metadata: jsonIn<NonNullable<VectorFile["metadata"]>>(fileMetadata)?.value,
          permissions: jsonIn<NonNullable<VectorFile["permissions"]>>(filePermissions)?.value
        }) ?? []
      }))
    })
  }
})

const partOf = (ordinal: number): number => Math.floor(ordinal / partSize)

const shardOf = (file: string): string => String(createHash("sha256").update(file).digest()[0])

const tagOf = ({ datapoint: { crowdingTag } }: Neighbor): ReadonlyArray<Tag> => {
  const [, file, chunks, last] = /^(.*)#(\d+)#(\d+)$/.exec(crowdingTag?.crowdingAttribute ?? "") ?? []
  return file === undefined ? [] : [{ file, chunks: Number(chunks), last: Number(last) }]
}

const datapointOf = (corpus: string, file: VectorFile, chunk: VectorChunk): string => {
  const { indices, values } = sparseOf(chunk.terms, mostTerms)
  const last = file.chunks.at(-1)?.ordinal ?? 0
  return JSON.stringify({
    datapointId: idOf(corpus, file.file, chunk.ordinal),
    ...(indices.length === 0 ? {} : { sparseEmbedding: { values, dimensions: indices.map(String) } }),
    restricts: [
      restricted("corpusId", corpus),
      restricted("fileId", file.file),
      restricted("part", String(partOf(chunk.ordinal))),
      restricted("shard", shardOf(file.file))
    ],
    crowdingTag: { crowdingAttribute: `${file.file}#${file.chunks.length}#${last}` },
    embeddingMetadata: {
      ...propertiesOf(corpus, file, chunk),
      fileMetadata: JSON.stringify(file.metadata ?? null),
      filePermissions: JSON.stringify(file.permissions ?? null)
    }
  }).replace(/^\{/, `{"featureVector":${vectorJson(chunk.vector)},`)
}

const hitOf = ({ datapoint: { datapointId } }: Neighbor, score: number): ReadonlyArray<VectorHit> => {
  const found = placeIn(datapointId)
  return found === undefined ? [] : [{ ...found, score }]
}
