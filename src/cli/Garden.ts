import { Effect, Stream } from "effect"
import { Flag } from "effect/cli"
import { EndpointName, ModelName, type TrafficSplit } from "../domain/models/Endpoint.ts"
import { ServiceError } from "../domain/Errors.ts"
import { embeddedParent, lastSegment } from "../domain/ResourceNames.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { Endpoints } from "../ports/Endpoints.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"
import { pages } from "../ports/Paging.ts"
import { type EngineArgs, pipelineFor } from "./EngineFlags.ts"
import { root } from "./Root.ts"
import { UsageError, wrongFlag } from "./UsageError.ts"

export interface Garden {
  readonly engine: Definition["engine"]["_tag"]
  /** Parent of the resources: `projects/{project}/locations/{location}`. */
  readonly parent: string
}

/** Runs `body` with the models and endpoints of the chosen engine. */
export const onGarden = <A, E, R>(
  args: EngineArgs,
  body: (garden: Garden) => Effect.Effect<A, E, R | ModelCatalog | Endpoints | Operations>
) =>
  Effect.gen(function*() {
    const { dataDir } = yield* root
    const { modelGarden } = yield* Effect.promise(() => import("../compose/ModelGarden.ts"))
    const pipeline = yield* pipelineFor(args)
    const { engine } = pipeline
    const parent = engine._tag === "vertex" ? `projects/${engine.project}/locations/${engine.location}` : embeddedParent
    return yield* body({ engine: engine._tag, parent }).pipe(Effect.provide(modelGarden(pipeline, { dataDir })))
  })

/** Finds the resource with this id or display name. */
const named = Effect.fnUntraced(function*<A extends { readonly name: string; readonly displayName: string }, E, R>(
  all: Stream.Stream<A, E, R>,
  word: string,
  what: string,
  list: string
) {
  const found = yield* Stream.runCollect(Stream.filter(all, ({ displayName, name }) => lastSegment(name) === word || displayName === word))
  const byId = found.find(({ name }) => lastSegment(name) === word)
  const [first, ...others] = byId === undefined ? found : [byId]
  if (first === undefined) return yield* ServiceError.notFound(`${what} "${word}"`, `see what there is: ${list}`)
  if (others.length > 0) {
    return yield* new UsageError({
      message: `several resources match ${what} "${word}"`,
      fix: `give the id: ${found.map(({ name }) => lastSegment(name)).join(", ")}`
    })
  }
  return first.name
})

/** Finds an endpoint by full name, id or display name. */
export const endpointNamed = Effect.fn("endpointNamed")(function*(word: string) {
  if (word.startsWith("projects/")) return EndpointName.make(word)
  const endpoints = yield* Endpoints
  return EndpointName.make(yield* named(pages((page) => endpoints.list(page)), word, "endpoint", "sluice endpoints list"))
})

/** Finds a model of the registry by full name, id or display name. */
export const modelNamed = Effect.fn("modelNamed")(function*(word: string) {
  if (word.startsWith("projects/")) return ModelName.make(word)
  const endpoints = yield* Endpoints
  return ModelName.make(yield* named(pages((page) => endpoints.listModels(page)), word, "model", "sluice models list --registry"))
})

export const trafficFlag = Flag.KeyValuePair("traffic").pipe(
  Flag.withDescription(
    "Percent of the endpoint's traffic for a deployed model, which may be repeated; ID 0 is the model being deployed. Percentages sum to 100"
  ),
  Flag.withMetavar("ID=PERCENT"),
  Flag.withDefault({})
)

export const trafficOf = (written: Readonly<Record<string, string>>): Effect.Effect<TrafficSplit | undefined, UsageError> => {
  const entries = Object.entries(written)
  const strange = entries.find(([, percent]) => !/^\d{1,3}$/.test(percent))
  if (strange !== undefined) {
    return wrongFlag("--traffic", `${strange.join("=")} is not a percentage`, "write for example --traffic 0=100")
  }
  return Effect.succeed(entries.length === 0 ? undefined : Object.fromEntries(entries.map(([id, percent]) => [id, Number(percent)])))
}
