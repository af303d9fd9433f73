import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { projectNumberOf } from "../../domain/Locations.ts"
import type { DeployRequest } from "../../domain/models/ModelCatalog.ts"
import type { Operation } from "../../domain/Operation.ts"
import { ModelCatalog } from "../../ports/ModelCatalog.ts"
import { Operations } from "../../ports/Operations.ts"
import { catalogModelToWire, catalogQueryFromWire } from "../../wire/models/Catalog.ts"
import { deployPublisherModelFromWire, deployRequestFromWire } from "../../wire/models/Deployments.ts"
import type { PublisherModel } from "../../wire/messages/PublisherModel.ts"
import type { ModelResult } from "../../wire/models/ModelOperations.ts"
import { required } from "../../wire/Optional.ts"
import { type Call, type Handlers, take } from "../Call.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { inOrder, nextPage, pageOf } from "./Paging.ts"

type Methods = Pick<
  Handlers,
  "listPublisherModels" | "getPublisherModel" | "deploy" | "deployPublisherModel" | "checkPublisherModelEula" | "acceptPublisherModelEula"
>

/**
 * Records a deployment as an operation of the server, under a name that its clients can list. The engine's record of the same
 * deployment is deleted, so that it is not listed twice.
 */
export const operationsOf = (operations: LongRunning["Service"], engine: Operations["Service"]) =>
  Effect.fnUntraced(function*(
    kind: "deploy" | "deployPublisherModel" | "deployModel",
    started: Operation,
    target: string,
    slowBy: number | undefined,
    model: ModelResult = {}
  ) {
    if (!started.done || started.error !== undefined) return { operation: started }
    const { stage: _, ...deployment } = started.deployment ?? {}
    const entry = yield* operations.finished(kind, target, { deployment, model, slowBy })
    yield* Effect.ignore(engine.delete(started.name))
    return entry
  })

export const modelCatalogHandlers = (
  defaultEmbedding: string
): Effect.Effect<Methods, never, ModelCatalog | Operations | LongRunning> =>
  Effect.gen(function*() {
    const catalog = yield* ModelCatalog
    const operations = yield* LongRunning
    const tell = operationsOf(operations, yield* Operations)

    const deploy = Effect.fnUntraced(function*(
      kind: "deploy" | "deployPublisherModel",
      request: DeployRequest,
      { names, params, slowBy, version }: Pick<
        Call<unknown, unknown, { readonly destination: string }>,
        "names" | "params" | "slowBy" | "version"
      >
    ) {
      const started = yield* catalog.deploy(request)
      return answered(yield* tell(kind, started, names.toEngine(params.destination), slowBy), version, names, defaultEmbedding)
    })

    const acceptance = (parent: string, publisherModel: string, accepted: boolean) => ({
      projectNumber: projectNumberOf(parent),
      publisherModel,
      publisherModelEulaAcked: accepted
    })

    const named = (model: string | undefined): Effect.Effect<string, ServiceError> => take(required(model, "publisher_model"))

    return {
      listPublisherModels: Effect.fnUntraced(function*({ params, query }) {
        yield* inOrder(query.orderBy)
        const { items, nextToken } = yield* catalog.list(yield* take(catalogQueryFromWire(params.parent, query)), pageOf(query))
        const basic = query.view === "PUBLISHER_MODEL_VIEW_BASIC"
        return {
          publisherModels: items.map((model) => catalogModelToWire(model, basic)),
          ...nextPage(nextToken)
        }
      }),
      getPublisherModel: ({ params, query }) =>
        catalog.get(params.name).pipe(
          Effect.map((model) => catalogModelToWire(model, query.view === "PUBLISHER_MODEL_VIEW_BASIC")),
          Effect.catchIf((error) => error.code === "NOT_FOUND" && served.test(params.name), () => Effect.succeed(servedModel(params.name)))
        ),
      deploy: (call) => Effect.flatMap(take(deployRequestFromWire(call.body)), (request) => deploy("deploy", request, call)),
      deployPublisherModel: (call) =>
        Effect.flatMap(take(deployPublisherModelFromWire(call.body)), (request) => deploy("deployPublisherModel", request, call)),
      checkPublisherModelEula: Effect.fnUntraced(function*({ body, params }) {
        const model = yield* named(body.publisherModel)
        return acceptance(params.parent, model, yield* catalog.eulaAccepted(model))
      }),
      acceptPublisherModelEula: Effect.fnUntraced(function*({ body, params }) {
        const model = yield* named(body.publisherModel)
        yield* catalog.acceptEula(model)
        return acceptance(params.parent, model, true)
      })
    }
  })

/** Models of other methods than deployment, which the catalog does not list. Clients look them up before they call them. */
const served =
  /^publishers\/(?:google\/models\/(?:gemini|text-(?:multilingual-)?embedding)-|anthropic\/models\/claude-)[^/@\s]+(?:@[^/@\s]+)?$/

const servedModel = (asked: string): PublisherModel => {
  const [name = asked, versionId = "default"] = asked.split("@")
  return {
    name,
    versionId,
    launchStage: "GA",
    // Google's Python SDK calls the address of the template, after it has checked by the schema that the model embeds texts.
    publisherModelTemplate: `projects/{user-project}/locations/{location}/${asked}`,
    ...(/\/(?:text|gemini)-(?:multilingual-)?embedding-/.test(name)
      ? { predictSchemata: { instanceSchemaUri: "gs://google-cloud-aiplatform/schema/predict/instance/text_embedding_1.0.0.yaml" } }
      : {})
  }
}
