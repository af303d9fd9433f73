import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type CatalogModel, hubId, hubPublisherModel, versionedName } from "../../domain/models/ModelCatalog.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { Endpoints } from "../../ports/Endpoints.ts"
import { ModelCatalog } from "../../ports/ModelCatalog.ts"
import { pages } from "../../ports/Paging.ts"
import { containerFlags, containerOf, hubTokenFlag, hubTokenOf, resourceFlags, resourcesOf } from "../DeployFlags.ts"
import { deployCatalogModel, deployRegisteredModel } from "../Deploying.ts"
import { engineFlags } from "../EngineFlags.ts"
import { endpointNamed, modelNamed, onGarden, trafficFlag, trafficOf } from "../Garden.ts"
import { Output } from "../Output.ts"
import { defaultMachine } from "../render/Deployment.ts"
import { printDone, printValue, rows } from "../render/Values.ts"
import { given, root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"

const text = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)
const on = (name: string, description: string) => Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Whether this is the hub's id of a model, `{owner}/{name}`: neither a name of the catalog nor of the registry. */
const isHubId = (written: string): boolean => /^[^/]+\/[^/]+$/.test(written)
const isCatalogName = (written: string): boolean => written.startsWith("publishers/")

/** The name of a catalog model for people; a hub's model by its id there. */
const calledOf = (model: CatalogModel): string => hubId(model.name) ?? versionedName(model)

const list = Command.make(
  "list",
  {
    hub: on("hub", "Models of the hub instead of the catalog's own"),
    verified: on("verified", "Of the hub's, those whose deployment has been verified"),
    allVersions: on("all-versions", "Every version of a model, not only the newest"),
    search: text("search", "Those with this word in their id", "WORD"),
    registry: on("registry", "The project's own models instead: uploaded, or made by a deployment"),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      args.registry ? registryRows : catalogRows({
        hub: args.hub,
        deployable: true,
        verified: args.verified ? true : undefined,
        allVersions: args.allVersions ? true : undefined,
        search: Option.isSome(args.search) ? args.search.value : undefined
      }))
  })
).pipe(
  Command.withDescription("List the models that can be deployed, with the recommended machine of each."),
  Command.withExamples([
    { command: "sluice models list", description: "models of the catalog" },
    { command: "sluice models list --hub --verified --search gemma", description: "models of the hub with gemma in their name" },
    { command: "sluice models list --registry", description: "this project's models, and where they are deployed" }
  ])
)

const catalogRows = Effect.fnUntraced(function*(query: Parameters<ModelCatalog["Service"]["list"]>[0]) {
  const catalog = yield* ModelCatalog
  yield* rows(pages((page) => catalog.list(query, page)), [
    { title: "model", cell: calledOf, flexible: true },
    { title: "machine", cell: defaultMachine },
    { title: "category", cell: (m) => m.openSourceCategory ?? "" }
  ])
})

const registryRows = Effect.gen(function*() {
  const endpoints = yield* Endpoints
  yield* rows(pages((page) => endpoints.listModels(page)), [
    { title: "id", cell: (m) => lastSegment(m.name) },
    { title: "display name", cell: (m) => m.displayName, flexible: true },
    { title: "version", cell: (m) => m.versionId ?? "" },
    { title: "made of", cell: (m) => m.publicModelName ?? m.container?.imageUri ?? "" },
    { title: "endpoints", cell: (m) => m.deployedModels.map(({ endpoint }) => lastSegment(endpoint)).join(", ") }
  ])
})

const model = Argument.String("model").pipe(
  Argument.withDescription(
    "publishers/{publisher}/models/{model}@{version} of the catalog, {owner}/{name} of the hub, or a model of the registry"
  )
)

const show = Command.make(
  "show",
  { model, ...engineFlags },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const { get } = yield* ModelCatalog
        if (isCatalogName(args.model)) return yield* printValue(yield* get(args.model))
        if (isHubId(args.model)) return yield* printValue(yield* get(hubPublisherModel(args.model)))
        const endpoints = yield* Endpoints
        yield* printValue(yield* endpoints.getModel(yield* modelNamed(args.model)))
      }))
  })
).pipe(
  Command.withDescription("Show a model and the configurations in which it can be deployed."),
  Command.withExamples([{
    command: "sluice models show publishers/google/models/gemma3@gemma-3-1b-it",
    description: "machine, image and a sample request"
  }])
)

