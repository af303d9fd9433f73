import { Effect } from "effect"
import { type Endpoint, EndpointName, type Model, ModelName } from "../../domain/models/Endpoint.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { Endpoints, type Prediction } from "../../ports/Endpoints.ts"
import { Operations } from "../../ports/Operations.ts"
import {
  deployModelFromWire,
  endpointChangeFromWire,
  endpointSpecFromWire,
  endpointToWire,
  undeployFromWire
} from "../../wire/models/Endpoints.ts"
import { Endpoint as WireEndpoint } from "../../wire/messages/Endpoint.ts"
import { Model as WireModel } from "../../wire/messages/Model.ts"
import { modelSpecFromWire, modelToWire } from "../../wire/models/Models.ts"
import { defined } from "../../wire/Optional.ts"
import { deployedModelHeader, predictionFromModel } from "../../wire/models/Predictions.ts"
import { breakingWith, type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { awaitFirst } from "../http/AwaitFirst.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import type { EmbeddingMethods } from "./Embeddings.ts"
import { operationsOf } from "./ModelCatalog.ts"
import { answered, answeredEndpoint } from "./Operations.ts"
import { inOrder, nextPage, pageOf } from "./Paging.ts"
import { readMask } from "./ReadMask.ts"

type Methods = Pick<
  Handlers,
  | "uploadModel"
  | "listModels"
  | "getModel"
  | "deleteModel"
  | "createEndpoint"
  | "listEndpoints"
  | "getEndpoint"
  | "updateEndpoint"
  | "deleteEndpoint"
  | "deployModel"
  | "undeployModel"
  | "endpointPredict"
  | "endpointRawPredict"
  | "endpointStreamRawPredict"
>

const endpointIn = (names: ClientNames, name: string) => EndpointName.make(names.toEngine(name))
const modelIn = (names: ClientNames, name: string) => ModelName.make(names.toEngine(name))

const modelOut = (model: Model, names: ClientNames) =>
  modelToWire({
    ...names.renamed(model),
    deployedModels: model.deployedModels.map(({ deployedModelId, endpoint }) => ({
      endpoint: EndpointName.make(names.toClient(endpoint)),
      deployedModelId
    }))
  })

const endpointOut = (endpoint: Endpoint, names: ClientNames) => endpointToWire(answeredEndpoint(endpoint, names))

const listQuery = (query: { readonly filter?: string; readonly pageSize?: number; readonly pageToken?: string }) => ({
  ...pageOf(query),
  ...(query.filter === undefined || query.filter === "" ? {} : { filter: query.filter })
})

const asRaw = <Body>({ body, contentType, deployedModelId, status }: Prediction<Body>) => ({
  status,
  contentType,
  headers: deployedModelId === undefined ? undefined : { [deployedModelHeader]: deployedModelId },
  body
})

/** Models, endpoints and deployments. The returned operations are done already. */
export const endpointHandlers = (
  defaultEmbedding: string,
  embeddings: Pick<EmbeddingMethods, "predict">
): Effect.Effect<Methods, never, Endpoints | Operations | LongRunning> =>
  Effect.gen(function*() {
    const endpoints = yield* Endpoints
    const operations = yield* LongRunning
    const tell = operationsOf(operations, yield* Operations)

    return {
      uploadModel: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const spec = modelSpecFromWire(body)
        const model = yield* endpoints.uploadModel(
          spec.parentModel === undefined ? spec : { ...spec, parentModel: names.toEngine(spec.parentModel) }
        )
        const { versionId } = model
        const entry = yield* operations.finished("uploadModel", model.name, {
          model: versionId === undefined ? {} : { versionId },
          slowBy
        })
        return answered(entry, version, names, defaultEmbedding)
      }),
      listModels: Effect.fnUntraced(function*({ names, query }) {
        const masked = yield* readMask(WireModel, query.readMask)
        const { items, nextToken } = yield* endpoints.listModels(listQuery(query))
        return {
          models: items.map((model) => masked(modelOut(model, names))),
          ...nextPage(nextToken)
        }
      }),
      getModel: ({ names, params }) => Effect.map(endpoints.getModel(modelIn(names, params.name)), (model) => modelOut(model, names)),
      deleteModel: Effect.fnUntraced(function*({ names, params, slowBy, version }) {
        const name = modelIn(names, params.name)
        yield* endpoints.deleteModel(name)
        return answered(yield* operations.finished("deleteModel", name, { slowBy }), version, names, defaultEmbedding)
      }),

      createEndpoint: Effect.fnUntraced(function*({ body, names, query, slowBy, version }) {
        const endpoint = yield* endpoints.create(endpointSpecFromWire(body, query.endpointId))
        const entry = yield* operations.finished("createEndpoint", endpoint.name, { model: { endpoint }, slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      listEndpoints: Effect.fnUntraced(function*({ names, query }) {
        yield* inOrder(query.orderBy)
        const masked = yield* readMask(WireEndpoint, query.readMask)
        const { items, nextToken } = yield* endpoints.list(listQuery(query))
        return {
          endpoints: items.map((endpoint) => masked(endpointOut(endpoint, names))),
          ...nextPage(nextToken)
        }
      }),
      getEndpoint: ({ names, params }) =>
        Effect.map(endpoints.get(endpointIn(names, params.name)), (endpoint) => endpointOut(endpoint, names)),
      updateEndpoint: Effect.fnUntraced(function*({ body, names, params, query }) {
        const change = yield* take(endpointChangeFromWire(endpointIn(names, params.name), body, query.updateMask))
        return endpointOut(yield* endpoints.update(change), names)
      }),
      deleteEndpoint: Effect.fnUntraced(function*({ names, params, slowBy, version }) {
        const name = endpointIn(names, params.name)
        yield* endpoints.delete(name)
        return answered(yield* operations.finished("deleteEndpoint", name, { slowBy }), version, names, defaultEmbedding)
      }),

      deployModel: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const request = yield* take(deployModelFromWire(endpointIn(names, params.endpoint), body))
        const started = yield* endpoints.deployModel({ ...request, model: modelIn(names, request.model) })
        const deployed = (yield* endpoints.get(request.endpoint)).deployedModels.find(({ id }) =>
          id === started.deployment?.deployedModelId
        )
        const result = deployed === undefined ? {} : { deployedModel: deployed }
        return answered(yield* tell("deployModel", started, request.endpoint, slowBy, result), version, names, defaultEmbedding)
      }),
      undeployModel: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const request = undeployFromWire(endpointIn(names, params.endpoint), body)
        yield* endpoints.undeployModel(request)
        return answered(yield* operations.finished("undeployModel", request.endpoint, { slowBy }), version, names, defaultEmbedding)
      }),

      endpointPredict: Effect.fnUntraced(function*({ body: { instances = [], parameters }, names, params }) {
        if (params.endpoint.includes("/publishers/")) return yield* embeddings.predict(params.endpoint, defined({ instances, parameters }))
        if (instances.length === 0) return yield* ServiceError.invalid("instances", "Required field is not set.")
        const name = endpointIn(names, params.endpoint)
        const body = new TextEncoder().encode(JSON.stringify({ instances, parameters }))
        const answer = yield* endpoints.rawPredict(name, { contentType: "application/json", body })
        const predicted = yield* take(predictionFromModel(answer.status, Buffer.from(answer.body).toString("utf8")))
        const { displayName, id, model, modelVersionId } = (yield* endpoints.get(name)).deployedModels.find(({ id }) =>
          id === answer.deployedModelId
        ) ?? {}
        return {
          ...predicted,
          ...defined({
            deployedModelId: id,
            model: model === undefined ? undefined : names.toClient(model),
            modelVersionId,
            modelDisplayName: displayName
          })
        }
      }),
      endpointRawPredict: Effect.fnUntraced(function*({ body, contentType, names, params }) {
        return asRaw(yield* endpoints.rawPredict(endpointIn(names, params.endpoint), { contentType, body }))
      }),
      endpointStreamRawPredict: Effect.fnUntraced(function*({ body, contentType, names, params }) {
        const answer = yield* endpoints.streamRawPredict(endpointIn(names, params.endpoint), { contentType, body })
        // A failure before the first byte still gets a status; after it, the connection breaks.
        return { ...asRaw(answer), body: breakingWith(yield* awaitFirst(answer.body), () => "") }
      })
    }
  })
