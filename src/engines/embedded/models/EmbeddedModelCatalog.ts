import { Effect, Layer } from "effect"
import { deployRefusal } from "../../../domain/models/DeployRules.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import type { Container, Resources } from "../../../domain/models/Machine.ts"
import {
  type CatalogModel,
  type CatalogQuery,
  deployedName,
  type DeployRequest,
  hubId,
  publisherModelPattern,
  versionedModelPattern,
  versionedName
} from "../../../domain/models/ModelCatalog.ts"
import { ModelCatalog } from "../../../ports/ModelCatalog.ts"
import type { PageRequest } from "../../../ports/Paging.ts"
import { State } from "../../../state/State.ts"
import type { Names } from "../Names.ts"
import { newId, now } from "../../../domain/Stamps.ts"
import type { Catalog, CatalogEntry, CurrentCatalog } from "./CatalogFile.ts"
import { keyOf, makeStore, pageFrom, type StoredModels } from "./ModelStore.ts"
import { reservationFull } from "./Reservations.ts"

/** The ModelCatalog port over a catalog and the state database. Deployments are recorded; nothing is started. */
export const embeddedModelCatalog = (names: Names, current: CurrentCatalog): Layer.Layer<ModelCatalog, never, State> =>
  Layer.effect(
    ModelCatalog,
    Effect.gen(function*() {
      const { database, path } = yield* State
      const store = makeStore(database, path, names)

      const known = Effect.fnUntraced(function*(name: string) {
        return entryOf(yield* current, name) ?? (yield* notThere(name))
      })

      const list = Effect.fn("ModelCatalog.list")(function*(query: CatalogQuery, page: PageRequest) {
        const found = yield* pageFrom(selected(yield* current, query).map((value, place) => ({ key: keyOf(place), value })), page)
        return { ...found, items: found.items.map(modelOf) }
      })

      const deploy = Effect.fn("ModelCatalog.deploy")(function*(request: DeployRequest) {
        const wrong = deployRefusal(request)
        if (wrong !== undefined) return yield* wrong
        const catalog = yield* current
        const entry = entryOf(catalog, deployedName(request)) ?? (yield* notThere(deployedName(request)))
        const at = yield* now
        return yield* store.write((s) => {
          const refused = deployRefusal(request, {
            model: entry,
            needsEula: entry.eula === true && !s.eulaAccepted(entry.name),
            gated: entry.gated === true,
            fastTryout: entry.fastTryout === true
          })
          if (refused !== undefined) throw refused
          const { deployed, endpoint, model } = planned(catalog, s, entry, request, at)
          s.addModel(model)
          s.addEndpoint(endpoint)
          if (request.acceptEula === true) s.acceptEula(entry.name, at)
          return s.operation("deploy", names.parent, {
            publisherModel: versionedName(entry),
            endpoint: s.endpointName(endpoint.id),
            model: s.modelName(model.id),
            deployedModelId: deployed,
            stage: "SUCCESSFULLY_DEPLOYED"
          }, at)
        })
      })

      return ModelCatalog.of({
        list,
        get: Effect.fn("ModelCatalog.get")(function*(name: string) {
          return modelOf(yield* known(name))
        }),
        deploy,
        eulaAccepted: Effect.fn("ModelCatalog.eulaAccepted")(function*(publisherModel: string) {
          const { name } = yield* known(publisherModel)
          return yield* store.read((s) => s.eulaAccepted(name))
        }),
        acceptEula: Effect.fn("ModelCatalog.acceptEula")(function*(publisherModel: string) {
          const { name } = yield* known(publisherModel)
          const at = yield* now
          yield* store.write((s) => s.acceptEula(name, at))
        })
      })
    })
  )

/**
 * The model and the endpoint that deploying a catalog entry makes, with the id of the deployed model.
 *
 * @throws {ServiceError} where the model cannot be deployed, a reservation is full, or an id is taken
 */