const upload = Command.make(
  "upload",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The model's display name")),
    from: text("from", "The catalog's model it is made of: publishers/{publisher}/models/{model}, with @{version} that version", "MODEL"),
    id: text("id", "The model's id. Default: one that the service makes", "ID"),
    versionOf: text("version-of", "Make it a new version of this model", "MODEL"),
    description: text("description", "What it is", "TEXT"),
    ...containerFlags,
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const container = yield* containerOf(args)
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const [publicModelName, publicModelVersion] = given(args.from)?.split("@") ?? []
        const [modelId, description] = [given(args.id), given(args.description)]
        const parentModel = Option.isSome(args.versionOf) ? yield* modelNamed(args.versionOf.value) : undefined
        yield* printValue(
          yield* endpoints.uploadModel({
            displayName: args.name,
            description,
            publicModelName,
            publicModelVersion,
            container,
            modelId,
            parentModel
          })
        )
      }))
  })
).pipe(
  Command.withDescription(
    "Add a model to the project's registry: a partner's model of the catalog, or one that your own image serves. Costs nothing until it is deployed."
  ),
  Command.withExamples([
    { command: "sluice models upload large --from publishers/acme/models/acme-large", description: "a partner's model" },
    {
      command: "sluice models upload mine --image us-docker.pkg.dev/p/r/serve:1 --image-port 8080 --predict-route /predict",
      description: "a model served by your own image"
    }
  ])
)

const deploy = Command.make(
  "deploy",
  {
    model,
    endpoint: text(
      "endpoint",
      "The endpoint to deploy a model of the registry on; models of the catalog and the hub get a new endpoint",
      "ENDPOINT"
    ),
    endpointName: text("endpoint-name", "Display name of the endpoint that is made", "NAME"),
    endpointId: text("endpoint-id", "Its id. Default: one that the service makes", "ID"),
    name: text("name", "Display name of the deployed model", "NAME"),
    ...resourceFlags,
    ...containerFlags,
    fastTryout: on("fast-tryout", "Quicker, for trying a much used model out; with the model's own configuration only"),
    acceptEula: on("accept-eula", "You have read and accept the model's licence"),
    hubTokenFile: hubTokenFlag,
    traffic: trafficFlag,
    async: on("async", "Return once it has begun; `sluice operations get ID` tells how it goes on"),
    yes: on("yes", "Go ahead: it costs as long as it runs"),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const resources = yield* resourcesOf(args)
    const container = yield* containerOf(args)
    const trafficSplit = yield* trafficOf(args.traffic)
    const [endpointDisplayName, endpointUserId, displayName] = [given(args.endpointName), given(args.endpointId), given(args.name)]
    const consent = { yes: args.yes, detached: args.async }
    const configured = resources === undefined ? {} : { resources }
    yield* onGarden(args, (garden) =>
      Effect.gen(function*() {
        if (!isCatalogName(args.model) && !isHubId(args.model)) {
          if (Option.isNone(args.endpoint)) {
            return yield* new UsageError({
              message: `${args.model} is a model of the registry, and needs an endpoint`,
              fix: "name one with --endpoint, which sluice endpoints create makes"
            })
          }
          return yield* deployRegisteredModel(garden, {
            endpoint: yield* endpointNamed(args.endpoint.value),
            model: yield* modelNamed(args.model),
            displayName,
            trafficSplit,
            ...configured
          }, consent)
        }
        if (Option.isSome(args.endpoint) || trafficSplit !== undefined) {
          return yield* new UsageError({
            message: "a model of the catalog or the hub gets a new endpoint",
            fix: "leave --endpoint and --traffic out, or upload it first: sluice models upload"
          })
        }
        const hub = isHubId(args.model)
        const token = hub ? yield* hubTokenOf(args.hubTokenFile) : undefined
        yield* deployCatalogModel(garden, {
          ...(hub ? { huggingFaceModelId: args.model } : { publisherModelName: args.model }),
          ...(token === undefined ? {} : { huggingFaceAccessToken: token }),
          ...(args.acceptEula ? { acceptEula: true } : {}),
          ...(displayName === undefined ? {} : { modelDisplayName: displayName }),
          ...(container === undefined ? {} : { container }),
          ...(endpointDisplayName === undefined ? {} : { endpointDisplayName }),
          ...(endpointUserId === undefined ? {} : { endpointUserId }),
          ...(args.fastTryout ? { fastTryout: true } : {}),
          ...configured
        }, consent)
      }))
  })
).pipe(
  Command.withDescription(
    "Deploy a model, so that an endpoint answers with it. Options not given are as the model's owner recommends. First shows what the model will run on; on Vertex AI it costs money as long as it is deployed, and is only deployed with --yes."
  ),
  Command.withExamples([
    {
      command: "sluice models deploy publishers/google/models/gemma3@gemma-3-1b-it --accept-eula --yes",
      description: "a model of the catalog, as recommended"
    },
    {
      command: "sluice models deploy google/gemma-2-2b-it --hub-token-file hf.txt --accept-eula --yes",
      description: "a gated model of the hub"
    },
    {
      command:
        "sluice models deploy publishers/google/models/gemma3@gemma-3-1b-it --machine-type g2-standard-12 --accelerator-type NVIDIA_L4 --spot --accept-eula --yes --async",
      description: "on spot machines, without waiting"
    },
    {
      command:
        "sluice models deploy large --endpoint chat --machine-type a3-highgpu-8g --accelerator-type NVIDIA_H100_80GB --accelerator-count 8 --traffic 0=100 --yes",
      description: "an uploaded model on your own endpoint"
    }
  ])
)

