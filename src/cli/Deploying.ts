import { randomBytes } from "node:crypto"
import { Effect, Result } from "effect"
import { deployRefusal } from "../domain/models/DeployRules.ts"
import type { DeployModelRequest } from "../domain/models/Endpoint.ts"
import { deployModelRefusal } from "../domain/models/EndpointRules.ts"
import type { Resources } from "../domain/models/Machine.ts"
import { deployedName, type DeployRequest, hubId } from "../domain/models/ModelCatalog.ts"
import { type Operation, operationError } from "../domain/Operation.ts"
import { lastSegment } from "../domain/ResourceNames.ts"
import { Endpoints } from "../ports/Endpoints.ts"
import { ModelCatalog } from "../ports/ModelCatalog.ts"
import { Operations } from "../ports/Operations.ts"
import type { Garden } from "./Garden.ts"
import { Output } from "./Output.ts"
import { planLine } from "./render/Deployment.ts"
import { root } from "./Root.ts"
import { UsageError } from "./UsageError.ts"

export interface Consent {
  /** The caller has agreed to the costs. */
  readonly yes: boolean
  /** Return once the deployment has started. */
  readonly detached: boolean
}

/** Deploys a model of the catalog or the hub. Looks it up first, so that the plan shows what it will run on. */
export const deployCatalogModel = Effect.fn("deployCatalogModel")(function*(garden: Garden, written: DeployRequest, consent: Consent) {
  const catalog = yield* ModelCatalog
  // Without waiting for the service to choose an id, the endpoint's id must be known beforehand.
  const chosen = written.endpointUserId ?? (consent.detached ? `sluice-${randomBytes(6).toString("hex")}` : undefined)
  const request = chosen === undefined ? written : { ...written, endpointUserId: chosen }
  const found = yield* Effect.result(catalog.get(deployedName(request)))
  // The hub shows a gated model only with a token, and a token does not belong in an address.
  if (Result.isFailure(found) && request.huggingFaceAccessToken === undefined) return yield* found.failure
  const model = Result.getOrUndefined(found)
  const refused = deployRefusal(request, model === undefined ? undefined : { model })
  if (refused !== undefined) return yield* refused
  const resources = request.resources ?? model?.deploy[0]?.resources
  yield* agreed(
    garden,
    consent,
    hubId(deployedName(request)) ?? deployedName(request),
    request.endpointDisplayName ?? "an endpoint of its own",
    resources
  )
  const started = yield* catalog.deploy(request)
  yield* follow(started, consent, { resources, endpoint: chosen === undefined ? undefined : `${garden.parent}/endpoints/${chosen}` })
})

/** Deploys a model of the registry on an endpoint; a model made from the catalog's as recommended there, unless stated otherwise. */
export const deployRegisteredModel = Effect.fn("deployRegisteredModel")(
  function*(garden: Garden, written: DeployModelRequest, consent: Consent) {
    const catalog = yield* ModelCatalog
    const endpoints = yield* Endpoints
    const { publicModelName, publicModelVersion } = yield* endpoints.getModel(written.model)
    const base = publicModelName === undefined
      ? undefined
      : yield* catalog.get(publicModelVersion === undefined ? publicModelName : `${publicModelName}@${publicModelVersion}`)
    const resources = written.resources ?? base?.deploy[0]?.resources
    if (resources === undefined) {
      return yield* new UsageError({
        message: `no machine is recommended for ${lastSegment(written.model)}`,
        fix: "choose one with --machine-type"
      })
    }
    const request = { ...written, resources }
    const refused = deployModelRefusal(request, { endpoint: yield* endpoints.get(request.endpoint), base })
    if (refused !== undefined) return yield* refused
    yield* agreed(garden, consent, lastSegment(request.model), lastSegment(request.endpoint), resources)
    yield* follow(yield* endpoints.deployModel(request), consent, { resources, endpoint: request.endpoint })
  }
)

/** Shows what is about to happen, and fails where it costs money and was not agreed to. */
const agreed = Effect.fnUntraced(function*(
  { engine }: Garden,
  { yes }: Consent,
  what: string,
  where: string,
  resources: Resources | undefined
) {
  const output = yield* Output
  yield* output.say(planLine(what, where, resources, engine === "vertex"))
  if (engine === "vertex" && !yes) {
    return yield* new UsageError({ message: "nothing was deployed", fix: "run it again with --yes to go ahead" })
  }
})

/** The parts of the request that are known before the operation reports them. */
interface Known {
  readonly resources: Resources | undefined
  readonly endpoint: string | undefined
}

/** Milliseconds of one wait for the operation. */
const waitMs = 30_000

/** Waits until a deployment has ended, and prints the result; or, detached, prints at once what is known, and how to follow it. */
const follow = Effect.fnUntraced(function*(started: Operation, { detached }: Consent, { endpoint: known, resources }: Known) {
  const { json } = yield* root
  const output = yield* Output
  const operations = yield* Operations
  const asking = `sluice operations get ${lastSegment(started.name)}`
  if (detached && !started.done) {
    if (json) {
      return yield* output.json({
        version: 1,
        ...started,
        deployment: { ...started.deployment, ...(known === undefined ? {} : { endpoint: known }) },
        resources
      })
    }
    return yield* output.print([
      `operation: ${started.name}`,
      ...(known === undefined ? [] : [`endpoint: ${known}`]),
      `follow its progress: ${asking}`
    ].join("\n"))
  }
  Object.assign(output.interrupted, { what: "interrupted: the deployment goes on, and costs", next: `ask how it goes on with ${asking}` })
  let operation = started
  let stage: string | undefined
  while (!operation.done) {
    operation = yield* operations.wait(started.name, waitMs).pipe(
      Effect.mapError((error) => error.with({ fix: error.fix ?? `the deployment may go on, and cost: ${asking}; sluice endpoints list` }))
    )
    if (operation.deployment?.stage !== stage) {
      stage = operation.deployment?.stage
      if (stage !== undefined && !operation.done) yield* output.say(stage.toLowerCase().replaceAll("_", " "))
    }
  }
  if (operation.error !== undefined) return yield* operationError("deployment", operation, "see what is left of it: sluice endpoints list")
  if (json) return yield* output.json({ version: 1, ...operation })
  const { endpoint = known, model } = operation.deployment ?? {}
  yield* output.print([
    `deployed${model === undefined ? "" : ` ${model}`}`,
    ...(endpoint === undefined
      ? []
      : [`endpoint: ${endpoint}`, `ask it: sluice endpoints predict ${lastSegment(endpoint)} --body request.json`])
  ].join("\n"))
})
