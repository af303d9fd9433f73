import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { deployRefusal, type KnownModel } from "../../src/domain/models/DeployRules.ts"
import { type Endpoint, EndpointName, ModelName, type TrafficSplit } from "../../src/domain/models/Endpoint.ts"
import {
  deployModelRefusal,
  endpointRefusal,
  splitWith,
  splitWithout,
  undeployRefusal,
  uploadRefusal
} from "../../src/domain/models/EndpointRules.ts"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { holds, parseFilter } from "../../src/domain/ListFilter.ts"
import { type Machine, reservationKey, type Resources } from "../../src/domain/models/Machine.ts"
import type { DeployRequest } from "../../src/domain/models/ModelCatalog.ts"
import { readCatalog } from "../../src/engines/embedded/models/CatalogFile.ts"
import { defaultCatalog } from "../../src/engines/embedded/models/DefaultCatalog.ts"
import { catalogText } from "./Support.ts"

const machine: Machine = { machineType: "g2-standard-12", acceleratorType: "NVIDIA_L4", acceleratorCount: 1 }
const gemma = "publishers/google/models/gemma3@gemma-3-1b-it"
const told = (error: ServiceError | undefined): ReadonlyArray<string> =>
  error?.violations?.map(({ description, field }) => `${field}: ${description}`) ??
    (error === undefined ? [] : [`${error.code} ${error.message}`])
const deploy = (request: DeployRequest, known?: KnownModel) => told(deployRefusal({ publisherModelName: gemma, ...request }, known))
const on = (more: Partial<Resources>) => deploy({ resources: { machine, ...more } })
const at = "deploy_config.dedicated_resources"

