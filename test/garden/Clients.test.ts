import { v1beta1 } from "@google-cloud/aiplatform"
import { Effect, Exit, Scope } from "effect"
import { OAuth2Client } from "google-auth-library"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parent, startServer, type TestServer } from "../server/support/TestServer.ts"
import { write } from "../support/TempFolder.ts"
import { catalogText, modelServer, type ModelServerFake } from "./Support.ts"

const gemma = "publishers/google/models/gemma3@gemma-3-1b-it"
const token = "canary-4f1d77ab-of-the-hub"

let model: ModelServerFake
let server: TestServer
let catalog: string
const scope = Scope.makeUnsafe()
const files = mkdtempSync(join(tmpdir(), "sluice-catalog-"))

beforeAll(async () => {
  model = await Effect.runPromise(Scope.provide(modelServer, scope))
  write(files, { "catalog.yaml": catalogText(model.origin) })
  catalog = join(files, "catalog.yaml")
  server = await startServer({ catalog, faults: "faults: [{ method: createEndpoint, at: 1, operation: 3600 }]" })
})
afterAll(async () => {
  await server.stop()
  rmSync(files, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

type Options = NonNullable<ConstructorParameters<typeof v1beta1.ModelGardenServiceClient>[0]>

const options = (): Options => {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return { fallback: true, protocol: "http", apiEndpoint: "127.0.0.1", port: server.port, authClient: client } as unknown as Options // its types know nothing of `protocol`
}

const failureOf = (call: Promise<unknown>): Promise<string> => call.then(() => "succeeded", (error: unknown) => String(error))

describe("@google-cloud/aiplatform over REST", () => {
  it("lists, shows, deploys, predicts, undeploys and deletes", async () => {
    const garden = new v1beta1.ModelGardenServiceClient(options())
    const endpoints = new v1beta1.EndpointServiceClient(options())
    const models = new v1beta1.ModelServiceClient(options())

    const [listed] = await garden.listPublisherModels({ parent: "publishers/*", filter: "is_hf_wildcard(false)", listAllVersions: true })
    assert.deepStrictEqual(listed.map(({ name, versionId }) => `${name?.split("/").at(-1)}@${versionId}`), [
      "gemma3@gemma-3-1b-it",
      "gemma3@gemma-3-4b-it",
      "large@2",
      "vision@1"
    ])
    const [shown] = await garden.getPublisherModel({ name: gemma })
    assert.strictEqual(
      shown.supportedActions?.multiDeployVertex?.multiDeployVertex?.[0]?.dedicatedResources?.machineSpec?.machineType,
      "g2-standard-12"
    )

    assert.include(await failureOf(garden.deploy({ destination: parent, publisherModelName: gemma })), "accept_eula")
    const [eula] = await garden.acceptPublisherModelEula({ parent: "projects/123", publisherModel: gemma })
    assert.deepInclude(eula, { publisherModel: gemma, publisherModelEulaAcked: true })
    assert.strictEqual(String(eula.projectNumber), "123")

    const [deployment] = await garden.deploy({
      destination: parent,
      publisherModelName: gemma,
      modelConfig: { acceptEula: true },
      deployConfig: {
        dedicatedResources: {
          machineSpec: {
            machineType: "g2-standard-12",
            acceleratorType: 11,
            acceleratorCount: 1,
            reservationAffinity: { reservationAffinityType: 2 }
          },
          minReplicaCount: 1
        }
      }
    })
    assert.match(deployment.name ?? "", /^projects\/p1\/locations\/us-central1\/operations\/\d+$/)
    const [made, metadata] = await deployment.promise()
    assert.deepInclude(metadata, { publisherModel: gemma, destination: parent })
    assert.deepInclude(made, { publisherModel: gemma })
    const checked = await garden.checkDeployProgress(deployment.name ?? "")
    assert.isTrue(checked.done)

    const [endpoint] = await endpoints.getEndpoint({ name: made.endpoint ?? "" })
    const deployed = endpoint.deployedModels?.[0]
    assert.strictEqual(deployed?.model, made.model)
    assert.deepStrictEqual(endpoint.trafficSplit, { [deployed?.id ?? ""]: 100 })
    const [found] = await endpoints.listEndpoints({ parent, filter: "labels.mg-one-click-deploy:*" })
    assert.include(found.map(({ name }) => name), endpoint.name)
    assert.include(await failureOf(endpoints.deleteEndpoint({ name: endpoint.name ?? "" })), "deployed model")
    assert.include(await failureOf(models.deleteModel({ name: made.model ?? "" })), "deployed model")

    const [undeployment] = await endpoints.undeployModel({ endpoint: endpoint.name ?? "", deployedModelId: deployed?.id ?? "" })
    await undeployment.promise()
    await (await endpoints.deleteEndpoint({ name: endpoint.name ?? "" }))[0].promise()
    await (await models.deleteModel({ name: made.model ?? "" }))[0].promise()
    assert.include(await failureOf(endpoints.getEndpoint({ name: endpoint.name ?? "" })), "was not found")
  })

  it("uploads a model, deploys it on an endpoint, and asks it", async () => {
    const endpoints = new v1beta1.EndpointServiceClient(options())
    const models = new v1beta1.ModelServiceClient(options())
    const prediction = new v1beta1.PredictionServiceClient(options())

    const [upload] = await models.uploadModel({
      parent,
      model: { displayName: "large", baseModelSource: { modelGardenSource: { publicModelName: "publishers/acme/models/large" } } }
    })
    const [{ model: name, modelVersionId }] = await upload.promise()
    assert.strictEqual(modelVersionId, "1")
    assert.strictEqual(
      (await models.getModel({ name: name ?? "" }))[0].baseModelSource?.modelGardenSource?.publicModelName,
      "publishers/acme/models/large"
    )
    assert.include((await models.listModels({ parent }))[0].map((each) => each.name), name)

    // A fault keeps this one under way; the endpoint is there all the same.
    const [creation] = await endpoints.createEndpoint({ parent, endpoint: { displayName: "large" }, endpointId: "large-1" })
    const early = await endpoints.checkCreateEndpointProgress(creation.name ?? "")
    assert.isFalse(early.done ?? false)
    assert.include([5, "STARTING_DEPLOYMENT"], (early.metadata as { readonly deploymentStage?: unknown }).deploymentStage) // its type is that of any operation
    const endpoint = `${parent}/endpoints/large-1`

    const [deployment] = await endpoints.deployModel({
      endpoint,
      deployedModel: {
        model: name ?? "",
        displayName: "first",
        dedicatedResources: {
          machineSpec: { machineType: "a3-highgpu-8g", acceleratorType: "NVIDIA_H100_80GB", acceleratorCount: 8 },
          minReplicaCount: 1,
          maxReplicaCount: 1
        }
      },
      trafficSplit: { 0: 100 }
    })
    const [{ deployedModel }, staged] = await deployment.promise()
    assert.deepInclude(deployedModel, { displayName: "first", model: name ?? "", modelVersionId: "1" })
    assert.include(["11", "SUCCESSFULLY_DEPLOYED"], String(staged.deploymentStage))

    const [updated] = await endpoints.updateEndpoint({
      endpoint: { name: endpoint, displayName: "larger", description: "left alone" },
      updateMask: { paths: ["display_name"] }
    })
    assert.deepInclude(updated, { name: endpoint, displayName: "larger", description: "" })

    // The model answers with what it was sent, which is no prediction; what it was sent is what a client wants predicted.
    assert.include(
      await failureOf(prediction.predict({ endpoint, instances: [{ structValue: { fields: { x: { numberValue: 1 } } } }] })),
      "does not answer with predictions"
    )
    assert.strictEqual(model.asked.at(-1)?.body.toString(), "{\"instances\":[{\"x\":1}]}")
    const data = Buffer.from("{\"prompt\": \"hé\"}")
    const [answer] = await prediction.rawPredict({ endpoint, httpBody: { contentType: "application/json", data } })
    assert.strictEqual(Buffer.from(answer.data as Uint8Array).toString(), data.toString())
    assert.strictEqual(answer.contentType, "application/json")
    const heard = await new Promise<string>((resolve, reject) => {
      let text = ""
      prediction.streamRawPredict({ endpoint, httpBody: { contentType: "text/plain", data: Buffer.from("stream") } })
        .on("data", (piece: { readonly data: Uint8Array }) => {
          text += Buffer.from(piece.data).toString()
          if (text === "data: 1\n\n") model.release()
        })
        .on("error", reject)
        .on("end", () => resolve(text))
    })
    assert.strictEqual(heard, "data: 1\n\ndata: 2\n\n")
  })
})

describe("over plain HTTP", () => {
  it("a deployment tells a project's number, however the project is written, and a hub's model is known in any case", async () => {
    const deploy = (at: string) =>
      server.call("POST", `/v1beta1/${at}:deploy`, {
        huggingFaceModelId: "Google/Gemma-2-2B-it",
        modelConfig: { acceptEula: true, huggingFaceAccessToken: "hf_canary_of_the_test" }
      })
    const byId = await deploy("projects/my-project/locations/us-central1")
    assert.strictEqual(byId.status, 200, JSON.stringify(byId.body))
    assert.match(byId.body.metadata.projectNumber, /^\d{12}$/)
    assert.strictEqual(
      (await deploy("projects/my-project/locations/us-central1")).body.metadata.projectNumber,
      byId.body.metadata.projectNumber
    )
    assert.strictEqual((await deploy("projects/4711/locations/us-central1")).body.metadata.projectNumber, "4711")
    assert.notInclude(JSON.stringify(byId.body), "canary")
  })

  it("the seed's spellings of listing and deploying work", async () => {
    const seed = await server.call(
      "GET",
      "/v1beta1/publishers/*/models?alt=json&is_hf_wildcard(true)+AND+labels.VERIFIED_DEPLOYMENT_CONFIG%3DVERIFIED_DEPLOYMENT_SUCCEED&listAllVersions=True"
    )
    assert.deepStrictEqual(seed.body.publisherModels.map(({ name }: { readonly name: string }) => name), [
      "publishers/hf-google/models/gemma-2-2b-it"
    ])
    const older = await server.call("POST", `/v1beta1/${parent}:deployPublisherModel`, {
      model: gemma,
      accept_eula: "True",
      endpoint_display_name: "older"
    })
    assert.strictEqual(older.status, 200)
    assert.match(older.body.metadata["@type"], /v1beta1\.DeployPublisherModelOperationMetadata$/)
    assert.match(older.body.response["@type"], /v1beta1\.DeployPublisherModelResponse$/)
    // Operations are told under both versions.
    assert.strictEqual((await server.call("GET", `/v1/${older.body.name}`)).body.response.endpoint, older.body.response.endpoint)
    const operations = (await server.call("GET", `/v1/${parent}/operations`)).body.operations
    assert.strictEqual(
      operations.filter(({ response }: { readonly response?: { readonly endpoint?: string } }) =>
        response?.endpoint === older.body.response.endpoint
      ).length,
      1
    )
  })

  it("payloads go through to the byte, and never to an address of the caller's", async () => {
    const { body } = await server.call("POST", `/v1beta1/${parent}:deploy`, {
      publisherModelName: gemma,
      modelConfig: { acceptEula: true },
      endpointConfig: { endpointDisplayName: model.origin }
    })
    const url = `${server.url}/v1/${body.response.endpoint}:rawPredict`
    const payload = Uint8Array.from({ length: 512 }, (_, i) => i % 256)
    assert.strictEqual((await fetch(`${url}?upstream=http://127.0.0.1:1/`, { method: "POST", body: payload })).status, 400)
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", "x-forwarded-host": "127.0.0.1:1" },
      body: payload
    })
    assert.strictEqual(answer.headers.get("content-type"), "application/octet-stream")
    assert.deepStrictEqual(new Uint8Array(await answer.arrayBuffer()), payload)
    assert.strictEqual(model.asked.at(-1)?.url.pathname, "/generate")
    // Headers of the caller, credentials among them, stay here.
    assert.notProperty(model.asked.at(-1)?.headers, "x-forwarded-host")
    const failed = await fetch(url, { method: "POST", body: "fail" })
    assert.deepStrictEqual([failed.status, failed.headers.get("content-type"), await failed.text()], [
      422,
      "application/problem+json",
      "{\"detail\":\"no such prompt\"}"
    ])
  })

  it("predictions are told with the model that made them", async () => {
    const { body } = await server.call("POST", `/v1beta1/${parent}:deploy`, {
      publisherModelName: gemma,
      modelConfig: { acceptEula: true }
    })
    const { endpoint, model: name } = body.response
    const predict = (payload: object) => server.call("POST", `/v1/${endpoint}:predict`, payload)
    // The model's server answers with what it was sent.
    const answered = await predict({ instances: [1, "é", null], parameters: { predictions: "none" } })
    assert.deepStrictEqual([answered.status, answered.body.error.status], [400, "FAILED_PRECONDITION"])
    assert.strictEqual((await predict({ instances: [] })).body.error.details[0].fieldViolations[0].field, "instances")
    assert.strictEqual(
      (await server.call("POST", `/v1/${parent}/publishers/google/models/gemma3:predict`, { instances: [1] })).body.error.status,
      "INVALID_ARGUMENT"
    )
    model.answerWith("{\"predictions\":[[0.5],\"é\"],\"metadata\":{\"t\":1}}")
    const { deployedModelId, ...rest } = (await predict({ instances: [1] })).body
    assert.match(deployedModelId, /^\d+$/)
    assert.deepStrictEqual(rest, {
      predictions: [[0.5], "é"],
      metadata: { t: 1 },
      model: name,
      modelVersionId: "1",
      modelDisplayName: "gemma-3-1b-it"
    })
    model.answerWith(undefined)
    assert.deepStrictEqual(
      (await server.call("GET", `/v1/${parent}/endpoints?readMask=name,display_name&pageSize=1`)).body.endpoints.map(Object.keys),
      [["name", "displayName"]]
    )
    assert.strictEqual(
      (await server.call("GET", `/v1/${parent}/models?readMask=color`)).body.error.details[0].fieldViolations[0].field,
      "read_mask"
    )
    assert.strictEqual(
      (await server.call("GET", `/v1/${parent}/endpoints?orderBy=display_name`)).body.error.details[0].fieldViolations[0].field,
      "order_by"
    )
    const patched = (mask: string) => server.call("PATCH", `/v1/${endpoint}${mask}`, { displayName: "patched", network: "n" })
    assert.strictEqual((await patched("")).body.error.details[0].fieldViolations[0].field, "update_mask")
    assert.include((await patched("?updateMask=network")).body.error.message, "network cannot be changed")
    assert.strictEqual((await patched("?updateMask=displayName")).body.displayName, "patched")
  })

  it("the hub's token is in no answer, operation or file", async () => {
    const deploy = (body: object) => server.call("POST", `/v1beta1/${parent}:deploy`, body)
    const answers = [
      await deploy({
        hugging_face_model_id: "google/gemma-2-2b-it",
        hugging_face_access_token: token,
        model_config: { accept_eula: true }
      }),
      await deploy({ huggingFaceModelId: "google/gemma-2-2b-it", modelConfig: { huggingFaceAccessToken: token } }),
      await deploy({ huggingFaceModelId: "nobody/nothing", modelConfig: { huggingFaceAccessToken: token } }),
      await deploy({ huggingFaceModelId: "google/gemma-2-2b-it", modelConfig: { huggingFaceAccessToken: [token] } }),
      await deploy({ huggingFaceModelId: "google/gemma-2-2b-it", modelConfig: { huggingFaceAccessToken: { [token]: token } } }),
      await server.call("POST", `/v1beta1/${parent}:deployPublisherModel`, {
        model: "publishers/hf-google/models/gemma-2-2b-it@001",
        huggingFaceAccessToken: token
      }),
      await server.call("GET", `/v1beta1/publishers/hf-google/models/gemma-2-2b-it?isHuggingFaceModel=true&huggingFaceToken=${token}`)
    ]
    assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 404, 400, 400, 200, 200])
    for (const path of [`/v1/${parent}/operations`, `/v1/${parent}/endpoints`, `/v1/${parent}/models`]) {
      answers.push(await server.call("GET", path))
    }
    assert.notInclude(JSON.stringify(answers.map(({ body }) => body)), "canary-4f1d77ab")
    for (const file of readdirSync(server.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
      assert.notInclude(readFileSync(join(file.parentPath, file.name), "latin1"), "canary-4f1d77ab", file.name)
    }
  })

  it("deployments outlive the server", async () => {
    const before = (await server.call("GET", `/v1/${parent}/endpoints`)).body
    const models = (await server.call("GET", `/v1/${parent}/models`)).body
    const operation = (await server.call("POST", `/v1beta1/${parent}:deploy`, { publisherModelName: gemma })).body
    server = await server.restart()
    const after = (await server.call("GET", `/v1/${parent}/endpoints`)).body
    assert.deepStrictEqual(after.endpoints.slice(0, before.endpoints.length), before.endpoints)
    assert.lengthOf((await server.call("GET", `/v1/${parent}/models`)).body.models, models.models.length + 1)
    assert.deepStrictEqual((await server.call("GET", `/v1beta1/${operation.name}`)).body.response, operation.response)
    const predicted = await fetch(`${server.url}/v1/${operation.response.endpoint}:rawPredict`, { method: "POST", body: "still there" })
    assert.strictEqual(await predicted.text(), "still there")
  })
})
