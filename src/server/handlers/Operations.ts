import { Effect } from "effect"
import { milliseconds } from "../../wire/Errors.ts"
import type { ApiVersion } from "../../wire/Message.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import { operationToWire } from "../../wire/Operations.ts"
import type { Call, Handlers } from "../Call.ts"
import { type DeployedModel, type Endpoint, ModelName } from "../../domain/models/Endpoint.ts"
import type { Deployment } from "../../domain/Operation.ts"
import type { ClientNames } from "../ClientNames.ts"
import type { Entry } from "../operations/Journal.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { nextPage, pageOf } from "./Paging.ts"

/** Default timeout of `wait`, in milliseconds. */
const defaultWait = 30_000
/** Longest timeout of `wait`, in milliseconds. */
const longestWait = 60_000

/** An operation under the client's names. */
export const answered = (entry: Entry, version: ApiVersion, names: ClientNames, defaultEmbedding: string): Operation => {
  const {
    contexts,
    corpus,
    import: imported,
    metadata,
    model: { deployedModel, endpoint, ...made } = {},
    operation,
    ordered,
    schemas,
    tier
  } = entry
  return operationToWire(
    {
      ...operation,
      target: names.toClient(operation.target),
      ...(operation.deployment === undefined ? {} : { deployment: answeredDeployment(operation.deployment, names) }),
      ...(operation.error === undefined ? {} : { error: { ...operation.error, message: names.message(operation.error.message) } })
    },
    version,
    {
      defaultEmbedding: names.toClient(defaultEmbedding),
      corpus: corpus === undefined ? undefined : names.renamed(corpus),
      request: imported?.request,
      tier,
      contexts,
      ordered,
      schemas: schemas === undefined ? undefined : schemas.map((schema) => names.renamed(schema)),
      metadata: metadata === undefined ? undefined : metadata.map((each) => names.renamed(each)),
      ...made,
      ...(endpoint === undefined ? {} : { endpoint: answeredEndpoint(endpoint, names) }),
      ...(deployedModel === undefined ? {} : { deployedModel: answeredDeployed(deployedModel, names) })
    }
  )
}

const answeredDeployment = ({ endpoint, model, ...deployment }: Deployment, names: ClientNames): Deployment => ({
  ...deployment,
  ...(endpoint === undefined ? {} : { endpoint: names.toClient(endpoint) }),
  ...(model === undefined ? {} : { model: names.toClient(model) })
})

const answeredDeployed = (deployed: DeployedModel, names: ClientNames): DeployedModel => ({
  ...deployed,
  model: ModelName.make(names.toClient(deployed.model))
})

/** An endpoint under the client's names. */
export const answeredEndpoint = (endpoint: Endpoint, names: ClientNames): Endpoint => ({
  ...names.renamed(endpoint),
  deployedModels: endpoint.deployedModels.map((deployed) => answeredDeployed(deployed, names))
})

type Methods = Pick<Handlers, "getOperation" | "listOperations" | "cancelOperation" | "waitOperation" | "deleteOperation">

type Asking = Pick<Call<unknown, unknown, unknown>, "names" | "unversioned" | "version">

export const operationHandlers = (defaultEmbedding: string): Effect.Effect<Methods, never, LongRunning> =>
  Effect.gen(function*() {
    const operations = yield* LongRunning
    const told = (entry: Entry, { names, unversioned, version }: Asking) =>
      answered(entry, unversioned === true ? entry.version ?? version : version, names, defaultEmbedding)
    return {
      getOperation: (call) => Effect.map(operations.get(call.names.toEngine(call.params.name)), (entry) => told(entry, call)),
      listOperations: (call) =>
        operations.list(
          pageOf(call.query),
          call.names.toEngine(call.params.name)
        ).pipe(Effect.map(({ items, nextToken }) => ({
          operations: items.map((entry) => told(entry, call)),
          ...nextPage(nextToken)
        }))),
      cancelOperation: ({ names, params }) => Effect.as(operations.cancel(names.toEngine(params.name)), {}),
      waitOperation: (call) => {
        const { body, names, params, query } = call
        const timeout = milliseconds(body?.timeout ?? query.timeout) ?? defaultWait
        return Effect.map(
          operations.wait(names.toEngine(params.name), Math.min(timeout, longestWait)),
          (entry) => told(entry, call)
        )
      },
      deleteOperation: ({ names, params }) => Effect.as(operations.delete(names.toEngine(params.name)), {})
    }
  })
