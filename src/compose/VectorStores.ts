import { Effect, Layer, Scope } from "effect"
import type { HttpClient } from "effect/http"
import type { VectorDb } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { hostsAt, serverAddress } from "../domain/HttpAddress.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import { refuseSecret, type SecretGrant } from "../domain/SecretGrant.ts"
import { Secrets } from "../ports/Secrets.ts"
import { type VectorSpace, type VectorStore, VectorStores } from "../ports/VectorStore.ts"

export interface VectorStoresOptions {
  /**
   * Hosts whose addresses corpora may name, `HOST` or `HOST:PORT`; for a server, whose callers could otherwise have it
   * call any address with its secrets. Default: any.
   */
  readonly allowHosts?: ReadonlyArray<string>
  /** With `allowHosts`: secrets that corpora may name, and the host each may be sent to. Default: any. */
  readonly allowSecrets?: ReadonlyArray<SecretGrant> | undefined
  /** Folder, besides Sluice's own, in which optional packages are looked up. Default: the working directory. */
  readonly packages?: string
}

/** The vector databases that corpora may name. Each is loaded when the first corpus names it, and its connections end with the scope. */
export const vectorStores = ({ allowHosts, allowSecrets, packages }: VectorStoresOptions = {}): Layer.Layer<never, never, Secrets> =>
  Layer.effect(
    VectorStores,
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const scope = yield* Effect.scope
      /** The client for an address that a corpus names; it is large, and most corpora name none. */
      const reach = Effect.fnUntraced(
        function*(address: string | undefined, key: SecretVersion | undefined): Effect.fn.Return<HttpClient.HttpClient, ServiceError> {
          const { processHttp, publicProcessHttpWith } = yield* Effect.promise(() => import("../net/ProcessHttp.ts"))
          if (allowHosts === undefined) return yield* processHttp
          const url = address === undefined ? undefined : serverAddress(address)
          if (address !== undefined && (url === undefined || !hostsAt(allowHosts)(url))) {
            return yield* new ServiceError({
              code: "PERMISSION_DENIED",
              message: `vectorDb: ${url?.host ?? "that"} is not a host that this server may call for a caller's corpus`,
              fix: `start it with --allow-host ${url?.host ?? "HOST"}`
            })
          }
          const refused = url === undefined || key === undefined ? undefined : refuseSecret(allowSecrets, key, url, "vectorDb.apiKey")
          if (refused !== undefined) return yield* refused
          return yield* publicProcessHttpWith(allowHosts)
        }
      )
      /** The address of a Google service, and its client. */
      const google = Effect.fnUntraced(function*(api: "AIPLATFORM" | "BIGQUERY" | "DISCOVERYENGINE") {
        const [{ processHttp }, { GoogleAuth, make: googleAuth }] = yield* Effect.promise(() =>
          Promise.all([import("../net/ProcessHttp.ts"), import("../net/GoogleAuth.ts")])
        )
        // As in gcloud; a local one needs no credentials.
        const endpoint = process.env[`CLOUDSDK_API_ENDPOINT_OVERRIDES_${api}`]?.replace(/\/+$/, "")
        const auth = endpoint?.startsWith("http:") === true ? GoogleAuth.anonymous : googleAuth()
        return { endpoint, auth, http: yield* processHttp }
      })
      const make = Effect.fnUntraced(function*(db: VectorDb, space: VectorSpace): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
        switch (db._tag) {
          case "postgres": {
            const Postgres = yield* Effect.promise(() => import("../vectors/postgres/Postgres.ts"))
            return yield* Postgres.make({ url: db.url, schema: db.schema, space, secrets })
          }
          case "weaviate": {
            const Weaviate = yield* Effect.promise(() => import("../vectors/weaviate/Weaviate.ts"))
            return yield* Weaviate.make({
              httpEndpoint: db.httpEndpoint,
              collectionName: db.collectionName,
              apiKey: db.apiKey,
              space,
              secrets,
              http: yield* reach(db.httpEndpoint, db.apiKey)
            })
          }
          case "pinecone": {
            const Pinecone = yield* Effect.promise(() => import("../vectors/pinecone/Pinecone.ts"))
            // As in its own client.
            const controller = process.env["PINECONE_CONTROLLER_HOST"]
            return yield* Pinecone.make({
              indexName: db.indexName,
              apiKey: db.apiKey,
              controller,
              space,
              secrets,
              http: yield* reach(Pinecone.hostOf(controller), db.apiKey)
            })
          }
          case "qdrant": {
            const Qdrant = yield* Effect.promise(() => import("../vectors/qdrant/Qdrant.ts"))
            return yield* Qdrant.make({
              url: db.url,
              collection: db.collection,
              apiKey: db.apiKey,
              space,
              secrets,
              http: yield* reach(db.url, db.apiKey)
            })
          }
          case "lanceDb": {
            const LanceDb = yield* Effect.promise(() => import("../vectors/lancedb/LanceDb.ts"))
            return yield* LanceDb.make({ uri: db.uri, space, from: packages })
          }
          case "vectorSearch": {
            const VectorSearch = yield* Effect.promise(() => import("../vectors/google/VectorSearch.ts"))
            return yield* VectorSearch.make({
              index: db.index,
              indexEndpoint: db.indexEndpoint,
              space,
              secrets,
              ...yield* google("AIPLATFORM")
            })
          }
          case "agentSearch": {
            const AgentSearch = yield* Effect.promise(() => import("../vectors/google/AgentSearch.ts"))
            return yield* AgentSearch.make({ servingConfig: db.servingConfig, space, secrets, ...yield* google("DISCOVERYENGINE") })
          }
          case "featureStore": {
            const FeatureStore = yield* Effect.promise(() => import("../vectors/google/FeatureStore.ts"))
            const { endpoint: bigQuery } = yield* google("BIGQUERY")
            return yield* FeatureStore.make({ featureView: db.featureView, bigQuery, space, secrets, ...yield* google("AIPLATFORM") })
          }
          case "managed":
            return yield* new ServiceError({
              code: "INTERNAL",
              message: "the managed database is the engine's own, and is not connected to"
            })
        }
      })
      // Callers of a server must not write with its credentials.
      return { callsGoogle: allowHosts === undefined, open: (db, space) => Scope.provide(make(db, space), scope) }
    })
  )

/** Describes the state of a database, for `doctor`; one that has yet to be created is fine. */
export const checkVectors = Effect.fnUntraced(function*(db: VectorDb, space: VectorSpace) {
  const { open } = yield* VectorStores
  const store = yield* open(db, space)
  return yield* store.check.pipe(
    Effect.flatMap(({ chunks, dimensions, version }) =>
      Effect.map(
        store.others?.count ?? Effect.succeed({ chunks: 0, corpora: 0 }),
        (others) =>
          `${store.place} has ${chunks} chunks of ${dimensions} dimensions${version === undefined ? "" : ` (${version})`}${
            others.chunks === 0 ? "" : `, and beside them ${others.chunks} of ${others.corpora} corpora that are not Sluice's`
          }`
      )
    ),
    // An error about a field is not solved by a run.
    Effect.catchIf(
      ({ code, field }) => code === "NOT_FOUND" && field === undefined,
      ({ message }) => Effect.succeed(`${message}; the first run creates it`)
    )
  )
})
