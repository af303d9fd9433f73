import { Effect, FileSystem, Option, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isEmpty } from "../../domain/Defined.ts"
import { ExitCode } from "../../domain/Errors.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { Endpoints, type Prediction } from "../../ports/Endpoints.ts"
import { pages } from "../../ports/Paging.ts"
import { engineFlags } from "../EngineFlags.ts"
import { exitWith } from "../Exit.ts"
import { optionalText } from "../Flags.ts"
import { endpointNamed, onGarden, trafficFlag, trafficOf } from "../Garden.ts"
import { Output } from "../Output.ts"
import { resourcesText } from "../render/Deployment.ts"
import { printDone, printValue, rows } from "../render/Values.ts"
import { given, root } from "../Root.ts"
import { unreadable, UsageError } from "../UsageError.ts"

const endpoint = Argument.String("endpoint").pipe(Argument.withDescription("The endpoint's id, name or display name"))

/** Filter by which the service's own tools find endpoints of catalog models. */
const ofCatalog = "labels.mg-deploy:* OR labels.mg-one-click-deploy:*"

const list = Command.make(
  "list",
  {
    catalog: Flag.Boolean("catalog").pipe(
      Flag.withDescription("Only endpoints that a deployment from the catalog created"),
      Flag.withDefault(false)
    ),
    filter: optionalText("filter", "FILTER", "Only those for which this holds, for example labels.team=\"a\" or display_name=\"chat\""),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const filter = given(args.filter) ?? (args.catalog ? ofCatalog : undefined)
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        yield* rows(pages((page) => endpoints.list({ ...page, ...(filter === undefined ? {} : { filter }) })), [
          { title: "id", cell: (e) => lastSegment(e.name) },
          { title: "display name", cell: (e) => e.displayName, flexible: true },
          {
            title: "deployed",
            cell: (e) =>
              e.deployedModels.map(({ displayName = "", id }) => `${displayName} (${id}, ${e.trafficSplit[id] ?? 0}%)`).join("; "),
            flexible: true
          },
          {
            title: "machines",
            cell: (e) => e.deployedModels.flatMap(({ resources }) => resources === undefined ? [] : [resourcesText(resources)]).join("; ")
          }
        ])
      }))
  })
).pipe(
  Command.withDescription("List endpoints with the models deployed on each, their shares of the traffic, and their machines."),
  Command.withExamples([
    { command: "sluice endpoints list", description: "all endpoints" },
    { command: "sluice endpoints list --catalog --json", description: "endpoints that sluice models deploy created" }
  ])
)

const show = Command.make(
  "show",
  { endpoint, ...engineFlags },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        yield* printValue(yield* endpoints.get(yield* endpointNamed(args.endpoint)))
      }))
  })
).pipe(
  Command.withDescription("Show one endpoint."),
  Command.withExamples([{ command: "sluice endpoints show chat", description: "by its display name" }])
)

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The endpoint's display name")),
    id: optionalText("id", "ID", "Its id. Default: one that the service makes"),
    label: Flag.KeyValuePair("label").pipe(
      Flag.withDescription("A label, for finding it. May be repeated"),
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDefault({})
    ),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const endpointId = given(args.id)
        yield* printValue(
          yield* endpoints.create({
            displayName: args.name,
            endpointId,
            labels: Object.keys(args.label).length === 0 ? undefined : args.label
          })
        )
      }))
  })
).pipe(
  Command.withDescription("Create an endpoint to deploy models on. Costs nothing until a model is deployed."),
  Command.withExamples([{ command: "sluice endpoints create chat", description: "then sluice models deploy … --endpoint chat" }])
)

const update = Command.make(
  "update",
  {
    endpoint,
    name: optionalText("name", "NAME", "Another display name"),
    label: Flag.KeyValuePair("label").pipe(
      Flag.withDescription("Labels that replace all existing ones. May be repeated"),
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDefault({})
    ),
    traffic: trafficFlag,
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const displayName = given(args.name)
    const trafficSplit = yield* trafficOf(args.traffic)
    const change = {
      displayName,
      labels: Object.keys(args.label).length === 0 ? undefined : args.label,
      trafficSplit
    }
    if (isEmpty(change)) return yield* new UsageError({ message: "there is nothing to change", fix: "give --name, --label or --traffic" })
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        yield* printValue(yield* endpoints.update({ endpoint: yield* endpointNamed(args.endpoint), ...change }))
      }))
  })
).pipe(
  Command.withDescription("Change an endpoint's name or labels, or how its traffic is split between the models deployed on it."),
  Command.withExamples([{
    command: "sluice endpoints update chat --traffic 8374620193=20 --traffic 7263540192=80",
    description: "a fifth to the new model"
  }])
)

