import type { Catalog } from "./CatalogFile.ts"
import { hubPublisherModel } from "../../../domain/models/ModelCatalog.ts"

const imageUri = "us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/pytorch-vllm-serve:20250312_0916_RC01"
const routes = { ports: [8080], predictRoute: "/generate", healthRoute: "/ping" }
const l4 = { machine: { machineType: "g2-standard-12", acceleratorType: "NVIDIA_L4", acceleratorCount: 1 } }

const server = (model: string) => [
  "python",
  "-m",
  "vllm.entrypoints.api_server",
  "--host=0.0.0.0",
  "--port=8080",
  `--model=${model}`,
  "--tensor-parallel-size=1",
  "--swap-space=16",
  "--gpu-memory-utilization=0.95",
  "--disable-log-stats"
]

const sampleRequest = JSON.stringify({
  instances: [{ "@requestFormat": "chatCompletions", messages: [{ role: "user", content: "What is machine learning?" }], max_tokens: 100 }]
})

/** A model of the hub, served like the catalog's own models. */
const ofHub = (owner: string, model: string) => ({
  name: hubPublisherModel(`${owner}/${model}`),
  versionId: "001",
  verified: true,
  deploy: [{
    modelDisplayName: model.toLowerCase(),
    container: { imageUri, args: server(`${owner}/${model}`), ...routes },
    resources: l4,
    sampleRequest
  }]
})

/**
 * A few models to start with, where no custom catalog is configured: the first as listed in the service's documentation
 * (cloud.google.com/vertex-ai/generative-ai/docs/model-garden), and two of the hub as examples. None has the address of a server.
 */
export const defaultCatalog: Catalog = {
  models: [
    {
      name: "publishers/google/models/gemma3",
      versionId: "gemma-3-1b-it",
      openSourceCategory: "GOOGLE_OWNED_OSS_WITH_GOOGLE_CHECKPOINT",
      eula: true,
      fastTryout: true,
      deploy: [{
        modelDisplayName: "gemma-3-1b-it",
        container: {
          imageUri,
          args: server("gs://vertex-model-garden-restricted-us/gemma3/gemma-3-1b-it"),
          env: [{ name: "MODEL_ID", value: "google/gemma-3-1b-it" }, { name: "DEPLOY_SOURCE", value: "UI_NATIVE_MODEL" }],
          ...routes
        },
        resources: l4,
        publicArtifactUri: "gs://vertex-model-garden-restricted-us/gemma3/gemma3.tar.gz",
        deployTaskName: "vLLM 128K context",
        sampleRequest
      }]
    },
    { ...ofHub("google", "gemma-2-2b-it"), openSourceCategory: "GOOGLE_OWNED_OSS", eula: true, gated: true },
    { ...ofHub("Qwen", "Qwen2.5-1.5B-Instruct"), openSourceCategory: "THIRD_PARTY_OWNED_OSS" }
  ]
}
