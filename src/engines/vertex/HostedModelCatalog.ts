import { Effect, Layer, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { deployRefusal } from "../../domain/models/DeployRules.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type { CatalogQuery, DeployRequest } from "../../domain/models/ModelCatalog.ts"
import { redactText } from "../../domain/Redact.ts"
import { ModelCatalog } from "../../ports/ModelCatalog.ts"
import type { PageRequest } from "../../ports/Paging.ts"
import { catalogModelFromWire, catalogQueryToWire } from "../../wire/models/Catalog.ts"
import { deployRequestToWire } from "../../wire/models/Deployments.ts"
import { operationFromWire } from "../../wire/Operations.ts"
import { decodeResponse, encodeQuery, path, routes } from "../../wire/Routes.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { readJson } from "./Responses.ts"
import { Transport, version } from "./Transport.ts"
import { answered } from "./Unanswered.ts"

/** The service's catalog of models. */
export const layer: Layer.Layer<ModelCatalog, never, Transport> = Layer.effect(
  ModelCatalog,
  Effect.gen(function*() {
    const transport = yield* Transport
    const project = `projects/${transport.project}`

    const list = Effect.fn("HostedModelCatalog.list")(function*(query: CatalogQuery, page: PageRequest) {
      const route = routes.listPublisherModels
      const where = yield* Effect.fromResult(path(route, version, { parent: `publishers/${query.publisher ?? "*"}` }))
      const request = HttpClientRequest.get(
        `${transport.endpoint.baseUrl}${where}${encodeQuery(route, { ...catalogQueryToWire(query), ...pageQuery(page) })}`
      ).pipe(
        HttpClientRequest.acceptJson,
        // The path has no project that the call could be billed to, so a header names it.
        HttpClientRequest.setHeader("x-goog-user-project", transport.project)
      )
      const what = "ListPublisherModels"
      const ask = transport.send(
        { what, request, bucket: "management" },
        (response) => readJson(`${what} of ${transport.endpoint.host}`, response)
      )
      const listed = yield* Effect.fromResult(decodeResponse(route, yield* transport.retry(answered(ask))))
      return yield* pageOf(page, listed.publisherModels, listed.nextPageToken, catalogModelFromWire)
    })

    const deploy = Effect.fn("HostedModelCatalog.deploy")(function*(request: DeployRequest) {
      const refused = deployRefusal(request)
      if (refused !== undefined) return yield* refused
      const { parent } = transport
      const send = transport.callOnce({ route: routes.deploy, params: { destination: parent }, body: deployRequestToWire(parent, request) })
      // A deployment costs money. Without an answer it is unknown whether it was made, so the request is not repeated.
      const started = yield* idempotentWrite({ retry: transport.retry, send }).pipe(
        Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "the deployment began", "sluice endpoints list"))),
        Effect.mapError((error) => withoutToken(error, request.huggingFaceAccessToken))
      )
      return yield* Effect.fromResult(operationFromWire(started))
    })

    return ModelCatalog.of({
      list,
      get: Effect.fn("HostedModelCatalog.get")(function*(name: string) {
        const hub = name.startsWith("publishers/hf-")
        const found = yield* transport.call({
          route: routes.getPublisherModel,
          params: { name },
          query: {
            view: "PUBLISHER_MODEL_VIEW_FULL",
            isHuggingFaceModel: hub ? true : undefined,
            includeEquivalentModelGardenModelDeploymentConfigs: true
          }
        })
        return yield* Effect.fromResult(catalogModelFromWire(found))
      }),
      deploy,
      eulaAccepted: Effect.fn("HostedModelCatalog.eulaAccepted")(function*(publisherModel: string) {
        const answer = yield* transport.call({
          route: routes.checkPublisherModelEula,
          params: { parent: project },
          body: { publisherModel }
        })
        return answer.publisherModelEulaAcked === true
      }),
      acceptEula: Effect.fn("HostedModelCatalog.acceptEula")(function*(publisherModel: string) {
        yield* transport.call({ route: routes.acceptPublisherModelEula, params: { parent: project }, body: { publisherModel } })
      })
    })
  })
)

/** The error without the token: a service may echo what it was sent, which must not appear in errors. */
const withoutToken = (error: ServiceError, token: Redacted.Redacted<string> | undefined): ServiceError => {
  if (token === undefined) return error
  return error.mapTexts((text) => redactText(text, [token], 2000)).with({ cause: undefined })
}
