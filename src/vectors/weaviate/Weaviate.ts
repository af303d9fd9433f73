import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import {
  byWords,
  type OtherFile,
  type Others,
  type VectorFile,
  type VectorHit,
  type VectorQuery,
  type VectorStore
} from "../../ports/VectorStore.ts"
import {
  blamed,
  chunkBatches,
  chunkId,
  chunkOf,
  corpusRecordOf,
  type Fields,
  filesOf,
  heavyTerms,
  isOlder,
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
import { decoder, isStranger, orMissing, rest, type RestStoreOptions } from "../Rest.ts"
import * as Answers from "./Answers.ts"
import { documented, ours } from "./Properties.ts"

export interface WeaviateOptions extends RestStoreOptions {
  readonly httpEndpoint: string | undefined
  readonly collectionName: string | undefined
  readonly apiKey?: SecretVersion | undefined
}

/** The first version that filters by lists of values. */
const leastVersion = [1, 21] as const
const fields: Fields = { address: "weaviate.httpEndpoint", key: "weaviate.apiKey", part: "weaviate.collectionName" }

/** Objects of one batch, and files of one deletion. */
const chunksAtOnce = 100
const filesAtOnce = 200
/** Objects of one page of a list. */
const objectsAtOnce = 500
/** Times that objects of a batch are sent again which were not taken, and milliseconds between. */
const timesAgain = 3
const pauseMs = 500
/** Looks at whether the server has indexed what it took, which it may do later, and milliseconds between. */
const looks = 240
const lookMs = 250
/** The server deletes so many objects at a time, unless it was told otherwise. */
const mostDeleted = 10_000

/**
 * A corpus in a Weaviate collection, beside others that may share it: told apart by `corpusId`, or each with a tenant of
 * its own where the collection has tenants. Vectors are ours; words are found by the server's BM25 over the terms of the
 * corpus's own analysis. Both arms go in one request.
 */
export const make = Effect.fnUntraced(function*(options: WeaviateOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const { space: { corpus, dimensions } } = options
  const endpoint = (yield* needed("weaviate.httpEndpoint", options.httpEndpoint)).replace(/\/+$/, "")
  const given = yield* needed("weaviate.collectionName", options.collectionName)
  // The server does the same, and knows collections by nothing else.
  const name = given.charAt(0).toUpperCase() + given.slice(1)
  if (!/^[A-Z][A-Za-z0-9_]*$/.test(name)) {
    return yield* unfit(
      "weaviate.collectionName",
      `${given} is no name of a collection`,
      "use letters, digits and underscores, a letter first"
    )
  }
  const place = `collection ${name} of Weaviate at ${new URL(endpoint).host}`
  const call = rest({
    http: options.http,
    baseUrl: `${endpoint}/v1`,
    what: place,
    fields,
    key: options.apiKey,
    secrets: options.secrets,
    retry: options.retry
  })

  const stranger = () => unfit("weaviate.httpEndpoint", `what answers at ${new URL(endpoint).host} is no Weaviate`, "check the address")
  const decoded = decoder(stranger)

  /** Undefined where there is none. */
  const collection = Effect.gen(function*() {
    const { json, status } = yield* call("looking", `/schema/${name}`, { accept: orMissing })
    return status === 404 ? undefined : yield* decoded(Answers.Collection, json)
  })

  const query = Effect.fnUntraced(function*(doing: string, graph: string) {
    const { json } = yield* call(doing, "/graphql", { method: "POST", body: { query: graph } })
    const { data, errors } = yield* decoded(Answers.GraphQl, json)
    const [error] = errors ?? []
    if (error !== undefined) return yield* refusalOf(doing, error.message)
    return data ?? {}
  })

  const refusalOf = (doing: string, message: string): ServiceError => {
    const missing = /Cannot query field|class .* not found|could not find class|tenant not found/i.test(message)
    const wrong = /vector lengths? don't match|dimension/i.test(message)
    if (wrong) return otherDimensions(message)
    return blamed(fields)(new ServiceError({ code: missing ? "NOT_FOUND" : "UNAVAILABLE", message: `${doing} in ${place}: ${message}` }))
  }

  const otherDimensions = (said: string): ServiceError =>
    unfit(
      "weaviate.collectionName",
      `${place} holds vectors of other dimensions than the embedder's ${dimensions}: ${said}`,
      "use another collection, or the embedding model that filled it"
    )

  const corpusIs = { path: ["corpusId"], operator: "Equal", valueText: corpus }

  /** Whether the collection has tenants; found once. */
  let tenants: boolean | undefined
  const tenantOf = Effect.fnUntraced(function*() {
    tenants ??= (yield* collection)?.multiTenancyConfig?.enabled === true
    return tenants ? corpus : undefined
  })

  const fit = Effect.fnUntraced(function*(found: Answers.Collection): Effect.fn.Return<void, ServiceError> {
    const names = new Set(found.properties?.map(({ name }) => name))
    const lacking = documented.filter(({ name }) => !names.has(name))
    if (lacking.length > 0) {
      return yield* unfit(
        "weaviate.collectionName",
        `${place} is somebody else's: it has no ${lacking.map(({ name }) => name).join(", ")}`,
        "use another collection, or let one be made"
      )
    }
    if (Object.keys(found.vectorConfig ?? {}).length > 0) {
      return yield* unfit(
        "weaviate.collectionName",
        `${place} has named vectors, and a corpus has one without a name`,
        "use another collection, or let one be made"
      )
    }
    const { distance } = found.vectorIndexConfig ?? {}
    if (distance !== undefined && distance !== "cosine") {
      return yield* unfit(
        "weaviate.collectionName",
        `${place} compares vectors by ${distance}, and the corpus by cosine`,
        "use another collection, or let one be made"
      )
    }
    const tenant = found.multiTenancyConfig?.enabled === true ? corpus : undefined
    const data = yield* query(
      "looking",
      `{ Get { ${name}(${tenantArgument(tenant)}limit: 1, where: ${whereCorpus(recordsCorpus, "NotEqual")}) { _additional { vector } } } }`
    ).pipe(
      // The tenant is only to be made.
      Effect.catchIf(({ code }) => tenant !== undefined && code === "NOT_FOUND", () => Effect.succeed({ Get: { [name]: [] } }))
    )
    const [sample] = yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Sampled) }), Reflect.get(data, "Get")).pipe(
      Effect.map((got) => got[name] ?? [])
    )
    const length = sample?._additional.vector?.length ?? dimensions
    if (length !== dimensions && length !== 0) return yield* otherDimensions(`${length}`)
    yield* writable(tenant)
  })

  /** A server that runs out of disk or memory turns its shards read-only; a key may be allowed to read alone. */
  const writable = Effect.fnUntraced(function*(tenant: string | undefined) {
    const { json, status } = yield* call(
      "looking",
      `/schema/${name}/shards${tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`}`,
      // The tenant is only to be made, or the key may not look.
      { accept: (status) => status === 200 || status === 403 || status === 404 || status === 422 }
    )
    const shards = status === 200 ? yield* decoded(Answers.Shards, json) : []
    if (shards.some(({ status }) => status === "READONLY")) {
      return yield* unfit(
        "weaviate.collectionName",
        `${place} is read-only, as a server makes it that runs out of disk or memory`,
        "make room on the server, then set the shards to READY"
      )
    }
    // Deletes nothing: what is looked for is whether it might.
    yield* call("looking what the key may do", `/batch/objects${tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`}`, {
      method: "DELETE",
      body: { match: { class: name, where: { ...corpusIs, valueText: "nobody" } }, output: "minimal", dryRun: true },
      accept: (status) => status === 200 || (tenant !== undefined && status === 422)
    })
  })

  const meta = Effect.gen(function*() {
    const { json } = yield* Effect.catchIf(call("looking", "/meta"), isStranger, () => Effect.fail(stranger()))
    const { version } = yield* decoded(Answers.Meta, json)
    if (isOlder(version, leastVersion)) {
      return yield* unfit(
        "weaviate.httpEndpoint",
        `${new URL(endpoint).host} runs Weaviate ${version}, and ${leastVersion.join(".")} is the first that filters by lists of files`,
        "update the server"
      )
    }
    return version
  })

  const prepare = Effect.gen(function*() {
    yield* meta
    const found = yield* collection
    if (found === undefined) {
      yield* call("making the collection", "/schema", {
        method: "POST",
        body: {
          class: name,
          vectorizer: "none",
          vectorIndexType: "hnsw",
          vectorIndexConfig: { distance: "cosine" },
          properties: [...documented, ...ours]
        },
        // Somebody else was faster.
        accept: (status) => status === 200 || status === 422
      })
      const made = yield* collection
      if (made === undefined) {
        return yield* unfit("weaviate.collectionName", `${place} cannot be made`, "check what the key is allowed to do")
      }
      return yield* fit(made)
    }
    yield* fit(found)
    const names = new Set(found.properties?.map(({ name }) => name))
    for (const property of ours) {
      if (!names.has(property.name)) {
        yield* call(`adding ${property.name}`, `/schema/${name}/properties`, {
          method: "POST",
          body: property,
          accept: (status) => status === 200 || status === 422
        })
      }
    }
    if (found.multiTenancyConfig?.enabled === true) {
      yield* call("making the tenant", `/schema/${name}/tenants`, {
        method: "POST",
        body: [{ name: corpus }],
        accept: (status) => status === 200 || status === 422
      })
    }
  })

  const check: VectorStore["check"] = Effect.gen(function*() {
    const version = yield* meta
    const found = yield* collection
    if (found === undefined) return yield* ServiceError.notFound(`${place} (Weaviate ${version})`)
    yield* fit(found)
    const tenant = yield* tenantOf()
    const data = yield* query(
      "counting",
      `{ Aggregate { ${name}(${tenantArgument(tenant)}where: ${ofCorpus(corpus)}) { meta { count } } } }`
    ).pipe(
      Effect.catchIf(({ code }) => tenant !== undefined && code === "NOT_FOUND", () => Effect.succeed({ Aggregate: { [name]: [] } }))
    )
    const counted = yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Counted) }), Reflect.get(data, "Aggregate"))
    return { chunks: counted[name]?.[0]?.meta.count ?? 0, dimensions, version: `Weaviate ${version}` }
  })

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    const tenant = yield* tenantOf()
    for (const batch of chunkBatches(files, chunksAtOnce)) {
      let objects: ReadonlyArray<string> = batch.map(([file, chunk]) => {
        const properties = {
          ...propertiesOf(corpus, file, chunk),
          chunkTerms: chunk.terms.join(" "),
          fileMetadata: JSON.stringify(file.metadata ?? {}),
          filePermissions: JSON.stringify(file.permissions ?? null)
        }
        const head = { class: name, id: properties.chunkId, tenant, properties }
        return `${JSON.stringify(head).slice(0, -1)},"vector":${vectorJson(chunk.vector)}}`
      })
      // An object that is not taken fails by itself, in an answer of 200.
      for (let again = 0; objects.length > 0; again++) {
        if (again > 0) yield* Effect.sleep(pauseMs * 2 ** again)
        const { json } = yield* call("writing chunks", "/batch/objects", { method: "POST", body: `{"objects":[${objects.join(",")}]}` })
        const outcomes = yield* decoded(Answers.Outcomes, json)
        const failed = objects.flatMap((object, i) =>
          outcomes[i]?.result?.status === "SUCCESS"
            ? []
            : [{ object, said: outcomes[i]?.result?.errors?.error[0]?.message ?? "it says nothing" }]
        )
        const [first] = failed
        if (first !== undefined && again >= timesAgain) return yield* refusalOf("writing chunks", first.said)
        const hopeless = failed.map(({ said }) => refusalOf("writing chunks", said)).find(({ code }) => code === "FAILED_PRECONDITION")
        if (hopeless !== undefined) return yield* hopeless
        objects = failed.map(({ object }) => object)
      }
    }
    yield* indexed
  })

  /** Returns when nothing waits for its place in the vector index: a server may be told to index later. */
  const indexed = Effect.gen(function*() {
    for (let look = 0; look < looks; look++) {
      const { json, status } = yield* call("looking at the index", `/nodes/${name}?output=verbose`, {
        accept: (status) => status === 200 || status === 403 || status === 404
      })
      // A key that may not look at nodes: what it wrote has to be taken as it is.
      if (status !== 200) return
      const { nodes } = yield* decoded(Answers.Nodes, json)
      if (nodes.every(({ shards }) => (shards ?? []).every(({ vectorQueueLength = 0 }) => vectorQueueLength === 0))) return
      yield* Effect.sleep(lookMs)
    }
    return yield* new ServiceError({
      code: "DEADLINE_EXCEEDED",
      message: `${place} has not indexed what was written within ${looks * lookMs / 1_000} s`
    })
  })

  const removeWhere = Effect.fnUntraced(function*(where: unknown) {
    const found = yield* collection
    if (found === undefined) return
    const tenant = found.multiTenancyConfig?.enabled === true ? `?tenant=${encodeURIComponent(corpus)}` : ""
    for (let matches = mostDeleted; matches >= mostDeleted;) {
      const { json, status } = yield* call("deleting chunks", `/batch/objects${tenant}`, {
        method: "DELETE",
        body: { match: { class: name, where }, output: "minimal" },
        // The tenant is gone, or was never there.
        accept: (status) => status === 200 || (tenant !== "" && status === 422)
      })
      if (status !== 200) return
      const { results } = yield* decoded(Answers.Deleted, json)
      if ((results.failed ?? 0) > 0) {
        return yield* new ServiceError({
          code: "UNAVAILABLE",
          message: `deleting chunks in ${place}: ${results.failed} of ${results.matches} are still there`
        })
      }
      matches = results.matches
    }
  })

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(
      parts(files, filesAtOnce),
      (some) => removeWhere({ operator: "And", operands: [corpusIs, { path: ["fileId"], operator: "ContainsAny", valueTextArray: some }] }),
      { discard: true }
    )

  const search: VectorStore["search"] = Effect.fnUntraced(function*({ alpha, count, files, terms, vector }: VectorQuery) {
    const tenant = yield* tenantOf()
    const where = `where: ${
      files === undefined
        ? ofCorpus(corpus)
        : `{ operator: And, operands: [${ofCorpus(corpus)}, { path: ["fileId"], operator: ContainsAny, valueText: ${
          JSON.stringify(files)
        } }] }`
    }`
    const arm = (alias: string, by: string, score: "distance" | "score") =>
      `${alias}: ${name}(${tenantArgument(tenant)}limit: ${count}, ${where}, ${by}) { fileId chunkOrdinal _additional { ${score} } }`
    const nearness = vector === undefined || vector.every((value) => value === 0) ? undefined : vectorJson(vector)
    const words = heavyTerms(terms ?? []).join(" ")
    const asked = words === "" ? undefined : `query: ${JSON.stringify(words)}, properties: ["chunkTerms"]`
    const arms: Array<string> = []
    if (alpha !== undefined && nearness !== undefined && asked !== undefined) {
      arms.push(arm("mixed", `hybrid: { ${asked}, vector: ${nearness}, alpha: ${alpha}, fusionType: relativeScoreFusion }`, "score"))
    } else {
      if (nearness !== undefined) arms.push(arm("dense", `nearVector: { vector: ${nearness} }`, "distance"))
      if (asked !== undefined) arms.push(arm("sparse", `bm25: { ${asked} }`, "score"))
    }
    if (arms.length === 0) return { dense: [], sparse: [] }
    const data = yield* query("searching", `{ Get { ${arms.join(" ")} } }`)
    const { dense, mixed, sparse } = yield* decoded(Answers.Found, data["Get"])
    const scored = (hits: typeof Answers.Hits.Type) => hits.flatMap((hit) => hitOf(hit, Number(hit._additional.score ?? 0)))
    return {
      dense: (dense ?? []).flatMap((hit) => hitOf(hit, 1 - (hit._additional.distance ?? 1))),
      sparse: scored(sparse ?? []),
      ...(mixed === undefined ? {} : { mixed: scored(mixed ?? []) })
    }
  }, Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed({ dense: [], sparse: [] })))

  const recordId = chunkId(recordsCorpus, corpus, 0)
  /** The records of a tenant's corpora, or of all. */
  const recordsOf = Effect.fnUntraced(function*(tenant: string | undefined) {
    const data = yield* query(
      "looking for corpora",
      `{ Get { ${name}(${tenantArgument(tenant)}limit: ${mostDeleted}, where: ${ofCorpus(recordsCorpus)}) { fileId chunkData } } }`
    )
    const found = yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Records) }), data["Get"])
    return (found[name] ?? []).flatMap(({ chunkData, fileId }) => corpusRecordOf(fileId, chunkData))
  })

  const corpora: VectorStore["corpora"] = Effect.gen(function*() {
    const found = yield* collection
    if (found === undefined) return []
    if (found.multiTenancyConfig?.enabled !== true) return yield* recordsOf(undefined)
    const { json } = yield* call("looking for corpora", `/schema/${name}/tenants`)
    const of = yield* Effect.forEach(
      yield* decoded(Answers.Tenants, json),
      // One that is not in use is nobody's to take over.
      (tenant) => Effect.orElseSucceed(recordsOf(tenant.name), () => [])
    )
    return of.flat()
  })

  const sign: VectorStore["sign"] = Effect.fnUntraced(function*(record) {
    const tenant = yield* tenantOf()
    const properties = { fileId: corpus, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData: JSON.stringify(record) }
    const { json } = yield* call("signing the corpus", "/batch/objects", {
      method: "POST",
      body: { objects: [{ class: name, id: recordId, tenant, properties }] }
    })
    const [outcome] = yield* decoded(Answers.Outcomes, json)
    if (outcome?.result?.status !== "SUCCESS") {
      return yield* refusalOf("signing the corpus", outcome?.result?.errors?.error[0]?.message ?? "it says nothing")
    }
  })

  /** Shows each object, page by page: the server filters only what it searches, and not past 10,000. */
  const scan = Effect.fnUntraced(function*(see: (properties: Readonly<Record<string, unknown>>) => void) {
    if ((yield* collection) === undefined) return
    const tenant = yield* tenantOf()
    for (let after: string | undefined = undefined, more = true; more;) {
      const page: URLSearchParams = new URLSearchParams({
        class: name,
        limit: String(objectsAtOnce),
        ...(after === undefined ? {} : { after }),
        ...(tenant === undefined ? {} : { tenant })
      })
      const { json, status } = yield* call("looking for files", `/objects?${page}`, {
        accept: (status) => status === 200 || (tenant !== undefined && status === 422)
      })
      const objects: NonNullable<(typeof Answers.Listed.Type)["objects"]> = status === 200
        ? (yield* decoded(Answers.Listed, json)).objects ?? []
        : []
      for (const { properties = {} } of objects) see(properties)
      after = objects.at(-1)?.id
      more = objects.length === objectsAtOnce
    }
  })

  const versions: VectorStore["versions"] = Effect.gen(function*() {
    const found: Array<{ readonly file: string; readonly ordinal: number; readonly record?: string }> = []
    yield* scan(({ chunkOrdinal, chunkRecord, corpusId, fileId }) => {
      if (corpusId !== corpus || typeof chunkOrdinal !== "number") return
      found.push({
        file: String(fileId),
        ordinal: chunkOrdinal,
        ...(chunkOrdinal === 0 && typeof chunkRecord === "string" ? { record: chunkRecord } : {})
      })
    })
    return versionsOf(found)
  })

  const others: Others = {
    count: Effect.gen(function*() {
      // What others have is in tenants of their own.
      if ((yield* tenantOf()) !== undefined) return { corpora: 0, chunks: 0 }
      const data = yield* query(
        "counting",
        `{ Aggregate { ${name}(groupBy: ["corpusId"]) { meta { count } groupedBy { value } } } }`
      )
      const groups = (yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Grouped) }), data["Aggregate"]))[name] ?? []
      const ours = new Set([corpus, recordsCorpus, ...(yield* corpora).map((record) => record.corpus)])
      const theirs = groups.filter(({ groupedBy }) => groupedBy.value !== null && !ours.has(groupedBy.value))
      return { corpora: theirs.length, chunks: theirs.reduce((sum, { meta: { count } }) => sum + count, 0) }
    }),
    files: Effect.gen(function*() {
      const found = new Map<string, OtherFile>()
      yield* scan(({ chunkData, chunkOrdinal, corpusId, fileId, fileOriginalUri }) => {
        if (typeof chunkOrdinal === "number" || typeof chunkData !== "string" || typeof fileId !== "string") return
        if (typeof corpusId !== "string" || corpusId === recordsCorpus || corpusId === corpus) return
        found.set(`${corpusId} ${fileId}`, { corpus: corpusId, file: fileId, sourceUri: String(fileOriginalUri ?? "") })
      })
      return [...found.values()]
    }),
    read: Effect.fnUntraced(function*(file) {
      const tenant = yield* tenantOf()
      const where = `{ operator: And, operands: [${ofCorpus(file.corpus)}, { path: ["fileId"], operator: Equal, valueText: ${
        JSON.stringify(file.file)
      } }] }`
      const chunks: Array<{ readonly id: string; readonly text: string; readonly vector: Float32Array }> = []
      for (let offset = 0, more = true; more && offset < mostDeleted; offset += chunksAtOnce) {
        const data = yield* query(
          "reading files",
          `{ Get { ${name}(${
            tenantArgument(tenant)
          }limit: ${chunksAtOnce}, offset: ${offset}, where: ${where}) { chunkId chunkData _additional { vector } } } }`
        )
        const found = (yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Read) }), data["Get"]))[name] ?? []
        for (const { _additional: { vector }, chunkData, chunkId } of found) {
          if (typeof chunkData === "string" && vector !== null && vector.length === dimensions) {
            chunks.push({ id: String(chunkId), text: chunkData, vector: Float32Array.from(vector) })
          }
        }
        more = found.length === chunksAtOnce
      }
      // Ids that count are in the order of what they count.
      return chunks.toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))
    })
  }

  const read: VectorStore["read"] = Effect.fnUntraced(function*(files) {
    const tenant = yield* tenantOf()
    const where = `{ operator: And, operands: [${ofCorpus(corpus)}, { path: ["fileId"], operator: ContainsAny, valueText: ${
      JSON.stringify(files)
    } }] }`
    const chunks: Array<ReadChunk> = []
    for (let offset = 0, more = true; more && offset < mostDeleted; offset += chunksAtOnce) {
      const data = yield* query(
        "reading files",
        `{ Get { ${name}(${
          tenantArgument(tenant)
        }limit: ${chunksAtOnce}, offset: ${offset}, where: ${where}) { ${Answers.readProperties} _additional { vector } } } }`
      )
      const found = (yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Read) }), data["Get"]))[name] ?? []
      for (const { _additional: { vector }, ...properties } of found) {
        const metadata = jsonIn<NonNullable<VectorFile["metadata"]>>(properties["fileMetadata"])?.value
        const permissions = jsonIn<NonNullable<VectorFile["permissions"]>>(properties["filePermissions"])?.value
        const chunk = chunkOf(properties, vector ?? [], {
          metadata: Object.keys(metadata ?? {}).length === 0 ? undefined : metadata,
          permissions
        })
        if (chunk !== undefined) chunks.push(chunk)
      }
      more = found.length === chunksAtOnce
    }
    return filesOf(chunks)
  })

  return {
    corpora,
    sign,
    versions,
    read,
    others,
    place,
    abilities: Effect.succeed({ ...byWords, mixes: true }),
    mostFiles: 2_000,
    prepare,
    check,
    put,
    delete: remove,
    drop: Effect.gen(function*() {
      yield* removeWhere(corpusIs)
      yield* removeWhere({
        operator: "And",
        operands: [{ ...corpusIs, valueText: recordsCorpus }, { path: ["fileId"], operator: "Equal", valueText: corpus }]
      })
      if (tenants === true) {
        yield* call("deleting the tenant", `/schema/${name}/tenants`, {
          method: "DELETE",
          body: [corpus],
          accept: (status) => status === 200 || status === 404 || status === 422
        })
      }
    }),
    search
  }
})

const tenantArgument = (tenant: string | undefined): string => tenant === undefined ? "" : `tenant: ${JSON.stringify(tenant)}, `

const whereCorpus = (corpus: string, operator: "Equal" | "NotEqual"): string =>
  `{ path: ["corpusId"], operator: ${operator}, valueText: ${JSON.stringify(corpus)} }`
const ofCorpus = (corpus: string): string => whereCorpus(corpus, "Equal")

/** Chunks that the service wrote have no place in a file of ours. */
const hitOf = ({ chunkOrdinal, fileId }: (typeof Answers.Hits.Type)[number], score: number): ReadonlyArray<VectorHit> =>
  chunkOrdinal === null ? [] : [{ file: fileId, ordinal: chunkOrdinal, score }]
