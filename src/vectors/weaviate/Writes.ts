import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { chunkBatches, chunkId, parts, propertiesOf, recordsCorpus, vectorJson } from "../Chunks.ts"
import { awaited } from "../Rest.ts"
import * as Answers from "./Answers.ts"
import { type Connection, corpusIs, mostReached } from "./Connection.ts"

/** Objects of one batch. */
const chunksAtOnce = 100
/** Files of one deletion. */
const filesAtOnce = 200
/** Times that refused objects of a batch are sent again. */
const timesAgain = 3
/** Milliseconds before the first time; each further wait is twice as long. */
const pauseMs = 1_000
/** Looks at whether the server has indexed new objects, which it may do asynchronously. */
const looks = 240
/** Milliseconds between two looks. */
const lookMs = 250

/** Writes and deletes the corpus's objects and its record. */
export const writesOf = (
  { call, collection, corpus, decoded, name, place, refusalOf, tenantOf }: Connection
): Pick<VectorStore, "put" | "delete" | "drop" | "sign"> => {
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
      // The server refuses objects one by one, in a response of status 200.
      for (let again = 0; objects.length > 0; again++) {
        if (again > 0) yield* Effect.sleep(pauseMs * 2 ** (again - 1))
        const { json } = yield* call("writing chunks", "/batch/objects", { method: "POST", body: `{"objects":[${objects.join(",")}]}` })
        const outcomes = yield* decoded(Answers.Outcomes, json)
        const failed = objects.flatMap((object, i) =>
          outcomes[i]?.result?.status === "SUCCESS"
            ? []
            : [{ object, said: outcomes[i]?.result?.errors?.error[0]?.message ?? "no reason is given" }]
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

  /** Returns when no vector waits to be indexed: a server may be configured to index asynchronously. */
  const indexed = awaited(
    Effect.gen(function*() {
      const { json, status } = yield* call("looking at the index", `/nodes/${name}?output=verbose`, {
        accept: (status) => status === 200 || status === 403 || status === 404
      })
      // The key may not read nodes: nothing shows whether the objects are indexed.
      if (status !== 200) return true
      const { nodes } = yield* decoded(Answers.Nodes, json)
      const isIndexed = nodes.every(({ shards }) => (shards ?? []).every(({ vectorQueueLength = 0 }) => vectorQueueLength === 0))
      return isIndexed ? true : undefined
    }),
    { late: `${place} has not indexed what was written within ${looks * lookMs / 1_000} s`, looks, firstMs: lookMs, growth: 1 }
  )

  const removeWhere = Effect.fnUntraced(function*(where: unknown) {
    const found = yield* collection
    if (found === undefined) return
    const tenant = found.multiTenancyConfig?.enabled === true ? `?tenant=${encodeURIComponent(corpus)}` : ""
    for (let more = true; more;) {
      const { json, status } = yield* call("deleting chunks", `/batch/objects${tenant}`, {
        method: "DELETE",
        body: { match: { class: name, where }, output: "minimal" },
        // 422: the tenant is gone, or never existed.
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
      // The operator's QUERY_MAXIMUM_RESULTS, which may be less than the usual number.
      more = results.matches > 0 && results.matches >= (results.limit ?? mostReached)
    }
  })

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(
      parts(files, filesAtOnce),
      (some) =>
        removeWhere({ operator: "And", operands: [corpusIs(corpus), { path: ["fileId"], operator: "ContainsAny", valueTextArray: some }] }),
      { discard: true }
    )

  const drop: VectorStore["drop"] = Effect.gen(function*() {
    yield* removeWhere(corpusIs(corpus))
    yield* removeWhere({
      operator: "And",
      operands: [corpusIs(recordsCorpus), { path: ["fileId"], operator: "Equal", valueText: corpus }]
    })
    if ((yield* tenantOf()) !== undefined) {
      yield* call("deleting the tenant", `/schema/${name}/tenants`, {
        method: "DELETE",
        body: [corpus],
        accept: (status) => status === 200 || status === 404 || status === 422
      })
    }
  })

  const recordId = chunkId(recordsCorpus, corpus, 0)
  const sign: VectorStore["sign"] = Effect.fnUntraced(function*(record) {
    const tenant = yield* tenantOf()
    const properties = { fileId: corpus, corpusId: recordsCorpus, chunkDataType: "CORPUS", chunkData: JSON.stringify(record) }
    const { json } = yield* call("signing the corpus", "/batch/objects", {
      method: "POST",
      body: { objects: [{ class: name, id: recordId, tenant, properties }] }
    })
    const [outcome] = yield* decoded(Answers.Outcomes, json)
    if (outcome?.result?.status !== "SUCCESS") {
      return yield* refusalOf("signing the corpus", outcome?.result?.errors?.error[0]?.message ?? "no reason is given")
    }
  })

  return { put, delete: remove, drop, sign }
}
