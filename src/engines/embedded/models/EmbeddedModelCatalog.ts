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
import { keyOf, makeStore, pageFrom } from "./ModelStore.ts"
import { reservationFull } from "./Reservations.ts"

/** The ModelCatalog port over a catalog and the state database. What is deployed is written down; nothing is started. */
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
        const publisherModel = versionedName(entry)
        const at = yield* now
        return yield* store.write((s) => {
          const refused = deployRefusal(request, {
            model: entry,
            needsEula: entry.eula === true && !s.eulaAccepted(entry.name),
            gated: entry.gated === true,
            fastTryout: entry.fastTryout === true
          })
          if (refused !== undefined) throw refused
          const [option] = entry.deploy
          if (option === undefined) {
            throw new ServiceError({
              code: "FAILED_PRECONDITION",
              message: `${publisherModel} cannot be deployed`,
              fix: "list those that can: sluice models list"
            })
          }
          const resources: Resources | undefined = request.resources ?? option.resources
          const container: Container | undefined = request.container ?? option.container
          const full = resources === undefined ? undefined : reservationFull(catalog, s.endpoints(), resources)
          if (full !== undefined) throw full
          const modelId = request.modelUserId ?? newId()
          const endpointId = request.endpointUserId ?? newId()
          if (s.model(modelId) !== undefined) throw taken("model", s.modelName(modelId))
          if (s.endpoint(endpointId) !== undefined) throw taken("endpoint", s.endpointName(endpointId))
          const short = (hubId(entry.name) ?? entry.name).split("/").at(-1) ?? ""
          const displayName = request.modelDisplayName ?? option.modelDisplayName ?? short
          s.addModel({
            id: modelId,
            version: 1,
            displayName,
            publicModelName: entry.name,
            publicModelVersion: entry.versionId,
            container,
            created: at,
            updated: at
          })
          const deployed = newId()
          s.addEndpoint({
            id: endpointId,
            displayName: request.endpointDisplayName ?? `${short}-mg-one-click-deploy`,
            // What the service's own tools know endpoints of the catalog by.
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
          })
          if (request.acceptEula === true) s.acceptEula(entry.name, at)
          return s.operation("deploy", names.parent, {
            publisherModel,
            endpoint: s.endpointName(endpointId),
            model: s.modelName(modelId),
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

/** By `publishers/{publisher}/models/{model}`, the newest version, or by that and `@{version}`. */
/** The hub knows its models by their ids in any case, and tells them in its own. */
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

/** Without the facts that only the engine needs. */
const modelOf = ({ eula: _, fastTryout: __, gated: ___, upstream: ____, verified: _____, ...model }: CatalogEntry): CatalogModel => model

const selected = ({ models }: Catalog, query: CatalogQuery): ReadonlyArray<CatalogEntry> => {
  const hub = query.hub ?? query.publisher?.startsWith("hf-") === true
  return models.filter((entry, i) =>
    (hubId(entry.name) !== undefined) === hub &&
    (query.publisher === undefined || entry.name.startsWith(`publishers/${query.publisher}/`)) &&
    (query.verified !== true || entry.verified === true) &&
    (query.deployable === undefined || entry.deploy.length > 0 === query.deployable) &&
    (query.search === undefined || `${entry.name}@${entry.versionId}`.toLowerCase().includes(query.search.toLowerCase())) &&
    // The last of its versions is the newest.
    (query.allVersions === true || !models.some((other, j) => j > i && other.name === entry.name))
  )
}
