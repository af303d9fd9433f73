import { Redacted } from "effect"
import * as fc from "fast-check"
import {
  type DeployedModel,
  type DeployModelRequest,
  type Endpoint,
  type EndpointChange,
  EndpointName,
  type EndpointSpec,
  type Model,
  ModelName,
  type ModelSpec
} from "../../src/domain/models/Endpoint.ts"
import { acceleratorTypes, type Container, type Machine, type Reservation, type Resources } from "../../src/domain/models/Machine.ts"
import type { CatalogModel, CatalogQuery, DeployOption, DeployRequest } from "../../src/domain/models/ModelCatalog.ts"
import { type Operation, OperationName } from "../../src/domain/Operation.ts"
import { modelMetadataTypes, type ModelOperationKind } from "../../src/wire/models/ModelOperations.ts"
import { code, id, parent, time, word } from "./Arbitraries.ts"

const partial = { requiredKeys: [] as [] }
const count = fc.integer({ min: 1, max: 1_000 })
const labels = fc.dictionary(word.filter((key) => key !== "__proto__"), word, { minKeys: 1, maxKeys: 3 })
const digits = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)

const reservation: fc.Arbitrary<Reservation> = fc.record({
  affinity: fc.constantFrom("NO_RESERVATION", "ANY_RESERVATION", "SPECIFIC_RESERVATION"),
  key: word,
  values: fc.array(word, { minLength: 1, maxLength: 2 })
}, { requiredKeys: ["affinity"] })

const machine: fc.Arbitrary<Machine> = fc.record({
  machineType: word,
  acceleratorType: fc.constantFrom(...acceleratorTypes),
  acceleratorCount: count,
  tpuTopology: word,
  reservation,
  settings: fc.record({ gpuPartitionSize: word })
}, partial)

/** The least number of replicas is there, since on the wire it always is. */
export const resources: fc.Arbitrary<Resources> = fc.record({
  machine,
  minReplicaCount: count,
  maxReplicaCount: count,
  requiredReplicaCount: count,
  spot: fc.constant(true),
  settings: fc.record({ autoscalingMetricSpecs: fc.array(fc.record({ metricName: word, target: count }), { minLength: 1, maxLength: 2 }) })
}, { requiredKeys: ["machine", "minReplicaCount"] })

export const container: fc.Arbitrary<Container> = fc.record({
  imageUri: word,
  command: fc.array(word, { minLength: 1, maxLength: 2 }),
  args: fc.array(word, { minLength: 1, maxLength: 2 }),
  env: fc.array(fc.record({ name: word, value: word }), { minLength: 1, maxLength: 2 }),
  ports: fc.array(count, { minLength: 1, maxLength: 2 }),
  predictRoute: word,
  healthRoute: word
}, { requiredKeys: ["imageUri"] })

const option: fc.Arbitrary<DeployOption> = fc.record({
  title: word,
  modelDisplayName: word,
  container,
  resources,
  artifactUri: word,
  publicArtifactUri: word,
  deployTaskName: word,
  sampleRequest: word,
  labels
}, { requiredKeys: ["title"] })

const publisherModel = fc.tuple(id, id).map(([p, m]) => `publishers/${p}/models/${m}`.replaceAll("@", "-"))

export const catalogModel: fc.Arbitrary<CatalogModel> = fc.record({
  name: publisherModel,
  versionId: word,
  openSourceCategory: fc.constantFrom("PROPRIETARY", "GOOGLE_OWNED_OSS", "THIRD_PARTY_OWNED_OSS_WITH_GOOGLE_CHECKPOINT"),
  launchStage: fc.constantFrom("EXPERIMENTAL", "GA"),
  versionState: fc.constantFrom("VERSION_STATE_STABLE", "VERSION_STATE_UNSTABLE"),
  frameworks: fc.array(word, { minLength: 1, maxLength: 2 }),
  notebook: fc.record({
    title: word,
    references: fc.dictionary(word.filter((key) => key !== "__proto__"), word, { minKeys: 1, maxKeys: 2 }),
    resourceTitle: word,
    resourceUseCase: word,
    resourceDescription: word
  }, { requiredKeys: ["title", "references"] }),
  deploy: fc.array(option, { maxLength: 3 })
}, { requiredKeys: ["name", "versionId", "deploy"] })

export const catalogQuery: fc.Arbitrary<CatalogQuery> = fc.record({
  publisher: fc.stringMatching(/^[a-z-]{1,10}$/),
  hub: fc.boolean(),
  verified: fc.constant(true),
  deployable: fc.constant(true),
  allVersions: fc.constant(true),
  search: fc.stringMatching(/^[\w@./ -]{1,10}$/)
}, partial)

const settings = fc.record({
  huggingFaceAccessToken: word.map((token) => Redacted.make(token)),
  huggingFaceCacheEnabled: fc.constant(true),
  acceptEula: fc.constant(true),
  modelDisplayName: word,
  modelUserId: word,
  container,
  endpointDisplayName: word,
  endpointUserId: word,
  resources,
  fastTryout: fc.constant(true),
  systemLabels: labels
}, partial)

export const deployRequest: fc.Arbitrary<DeployRequest> = fc.tuple(
  fc.oneof(word.map((publisherModelName) => ({ publisherModelName })), word.map((huggingFaceModelId) => ({ huggingFaceModelId }))),
  settings
).map(([artifact, rest]) => ({ ...artifact, ...rest }))

