import { Clock, Effect, Layer, Option, Predicate, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import {
  type DeployModelRequest,
  type Endpoint,
  type EndpointChange,
  type EndpointName,
  type EndpointSpec,
  ModelName,
  type ModelSpec,
  type Payload,
  type UndeployRequest
} from "../../domain/models/Endpoint.ts"
import {
  deployModelRefusal,
  endpointChangeRefusal,
  endpointRefusal,
  undeployRefusal,
  uploadRefusal
} from "../../domain/models/EndpointRules.ts"
import { Code, type ServiceError } from "../../domain/Errors.ts"
import { retryAfterOf } from "../../net/HttpErrors.ts"
import { bytesOf } from "../../net/ServerSentEvents.ts"
import { Endpoints, type Prediction, type ResourceQuery, whole } from "../../ports/Endpoints.ts"
import { pages } from "../../ports/Paging.ts"
import {
  deployModelToWire,
  endpointChangeToWire,
  endpointFromWire,
  endpointSpecToWire,
  undeployToWire
} from "../../wire/models/Endpoints.ts"
import { errorFromWire } from "../../wire/Errors.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import { operationEndpoint, operationModel } from "../../wire/models/ModelOperations.ts"
import { modelFromWire, modelSpecToWire } from "../../wire/models/Models.ts"
import { operationFromWire } from "../../wire/Operations.ts"
import { defined } from "../../wire/Optional.ts"
import { deployedModelHeader } from "../../wire/models/Predictions.ts"
import { path, routes } from "../../wire/Routes.ts"
import { withFix } from "./Fixes.ts"
import { deleteOnce, finish } from "./LongRunning.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { Transport } from "./Transport.ts"
import { answered, type Unanswered } from "./Unanswered.ts"

/** Most milliseconds until an answer starts, and between two pieces of it. */
const idleMs = 120_000
/** Clocks are assumed to differ by less. */
const skewMs = 60_000

/** Models and endpoints of one project and location, over HTTP. */
export const layer: Layer.Layer<Endpoints, never, Transport> = Layer.effect(
  Endpoints,
  Effect.gen(function*() {
    const transport = yield* Transport
    const { parent } = transport

    const listQuery = ({ filter, ...page }: ResourceQuery) => ({ ...pageQuery(page), ...(filter === undefined ? {} : { filter }) })

    const getModel = Effect.fn("HostedEndpoints.getModel")(function*(name: ModelName) {
      return yield* Effect.fromResult(modelFromWire(yield* transport.call({ route: routes.getModel, params: { name } })))
    })

    const list = Effect.fn("HostedEndpoints.list")(function*(query: ResourceQuery) {
      const listed = yield* transport.call({ route: routes.listEndpoints, params: { parent }, query: listQuery(query) })
      return yield* pageOf(query, listed.endpoints, listed.nextPageToken, endpointFromWire)
    })

    const doubtful = (whether: string, look: string) => <A>(effect: Effect.Effect<A, ServiceError | Unanswered>) =>
      Effect.catchTag(effect, "Unanswered", ({ error }) => Effect.fail(inDoubt(error, whether, look)))

    const uploadModel = Effect.fn("HostedEndpoints.uploadModel")(function*(spec: ModelSpec) {
      const refused = uploadRefusal(spec)
      if (refused !== undefined) return yield* refused
      const send = transport.callOnce({ route: routes.uploadModel, params: { parent }, body: modelSpecToWire(spec) })
      const started = yield* idempotentWrite({ retry: transport.retry, send }).pipe(
        doubtful("the model was made", "sluice models list --registry")
      )
      const name = yield* Effect.fromResult(operationModel(yield* finish(transport, started)))
      return yield* getModel(ModelName.make(name))
    })

    const create = Effect.fn("HostedEndpoints.create")(function*(spec: EndpointSpec) {
      const refused = endpointRefusal(spec)
      if (refused !== undefined) return yield* refused
      const since = yield* Clock.currentTimeMillis
      const made = yield* idempotentWrite<Endpoint | { readonly operation: Operation }>({
        retry: transport.retry,
        send: Effect.map(
          transport.callOnce({
            route: routes.createEndpoint,
            params: { parent },
            query: spec.endpointId === undefined ? {} : { endpointId: spec.endpointId },
            body: endpointSpecToWire(spec)
          }),
          (operation) => ({ operation })
        ),
        find: pages(list, 100).pipe(
          Stream.filter(({ createTime, deployedModels, displayName }) =>
            displayName === spec.displayName && deployedModels.length === 0 && Date.parse(createTime) >= since - skewMs
          ),
          Stream.runHead,
          Effect.map(Option.getOrUndefined)
        )
      }).pipe(doubtful("the endpoint was made", "sluice endpoints list"))
      return "operation" in made ? yield* Effect.fromResult(operationEndpoint(yield* finish(transport, made.operation))) : made
    })

    const deployModel = Effect.fn("HostedEndpoints.deployModel")(function*(request: DeployModelRequest) {
      const refused = deployModelRefusal(request)
      if (refused !== undefined) return yield* refused
      const { endpoint } = request
      const send = transport.callOnce({ route: routes.deployModel, params: { endpoint }, body: deployModelToWire(request) })
      const started = yield* idempotentWrite({ retry: transport.retry, send }).pipe(
        doubtful("the deployment began", "sluice endpoints list")
      )
      return yield* Effect.fromResult(operationFromWire(started))
    })

    const undeployModel = Effect.fn("HostedEndpoints.undeployModel")(function*(request: UndeployRequest) {
      const refused = undeployRefusal(request)
      if (refused !== undefined) return yield* refused
      const { endpoint } = request
      yield* finish(transport, yield* transport.call({ route: routes.undeployModel, params: { endpoint }, body: undeployToWire(request) }))
    })

    /**
     * Sends a payload to a model, once, as it may have effects. A failure of the model is passed on as it is; failures of the
     * service itself have the form of its errors.
     */
    const predict = Effect.fnUntraced(function*<A>(
      route: typeof routes.endpointRawPredict,
      endpoint: EndpointName,
      payload: Payload,
      read: (bytes: Stream.Stream<Uint8Array, ServiceError>, what: string) => Effect.Effect<A, ServiceError>
    ): Effect.fn.Return<Prediction<A>, ServiceError> {
      const where = yield* Effect.fromResult(path(route, "v1", { endpoint }))
      const what = route.rpc.slice(route.rpc.indexOf(".") + 1)
      const request = HttpClientRequest.post(`${transport.endpoint.baseUrl}${where}`).pipe(
        HttpClientRequest.bodyUint8Array(payload.body, payload.contentType)
      )
      const named = `${what} of ${transport.endpoint.host}`
      return yield* answered(transport.send(
        { what, request, timeoutMs: idleMs, failuresToo: true },
        Effect.fnUntraced(function*(response) {
          const answer = defined({
            status: response.status,
            contentType: response.headers["content-type"] ?? "application/octet-stream",
            deployedModelId: response.headers[deployedModelHeader]
          })
          if (response.status >= 200 && response.status < 300) {
            return { ...answer, body: yield* read(bytesOf(named, response, idleMs), named) }
          }
          const failure = yield* whole(bytesOf(named, response, idleMs), named)
          const error = serviceErrorIn(response.status, failure, retryAfterOf(response.headers, yield* Clock.currentTimeMillis))
          return error === undefined
            ? { ...answer, body: yield* read(Stream.make(failure), named) }
            : yield* withFix(error, transport.project)
        })
      ))
    })

    return Endpoints.of({
      uploadModel,
      getModel,
      listModels: Effect.fn("HostedEndpoints.listModels")(function*(query: ResourceQuery) {
        const listed = yield* transport.call({ route: routes.listModels, params: { parent }, query: listQuery(query) })
        return yield* pageOf(query, listed.models, listed.nextPageToken, modelFromWire)
      }),
      deleteModel: Effect.fn("HostedEndpoints.deleteModel")(function*(name: ModelName) {
        yield* deleteOnce(transport, { route: routes.deleteModel, params: { name } })
      }),
      create,
      get: Effect.fn("HostedEndpoints.get")(function*(name: EndpointName) {
        return yield* Effect.fromResult(endpointFromWire(yield* transport.call({ route: routes.getEndpoint, params: { name } })))
      }),
      update: Effect.fn("HostedEndpoints.update")(function*(change: EndpointChange) {
        const refused = endpointChangeRefusal(change)
        if (refused !== undefined) return yield* refused
        const updated = yield* transport.call({
          route: routes.updateEndpoint,
          params: { name: change.endpoint },
          ...endpointChangeToWire(change)
        })
        return yield* Effect.fromResult(endpointFromWire(updated))
      }),
      list,
      delete: Effect.fn("HostedEndpoints.delete")(function*(name: EndpointName) {
        yield* deleteOnce(transport, { route: routes.deleteEndpoint, params: { name } })
      }),
      deployModel,
      undeployModel,
      rawPredict: (endpoint, payload) => predict(routes.endpointRawPredict, endpoint, payload, whole),
      streamRawPredict: (endpoint, payload) => predict(routes.endpointStreamRawPredict, endpoint, payload, (bytes) => Effect.succeed(bytes))
    })
  })
)

/** The service's own error, a google.rpc.Status with the name of its code; undefined where the body is none. */
const serviceErrorIn = (status: number, body: Uint8Array, retryAfter: number | undefined): ServiceError | undefined => {
  const json = Option.getOrUndefined(decodeJson(Buffer.from(body).toString("utf8")))
  const first: unknown = Array.isArray(json) ? json[0] : json
  const error = Predicate.isObject(first) && "error" in first ? first.error : undefined
  return Predicate.isObject(error) && "status" in error && Code.literals.some((code) => code === error.status)
    ? errorFromWire(status, json, retryAfter)
    : undefined
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
