/** Opens the models that a bench is given: of a server that speaks OpenAI's protocol (`URL#MODEL`), or local ones (a folder). */
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { Effect, Layer, Redacted, Schema, type Scope } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import * as CrossEncoder from "../../src/models/CrossEncoder.ts"
import * as LocalEmbedder from "../../src/models/LocalEmbedder.ts"
import type { Connection } from "../../src/models/openai/Connection.ts"
import * as OpenAiEmbedder from "../../src/models/OpenAiEmbedder.ts"
import * as ServiceRanker from "../../src/models/ServiceRanker.ts"
import * as Http from "../../src/net/Http.ts"
import type { Embedder } from "../../src/ports/Embedder.ts"
import type { Ranker } from "../../src/ports/Ranker.ts"
import * as EnvironmentSecrets from "../../src/secrets/EnvironmentSecrets.ts"

/**
 * The connection of `URL#MODEL`, with the URL up to and including the version. `OPENAI_API_KEY` is sent where it is set.
 * @throws for another form
 */
export const connectionOf = (flag: string, served: string): Connection => {
  const [url = "", model = ""] = served.split("#")
  if (!/^https?:\/\//.test(url) || model === "") throw new Error(`${flag} ${served}: give URL#MODEL, as http://127.0.0.1:1234/v1#qwen`)
  const key = process.env["OPENAI_API_KEY"]
  return { baseUrl: url.replace(/\/+$/, ""), model, ...(key === undefined ? {} : { apiKey: Redacted.make(key) }) }
}

/** Services that models of servers need. */
export const network = Layer.mergeAll(Http.layer(), EnvironmentSecrets.layer({}))

/** Options of local models. The runtime is taken from the tests' folder, or from an installation beside Sluice. */
const localModels = { cache: join(tmpdir(), "sluice-models"), from: join(import.meta.dirname, "../../node_modules/.onnx") }

const isServed = (named: string): boolean => named.includes("#")

/** Name of the folder for the vectors of a model. */
export const folderOf = (named: string): string =>
  (isServed(named) ? named.slice(named.indexOf("#") + 1) : basename(named)).replace(/[^\w.-]/g, "-")

/** An embedder by its name. A server is called once, to find the length of its vectors. */
export const embedderOf = async (named: string): Promise<Layer.Layer<Embedder, ServiceError>> => {
  if (!isServed(named)) return LocalEmbedder.layer({ model: resolve(named) }, localModels)
  const connection = connectionOf("--embedding", named)
  const key = process.env["OPENAI_API_KEY"]
  const response = await fetch(`${connection.baseUrl}/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model: connection.model, input: ["length"] })
  })
  if (!response.ok) throw new Error(`${connection.baseUrl}/embeddings answered ${response.status} for ${connection.model}`)
  const { data } = decodeVectors(await response.json())
  return OpenAiEmbedder.layer({ ...connection, dimensions: data[0].embedding.length }).pipe(Layer.provide(network))
}

const decodeVectors = Schema.decodeUnknownSync(
  Schema.Struct({ data: Schema.NonEmptyArray(Schema.Struct({ embedding: Schema.Array(Schema.Finite) })) })
)

/** A reranker of a server with `/rerank`, or a cross encoder in a folder, which stays open as long as the scope. */
export const rankerOf = (named: string): Effect.Effect<Ranker["Service"], ServiceError, Scope.Scope> =>
  isServed(named)
    ? Effect.gen(function*() {
      return yield* ServiceRanker.make(connectionOf("--rank", named)).pipe(Effect.provide(yield* Layer.build(network)))
    })
    : CrossEncoder.make("--rank", { model: resolve(named) }, localModels)
