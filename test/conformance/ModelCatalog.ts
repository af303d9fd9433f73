import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Redacted, Stream } from "effect"
import { EndpointName } from "../../src/domain/models/Endpoint.ts"
import { reservationKey } from "../../src/domain/models/Machine.ts"
import type { CatalogQuery, DeployRequest } from "../../src/domain/models/ModelCatalog.ts"
import { Endpoints } from "../../src/ports/Endpoints.ts"
import { ModelCatalog } from "../../src/ports/ModelCatalog.ts"
import { Operations } from "../../src/ports/Operations.ts"
import { pages } from "../../src/ports/Paging.ts"

const gemma = "publishers/google/models/gemma3@gemma-3-1b-it"
const machine = { machineType: "g2-standard-12", acceleratorType: "NVIDIA_L4", acceleratorCount: 1 }
const specific = (name: string) => ({ affinity: "SPECIFIC_RESERVATION" as const, key: reservationKey, values: [name] })

/** What every engine's ModelCatalog does, over the catalog of `test/garden/Support.ts`. */
export const suite = <E>(name: string, engine: Layer.Layer<ModelCatalog | Endpoints | Operations, E>): void => {
  const names = Effect.fnUntraced(function*(query: CatalogQuery, size?: number) {
    const { list } = yield* ModelCatalog
    const found = yield* Stream.runCollect(pages((page) => list(query, page), size))
    return found.map(({ name, versionId }) => `${name.replace("publishers/", "")}@${versionId}`)
  })

  const deploy = (request: DeployRequest) => Effect.flatMap(ModelCatalog, (catalog) => catalog.deploy(request))

  layer(engine, { excludeTestServices: true })(`ModelCatalog: ${name}`, (it) => {
    it.effect("lists what can be deployed, of catalog and hub, page by page", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* names({ deployable: true }), ["google/models/gemma3@gemma-3-4b-it", "acme/models/large@2"])
        const all = [
          "google/models/gemma3@gemma-3-1b-it",
          "google/models/gemma3@gemma-3-4b-it",
          "acme/models/large@2",
          "google/models/vision@1"
        ]
        assert.deepStrictEqual(yield* names({ allVersions: true }), all)
        assert.deepStrictEqual(yield* names({ allVersions: true }, 1), all)
        assert.deepStrictEqual(yield* names({ publisher: "acme" }), ["acme/models/large@2"])
        assert.deepStrictEqual(yield* names({ hub: true }), ["hf-google/models/gemma-2-2b-it@001", "hf-someone/models/untested@001"])
        assert.deepStrictEqual(yield* names({ hub: true, verified: true }), ["hf-google/models/gemma-2-2b-it@001"])
        assert.deepStrictEqual(yield* names({ hub: false, search: "GEMMA-3-1B", allVersions: true }), [
          "google/models/gemma3@gemma-3-1b-it"
        ])
      }))

    it.effect("shows a model's deployment configurations", () =>
      Effect.gen(function*() {
        const { get } = yield* ModelCatalog
        const { deploy, notebook, ...model } = yield* get(gemma)
        assert.deepInclude(model, { name: "publishers/google/models/gemma3", versionId: "gemma-3-1b-it", launchStage: "GA" })
        assert.deepInclude(notebook, { references: { "us-central1": "https://example.com/notebook" }, resourceTitle: "Gemma" })
        assert.deepStrictEqual(deploy[0]?.container, {
          imageUri: "us-docker.pkg.dev/p/r/vllm:1",
          args: ["--model=g"],
          ports: [8080],
          predictRoute: "/generate",
          healthRoute: "/ping"
        })
        assert.deepStrictEqual(deploy[0]?.resources?.machine, machine)
        assert.strictEqual(deploy[0]?.sampleRequest, "{\"prompt\":\"hi\"}")
        assert.lengthOf((yield* get("publishers/acme/models/large")).deploy, 2)
        assert.strictEqual((yield* Effect.flip(get("publishers/google/models/none"))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(get("publishers/google/models/gemma3@none"))).code, "NOT_FOUND")
      }))

    it.effect("deploys with the default configuration, on an endpoint with a name it makes", () =>
      Effect.gen(function*() {
        const operations = yield* Operations
        const endpoints = yield* Endpoints
        const started = yield* deploy({ publisherModelName: gemma, acceptEula: true })
        assert.strictEqual(started.kind, "deploy")
        assert.match(started.name, /^projects\/[^/]+\/locations\/[^/]+\/operations\/\d+$/)
        // Whoever knows its name can follow it.
        const { deployment, done, error } = yield* operations.wait(started.name, 30_000)
        assert.isTrue(done)
        assert.isUndefined(error)
        assert.strictEqual(deployment?.publisherModel, gemma)
        const endpoint = yield* endpoints.get(EndpointName.make(deployment?.endpoint ?? ""))
        const [deployed, ...others] = endpoint.deployedModels
        assert.deepStrictEqual(others, [])
        assert.strictEqual(deployed?.model, deployment?.model)
        assert.deepStrictEqual(deployed?.resources?.machine, machine)
        assert.deepStrictEqual(endpoint.trafficSplit, { [deployed?.id ?? ""]: 100 })
        assert.strictEqual(endpoint.displayName, "gemma3-mg-one-click-deploy")
        const { items } = yield* endpoints.list({ filter: "labels.mg-deploy:* OR labels.mg-one-click-deploy:*" })
        assert.include(items.map(({ name }) => name), endpoint.name)
        const model = (yield* endpoints.listModels({})).items.find(({ name }) => name === deployment?.model)
        assert.deepInclude(model, { publicModelName: "publishers/google/models/gemma3", displayName: "gemma-3-1b-it" })
        assert.deepStrictEqual(model?.deployedModels, [{ endpoint: endpoint.name, deployedModelId: deployed?.id ?? "" }])
      }))

    it.effect("deploys with a configuration of one's own, and a gated model with a token", () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const { deployment } = yield* deploy({
          huggingFaceModelId: "google/gemma-2-2b-it",
          huggingFaceAccessToken: Redacted.make("hub-canary"),
          acceptEula: true,
          modelDisplayName: "mine",
          endpointDisplayName: "own",
          container: { imageUri: "us-docker.pkg.dev/p/r/own:2", ports: [9000] },
          resources: {
            machine: { machineType: "g2-standard-48", acceleratorType: "NVIDIA_L4", acceleratorCount: 4 },
            minReplicaCount: 2,
            maxReplicaCount: 3,
            spot: true
          }
        })
        assert.strictEqual(deployment?.publisherModel, "publishers/hf-google/models/gemma-2-2b-it@001")
        const { deployedModels, displayName } = yield* endpoints.get(EndpointName.make(deployment?.endpoint ?? ""))
        assert.strictEqual(displayName, "own")
        assert.strictEqual(deployedModels[0]?.displayName, "mine")
        assert.deepInclude(deployedModels[0]?.resources, { minReplicaCount: 2, maxReplicaCount: 3, spot: true })
      }))

    it.effect("refuses what breaks a rule, naming the field, and makes nothing of it", () =>
      Effect.gen(function*() {
        const endpoints = yield* Endpoints
        const before = (yield* endpoints.list({})).items.length
        const refused = (request: DeployRequest) => Effect.flip(deploy({ acceptEula: true, ...request }))
        const fields = Effect.fnUntraced(function*(request: DeployRequest) {
          const { code, violations = [] } = yield* refused(request)
          assert.strictEqual(code, "INVALID_ARGUMENT")
          return violations.map(({ field }) => field.replace("deploy_config.dedicated_resources.", ""))
        })
        const on = (more: Partial<DeployRequest["resources"] & object>) => ({ publisherModelName: gemma, resources: { machine, ...more } })
        assert.deepStrictEqual(yield* fields({}), ["publisher_model_name"])
        assert.deepStrictEqual(yield* fields({ publisherModelName: "gemma3" }), ["publisher_model_name"])
        assert.deepStrictEqual(yield* fields({ publisherModelName: "publishers/acme/models/large@2", acceptEula: false }), [
          "model_config.accept_eula"
        ])
        assert.deepStrictEqual(yield* fields({ huggingFaceModelId: "google/gemma-2-2b-it" }), ["model_config.hugging_face_access_token"])
        assert.deepStrictEqual(yield* fields(on({ spot: true, machine: { ...machine, reservation: { affinity: "ANY_RESERVATION" } } })), [
          "spot"
        ])
        assert.deepStrictEqual(
          yield* fields(on({ machine: { ...machine, reservation: { ...specific("mine"), affinity: "ANY_RESERVATION" } } })),
          ["machine_spec.reservation_affinity"]
        )
        assert.deepStrictEqual(yield* fields({ ...on({}), fastTryout: true }), ["deploy_config.fast_tryout_enabled"])
        assert.deepStrictEqual(yield* fields({ publisherModelName: "publishers/acme/models/large@2", resources: { machine } }), [
          "machine_spec"
        ])
        assert.deepStrictEqual(yield* fields({ publisherModelName: "publishers/acme/models/large@2", fastTryout: true }), [
          "deploy_config.fast_tryout_enabled"
        ])
        assert.strictEqual((yield* refused({ publisherModelName: "publishers/google/models/vision@1" })).code, "FAILED_PRECONDITION")
        assert.strictEqual((yield* refused({ publisherModelName: "publishers/google/models/none@1" })).code, "NOT_FOUND")
        assert.lengthOf((yield* endpoints.list({})).items, before)
      }))

    it.effect("fills a specific reservation, and fails when it is full", () =>
      Effect.gen(function*() {
        const into = (name: string, replicas: number) =>
          deploy({
            publisherModelName: gemma,
            acceptEula: true,
            resources: { machine: { ...machine, reservation: specific(name) }, minReplicaCount: replicas }
          })
        assert.strictEqual((yield* Effect.flip(into("unknown", 1))).code, "RESOURCE_EXHAUSTED")
        assert.isTrue((yield* into("mine", 2)).done)
        assert.strictEqual((yield* Effect.flip(into("projects/p/zones/z/reservations/mine", 1))).code, "RESOURCE_EXHAUSTED")
        // Any other falls back to the general pool.
        assert.isTrue(
          (yield* deploy({
            publisherModelName: gemma,
            acceptEula: true,
            resources: { machine: { ...machine, reservation: { affinity: "ANY_RESERVATION" } } }
          })).done
        )
      }))

    it.effect("takes a model's licence as accepted once it was", () =>
      Effect.gen(function*() {
        const { acceptEula, eulaAccepted } = yield* ModelCatalog
        assert.isFalse(yield* eulaAccepted("publishers/acme/models/large"))
        yield* acceptEula("publishers/acme/models/large")
        assert.isTrue(yield* eulaAccepted("publishers/acme/models/large"))
        // That of the model deployed above.
        assert.isTrue((yield* deploy({ publisherModelName: gemma, fastTryout: true })).done)
        assert.strictEqual((yield* Effect.flip(eulaAccepted("publishers/acme/models/none"))).code, "NOT_FOUND")
      }))
  })
}
