import { Redacted, Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { EndpointName } from "../../src/domain/models/Endpoint.ts"
import { catalogModelFromWire, catalogModelToWire, catalogQueryFromWire, catalogQueryToWire } from "../../src/wire/models/Catalog.ts"
import { deployPublisherModelFromWire, deployRequestFromWire, deployRequestToWire } from "../../src/wire/models/Deployments.ts"
import {
  deployModelFromWire,
  deployModelToWire,
  endpointChangeFromWire,
  endpointChangeToWire,
  endpointFromWire,
  endpointSpecFromWire,
  endpointSpecToWire,
  endpointToWire,
  undeployFromWire,
  undeployToWire
} from "../../src/wire/models/Endpoints.ts"
import { modelFromWire, modelSpecFromWire, modelSpecToWire, modelToWire } from "../../src/wire/models/Models.ts"
import { operationFromWire, operationToWire } from "../../src/wire/Operations.ts"
import { encodeQuery, match, routes } from "../../src/wire/Routes.ts"
import { readBody, readQuery } from "../../src/wire/tolerant/Request.ts"
import * as any from "./ModelArbitraries.ts"
import { answered, sent } from "./OverTheWire.ts"

const always = <A>(values: fc.Arbitrary<A>, check: (value: A) => void): void =>
  fc.assert(fc.property(values, (value) => void check(value)), { numRuns: 80 })
const ok = Result.getOrThrow
const tokenShown = <A extends { readonly huggingFaceAccessToken?: Redacted.Redacted<string> }>(
  { huggingFaceAccessToken: token, ...rest }: A
) => token === undefined ? rest : { ...rest, token: Redacted.value(token) }

describe("models on the wire", () => {
  it("what the client sends is what the server reads", () => {
    always(
      any.deployRequest,
      (request) =>
        expect(
          tokenShown(ok(Result.flatMap(sent(routes.deploy, deployRequestToWire("projects/p/locations/l", request)), deployRequestFromWire)))
        ).toEqual(tokenShown(request))
    )
    always(any.modelSpec, (spec) => expect(modelSpecFromWire(ok(sent(routes.uploadModel, modelSpecToWire(spec))))).toEqual(spec))
    always(
      any.endpointSpec,
      (spec) => expect(endpointSpecFromWire(ok(sent(routes.createEndpoint, endpointSpecToWire(spec))), undefined)).toEqual(spec)
    )
    always(any.endpointChange, (change) => {
      const { body, query } = endpointChangeToWire(change)
      const read = Result.flatMap(
        sent(routes.updateEndpoint, body),
        (wire) => endpointChangeFromWire(change.endpoint, wire, query.updateMask)
      )
      expect(ok(read)).toEqual(change)
    })
    always(
      any.deployModel,
      (request) =>
        expect(
          ok(Result.flatMap(sent(routes.deployModel, deployModelToWire(request)), (wire) => deployModelFromWire(request.endpoint, wire)))
        ).toEqual(request)
    )
    always(
      any.undeploy,
      (request) => expect(undeployFromWire(request.endpoint, ok(sent(routes.undeployModel, undeployToWire(request))))).toEqual(request)
    )
    always(any.catalogQuery, (query) => {
      const { query: read } = ok(
        readQuery(routes.listPublisherModels, encodeQuery(routes.listPublisherModels, catalogQueryToWire(query)).slice(1))
      )
      expect(ok(catalogQueryFromWire(`publishers/${query.publisher ?? "*"}`, read))).toEqual(query)
    })
  })

  it("what the server answers is what the client reads", () => {
    for (const numbers of [true, false]) {
      always(
        any.catalogModel,
        (model) =>
          expect(
            ok(Result.flatMap(answered(routes.getPublisherModel, catalogModelToWire(model), "v1beta1", numbers), catalogModelFromWire))
          ).toEqual(model)
      )
      always(
        any.endpoint,
        (endpoint) =>
          expect(ok(Result.flatMap(answered(routes.getEndpoint, endpointToWire(endpoint), "v1", numbers), endpointFromWire))).toEqual(
            endpoint
          )
      )
      always(
        any.model,
        (model) => expect(ok(Result.flatMap(answered(routes.getModel, modelToWire(model), "v1", numbers), modelFromWire))).toEqual(model)
      )
      always(any.modelOperation, (operation) => {
        const publisherModel = operation.deployment?.publisherModel
        const read = ok(
          Result.flatMap(answered(routes.getOperation, operationToWire(operation, "v1", {}), "v1", numbers), operationFromWire)
        )
        expect({ ...read, deployment: { ...read.deployment, ...(publisherModel === undefined ? {} : { publisherModel }) } }).toEqual({
          ...operation,
          deployment: operation.deployment ?? {}
        })
      })
    }
  })
})

describe("what clients really send", () => {
  const deploy = (body: string) => Result.flatMap(readBody(routes.deploy, body, { version: "v1beta1" }), deployRequestFromWire)

  it("the documentation's deploy: token at the top, words for booleans, deploy_config twice", () => {
    const request = ok(deploy(`{
      "hugging_face_model_id": "google/gemma-2-2b-it",
      "hugging_face_access_token": "hub-secret",
      "model_config": { "accept_eula": "true", "container_spec": { "image_uri": "i", "args": ["--a"], "ports": [{ "container_port": 8080 }] } },
      "deploy_config": { "dedicated_resources": { "machine_spec": { "machine_type": "g2-standard-12", "accelerator_type": "NVIDIA_L4", "accelerator_count": 1 } } },
      "deploy_config": { "dedicated_resources": { "spot": "False" } },
    }`))
    expect(tokenShown(request)).toEqual({
      huggingFaceModelId: "google/gemma-2-2b-it",
      token: "hub-secret",
      acceptEula: true,
      container: { imageUri: "i", args: ["--a"], ports: [8080] },
      resources: { machine: { machineType: "g2-standard-12", acceleratorType: "NVIDIA_L4", acceleratorCount: 1 } }
    })
    expect(JSON.stringify(request)).not.toContain("hub-secret")
  })

  it("the node client's deploy: enums as numbers, empty maps", () => {
    expect(
      ok(
        deploy(
          "{\"publisherModelName\":\"publishers/google/models/gemma3@gemma-3-1b-it\",\"modelConfig\":{\"acceptEula\":true},\"deployConfig\":{\"systemLabels\":{},\"dedicatedResources\":{\"machineSpec\":{\"machineType\":\"g2-standard-12\",\"acceleratorType\":11,\"acceleratorCount\":1,\"reservationAffinity\":{\"reservationAffinityType\":2}},\"minReplicaCount\":1}}}"
        )
      )
    ).toEqual({
      publisherModelName: "publishers/google/models/gemma3@gemma-3-1b-it",
      acceptEula: true,
      resources: {
        machine: {
          machineType: "g2-standard-12",
          acceleratorType: "NVIDIA_L4",
          acceleratorCount: 1,
          reservation: { affinity: "ANY_RESERVATION" }
        },
        minReplicaCount: 1
      }
    })
  })

  it("both a catalog's and a hub's model, a reservation of no type, a custom model", () => {
    const refused = (body: object) => Result.getOrThrow(Result.flip(deploy(JSON.stringify(body))))
    expect(refused({ publisherModelName: "a", huggingFaceModelId: "b" }).message).toContain("'artifacts' is already set")
    expect(refused({ deployConfig: { dedicatedResources: { machineSpec: { reservationAffinity: {} } } } }).violations?.[0]?.field)
      .toBe("deploy_config.dedicated_resources.machine_spec.reservation_affinity.reservation_affinity_type")
    expect(refused({ customModel: { gcsUri: "gs://b/m" } }).code).toBe("UNIMPLEMENTED")
  })

  it("the older deploy, which names the hub's models as the catalog does", () => {
    const read = (body: object) =>
      ok(Result.flatMap(readBody(routes.deployPublisherModel, JSON.stringify(body), { version: "v1beta1" }), deployPublisherModelFromWire))
    expect(read({ model: "publishers/hf-google/models/gemma-2-2b-it@001", accept_eula: true, endpoint_display_name: "e" }))
      .toEqual({ huggingFaceModelId: "google/gemma-2-2b-it", acceptEula: true, endpointDisplayName: "e" })
    expect(read({ model: "publishers/google/models/gemma3@gemma-3-1b-it" })).toEqual({
      publisherModelName: "publishers/google/models/gemma3@gemma-3-1b-it"
    })
  })

  it("the listings of the documentation and of the SDK", () => {
    const query = (raw: string, parent = "publishers/*") =>
      Result.flatMap(readQuery(routes.listPublisherModels, raw), ({ query }) => catalogQueryFromWire(parent, query))
    expect(ok(query("listAllVersions=True&filter=is_deployable(true)"))).toEqual({ allVersions: true, deployable: true })
    expect(
      ok(query("alt=json&is_hf_wildcard(true)+AND+labels.VERIFIED_DEPLOYMENT_CONFIG%3DVERIFIED_DEPLOYMENT_SUCCEED&listAllVersions=True"))
    )
      .toEqual({ allVersions: true, hub: true, verified: true })
    expect(
      ok(
        query(
          `filter=${encodeURIComponent("is_hf_wildcard(false) AND (model_user_id=~\"(?i).*gemma.*\" OR display_name=~\"(?i).*gemma.*\")")}`,
          "publishers/google"
        )
      )
    )
      .toEqual({ publisher: "google", hub: false, search: "gemma" })
    for (
      const filter of [
        "color=red",
        "is_deployable(true) OR is_hf_wildcard(true)",
        "model_user_id=~\"(a+)+$\"",
        "(is_deployable(true)",
        "is_deployable(true) labels.a=b"
      ]
    ) {
      expect(Result.isFailure(query(`filter=${encodeURIComponent(filter)}`))).toBe(true)
    }
    expect(match("GET", "/v1beta1/publishers/*/models")).toMatchObject({ key: "listPublisherModels", params: { parent: "publishers/*" } })
  })

  it("endpoints without what this server could give them", () => {
    const shared = deployModelFromWire(EndpointName.make("e"), { deployedModel: { model: "m", sharedResources: "pool" } })
    expect(Result.getOrThrow(Result.flip(shared)).violations?.[0]?.field).toBe("deployed_model.shared_resources")
  })
})