describe("deploying", () => {
  it("takes exactly one model, in its form", () => {
    assert.deepStrictEqual(told(deployRefusal({})), [
      "publisher_model_name: exactly one of publisher_model_name and hugging_face_model_id must be set"
    ])
    assert.lengthOf(told(deployRefusal({ publisherModelName: gemma, huggingFaceModelId: "a/b" })), 1)
    for (
      const name of [
        "gemma3",
        "publishers/google/models/gemma3",
        "publishers/google/models/gemma3@",
        "models/gemma3@1",
        "publishers/a/b/models/c@1"
      ]
    ) {
      assert.deepStrictEqual(deploy({ publisherModelName: name }), [
        "publisher_model_name: must have the form publishers/{publisher}/models/{model}@{version}"
      ], name)
    }
    for (const id of ["gemma", "a/b/c", "/b", "a/", "a b/c"]) assert.lengthOf(told(deployRefusal({ huggingFaceModelId: id })), 1, id)
    assert.deepStrictEqual(told(deployRefusal({ huggingFaceModelId: "google/gemma-2-2b-it" })), [])
  })

  it("on machines that there are", () => {
    assert.deepStrictEqual(on({}), [])
    assert.deepStrictEqual(on({ machine: {} }), [`${at}.machine_spec.machine_type: Required field is not set.`])
    assert.lengthOf(on({ machine: { machineType: "G2 standard" } }), 1)
    assert.match(
      on({ machine: { ...machine, acceleratorType: "NVIDIA_L5" } })[0] ?? "",
      /accelerator_type: must be one of NVIDIA_TESLA_K80, .*TPU_V5_LITEPOD$/
    )
    assert.lengthOf(on({ machine: { ...machine, acceleratorCount: 0 } }), 1)
    assert.deepStrictEqual(on({ machine: { machineType: "n1-standard-4", acceleratorCount: 1 } }), [
      `${at}.machine_spec.accelerator_type: accelerator_type and accelerator_count go together`
    ])
    assert.deepStrictEqual(on({ machine: { machineType: "n1-standard-4", acceleratorType: "NVIDIA_L4" } }), [
      `${at}.machine_spec.accelerator_count: accelerator_type and accelerator_count go together`
    ])
  })

  it("with replicas from 1", () => {
    assert.deepStrictEqual(on({ minReplicaCount: 2, maxReplicaCount: 2, requiredReplicaCount: 1 }), [])
    assert.deepStrictEqual(on({ minReplicaCount: 0 }), [`${at}.min_replica_count: must be at least 1`])
    assert.deepStrictEqual(on({ minReplicaCount: 3, maxReplicaCount: 2 }), [
      `${at}.max_replica_count: must not be below min_replica_count, 3`
    ])
    assert.deepStrictEqual(on({ requiredReplicaCount: 2 }), [`${at}.required_replica_count: must be 1 to min_replica_count, 1`])
  })

  it("with a reservation or spot machines, and a specific reservation by name", () => {
    const reserved = (reservation: NonNullable<Machine["reservation"]>, more: Partial<Resources> = {}) =>
      on({ machine: { ...machine, reservation }, ...more })
    for (const affinity of ["NO_RESERVATION", "ANY_RESERVATION"] as const) {
      assert.deepStrictEqual(reserved({ affinity }), [])
      assert.deepStrictEqual(reserved({ affinity }, { spot: true }), [`${at}.spot: must not be combined with a reservation affinity type`])
      assert.lengthOf(reserved({ affinity, values: ["mine"] }), 1)
    }
    const specific = { affinity: "SPECIFIC_RESERVATION" as const, key: reservationKey }
    for (const name of ["mine", "projects/p/zones/us-central1-a/reservations/mine"]) {
      assert.deepStrictEqual(reserved({ ...specific, values: [name] }), [])
    }
    assert.lengthOf(reserved({ ...specific, values: ["mine"] }, { spot: true }), 1)
    for (const values of [[], ["a", "b"], ["Not a name"]]) {
      assert.match(reserved({ ...specific, values })[0] ?? "", /reservation_affinity\.values/)
    }
    assert.match(reserved({ affinity: "SPECIFIC_RESERVATION", values: ["mine"] })[0] ?? "", /reservation_affinity\.key/)
  })

  it("a fast tryout only as the model comes", () => {
    const field = "deploy_config.fast_tryout_enabled: must not be combined with"
    assert.deepStrictEqual(deploy({ fastTryout: true, acceptEula: true, endpointDisplayName: "mine" }), [])
    assert.deepStrictEqual(deploy({ fastTryout: true, modelDisplayName: "mine" }), [`${field} a model configuration`])
    assert.deepStrictEqual(deploy({ fastTryout: true, modelUserId: "mine" }), [`${field} a model configuration`])
    assert.deepStrictEqual(deploy({ fastTryout: true, resources: { machine } }), [`${field} a deployment configuration`])
    assert.deepStrictEqual(deploy({ fastTryout: true, container: { imageUri: "i" }, resources: { machine } }), [
      `${field} a model configuration or a deployment configuration`
    ])
  })

  it("with containers, names and ids that the service takes", () => {
    const container = {
      imageUri: "",
      ports: [0, 65536, 8080],
      env: [{ name: "A-B", value: "" }],
      predictRoute: "generate",
      healthRoute: "/ok"
    }
    assert.deepStrictEqual(deploy({ container }).map((line) => line.split(":")[0]), [
      "model_config.container_spec.image_uri",
      "model_config.container_spec.ports[0].container_port",
      "model_config.container_spec.ports[1].container_port",
      "model_config.container_spec.env[0].name",
      "model_config.container_spec.predict_route"
    ])
    assert.deepStrictEqual(
      deploy({ modelDisplayName: "", endpointDisplayName: "x".repeat(129), endpointUserId: "-a", modelUserId: "0" }).map((line) =>
        line.split(":")[0]
      ),
      [
        "model_config.model_display_name",
        "endpoint_config.endpoint_display_name",
        "endpoint_config.endpoint_user_id",
        "model_config.model_user_id"
      ]
    )
    assert.deepStrictEqual(deploy({ modelDisplayName: "é".repeat(128), endpointUserId: "1234567890", modelUserId: "a-1" }), [])
  })

  it("a licence accepted in so many words, a token for what is gated, a partner's machine", () => {
    const [, , large] = Result.getOrThrow(readCatalog(catalogText("http://127.0.0.1:1"), "catalog.yaml")).models
    if (large === undefined) throw new Error("the catalog has no partner's model")
    assert.deepStrictEqual(deploy({}, { model: large, needsEula: false }), [])
    for (const acceptEula of [undefined, false]) {
      assert.match(
        deploy(acceptEula === undefined ? {} : { acceptEula }, { model: large, needsEula: true })[0] ?? "",
        /^model_config\.accept_eula: the licence of publishers.* has not been accepted$/
      )
    }
    assert.deepStrictEqual(deploy({ acceptEula: true }, { model: large, needsEula: true }), [])
    assert.match(deploy({}, { model: large, gated: true })[0] ?? "", /hugging_face_access_token: .* is gated/)
    assert.deepStrictEqual(deploy({ huggingFaceAccessToken: Redacted.make("t") }, { model: large, gated: true }), [])
    assert.match(deploy({ fastTryout: true }, { model: large, fastTryout: false })[0] ?? "", /is not offered/)
    assert.match(
      deploy({ resources: { machine } }, { model: large })[0] ?? "",
      /is a partner's model and runs on a3-highgpu-8g \+ 8 x NVIDIA_H100_80GB, or a2-ultragpu-4g/
    )
    assert.deepStrictEqual(
      deploy({ resources: { machine: { machineType: "a2-ultragpu-4g", acceleratorType: "NVIDIA_A100_80GB", acceleratorCount: 4 } } }, {
        model: large
      }),
      []
    )
    assert.deepStrictEqual(deploy({ resources: { machine } }, { model: { ...large, openSourceCategory: "GOOGLE_OWNED_OSS" } }), [])
  })

  it("tells every broken rule at once, and the first one's fix", () => {
    const error = deployRefusal({ publisherModelName: "x", fastTryout: true, resources: { machine: {} } })
    assert.lengthOf(error?.violations ?? [], 3)
    assert.strictEqual(error?.fix, "take a name that the list of deployable models shows")
  })
})

