import { Effect, Layer, Random } from "effect"
import {
  type DeployModelRequest,
  type EndpointChange,
  type EndpointName,
  type EndpointSpec,
  type ModelName,
  type ModelSpec,
  type Payload,
  type UndeployRequest
} from "../../../domain/models/Endpoint.ts"
import { defined } from "../../../domain/Defined.ts"
import {
  deleteRefusal,
  deployModelRefusal,
  endpointChangeRefusal,
  endpointRefusal,
  splitWith,
  splitWithout,
  undeployRefusal,
  uploadRefusal
} from "../../../domain/models/EndpointRules.ts"
import { type SecretError, ServiceError } from "../../../domain/Errors.ts"
import { holds, parseFilter } from "../../../domain/ListFilter.ts"
import { Endpoints, type ResourceQuery, whole } from "../../../ports/Endpoints.ts"
import { ModelServer } from "../../../ports/ModelServer.ts"
import { Secrets } from "../../../ports/Secrets.ts"
import { State } from "../../../state/State.ts"
import type { Names } from "../Names.ts"
import { newId, now } from "../../../domain/Stamps.ts"
import type { Catalog, CatalogEntry, CurrentCatalog, Upstream } from "./CatalogFile.ts"
import { entryOf } from "./EmbeddedModelCatalog.ts"
import { type DeployedRecord, type EndpointRecord, idIn, type Keyed, makeStore, type ModelRecord, pageFrom } from "./ModelStore.ts"
import { reservationFull } from "./Reservations.ts"

/**
 * The Endpoints port over the state database. No model runs here: a prediction goes to the address that the operator configured for the
 * endpoint or the model, and a remote caller has no influence on it.
 */
