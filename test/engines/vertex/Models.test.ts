import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { EndpointName, ModelName } from "../../../src/domain/models/Endpoint.ts"
import { OperationName } from "../../../src/domain/Operation.ts"
import { Endpoints } from "../../../src/ports/Endpoints.ts"
import { ModelCatalog } from "../../../src/ports/ModelCatalog.ts"
import { Operations } from "../../../src/ports/Operations.ts"
import { type Asked, type FakeServer, fakeServer, sendGoogleError, sendJson } from "../../fakes/Http.ts"
import { hosted } from "../../garden/Support.ts"

const parent = "projects/p1/locations/us-central1"
const gemma = "publishers/google/models/gemma3@gemma-3-1b-it"
const endpoint = EndpointName.make(`${parent}/endpoints/7`)
const metadata = (more: object) => ({ "@type": "type.googleapis.com/google.cloud.aiplatform.v1beta1.DeployOperationMetadata", ...more })

/** The hosted engine against a service that answers as told. */
const onService = <A, E>(
  answer: Parameters<typeof fakeServer>[0],
  body: (service: FakeServer) => Effect.Effect<A, E, ModelCatalog | Endpoints | Operations>
) =>
  Effect.gen(function*() {
    const service = yield* fakeServer(answer)
    return yield* body(service).pipe(Effect.provide(hosted(service.origin)))
  }).pipe(Effect.scoped)

const sentTo = ({ method, url }: Asked) => `${method} ${url.pathname}${url.search}`

describe("the hosted catalog", () => {
  it.live("is listed at the literal path, against the caller's project", () =>
    onService(
      (_, response) =>
        sendJson(response, 200, {
          // As older listings have it: one configuration, and the version in the name.
          publisherModels: [{
            name: "publishers/google/models/gemma3@gemma-3-1b-it",
            openSourceCategory: 2,
            launchStage: "A_STAGE_TO_COME",
            supportedActions: {
              deploy: {
                title: "t",
                dedicatedResources: { machineSpec: { machineType: "g2-standard-12", acceleratorType: "NVIDIA_NEXT", acceleratorCount: 1 } },
                deployMetadata: { sampleRequest: "{}" }
              },
              viewRestApi: {}
            }
          }]
        }),
      (service) =>
        Effect.gen(function*() {
          const { list } = yield* ModelCatalog
          const { items } = yield* list({ hub: true, verified: true, allVersions: true }, { size: 5 })
          assert.deepStrictEqual(items, [{
            name: "publishers/google/models/gemma3",
            versionId: "gemma-3-1b-it",
            openSourceCategory: "GOOGLE_OWNED_OSS_WITH_GOOGLE_CHECKPOINT",
            launchStage: "A_STAGE_TO_COME",
            deploy: [{
              title: "t",
              resources: { machine: { machineType: "g2-standard-12", acceleratorType: "NVIDIA_NEXT", acceleratorCount: 1 } },
              sampleRequest: "{}"
            }]
          }])
          const [asked] = service.asked
          assert.strictEqual(asked?.url.pathname, "/v1beta1/publishers/*/models")
          assert.strictEqual(
            asked?.url.searchParams.get("filter"),
            "is_hf_wildcard(true) AND labels.VERIFIED_DEPLOYMENT_CONFIG=VERIFIED_DEPLOYMENT_SUCCEED"
          )
          assert.strictEqual(asked?.url.searchParams.get("listAllVersions"), "true")
          assert.strictEqual(asked?.headers["x-goog-user-project"], "p1")
        })
    ))

  it.live("breaks no rule on the wire", () =>
    onService((_, response) => sendJson(response, 500, {}), (service) =>
      Effect.gen(function*() {
        const catalog = yield* ModelCatalog
        const endpoints = yield* Endpoints
        const model = ModelName.make(`${parent}/models/1`)
        for (
          const refused of [
            catalog.deploy({ publisherModelName: gemma, huggingFaceModelId: "a/b" }),
            endpoints.create({ displayName: "" }),
            endpoints.uploadModel({ displayName: "m" }),
            endpoints.deployModel({ endpoint, model, trafficSplit: { 0: 10 } }),
            endpoints.undeployModel({ endpoint, deployedModelId: "1", trafficSplit: { 2: 10 } })
          ]
        ) assert.strictEqual((yield* Effect.flip(refused)).code, "INVALID_ARGUMENT")
        assert.deepStrictEqual(service.asked, [])
      })))

  it.live("deploys once: without an answer it says that it does not know", () =>
    onService((_, response) => response.destroy(), (service) =>
      Effect.gen(function*() {
        const { deploy } = yield* ModelCatalog
        const error = yield* Effect.flip(deploy({ publisherModelName: gemma, acceptEula: true }))
        assert.strictEqual(error.code, "UNKNOWN")
        assert.include(error.message, "it is not known whether the deployment began")
        assert.lengthOf(service.asked, 1)
      })))

  it.live("sends the hub's token in one place, and never tells it", () =>
    onService(
      (asked, response) => sendGoogleError(response, 400, `cannot use ${asked.body.toString()}`, { status: "INVALID_ARGUMENT" }),
      (service) =>
        Effect.gen(function*() {
          const { deploy } = yield* ModelCatalog
          const request = {
            huggingFaceModelId: "google/gemma-2-2b-it",
            huggingFaceAccessToken: Redacted.make("canary-hub-7c31"),
            acceptEula: true
          }
          const error = yield* Effect.flip(deploy(request))
          assert.notInclude(JSON.stringify(error) + String(error.stack) + JSON.stringify(request), "canary-hub-7c31")
          const [asked] = service.asked
          assert.deepStrictEqual(JSON.parse(asked?.body.toString() ?? ""), {
            huggingFaceModelId: "google/gemma-2-2b-it",
            destination: parent,
            modelConfig: { acceptEula: true, huggingFaceAccessToken: "canary-hub-7c31" }
          })
          assert.notInclude(`${asked?.url.href}${JSON.stringify(asked?.headers)}`, "canary-hub-7c31")
        })
    ))

  it.live("is followed by name, by whoever knows it, to its end or its failure", () => {
    let looks = 0
    const name = `${parent}/operations/9`
    return onService((asked, response) => {
      if (asked.method === "POST") {
        return sendJson(response, 200, { name, metadata: metadata({ publisherModel: gemma, destination: parent }) })
      }
      looks += 1
      const error = { code: 8, message: "reservation mine has no capacity for hf_canary7c31" }
      sendJson(response, 200, looks < 3 ? { name, metadata: metadata({}) } : { name, metadata: metadata({}), done: true, error })
    }, (service) =>
      Effect.gen(function*() {
        const { deploy } = yield* ModelCatalog
        const operations = yield* Operations
        const started = yield* deploy({ publisherModelName: gemma, acceptEula: true })
        assert.deepInclude(started, { name: OperationName.make(name), kind: "deploy", done: false, deployment: { publisherModel: gemma } })
        const ended = yield* operations.wait(OperationName.make(name), 60_000)
        assert.deepInclude(ended, {
          done: true,
          error: { code: "RESOURCE_EXHAUSTED", message: "reservation mine has no capacity for <redacted>" }
        })
        assert.strictEqual(service.asked.filter(({ method }) => method === "POST").length, 1)
      }))
  })
})