const undeploy = Command.make(
  "undeploy",
  {
    endpoint: Argument.String("endpoint").pipe(Argument.withDescription("The endpoint's id, name or display name")),
    deployed: Argument.String("deployed-model").pipe(
      Argument.withDescription("The deployed model's id, as `sluice endpoints list` shows it; optional where there is only one"),
      Argument.optional
    ),
    traffic: trafficFlag,
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const trafficSplit = yield* trafficOf(args.traffic)
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const endpoint = yield* endpointNamed(args.endpoint)
        const [only, ...others] = Option.isSome(args.deployed)
          ? [args.deployed.value]
          : (yield* endpoints.get(endpoint)).deployedModels.map(({ id }) => id)
        if (only === undefined || others.length > 0) {
          return yield* new UsageError({
            message: only === undefined ? `no model is deployed on ${args.endpoint}` : `several models are deployed on ${args.endpoint}`,
            fix: only === undefined ? "see sluice endpoints list" : `name one of ${[only, ...others].join(", ")}`
          })
        }
        yield* endpoints.undeployModel({ endpoint, deployedModelId: only, trafficSplit })
        yield* json ? output.json({ version: 1, undeployed: only, endpoint }) : output.print(`undeployed ${only} from ${endpoint}`)
      }))
  })
).pipe(
  Command.withDescription(
    "Undeploy a model from an endpoint, which ends its costs. A model that has traffic can only be undeployed if --traffic assigns its share to other models, or if it is the last one."
  ),
  Command.withExamples([
    { command: "sluice models undeploy chat", description: "the only model of the endpoint" },
    { command: "sluice models undeploy chat 8374620193 --traffic 7263540192=100", description: "one of two; the other gets all traffic" }
  ])
)

const remove = Command.make(
  "delete",
  {
    model: Argument.String("model").pipe(Argument.withDescription("The model's id, name or display name in the registry")),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const name = yield* modelNamed(args.model)
        yield* endpoints.deleteModel(name)
        yield* printDone("deleted", name)
      }))
  })
).pipe(
  Command.withDescription("Delete a model of the registry, with all its versions. A deployed model must be undeployed first."),
  Command.withExamples([{ command: "sluice models delete gemma-3-1b-it", description: "by its display name" }])
)

/** `sluice models`: the catalog, and the project's own models. */
export const models = Command.make("models").pipe(
  Command.withDescription("List, show, upload, deploy, undeploy and delete models."),
  Command.withExamples([
    { command: "sluice models list", description: "what can be deployed" },
    { command: "sluice models deploy publishers/google/models/gemma3@gemma-3-1b-it --accept-eula", description: "deploy one" }
  ]),
  Command.withSubcommands([list, show, upload, deploy, undeploy, remove])
)