export const endpointName = fc.tuple(parent, digits).map(([p, e]) => EndpointName.make(`${p}/endpoints/${e}`))
export const modelName = fc.tuple(parent, digits).map(([p, m]) => ModelName.make(`${p}/models/${m}`))

export const deployedModel: fc.Arbitrary<DeployedModel> = fc.record({
  id: digits,
  model: modelName,
  modelVersionId: word,
  displayName: word,
  resources,
  serviceAccount: word,
  settings: fc.record({ enableAccessLogging: fc.constant(true), systemLabels: labels }),
  createTime: time
}, { requiredKeys: ["id", "model"] })

const encryption = { encryptionSpec: fc.record({ kmsKeyName: word }) }

const split = fc.dictionary(digits, count, { minKeys: 1, maxKeys: 3 })

export const endpoint: fc.Arbitrary<Endpoint> = fc.record({
  name: endpointName,
  displayName: word,
  description: word,
  labels,
  deployedModels: fc.array(deployedModel, { maxLength: 2 }),
  trafficSplit: fc.oneof(split, fc.constant({})),
  settings: fc.record({ ...encryption, etag: word, dedicatedEndpointDns: word }),
  createTime: time,
  updateTime: time
}, { requiredKeys: ["name", "displayName", "deployedModels", "trafficSplit", "createTime", "updateTime"] })

export const endpointSpec: fc.Arbitrary<EndpointSpec> = fc.record({
  displayName: word,
  description: word,
  labels,
  settings: fc.record({ ...encryption, network: word, dedicatedEndpointEnabled: fc.constant(true) })
}, { requiredKeys: ["displayName"] })

export const endpointChange: fc.Arbitrary<EndpointChange> = fc.record({
  endpoint: endpointName,
  displayName: word,
  description: fc.oneof(word, fc.constant("")),
  labels: fc.oneof(labels, fc.constant({})),
  trafficSplit: fc.oneof(split, fc.constant({}))
}, { requiredKeys: ["endpoint", "displayName"] })

export const model: fc.Arbitrary<Model> = fc.record({
  name: modelName,
  versionId: word,
  displayName: word,
  description: word,
  labels,
  artifactUri: word,
  publicModelName: word,
  deployedModels: fc.array(fc.record({ endpoint: endpointName, deployedModelId: digits }), { maxLength: 2 }),
  settings: fc.record({ ...encryption, versionAliases: fc.array(word, { minLength: 1, maxLength: 2 }), etag: word }),
  createTime: time,
  updateTime: time
}, { requiredKeys: ["name", "displayName", "deployedModels", "createTime", "updateTime"] })

export const modelSpec: fc.Arbitrary<ModelSpec> = fc.record({
  displayName: word,
  description: word,
  labels,
  publicModelName: word,
  container,
  artifactUri: word,
  settings: fc.record({ ...encryption, versionDescription: word }),
  modelId: word,
  parentModel: word
}, { requiredKeys: ["displayName"] })

export const deployModel: fc.Arbitrary<DeployModelRequest> = fc.record({
  endpoint: endpointName,
  model: modelName,
  displayName: word,
  resources,
  serviceAccount: word,
  settings: fc.record({ disableContainerLogging: fc.constant(true) }),
  trafficSplit: split
}, { requiredKeys: ["endpoint", "model"] })

export const undeploy = fc.record({ endpoint: endpointName, deployedModelId: digits, trafficSplit: split }, {
  requiredKeys: ["endpoint", "deployedModelId"]
})

const kinds = Object.keys(modelMetadataTypes) as ReadonlyArray<ModelOperationKind> // the keys are those of the table

/** With what its kind tells of the deployment, and no more. */
export const modelOperation: fc.Arbitrary<Operation> = fc.constantFrom(...kinds).chain((kind) => {
  const target: fc.Arbitrary<string> = kind.startsWith("deploy") && kind !== "deployModel"
    ? parent
    : kind.endsWith("Endpoint") || kind.endsWith("deployModel") || kind === "deployModel"
    ? endpointName
    : modelName
  return fc.tuple(
    target,
    digits,
    fc.boolean(),
    fc.option(fc.record({ code, message: word }), { nil: undefined }),
    endpointName,
    modelName,
    publisherModel,
    time
  ).map(
    ([target, id, done, error, endpoint, model, publisherModel, at]): Operation => {
      const succeeded = done && error === undefined
      const made = kind === "deploy" || kind === "deployPublisherModel"
        ? { publisherModel, ...(succeeded ? { endpoint, model } : {}) }
        : kind === "deployModel"
        ? (succeeded ? { deployedModelId: id } : {})
        : kind === "uploadModel" && succeeded
        ? { model: target }
        : {}
      const stage = kind === "deployModel" || kind === "createEndpoint"
        ? { stage: !done ? "STARTING_DEPLOYMENT" : succeeded ? "SUCCESSFULLY_DEPLOYED" : "FAILED_TO_DEPLOY" }
        : {}
      const deployment = { ...made, ...stage }
      return {
        name: OperationName.make(`${target}/operations/${id}`),
        kind,
        target,
        done,
        partialFailures: [],
        ...(done && error !== undefined ? { error } : {}),
        ...(Object.keys(deployment).length === 0 ? {} : { deployment }),
        createTime: at,
        updateTime: at
      }
    }
  )
})