describe("hosted endpoints", () => {
  it.live("find the endpoint that an unanswered request made, instead of a second one", () => {
    const made = { name: endpoint, displayName: "chat", createTime: new Date().toISOString() }
    return onService((asked, response) => {
      if (asked.method === "POST") return void response.destroy()
      sendJson(response, 200, { endpoints: [{ ...made, name: `${endpoint}0`, createTime: "2020-01-01T00:00:00Z" }, made] })
    }, (service) =>
      Effect.gen(function*() {
        const { create } = yield* Endpoints
        assert.strictEqual((yield* create({ displayName: "chat" })).name, endpoint)
        assert.deepStrictEqual(service.asked.map(({ method }) => method), ["POST", "GET"])
      }))
  })

  it.live("tell a failure of the service's from one of the model's", () =>
    onService((asked, response) => {
      if (asked.body.toString() === "service") return sendGoogleError(response, 403, "not for you", { status: "PERMISSION_DENIED" })
      response.writeHead(500, { "content-type": "text/x-trace" }).end("division by zero")
    }, (service) =>
      Effect.gen(function*() {
        const { rawPredict, streamRawPredict } = yield* Endpoints
        const payload = (text: string) => ({ contentType: "text/plain", body: new TextEncoder().encode(text) })
        const error = yield* Effect.flip(rawPredict(endpoint, payload("service")))
        assert.strictEqual(error.code, "PERMISSION_DENIED")
        assert.include(error.fix, "roles/aiplatform.user")
        assert.strictEqual((yield* Effect.flip(streamRawPredict(endpoint, payload("service")))).code, "PERMISSION_DENIED")
        const { body, ...answer } = yield* streamRawPredict(endpoint, payload("model"))
        assert.deepStrictEqual(answer, { status: 500, contentType: "text/x-trace" })
        assert.strictEqual(Buffer.concat(yield* Stream.runCollect(body)).toString(), "division by zero")
        assert.deepStrictEqual(service.asked.map(sentTo), [
          `POST /v1/${endpoint}:rawPredict`,
          `POST /v1/${endpoint}:streamRawPredict`,
          `POST /v1/${endpoint}:streamRawPredict`
        ])
      })))
})
