import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { blamed, type Fields, needed, unfit } from "../Chunks.ts"
import { decoder, orMissing, rest, type RestStoreOptions } from "../Rest.ts"
import * as Answers from "./Answers.ts"

export interface WeaviateOptions extends RestStoreOptions {
  readonly httpEndpoint: string | undefined
  readonly collectionName: string | undefined
  readonly apiKey?: SecretVersion | undefined
}

const fields: Fields = { address: "weaviate.httpEndpoint", key: "weaviate.apiKey", part: "weaviate.collectionName" }

/** Most objects that one deletion or one GraphQL query reaches, unless the server is configured otherwise. */
export const mostReached = 10_000

/** One collection on one server, used for one corpus. The other files of this folder share it. */
export interface Connection {
  readonly corpus: string
  readonly dimensions: number
  /** Host and port of the server, for messages. */
  readonly host: string
  /** Name of the collection, as the server spells it. */
  readonly name: string
  /** The collection and its server, for messages. */
  readonly place: string
  /** Calls the REST API, relative to `/v1`. */
  readonly call: ReturnType<typeof rest>
  readonly decoded: ReturnType<typeof decoder>
  /** Runs a GraphQL query and returns its data. `doing` says in errors what the query is for. */
  readonly query: (doing: string, graph: string) => Effect.Effect<Readonly<Record<string, unknown>>, ServiceError>
  /** The error of a refusal that the server reports in a response of status 200. */
  readonly refusalOf: (doing: string, message: string) => ServiceError
  /** The error of a server that does not answer as Weaviate. */
  readonly stranger: () => ServiceError
  /** The error of a collection whose vectors have other dimensions than the embedder's. */
  readonly otherDimensions: (said: string) => ServiceError
  /** The collection as the server describes it; undefined where it does not exist. */
  readonly collection: Effect.Effect<Answers.Collection | undefined, ServiceError>
  /** The corpus's tenant; undefined where the collection has no tenants. Looked up once. */
  readonly tenantOf: () => Effect.Effect<string | undefined, ServiceError>
}

/** Checks the settings and describes the connection. Calls nothing yet. */
export const connect = Effect.fnUntraced(function*(options: WeaviateOptions): Effect.fn.Return<Connection, ServiceError> {
  const { space: { corpus, dimensions } } = options
  const endpoint = (yield* needed("weaviate.httpEndpoint", options.httpEndpoint)).replace(/\/+$/, "")
  const given = yield* needed("weaviate.collectionName", options.collectionName)
  // The server capitalizes names too, and knows collections by the capitalized name alone.
  const name = given.charAt(0).toUpperCase() + given.slice(1)
  if (!/^[A-Z][A-Za-z0-9_]*$/.test(name)) {
    return yield* unfit(
      "weaviate.collectionName",
      `${given} is not a valid name of a collection`,
      "use letters, digits and underscores, a letter first"
    )
  }
  const { host } = new URL(endpoint)
  const place = `collection ${name} of Weaviate at ${host}`
  const call = rest({
    http: options.http,
    baseUrl: `${endpoint}/v1`,
    what: place,
    fields,
    key: options.apiKey,
    secrets: options.secrets,
    retry: options.retry
  })

  const stranger = () => unfit("weaviate.httpEndpoint", `the server at ${host} is not Weaviate`, "check the address")
  const decoded = decoder(stranger)

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

  let tenants: boolean | undefined
  const tenantOf = Effect.fnUntraced(function*() {
    tenants ??= (yield* collection)?.multiTenancyConfig?.enabled === true
    return tenants ? corpus : undefined
  })

  return {
    corpus,
    dimensions,
    host,
    name,
    place,
    call,
    decoded,
    query,
    refusalOf,
    stranger,
    otherDimensions,
    collection,
    tenantOf
  }
})

/** The `tenant` argument of a GraphQL query, empty without a tenant. */
export const tenantArgument = (tenant: string | undefined): string => tenant === undefined ? "" : `tenant: ${JSON.stringify(tenant)}, `

/** A GraphQL filter by corpus. */
export const whereCorpus = (corpus: string, operator: "Equal" | "NotEqual"): string =>
  `{ path: ["corpusId"], operator: ${operator}, valueText: ${JSON.stringify(corpus)} }`

/** A GraphQL filter for the objects of one corpus. */
export const ofCorpus = (corpus: string): string => whereCorpus(corpus, "Equal")

/** A GraphQL filter for the objects of some files of a corpus. */
export const ofFiles = (corpus: string, files: ReadonlyArray<string>): string =>
  `{ operator: And, operands: [${ofCorpus(corpus)}, { path: ["fileId"], operator: ContainsAny, valueText: ${JSON.stringify(files)} }] }`

/** A filter for the objects of one corpus in the JSON of the REST API. */
export const corpusIs = (corpus: string) => ({ path: ["corpusId"], operator: "Equal", valueText: corpus })