const planned = (catalog: Catalog, stored: StoredModels, entry: CatalogEntry, request: DeployRequest, at: number) => {
  const [option] = entry.deploy
  if (option === undefined) {
    throw new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${versionedName(entry)} cannot be deployed`,
      fix: "list those that can: sluice models list"
    })
  }
  const resources: Resources | undefined = request.resources ?? option.resources
  const container: Container | undefined = request.container ?? option.container
  const full = resources === undefined ? undefined : reservationFull(catalog, stored.endpoints(), resources)
  if (full !== undefined) throw full
  const modelId = request.modelUserId ?? newId()
  const endpointId = request.endpointUserId ?? newId()
  if (stored.model(modelId) !== undefined) throw taken("model", stored.modelName(modelId))
  if (stored.endpoint(endpointId) !== undefined) throw taken("endpoint", stored.endpointName(endpointId))
  const short = (hubId(entry.name) ?? entry.name).split("/").at(-1) ?? ""
  const displayName = request.modelDisplayName ?? option.modelDisplayName ?? short
  const deployed = newId()
  return {
    deployed,
    model: {
      id: modelId,
      version: 1,
      displayName,
      publicModelName: entry.name,
      publicModelVersion: entry.versionId,
      container,
      created: at,
      updated: at
    },
    endpoint: {
      id: endpointId,
      displayName: request.endpointDisplayName ?? `${short}-mg-one-click-deploy`,
      // The label by which the service's own tools recognise endpoints of the catalog.
      labels: { "mg-one-click-deploy": "true" },
      deployed: [{
        id: deployed,
        modelId,
        version: 1,
        displayName,
        resources,
        settings: request.systemLabels === undefined ? undefined : { systemLabels: request.systemLabels },
        created: at
      }],
      trafficSplit: { [deployed]: 100 },
      created: at,
      updated: at
    }
  }
}

/**
 * The entry of a model named `publishers/{publisher}/models/{model}`, in its newest version, or of the version that `@{version}` names.
 * Models of the hub are found by their ids in any case, and keep the hub's own spelling.
 */
export const entryOf = ({ models }: Catalog, name: string): CatalogEntry | undefined => {
  const exact = models.findLast((entry) => versionedName(entry) === name || entry.name === name)
  if (exact !== undefined || hubId(name) === undefined) return exact
  const lower = name.toLowerCase()
  return models.findLast((entry) => versionedName(entry).toLowerCase() === lower || entry.name.toLowerCase() === lower)
}

const notThere = (name: string): ServiceError =>
  publisherModelPattern.test(name) || versionedModelPattern.test(name)
    ? new ServiceError({
      code: "NOT_FOUND",
      message: `Publisher Model \`${name}\` was not found in the catalog`,
      fix: "list what there is with sluice models list, or add it to the catalog file"
    })
    : ServiceError.invalid("name", "must have the form publishers/{publisher}/models/{model}, with @{version} where one is meant")

const taken = (what: string, name: string): ServiceError =>
  new ServiceError({ code: "ALREADY_EXISTS", message: `${what} ${name} is there already`, fix: "choose another id, or none" })

/** A catalog entry without the fields that only the engine needs. */
const modelOf = ({ eula: _, fastTryout: __, gated: ___, upstream: ____, verified: _____, ...model }: CatalogEntry): CatalogModel => model

const selected = ({ models }: Catalog, query: CatalogQuery): ReadonlyArray<CatalogEntry> => {
  const hub = query.hub ?? query.publisher?.startsWith("hf-") === true
  return models.filter((entry, i) =>
    (hubId(entry.name) !== undefined) === hub &&
    (query.publisher === undefined || entry.name.startsWith(`publishers/${query.publisher}/`)) &&
    (query.verified !== true || entry.verified === true) &&
    (query.deployable === undefined || entry.deploy.length > 0 === query.deployable) &&
    (query.search === undefined || `${entry.name}@${entry.versionId}`.toLowerCase().includes(query.search.toLowerCase())) &&
    // The last of a model's versions in the catalog is the newest.
    (query.allVersions === true || !models.some((other, j) => j > i && other.name === entry.name))
  )
}
