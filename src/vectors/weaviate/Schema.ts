import { Effect, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { isOlder, recordsCorpus, unfit } from "../Chunks.ts"
import { isStranger } from "../Rest.ts"
import * as Answers from "./Answers.ts"
import { type Connection, corpusIs, ofCorpus, tenantArgument, whereCorpus } from "./Connection.ts"
import { documented, ours } from "./Properties.ts"

/** The first version that filters by lists of values. */
const leastVersion = [1, 21] as const

/** Makes the collection, and checks that an existing one fits the corpus and may be written to. */
export const schemaOf = (
  { call, collection, corpus, decoded, dimensions, host, name, otherDimensions, place, query, stranger, tenantOf }: Connection
): Pick<VectorStore, "prepare" | "check"> => {
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
      // The tenant has not been made yet.
      Effect.catchIf(({ code }) => tenant !== undefined && code === "NOT_FOUND", () => Effect.succeed({ Get: { [name]: [] } }))
    )
    const [sample] = yield* decoded(Schema.Struct({ [name]: Schema.NullOr(Answers.Sampled) }), Reflect.get(data, "Get")).pipe(
      Effect.map((got) => got[name] ?? [])
    )
    const length = sample?._additional.vector?.length ?? dimensions
    if (length !== dimensions && length !== 0) return yield* otherDimensions(`${length}`)
    yield* writable(tenant)
  })

  /** Fails where the shards are read-only, as on a server that is out of disk or memory, or where the key may only read. */
  const writable = Effect.fnUntraced(function*(tenant: string | undefined) {
    const { json, status } = yield* call(
      "looking",
      `/schema/${name}/shards${tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`}`,
      // The tenant has not been made yet, or the key may not read shards.
      { accept: (status) => status === 200 || status === 403 || status === 404 || status === 422 }
    )
    const shards = status === 200 ? yield* decoded(Answers.Shards, json) : []
    if (shards.some(({ status }) => status === "READONLY")) {
      return yield* unfit(
        "weaviate.collectionName",
        `${place} is read-only, as it becomes when the server is out of disk or memory`,
        "make room on the server, then set the shards to READY"
      )
    }
    // A dry run deletes nothing: it only tests whether the key may delete.
    yield* call("looking what the key may do", `/batch/objects${tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`}`, {
      method: "DELETE",
      body: { match: { class: name, where: { ...corpusIs(corpus), valueText: "nobody" } }, output: "minimal", dryRun: true },
      accept: (status) => status === 200 || (tenant !== undefined && status === 422)
    })
  })

  const meta = Effect.gen(function*() {
    const { json } = yield* Effect.catchIf(call("looking", "/meta"), isStranger, () => Effect.fail(stranger()))
    const { version } = yield* decoded(Answers.Meta, json)
    if (isOlder(version, leastVersion)) {
      return yield* unfit(
        "weaviate.httpEndpoint",
        `${host} runs Weaviate ${version}, and ${leastVersion.join(".")} is the first that filters by lists of files`,
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
        // 422: another process made it first.
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

  return { prepare, check }
}
