import { Effect, Schema } from "effect"
import type { OtherFile, Others, VectorFile, VectorStore } from "../../ports/VectorStore.ts"
import { chunkOf, corpusRecordOf, filesOf, jsonIn, type ReadChunk, recordsCorpus, versionsOf } from "../Chunks.ts"
import * as Answers from "./Answers.ts"
import { type Connection, mostReached, ofCorpus, ofFiles, tenantArgument } from "./Connection.ts"

/** Objects per page of a GraphQL query with vectors. */
const chunksAtOnce = 100
/** Objects per page of a list. */
const objectsAtOnce = 500

/** Reads what the collection holds: records of corpora, versions of files, whole files, and objects that others wrote. */
export const readsOf = (
  { call, collection, corpus, decoded, dimensions, name, query, tenantOf }: Connection
): Pick<VectorStore, "corpora" | "versions" | "read" | "others"> => {
  /** Records of the corpora in a tenant, or in a collection without tenants. */
  const recordsOf = Effect.fnUntraced(function*(tenant: string | undefined) {
    const data = yield* query(
      "looking for corpora",
      `{ Get { ${name}(${tenantArgument(tenant)}limit: ${mostReached}, where: ${ofCorpus(recordsCorpus)}) { fileId chunkData } } }`
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
      // An inactive tenant cannot be read; its corpus is left out.
      (tenant) => Effect.orElseSucceed(recordsOf(tenant.name), () => [])
    )
    return of.flat()
  })

  /** Passes each object to `see`, page by page. A filtered query cannot go past 10,000 objects, this list can. */
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
      // Other writers' objects are in other tenants.
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
      for (let offset = 0, more = true; more && offset < mostReached; offset += chunksAtOnce) {
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
      // Ids that end in a number sort by that number.
      return chunks.toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))
    })
  }

  const read: VectorStore["read"] = Effect.fnUntraced(function*(files) {
    const tenant = yield* tenantOf()
    const where = ofFiles(corpus, files)
    const chunks: Array<ReadChunk> = []
    for (let offset = 0, more = true; more && offset < mostReached; offset += chunksAtOnce) {
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

  return { corpora, versions, read, others }
}