export const embeddedEndpoints = (names: Names, current: CurrentCatalog): Layer.Layer<Endpoints, never, State | ModelServer | Secrets> =>
  Layer.effect(
    Endpoints,
    Effect.gen(function*() {
      const { database, path } = yield* State
      const server = yield* ModelServer
      const secrets = yield* Secrets
      const store = makeStore(database, path, names)

      const matching = Effect.fnUntraced(function*<A extends { readonly name: string; readonly displayName: string }>(
        all: ReadonlyArray<Keyed<A>>,
        { filter = "", ...page }: ResourceQuery,
        kind: string
      ) {
        const test = yield* Effect.fromResult(parseFilter(filter)).pipe(Effect.flatMap((parsed) => Effect.fromResult(holds(parsed, kind))))
        return yield* pageFrom(all.filter(({ value }) => test(value)), page)
      })

      const uploadModel = Effect.fn("Endpoints.uploadModel")(function*(spec: ModelSpec) {
        const refused = uploadRefusal(spec)
        if (refused !== undefined) return yield* refused
        const parent = spec.parentModel === undefined ? undefined : yield* idIn(names, spec.parentModel, "models")
        const at = yield* now
        return yield* store.write((s) => {
          const before = parent === undefined ? undefined : s.model(parent)
          if (parent !== undefined && before === undefined) throw ServiceError.notFound(`model ${s.modelName(parent)}`)
          const id = parent ?? spec.modelId ?? newId()
          if (parent === undefined && s.model(id) !== undefined) {
            throw new ServiceError({
              code: "ALREADY_EXISTS",
              message: `model ${s.modelName(id)} is there already`,
              fix: "choose another id, or upload a new version of it by parent_model"
            })
          }
          const { modelId: _, parentModel: __, ...fields } = spec
          const record: ModelRecord = { ...fields, id, version: (before?.version ?? 0) + 1, created: before?.created ?? at, updated: at }
          s.addModel(record)
          return s.toModel(record)
        })
      })

      const deployModel = Effect.fn("Endpoints.deployModel")(function*(request: DeployModelRequest) {
        const wrong = deployModelRefusal(request)
        if (wrong !== undefined) return yield* wrong
        const endpointId = yield* idIn(names, request.endpoint, "endpoints")
        const { id: modelId, version } = versioned(yield* idIn(names, request.model, "models"))
        const catalog = yield* current
        const at = yield* now
        return yield* store.write((s) => {
          const endpoint = s.endpoint(endpointId)
          if (endpoint === undefined) throw ServiceError.notFound(`endpoint ${request.endpoint}`)
          const model = s.model(modelId, version)
          if (model === undefined) throw ServiceError.notFound(`model ${request.model}`)
          const base = baseOf(catalog, model)
          const refused = deployModelRefusal(request, { endpoint: s.toEndpoint(endpoint), base })
          if (refused !== undefined) throw refused
          const resources = request.resources ?? base?.deploy[0]?.resources
          if (resources === undefined) throw ServiceError.invalid("deployed_model.dedicated_resources", "Required field is not set.")
          const full = reservationFull(catalog, s.endpoints(), resources)
          if (full !== undefined) throw full
          const deployed: DeployedRecord = {
            id: newId(),
            modelId,
            version: model.version,
            displayName: request.displayName ?? model.displayName,
            resources,
            serviceAccount: request.serviceAccount,
            settings: request.settings,
            created: at
          }
          s.putEndpoint({
            ...endpoint,
            deployed: [...endpoint.deployed, deployed],
            trafficSplit: splitWith(s.toEndpoint(endpoint), request.trafficSplit, deployed.id),
            updated: at
          })
          return s.operation("deployModel", request.endpoint, {
            endpoint: request.endpoint,
            model: s.modelName(modelId),
            deployedModelId: deployed.id,
            stage: "SUCCESSFULLY_DEPLOYED"
          }, at)
        })
      })

      const undeployModel = Effect.fn("Endpoints.undeployModel")(function*(request: UndeployRequest) {
        const id = yield* idIn(names, request.endpoint, "endpoints")
        const at = yield* now
        yield* store.write((s) => {
          const record = s.endpoint(id)
          if (record === undefined) throw ServiceError.notFound(`endpoint ${request.endpoint}`)
          const endpoint = s.toEndpoint(record)
          const refused = undeployRefusal(request, endpoint)
          if (refused !== undefined) throw refused
          s.putEndpoint({
            ...record,
            deployed: record.deployed.filter((deployed) => deployed.id !== request.deployedModelId),
            trafficSplit: splitWithout(endpoint, request),
            updated: at
          })
        })
      })

      /** The model of an endpoint that answers, chosen by the traffic split, and its server. */
      const serverOf = Effect.fnUntraced(function*(name: EndpointName) {
        const id = yield* idIn(names, name, "endpoints")
        const record = yield* store.read((s) => s.endpoint(id))
        if (record === undefined) return yield* ServiceError.notFound(`endpoint ${name}`)
        const deployed = drawn(record, yield* Random.next)
        if (deployed === undefined) {
          return yield* new ServiceError({
            code: "FAILED_PRECONDITION",
            message: record.deployed.length === 0
              ? `no model is deployed on endpoint ${name}`
              : `no model of endpoint ${name} gets traffic`,
            fix: record.deployed.length === 0 ? "deploy one: sluice models deploy" : "say in traffic_split which model gets how much"
          })
        }
        const model = yield* store.read((s) => s.model(deployed.modelId, deployed.version))
        const catalog = yield* current
        const own = [id, record.displayName].find((word) => Object.hasOwn(catalog.endpoints ?? {}, word))
        const given: Upstream | undefined = own === undefined
          ? (model === undefined ? undefined : baseOf(catalog, model)?.upstream)
          : catalog.endpoints?.[own]
        if (given === undefined) {
          return yield* new ServiceError({
            code: "FAILED_PRECONDITION",
            message: `endpoint ${name} has no model server: Sluice runs no models itself`,
            fix:
              `say where it is: sluice serve --endpoint-upstream ${record.displayName}=URL, or endpoints in models.yaml of the data directory`
          })
        }
        const { apiKey, url: address } = typeof given === "string" ? { url: given } : given
        const url = new URL(address)
        // An address without a path is that of a server; the model's container names the path for predictions.
        if (url.pathname === "/") url.pathname = model?.container?.predictRoute ?? "/"
        return {
          url: url.href,
          key: apiKey === undefined ? undefined : yield* Effect.mapError(secrets.resolve(apiKey), unkeyed),
          deployed: deployed.id
        }
      })

      const streamRawPredict = Effect.fn("Endpoints.streamRawPredict")(function*(endpoint: EndpointName, payload: Payload) {
        const { deployed, key, url } = yield* serverOf(endpoint)
        return { ...(yield* server.post(url, payload, key)), deployedModelId: deployed }
      })

      return Endpoints.of({
        uploadModel,
        getModel: Effect.fn("Endpoints.getModel")(function*(name: ModelName) {
          const { id, version } = versioned(yield* idIn(names, name, "models"))
          const found = yield* store.read((s) => {
            const record = s.model(id, version)
            return record === undefined ? undefined : s.toModel(record)
          })
          return found ?? (yield* ServiceError.notFound(`model ${name}`))
        }),
        listModels: Effect.fn("Endpoints.listModels")(function*(query: ResourceQuery) {
          return yield* matching(yield* store.read((s) => s.models()), query, "model")
        }),
        deleteModel: Effect.fn("Endpoints.deleteModel")(function*(name: ModelName) {
          const id = yield* idIn(names, name, "models")
          yield* store.write((s) => {
            const record = s.model(id)
            if (record === undefined) throw ServiceError.notFound(`model ${name}`)
            const refused = deleteRefusal(s.toModel(record))
            if (refused !== undefined) throw refused
            s.deleteModel(id)
          })
        }),
        create: Effect.fn("Endpoints.create")(function*(spec: EndpointSpec) {
          const refused = endpointRefusal(spec)
          if (refused !== undefined) return yield* refused
          const at = yield* now
          const { endpointId, ...fields } = spec
          return yield* store.write((s) => {
            const id = endpointId ?? newId()
            if (s.endpoint(id) !== undefined) {
              throw new ServiceError({
                code: "ALREADY_EXISTS",
                message: `endpoint ${s.endpointName(id)} is there already`,
                fix: "choose another id, or none"
              })
            }
            const record: EndpointRecord = { ...fields, id, deployed: [], trafficSplit: {}, created: at, updated: at }
            s.addEndpoint(record)
            return s.toEndpoint(record)
          })
        }),
        get: Effect.fn("Endpoints.get")(function*(name: EndpointName) {
          const id = yield* idIn(names, name, "endpoints")
          const found = yield* store.read((s) => {
            const record = s.endpoint(id)
            return record === undefined ? undefined : s.toEndpoint(record)
          })
          return found ?? (yield* ServiceError.notFound(`endpoint ${name}`))
        }),
        update: Effect.fn("Endpoints.update")(function*(change: EndpointChange) {
          const id = yield* idIn(names, change.endpoint, "endpoints")
          const at = yield* now
          return yield* store.write((s) => {
            const record = s.endpoint(id)
            if (record === undefined) throw ServiceError.notFound(`endpoint ${change.endpoint}`)
            const refused = endpointChangeRefusal(change, s.toEndpoint(record))
            if (refused !== undefined) throw refused
            const { endpoint: _, ...changed } = change
            const { description, ...rest } = { ...record, ...defined(changed), updated: at }
            const updated = description === undefined || description === "" ? rest : { ...rest, description }
            s.putEndpoint(updated)
            return s.toEndpoint(updated)
          })
        }),
        list: Effect.fn("Endpoints.list")(function*(query: ResourceQuery) {
          return yield* matching(yield* store.read((s) => s.listedEndpoints()), query, "endpoint")
        }),
        delete: Effect.fn("Endpoints.delete")(function*(name: EndpointName) {
          const id = yield* idIn(names, name, "endpoints")
          yield* store.write((s) => {
            const record = s.endpoint(id)
            if (record === undefined) throw ServiceError.notFound(`endpoint ${name}`)
            const refused = deleteRefusal(s.toEndpoint(record))
            if (refused !== undefined) throw refused
            s.deleteEndpoint(id)
          })
        }),
        deployModel,
        undeployModel,
        rawPredict: Effect.fn("Endpoints.rawPredict")(function*(endpoint: EndpointName, payload: Payload) {
          const { body, ...answer } = yield* streamRawPredict(endpoint, payload)
          return { ...answer, body: yield* whole(body, "the model") }
        }),
        streamRawPredict
      })
    })
  )