const endpointWith = (trafficSplit: TrafficSplit): Endpoint => ({
  name: EndpointName.make("projects/p/locations/l/endpoints/1"),
  displayName: "e",
  deployedModels: Object.keys(trafficSplit).map((id) => ({ id, model: ModelName.make("projects/p/locations/l/models/1") })),
  trafficSplit,
  createTime: "",
  updateTime: ""
})

describe("traffic", () => {
  const { name: endpoint } = endpointWith({})
  const model = ModelName.make("projects/p/locations/l/models/1")
  const split = (trafficSplit: TrafficSplit, known?: Endpoint) =>
    told(deployModelRefusal({ endpoint, model, trafficSplit }, known === undefined ? {} : { endpoint: known }))

  it("sums to 100, in whole percents of what is there", () => {
    assert.deepStrictEqual(split({ 0: 100 }), [])
    assert.deepStrictEqual(split({ 0: 30, 7: 70 }), [])
    assert.deepStrictEqual(split({ 0: 30, 7: 70 }, endpointWith({ 7: 100 })), [])
    assert.deepStrictEqual(split({ 0: 30, 8: 70 }, endpointWith({ 7: 100 })), [
      "traffic_split[8]: no model with this id is deployed on the endpoint"
    ])
    assert.deepStrictEqual(split({ 0: 30, 7: 60 }), ["traffic_split: must sum to 100, not 90"])
    assert.deepStrictEqual(split({ 0: 150, 7: -50 }).map((line) => line.split(":")[0]), ["traffic_split[0]", "traffic_split[7]"])
    assert.lengthOf(split({ 0: 99.5, 7: 0.5 }), 2)
    assert.deepStrictEqual(split({}), [])
  })

  it("goes to the newcomer under its id, and stays where nothing is said", () => {
    assert.deepStrictEqual(splitWith(endpointWith({ 7: 100 }), { 0: 30, 7: 70 }, "9"), { 7: 70, 9: 30 })
    assert.deepStrictEqual(splitWith(endpointWith({ 7: 100 }), undefined, "9"), { 7: 100 })
  })

  it("leaves a model before the model leaves", () => {
    const leave = (deployedModelId: string, known: Endpoint, trafficSplit?: TrafficSplit) =>
      told(undeployRefusal({ endpoint, deployedModelId, ...(trafficSplit === undefined ? {} : { trafficSplit }) }, known))
    const two = endpointWith({ 7: 100, 8: 0 })
    assert.deepStrictEqual(leave("8", two), [])
    assert.match(leave("7", two)[0] ?? "", /^FAILED_PRECONDITION deployed model 7 of .* carries 100% of its traffic$/)
    assert.deepStrictEqual(leave("7", two, { 8: 100 }), [])
    assert.deepStrictEqual(leave("7", two, { 8: 90, 7: 10 }), ["traffic_split[7]: the model that goes cannot have traffic"])
    assert.match(leave("9", two)[0] ?? "", /^NOT_FOUND/)
    assert.deepStrictEqual(leave("7", endpointWith({ 7: 100 })), [])
    assert.lengthOf(leave("", two), 1)
    // Without the endpoint, only what the request itself says can be wrong.
    assert.deepStrictEqual(told(undeployRefusal({ endpoint, deployedModelId: "7" })), [])
    assert.lengthOf(told(undeployRefusal({ endpoint, deployedModelId: "7", trafficSplit: { 8: 1 } })), 1)
  })

  it("always sums to 100 or nothing, whatever is deployed and undeployed", () => {
    const step = fc.record({ deploy: fc.boolean(), give: fc.integer({ min: 0, max: 100 }), which: fc.nat({ max: 9 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let now = endpointWith({})
        let next = 1
        for (const { deploy, give, which } of steps) {
          const ids = now.deployedModels.map(({ id }) => id)
          const other = ids[which % Math.max(1, ids.length)]
          if (deploy) {
            const trafficSplit = other === undefined ? { 0: 100 } : { 0: give, [other]: 100 - give }
            assert.deepStrictEqual(split(trafficSplit, now), [])
            const id = String(next++)
            const changed = splitWith(now, trafficSplit, id)
            now = { ...now, deployedModels: [...now.deployedModels, { id, model }], trafficSplit: changed }
          } else if (other !== undefined) {
            const heir = ids.find((id) => id !== other)
            const request = { endpoint, deployedModelId: other, ...(heir === undefined ? {} : { trafficSplit: { [heir]: 100 } }) }
            assert.isUndefined(undeployRefusal(request, now))
            now = { ...now, trafficSplit: splitWithout(now, request), deployedModels: now.deployedModels.filter(({ id }) => id !== other) }
          }
          const percents = Object.values(now.trafficSplit)
          assert.strictEqual(percents.reduce((a, b) => a + b, 0), now.deployedModels.length === 0 ? 0 : 100)
          assert.includeMembers(now.deployedModels.map(({ id }) => id), Object.keys(now.trafficSplit))
        }
      }),
      { numRuns: 200 }
    )
  })
})

describe("models and endpoints", () => {
  it("have the names, ids and parts that the service takes", () => {
    assert.deepStrictEqual(told(endpointRefusal({ displayName: "chat", endpointId: "9" })), [])
    assert.deepStrictEqual(told(endpointRefusal({ displayName: "", endpointId: "09" })).map((line) => line.split(":")[0]), [
      "endpoint.display_name",
      "endpoint_id"
    ])
    assert.deepStrictEqual(told(uploadRefusal({ displayName: "m", publicModelName: "publishers/a/models/b", modelId: "a_b-1" })), [])
    assert.deepStrictEqual(
      told(uploadRefusal({ displayName: "m", modelId: "1a", parentModel: "b", publicModelName: "publishers/a/models/b@1" })).map((line) =>
        line.split(":")[0]
      ),
      ["model_id", "parent_model", "model.base_model_source.model_garden_source.public_model_name"]
    )
    assert.lengthOf(told(deployModelRefusal({ endpoint: EndpointName.make("e"), model: ModelName.make("m") })), 1)
  })

  it("are filtered by name, id and labels", () => {
    const resource = { name: "projects/p/locations/l/endpoints/7", displayName: "my chat", labels: { team: "a", "mg-deploy": "" } }
    const fits = (filter: string) =>
      Result.getOrThrow(
        Result.flatMap(Result.flatMap(parseFilter(filter), (parsed) => holds(parsed, "endpoint")), (test) => Result.succeed(test(resource)))
      )
    for (
      const filter of [
        "",
        "endpoint=7",
        "display_name=\"my chat\"",
        "labels.team=a AND labels.mg-deploy:*",
        "labels.x:* OR labels.team:*",
        "(labels.x:* OR labels.team=\"a\") AND endpoint=7",
        "labels.team!=b"
      ]
    ) {
      assert.isTrue(fits(filter), filter)
    }
    for (
      const filter of [
        "endpoint=8",
        "labels.x:*",
        "labels.__proto__:*",
        "labels.team=b OR display_name=chat",
        "labels.team=a AND endpoint!=7"
      ]
    ) assert.isFalse(fits(filter), filter)
    for (const filter of ["color=red", "display_name", "display_name=~\".*\"", "a=b c=d", "(endpoint=7", "a".repeat(3000)]) {
      assert.isTrue(Result.isFailure(Result.flatMap(parseFilter(filter), (parsed) => holds(parsed, "endpoint"))), filter)
    }
  })
})

describe("a catalog file", () => {
  it("is read from YAML and JSON", () => {
    const catalog = Result.getOrThrow(readCatalog(catalogText("http://127.0.0.1:1"), "catalog.yaml"))
    assert.lengthOf(catalog.models, 6)
    assert.deepStrictEqual(Result.getOrThrow(readCatalog(JSON.stringify(catalog), "catalog.json")), catalog)
    const example = Result.getOrThrow(
      readCatalog(readFileSync(join(import.meta.dirname, "../../examples/models.yaml"), "utf8"), "examples/models.yaml")
    )
    assert.lengthOf(example.models, 3)
    // The one that comes along is valid too.
    assert.deepStrictEqual(Result.getOrThrow(readCatalog(JSON.stringify(defaultCatalog), "default")), defaultCatalog)
  })

  it("is refused with every place where it is wrong", () => {
    const wrong = (text: string) => Result.getOrThrow(Result.flip(readCatalog(text, "models.yaml"))).message.split("\n").slice(1)
    assert.deepStrictEqual(
      wrong(`models:
  - name: gemma3
    versionId: ""
    colour: red
    deploy:
      - resources: { machine: { machineType: 7 } }
`).map((line) => line.replace(/: .*/, "")),
      [
        "models.yaml:2:11  models[0].name",
        "models.yaml:3:16  models[0].versionId",
        "models.yaml:4:13  models[0].colour",
        "models.yaml:6:46  models[0].deploy[0].resources.machine.machineType"
      ]
    )
    const [twice, spot] = wrong(`models:
  - { name: publishers/a/models/b, versionId: "1", deploy: [] }
  - name: publishers/a/models/b
    versionId: "1"
    deploy:
      - container: { imageUri: i }
        resources: { spot: true, machine: { machineType: n1-standard-4, reservation: { affinity: ANY_RESERVATION } } }
`)
    assert.strictEqual(
      spot,
      "models.yaml:7:20  models[1].deploy[0].resources: resources.spot: must not be combined with a reservation affinity type"
    )
    assert.strictEqual(twice, "models.yaml:3:5  models[1]: publishers/a/models/b@1 is there twice")
    assert.match(wrong("models: [")[0] ?? "", /^models\.yaml:1:\d+ {2}\S/)
    assert.match(
      wrong("models: []\nendpoints: { chat: \"ftp://x\" }")[0] ?? "",
      /^models\.yaml:2:20 {2}endpoints\.chat: must be an http or https address/
    )
    assert.match(wrong("")[0] ?? "", /^models\.yaml:1:1/)
  })
})
