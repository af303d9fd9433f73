import { Effect, Layer, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { storage } from "../../connectors/storage/Storage.ts"
import { embeddedGarden } from "../../src/compose/Garden.ts"
import { serveEmbedded } from "../../src/compose/Server.ts"
import * as HostedEndpoints from "../../src/engines/vertex/HostedEndpoints.ts"
import * as HostedModelCatalog from "../../src/engines/vertex/HostedModelCatalog.ts"
import * as HostedOperations from "../../src/engines/vertex/HostedOperations.ts"
import * as Transport from "../../src/engines/vertex/Transport.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import * as QuotaBuckets from "../../src/state/QuotaBuckets.ts"
import { fakeServer } from "../fakes/Http.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

/** A catalog with one model for each rule. Comments and anchors, since people write it. */
export const catalogText = (upstream: string) => `
models:
  - name: publishers/google/models/gemma3
    versionId: gemma-3-1b-it
    openSourceCategory: GOOGLE_OWNED_OSS_WITH_GOOGLE_CHECKPOINT
    launchStage: GA
    eula: true
    fastTryout: true
    upstream: ${upstream}   # without a path: the container's predictRoute applies
    notebook:
      title: Open notebook
      references: { us-central1: "https://example.com/notebook" }
      resourceTitle: Gemma
    deploy: &deploy
      - title: Deploy
        modelDisplayName: gemma-3-1b-it
        container: { imageUri: us-docker.pkg.dev/p/r/vllm:1, args: ["--model=g"], ports: [8080], predictRoute: /generate, healthRoute: /ping }
        resources: { machine: { machineType: g2-standard-12, acceleratorType: NVIDIA_L4, acceleratorCount: 1 } }
        sampleRequest: '{"prompt":"hi"}'
  - name: publishers/google/models/gemma3
    versionId: gemma-3-4b-it
    deploy: *deploy
  - name: publishers/acme/models/large
    versionId: "2"
    openSourceCategory: PROPRIETARY
    eula: true
    upstream: ${upstream}/large
    deploy:
      - resources: { machine: { machineType: a3-highgpu-8g, acceleratorType: NVIDIA_H100_80GB, acceleratorCount: 8 } }
      - resources: { machine: { machineType: a2-ultragpu-4g, acceleratorType: NVIDIA_A100_80GB, acceleratorCount: 4 } }
  - { name: publishers/google/models/vision, versionId: "1", deploy: [] }
  - { name: publishers/hf-google/models/gemma-2-2b-it, versionId: "001", gated: true, verified: true, deploy: *deploy }
  - { name: publishers/hf-someone/models/untested, versionId: "001", deploy: *deploy }
reservations:
  - { name: mine, replicas: 2 }
endpoints:
  elsewhere: ${upstream}/elsewhere
`

export interface ModelServerFake {
  readonly origin: string
  readonly asked: ReadonlyArray<{ readonly url: URL; readonly body: Buffer; readonly headers: Readonly<Record<string, unknown>> }>
  /** Lets the streams that wait go on. */
  readonly release: () => void
  /** Answers with this instead of what it was sent, until told otherwise. */
  readonly answerWith: (body: string | undefined) => void
}

/**
 * A model server: answers with what it was sent, of the same type. `fail` as payload is a failure of its own,
 * `stream` is answered in two pieces, of which the second waits for `release`, `cut` breaks off.
 */
export const modelServer: Effect.Effect<ModelServerFake, never, Scope.Scope> = Effect.gen(function*() {
  const waiting: Array<ServerResponse> = []
  let answer: string | undefined
  const fake = yield* fakeServer(({ body, headers }, response) => {
    const type = String(headers["content-type"])
    switch (body.toString("latin1")) {
      case "fail":
        return void response.writeHead(422, { "content-type": "application/problem+json" }).end("{\"detail\":\"no such prompt\"}")
      case "stream":
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n")
        return void waiting.push(response)
      case "cut":
        response.writeHead(200, { "content-type": type, "content-length": "100" })
        return void response.write("begun", () => response.destroy())
      default:
        return void response.writeHead(200, { "content-type": type }).end(answer ?? body)
    }
  })
  return {
    origin: fake.origin,
    asked: fake.asked,
    answerWith: (body) => {
      answer = body
    },
    release: () => {
      for (const response of waiting.splice(0)) response.end("data: 2\n\n")
    }
  }
})

const written = Effect.fnUntraced(function*(upstream: string) {
  const folder = yield* tempFolder
  write(folder, { "catalog.yaml": catalogText(upstream) })
  return { dataDir: join(folder, "data"), catalog: join(folder, "catalog.yaml") }
})

/** The embedded engine over the catalog of these tests. */
export const embedded = (upstream: string) => Layer.unwrap(Effect.map(written(upstream), (options) => embeddedGarden(options)))

export const hosted = (baseUrl: string, google: Layer.Layer<GoogleAuth> = GoogleAuth.layerAnonymous) =>
  Layer.mergeAll(HostedModelCatalog.layer, HostedEndpoints.layer, HostedOperations.layer).pipe(
    Layer.provide(Transport.layer({
      project: "p1",
      location: "us-central1",
      baseUrl,
      retry: { times: 3, baseMs: 5, capMs: 20 },
      perMinute: { management: 10_000 }
    })),
    Layer.provide([Http.layer(), google, QuotaBuckets.layerMemory])
  )

/** The hosted engine, speaking HTTP with a server over the embedded one. */
export const overHttp = (upstream: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const { url } = yield* serveEmbedded({ ...(yield* written(upstream)), version: "test", port: 0, storage })
    return hosted(url)
  }))