const predict = Command.make(
  "predict",
  {
    endpoint,
    payload: Argument.String("payload").pipe(Argument.withDescription("The request to the model; or see --body"), Argument.optional),
    body: optionalText("body", "FILE", "A file with it; - is standard input"),
    contentType: Flag.String("content-type").pipe(
      Flag.withDescription("Content type of the request. Default application/json"),
      Flag.withMetavar("TYPE"),
      Flag.withDefault("application/json")
    ),
    stream: Flag.Boolean("stream").pipe(Flag.withDescription("Print the answer as it arrives"), Flag.withDefault(false)),
    ...engineFlags
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const body = yield* payloadOf(args.payload, args.body)
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const name = yield* endpointNamed(args.endpoint)
        const payload = { contentType: args.contentType, body }
        if (args.stream && !json) {
          const answer = yield* endpoints.streamRawPredict(name, payload)
          yield* Stream.runForEach(answer.body, write)
          return yield* ended(answer)
        }
        const answer = yield* endpoints.rawPredict(name, payload)
        const { body: answered, ...rest } = answer
        if (json) yield* output.json({ version: 1, ...rest, ...shown(answered) })
        else yield* write(answered)
        yield* ended(answer)
      }))
  })
).pipe(
  Command.withDescription(
    "Send a request to a model, in the form that its model card describes, and print the answer, byte for byte. An error returned by the model is printed too, and exits 1."
  ),
  Command.withExamples([
    { command: "sluice endpoints predict chat '{\"prompt\": \"Hello\"}'", description: "JSON on the command line" },
    {
      command: "sluice endpoints predict chat --body request.json --stream",
      description: "a request from a file, with the answer as it arrives"
    },
    { command: "cat page.png | sluice endpoints predict ocr --body - --content-type image/png", description: "any content" }
  ])
)

const payloadOf = Effect.fnUntraced(function*(written: Option.Option<string>, file: Option.Option<string>) {
  if (Option.isSome(written) === Option.isSome(file)) {
    return yield* new UsageError({
      message: "either a payload or --body is needed",
      fix: "give it after the endpoint, or name a file with --body"
    })
  }
  if (Option.isSome(written)) return new TextEncoder().encode(written.value)
  const path = Option.getOrElse(file, () => "-")
  if (path === "-") {
    const { stdin } = yield* Stdio.Stdio
    return yield* Stream.runCollect(stdin).pipe(
      Effect.map((parts) => new Uint8Array(Buffer.concat(parts))),
      Effect.mapError(() => new UsageError({ message: "standard input cannot be read", fix: "name a file with --body" }))
    )
  }
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFile(path).pipe(
    Effect.catch(() => unreadable("--body", path))
  )
})

/** Writes bytes unchanged: they are data, and possibly not text. */
const write = (bytes: Uint8Array): Effect.Effect<void> =>
  Effect.promise(() => new Promise<void>((resolve) => void process.stdout.write(bytes, () => resolve())))

const ended = ({ status }: Prediction<unknown>) => exitWith(status >= 200 && status < 300 ? ExitCode.done : ExitCode.error)

const shown = (body: Uint8Array): object => {
  const text = Buffer.from(body).toString("utf8")
  return Buffer.from(text).equals(body) ? { body: text } : { bodyBase64: Buffer.from(body).toString("base64") }
}

const remove = Command.make(
  "delete",
  { endpoint, ...engineFlags },
  Effect.fn(function*(args) {
    yield* onGarden(args, () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const name = yield* endpointNamed(args.endpoint)
        yield* endpoints.delete(name)
        yield* printDone("deleted", name)
      }))
  })
).pipe(
  Command.withDescription("Delete an endpoint. Models deployed on it must be undeployed first."),
  Command.withExamples([{ command: "sluice endpoints delete chat", description: "by its display name" }])
)

/** `sluice endpoints`: the endpoints at which deployed models answer. */
export const endpoints = Command.make("endpoints").pipe(
  Command.withDescription("List, show, create, change and delete endpoints, and ask the models deployed on them."),
  Command.withExamples([{ command: "sluice endpoints list", description: "which models are deployed where" }]),
  Command.withSubcommands([list, show, create, update, predict, remove])
)
