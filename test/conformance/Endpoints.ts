import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { EndpointName, ModelName, type TrafficSplit } from "../../src/domain/models/Endpoint.ts"
import { Endpoints } from "../../src/ports/Endpoints.ts"
import { Operations } from "../../src/ports/Operations.ts"
import { pages } from "../../src/ports/Paging.ts"
import type { ModelServerFake } from "../garden/Support.ts"

const machine = { machineType: "a3-highgpu-8g", acceleratorType: "NVIDIA_H100_80GB", acceleratorCount: 8 }
const bytes = (text: string) => new TextEncoder().encode(text)

/** What every engine's Endpoints does, over the catalog of `test/garden/Support.ts` and the model server it names. */
export const suite = <E>(name: string, server: ModelServerFake, engine: Layer.Layer<Endpoints | Operations, E>): void => {
  const uploaded = (displayName: string) =>
    Effect.flatMap(
      Endpoints,
      ({ uploadModel }) => uploadModel({ displayName, publicModelName: "publishers/acme/models/large", publicModelVersion: "2" })
    )

  const deployed = Effect.fnUntraced(function*(endpoint: EndpointName, model: ModelName, trafficSplit?: TrafficSplit) {
    const { deployModel } = yield* Endpoints
    const { name } = yield* deployModel({
      endpoint,
      model,
      resources: { machine },
      ...(trafficSplit === undefined ? {} : { trafficSplit })
    })
    const { deployment, done, error } = yield* (yield* Operations).wait(name, 30_000)
    assert.isTrue(done)
    assert.isUndefined(error)
    assert.strictEqual(deployment?.stage, "SUCCESSFULLY_DEPLOYED")
    return deployment?.deployedModelId ?? ""
  })

  const serving = Effect.fnUntraced(function*(displayName: string) {
    const { create } = yield* Endpoints
    const { name } = yield* create({ displayName })
    yield* deployed(name, (yield* uploaded(displayName)).name, { 0: 100 })
    return name
  })

  layer(engine, { excludeTestServices: true })(`Endpoints: ${name}`, (it) => {
    it.effect("creates, lists, finds and deletes endpoints", () =>
      Effect.gen(function*() {
        const { create, delete: remove, get, list } = yield* Endpoints
        const created = yield* create({ displayName: "chat", description: "of ours", labels: { team: "a" }, endpointId: "chat-1" })
        assert.match(created.name, /^projects\/[^/]+\/locations\/[^/]+\/endpoints\/chat-1$/)
        assert.deepInclude(created, {
          displayName: "chat",
          description: "of ours",
          labels: { team: "a" },
          deployedModels: [],
          trafficSplit: {}
        })
        assert.deepStrictEqual(yield* get(created.name), created)
        const others = yield* Effect.forEach(["x", "y"], (displayName) => create({ displayName, labels: { team: "b" } }))
        const listed = yield* Stream.runCollect(pages((page) => list({ ...page, filter: "labels.team=b" }), 1))
        assert.deepStrictEqual(listed.map(({ name }) => name), others.map(({ name }) => name))
        assert.deepStrictEqual((yield* list({ filter: "display_name=\"chat\"" })).items.map(({ name }) => name), [created.name])
        assert.strictEqual((yield* Effect.flip(list({ filter: "color=red" }))).code, "INVALID_ARGUMENT")
        assert.strictEqual((yield* Effect.flip(create({ displayName: "" }))).violations?.[0]?.field, "endpoint.display_name")
        assert.strictEqual(
          (yield* Effect.flip(create({ displayName: "z", endpointId: "Not_an_id" }))).violations?.[0]?.field,
          "endpoint_id"
        )
        yield* remove(created.name)
        assert.strictEqual((yield* Effect.flip(get(created.name))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(remove(created.name))).code, "NOT_FOUND")
      }))

    it.effect("changes what is asked for and nothing else, and keeps what only the service acts upon", () =>
      Effect.gen(function*() {
        const { create, deployModel, get, update } = yield* Endpoints
        const encryption = { encryptionSpec: { kmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k" } }
        const { name: endpoint } = yield* create({
          displayName: "before",
          description: "of ours",
          labels: { team: "a" },
          settings: { ...encryption, network: "n" }
        })
        const model = (yield* uploaded("changed")).name
        const scaled = {
          autoscalingMetricSpecs: [{ metricName: "aiplatform.googleapis.com/prediction/online/cpu/utilization", target: 60 }]
        }
        const first = yield* deployed(endpoint, model, { 0: 100 })
        yield* deployModel({
          endpoint,
          model,
          resources: { machine, minReplicaCount: 1, maxReplicaCount: 3, settings: scaled },
          settings: { enableAccessLogging: true }
        })
        const { deployedModels } = yield* get(endpoint)
        const second = deployedModels[1]
        assert.deepStrictEqual(second?.resources?.settings, scaled)
        assert.deepStrictEqual(second?.settings, { enableAccessLogging: true })
        assert.notProperty(deployedModels[0], "settings")

        const changed = yield* update({ endpoint, displayName: "after", trafficSplit: { [first]: 20, [second?.id ?? ""]: 80 } })
        assert.deepInclude(changed, {
          displayName: "after",
          description: "of ours",
          labels: { team: "a" },
          settings: { ...encryption, network: "n" },
          trafficSplit: { [first]: 20, [second?.id ?? ""]: 80 }
        })
        assert.lengthOf(changed.deployedModels, 2)
        assert.isTrue(changed.updateTime > changed.createTime)
        assert.deepStrictEqual(yield* get(endpoint), changed)
        const cleared = yield* update({ endpoint, description: "", labels: {} })
        assert.notProperty(cleared, "description")
        assert.deepStrictEqual([cleared.displayName, cleared.labels ?? {}], ["after", {}])

        const fields = (change: object) =>
          Effect.map(Effect.flip(update({ endpoint, ...change })), ({ violations }) => violations?.map(({ field }) => field))
        assert.deepStrictEqual(yield* fields({ displayName: "", trafficSplit: { [first]: 50 } }), [
          "endpoint.display_name",
          "traffic_split"
        ])
        assert.deepStrictEqual(yield* fields({ trafficSplit: { [first]: 50, 0: 50 } }), ["traffic_split[0]"])
        assert.deepStrictEqual(yield* fields({ labels: { "A b": "c" } }), ["endpoint.labels"])
        assert.strictEqual(
          (yield* Effect.flip(update({ endpoint: EndpointName.make(`${endpoint}0`), displayName: "x" }))).code,
          "NOT_FOUND"
        )
      }))

    it.effect("uploads models and versions of them, and deletes them with every version", () =>
      Effect.gen(function*() {
        const { deleteModel, getModel, listModels, uploadModel } = yield* Endpoints
        const image = { imageUri: "us-docker.pkg.dev/p/r/own:1", ports: [8080], predictRoute: "/predict" }
        const first = yield* uploadModel({
          displayName: "own",
          modelId: "own",
          labels: { team: "a" },
          container: image,
          settings: { versionAliases: ["best"] }
        })
        assert.match(first.name, /\/models\/own$/)
        assert.deepInclude(first, { displayName: "own", versionId: "1", deployedModels: [], settings: { versionAliases: ["best"] } })
        const second = yield* uploadModel({ displayName: "own, better", parentModel: first.name, container: image })
        assert.deepInclude(second, { name: first.name, versionId: "2", displayName: "own, better" })
        assert.strictEqual((yield* getModel(first.name)).versionId, "2")
        assert.strictEqual((yield* getModel(ModelName.make(`${first.name}@1`))).displayName, "own")
        assert.strictEqual((yield* getModel(ModelName.make(`${first.name}@default`))).versionId, "2")
        assert.deepStrictEqual((yield* listModels({ filter: "model=own" })).items.map(({ versionId }) => versionId), ["2"])
        const fields = (spec: Parameters<typeof uploadModel>[0]) =>
          Effect.map(Effect.flip(uploadModel(spec)), ({ violations }) => violations?.map(({ field }) => field))
        assert.deepStrictEqual(yield* fields({ displayName: "nothing" }), ["model"])
        assert.deepStrictEqual(yield* fields({ displayName: "own", container: image, labels: { Team: "A" } }), [
          "model.labels",
          "model.labels.Team"
        ])
        assert.deepStrictEqual(
          yield* fields({ displayName: "x".repeat(129), publicModelName: "large" }),
          ["model.display_name", "model.base_model_source.model_garden_source.public_model_name"]
        )
        yield* deleteModel(first.name)
        assert.strictEqual((yield* Effect.flip(getModel(ModelName.make(`${first.name}@1`)))).code, "NOT_FOUND")
      }))

    it.effect("deploys with a traffic split, undeploys by its rule, and deletes nothing that is deployed", () =>
      Effect.gen(function*() {
        const { create, delete: remove, deleteModel, deployModel, get, undeployModel } = yield* Endpoints
        const { name: endpoint } = yield* create({ displayName: "split" })
        const model = (yield* uploaded("split")).name
        const first = yield* deployed(endpoint, model, { 0: 100 })
        assert.deepStrictEqual((yield* get(endpoint)).trafficSplit, { [first]: 100 })
        const fields = (request: Partial<Parameters<typeof deployModel>[0]>) =>
          Effect.map(Effect.flip(deployModel({ endpoint, model, resources: { machine }, ...request })), ({ violations }) =>
            violations?.map(({ field }) => field))
        assert.deepStrictEqual(yield* fields({ trafficSplit: { 0: 50, [first]: 40 } }), ["traffic_split"])
        assert.deepStrictEqual(yield* fields({ trafficSplit: { 0: 50, 777: 50 } }), ["traffic_split[777]"])
        assert.deepStrictEqual(yield* fields({ resources: { machine: { machineType: "g2-standard-12" } } }), [
          "deployed_model.dedicated_resources.machine_spec"
        ])
        assert.strictEqual(
          (yield* Effect.flip(deployModel({ endpoint, model: ModelName.make(`${model}404`), resources: { machine } }))).code,
          "NOT_FOUND"
        )
        // Without a split, the newcomer waits.
        const second = yield* deployed(endpoint, model)
        assert.deepStrictEqual((yield* get(endpoint)).trafficSplit, { [first]: 100 })
        const third = yield* deployed(endpoint, model, { 0: 20, [first]: 80 })
        assert.deepStrictEqual((yield* get(endpoint)).trafficSplit, { [third]: 20, [first]: 80 })

        assert.strictEqual((yield* Effect.flip(remove(endpoint))).code, "FAILED_PRECONDITION")
        assert.strictEqual((yield* Effect.flip(deleteModel(model))).code, "FAILED_PRECONDITION")
        yield* undeployModel({ endpoint, deployedModelId: second })
        assert.strictEqual((yield* Effect.flip(undeployModel({ endpoint, deployedModelId: second }))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(undeployModel({ endpoint, deployedModelId: first }))).code, "FAILED_PRECONDITION")
        const badly = undeployModel({ endpoint, deployedModelId: first, trafficSplit: { [third]: 90 } })
        assert.strictEqual((yield* Effect.flip(badly)).violations?.[0]?.field, "traffic_split")
        yield* undeployModel({ endpoint, deployedModelId: first, trafficSplit: { [third]: 100 } })
        assert.deepStrictEqual((yield* get(endpoint)).trafficSplit, { [third]: 100 })
        // The last goes with its traffic.
        yield* undeployModel({ endpoint, deployedModelId: third })
        assert.deepInclude(yield* get(endpoint), { deployedModels: [], trafficSplit: {} })
        yield* remove(endpoint)
        yield* deleteModel(model)
      }))

    it.effect("passes payloads and answers on as they are", () =>
      Effect.gen(function*() {
        const { get, rawPredict } = yield* Endpoints
        const endpoint = yield* serving("raw")
        const deployedModelId = (yield* get(endpoint)).deployedModels[0]?.id ?? "none"
        for (
          const [contentType, body] of [
            ["application/json", bytes("{ \"instances\" : [1.0, 1e400, \"\\u00e9\"] } ")],
            ["image/png", Uint8Array.from({ length: 256 }, (_, i) => i)],
            ["text/plain; charset=utf-16le", bytes("not what it says")],
            ["application/x-empty", new Uint8Array()]
          ] as const
        ) {
          const answer = yield* rawPredict(endpoint, { contentType, body })
          assert.deepStrictEqual({ ...answer, body: [...answer.body] }, { status: 200, contentType, deployedModelId, body: [...body] })
        }
        assert.strictEqual(server.asked.at(-1)?.url.pathname, "/large")
        const { body, ...failure } = yield* rawPredict(endpoint, { contentType: "text/plain", body: bytes("fail") })
        assert.deepStrictEqual(failure, { status: 422, contentType: "application/problem+json", deployedModelId })
        assert.strictEqual(Buffer.from(body).toString(), "{\"detail\":\"no such prompt\"}")
        assert.strictEqual(
          (yield* Effect.flip(rawPredict(endpoint, { contentType: "text/plain", body: bytes("cut") }))).code,
          "UNAVAILABLE"
        )
      }))

    it.effect("streams an answer while it is being made", () =>
      Effect.gen(function*() {
        const { streamRawPredict } = yield* Endpoints
        const endpoint = yield* serving("streamed")
        const answer = yield* streamRawPredict(endpoint, { contentType: "text/plain", body: bytes("stream") })
        assert.deepInclude(answer, { status: 200, contentType: "text/event-stream" })
        let heard = ""
        yield* answer.body.pipe(Stream.runForEach((piece) =>
          Effect.sync(() => {
            heard += Buffer.from(piece).toString()
            // The model ends only once its beginning has been heard here.
            if (heard === "data: 1\n\n") server.release()
          })
        ))
        assert.strictEqual(heard, "data: 1\n\ndata: 2\n\n")
        const cut = yield* streamRawPredict(endpoint, { contentType: "text/plain", body: bytes("cut") })
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(cut.body))).code, "UNAVAILABLE")
      }))

    it.effect("sends an endpoint's predictions to its own address, and says what is missing where there is none", () =>
      Effect.gen(function*() {
        const { create, rawPredict, uploadModel } = yield* Endpoints
        const payload = { contentType: "text/plain", body: bytes("hello") }
        yield* rawPredict(yield* serving("elsewhere"), payload)
        assert.strictEqual(server.asked.at(-1)?.url.pathname, "/elsewhere")

        const { name: bare } = yield* create({ displayName: "constructor" })
        const refused = () => Effect.map(Effect.flip(rawPredict(bare, payload)), ({ code, message }) => `${code}: ${message}`)
        assert.match(yield* refused(), /^FAILED_PRECONDITION: .*no model is deployed/)
        const { name: model } = yield* uploadModel({ displayName: "own", container: { imageUri: "us-docker.pkg.dev/p/r/own:1" } })
        yield* deployed(bare, model)
        assert.match(yield* refused(), /^FAILED_PRECONDITION: .*gets traffic/)
        yield* deployed(bare, model, { 0: 100 })
        assert.match(yield* refused(), /^FAILED_PRECONDITION: .*no model server/)
      }))
  })
}