/**
 * The error for a model server's key that cannot be read. Its code blames the configuration: the caller's permissions
 * are not concerned.
 */
const unkeyed = ({ fix, message }: SecretError): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `the model server's key cannot be had: ${message}`, fix })

/** The catalog entry that a stored model was made of. */
const baseOf = (catalog: Catalog, { publicModelName, publicModelVersion }: ModelRecord): CatalogEntry | undefined =>
  publicModelName === undefined
    ? undefined
    : entryOf(catalog, publicModelVersion === undefined ? publicModelName : `${publicModelName}@${publicModelVersion}`)

/** Splits an id of the form `{model}@{version}`; `@default` is the newest version. */
const versioned = (id: string): { readonly id: string; readonly version?: number } => {
  const [, model = id, version = "default"] = /^([^@]+)@(\d{1,9}|default)$/.exec(id) ?? []
  return version === "default" ? { id: model } : { id: model, version: Number(version) }
}

/** The deployed model that a number in [0, 1) selects, by the shares of the traffic split. */
const drawn = ({ deployed, trafficSplit }: EndpointRecord, number: number): DeployedRecord | undefined => {
  let left = number * 100
  for (const each of deployed) {
    left -= trafficSplit[each.id] ?? 0
    if (left < 0) return each
  }
  return undefined
}
