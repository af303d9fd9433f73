import type { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import {
  type DeployedModel,
  type Endpoint,
  EndpointName,
  type Model,
  ModelName,
  type TrafficSplit
} from "../../../domain/models/Endpoint.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import type { Deployment, Operation, OperationKind } from "../../../domain/Operation.ts"
import type { Page, PageRequest } from "../../../ports/Paging.ts"
import { transaction } from "../../../state/Database.ts"
import type { Names } from "../Names.ts"
import { attemptAt } from "../StateFailure.ts"
import { operationOfRow } from "../store/Rows.ts"
import { newId, timestamp } from "../../../domain/Stamps.ts"

/** Times in microseconds since the epoch. */
interface Times {
  readonly created: number
  readonly updated: number
}

/** A version of a model as it is stored: by ids, since resource names depend on the project and location of the engine. */
export interface ModelRecord extends Omit<Model, "name" | "versionId" | "deployedModels" | "createTime" | "updateTime">, Times {
  readonly id: string
  readonly version: number
}

export interface DeployedRecord extends Omit<DeployedModel, "model" | "modelVersionId" | "createTime"> {
  readonly modelId: string
  readonly version: number
  readonly created: number
}

export interface EndpointRecord extends Omit<Endpoint, "name" | "deployedModels" | "createTime" | "updateTime">, Times {
  readonly id: string
  readonly deployed: ReadonlyArray<DeployedRecord>
  readonly trafficSplit: TrafficSplit
}

const defaultPage = 100
const largestPage = 1_000

/** Models and endpoints in the state database. Bodies are synchronous; that of `write` runs in one transaction. */
export const makeStore = (db: DatabaseSync, path: string, names: Names) => {
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>()
  const sql = (text: string) => {
    const known = statements.get(text)
    if (known !== undefined) return known
    const made = db.prepare(text)
    statements.set(text, made)
    return made
  }
  // Only this file writes the columns.
  const parse = <A>(row: Record<string, unknown> | undefined): A | undefined =>
    row === undefined ? undefined : JSON.parse(String(row["body"])) as A

  const endpoints = (): ReadonlyArray<EndpointRecord> =>
    sql("SELECT body FROM endpoints ORDER BY sequence").all().flatMap((row) => parse<EndpointRecord>(row) ?? [])

  const store = {
    model: (id: string, version?: number): ModelRecord | undefined =>
      parse<ModelRecord>(
        version === undefined
          ? sql("SELECT body FROM models WHERE id = ? ORDER BY version DESC LIMIT 1").get(id)
          : sql("SELECT body FROM models WHERE id = ? AND version = ?").get(id, version)
      ),
    /** The newest version of each model, in the order in which the models' first versions were added. */
    models: (): ReadonlyArray<Keyed<Model>> =>
      sql(`SELECT body, (SELECT min(sequence) FROM models WHERE id = m.id) AS sequence FROM models AS m
           WHERE version = (SELECT max(version) FROM models WHERE id = m.id) ORDER BY sequence`)
        .all().flatMap((row) => {
          const record = parse<ModelRecord>(row)
          return record === undefined ? [] : [{ key: keyOf(Number(row["sequence"])), value: store.toModel(record) }]
        }),
    addModel: (model: ModelRecord): void =>
      void sql("INSERT INTO models (id, version, body) VALUES (?, ?, ?)").run(model.id, model.version, JSON.stringify(model)),
    deleteModel: (id: string): void => void sql("DELETE FROM models WHERE id = ?").run(id),

    endpoint: (id: string): EndpointRecord | undefined => parse<EndpointRecord>(sql("SELECT body FROM endpoints WHERE id = ?").get(id)),
    endpoints,
    listedEndpoints: (): ReadonlyArray<Keyed<Endpoint>> =>
      sql("SELECT sequence, body FROM endpoints ORDER BY sequence").all().flatMap((row) => {
        const record = parse<EndpointRecord>(row)
        return record === undefined ? [] : [{ key: keyOf(Number(row["sequence"])), value: store.toEndpoint(record) }]
      }),
    addEndpoint: (endpoint: EndpointRecord): void =>
      void sql("INSERT INTO endpoints (id, body) VALUES (?, ?)").run(endpoint.id, JSON.stringify(endpoint)),
    putEndpoint: (endpoint: EndpointRecord): void =>
      void sql("UPDATE endpoints SET body = ? WHERE id = ?").run(JSON.stringify(endpoint), endpoint.id),
    deleteEndpoint: (id: string): void => void sql("DELETE FROM endpoints WHERE id = ?").run(id),

    eulaAccepted: (publisherModel: string): boolean =>
      sql("SELECT 1 FROM eulas WHERE publisher_model = ?").get(publisherModel) !== undefined,
    acceptEula: (publisherModel: string, at: number): void =>
      void sql("INSERT INTO eulas VALUES (?, ?) ON CONFLICT DO NOTHING").run(publisherModel, at),

    /** Records an operation that is done. */
    operation: (kind: OperationKind, target: string, deployment: Deployment, at: number): Operation => {
      const id = newId()
      sql(`INSERT INTO operations (name, kind, target, done, failures, owner, created, updated, deployment)
           VALUES (?, ?, ?, 1, '[]', ?, ?, ?, ?)`).run(id, kind, target, process.pid, at, at, JSON.stringify(deployment))
      return operationOfRow(sql("SELECT * FROM operations WHERE name = ?").get(id) ?? {}, names)
    },

    modelName: (id: string): ModelName => ModelName.make(`${names.parent}/models/${id}`),
    endpointName: (id: string): EndpointName => EndpointName.make(`${names.parent}/endpoints/${id}`),

    toModel: ({ created, id, updated, version, ...rest }: ModelRecord): Model => ({
      ...rest,
      name: store.modelName(id),
      versionId: String(version),
      deployedModels: endpoints().flatMap((endpoint) =>
        endpoint.deployed.filter(({ modelId }) => modelId === id).map((deployed) => ({
          endpoint: store.endpointName(endpoint.id),
          deployedModelId: deployed.id
        }))
      ),
      createTime: timestamp(created),
      updateTime: timestamp(updated)
    }),
    toDeployed: ({ created, modelId, version, ...rest }: DeployedRecord): DeployedModel => ({
      ...rest,
      model: store.modelName(modelId),
      modelVersionId: String(version),
      createTime: timestamp(created)
    }),
    toEndpoint: ({ created, deployed, id, updated, ...rest }: EndpointRecord): Endpoint => ({
      ...rest,
      name: store.endpointName(id),
      deployedModels: deployed.map(store.toDeployed),
      createTime: timestamp(created),
      updateTime: timestamp(updated)
    })
  }

  return {
    read: <A>(body: (s: typeof store) => A): Effect.Effect<A, ServiceError> => attemptAt(path, () => body(store)),
    /** Writes nothing where `body` throws, as it does to refuse a request. */
    write: <A>(body: (s: typeof store) => A): Effect.Effect<A, ServiceError> => attemptAt(path, () => transaction(db, () => body(store)))
  }
}

export type ModelStore = ReturnType<typeof makeStore>

/** The stored models and endpoints, as the body of a transaction sees them. */
export type StoredModels = Parameters<Parameters<ModelStore["write"]>[0]>[0]

/** The id in a resource name. Fails where the name is not one of this engine's project and location. */
export const idIn = (names: Names, name: string, collection: "endpoints" | "models"): Effect.Effect<string, ServiceError> => {
  const form = `${names.parent}/${collection}/{id}`
  const [, place, id] = /^(projects\/[^/]+\/locations\/[^/]+)\/\w+\/([^/]+)$/.exec(name) ?? []
  if (id === undefined || !name.includes(`/${collection}/`)) {
    return Effect.fail(ServiceError.invalid("name", `must have the form ${form}`))
  }
  return place === names.parent
    ? Effect.succeed(id)
    : Effect.fail(ServiceError.notFound(name, `this engine holds ${form}`))
}

/** An item of a list, with a key that orders it and never changes. */
export interface Keyed<A> {
  readonly key: string
  readonly value: A
}

/** A key for a number, so that keys compare like the numbers. */
export const keyOf = (place: number): string => String(place).padStart(16, "0")

/** A page of a list in memory. Page tokens are by key, so that items added or deleted meanwhile move no other item between pages. */
export const pageFrom = <A>(all: ReadonlyArray<Keyed<A>>, { size, token }: PageRequest): Effect.Effect<Page<A>, ServiceError> => {
  const last = token === undefined ? "" : /^after:(.*)$/s.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1]
  if (last === undefined) return Effect.fail(ServiceError.invalid("page_token", "is not one that a listing gave"))
  if (size !== undefined && !(Number.isInteger(size) && size >= 0)) {
    return Effect.fail(ServiceError.invalid("page_size", "must be 1 to 1000"))
  }
  const limit = Math.min(size === undefined || size === 0 ? defaultPage : size, largestPage)
  const left = all.filter(({ key }) => key > last)
  const page = left.slice(0, limit)
  const items = page.map(({ value }) => value)
  return Effect.succeed(
    left.length > limit ? { items, nextToken: Buffer.from(`after:${page.at(-1)?.key ?? ""}`).toString("base64url") } : { items }
  )
}
