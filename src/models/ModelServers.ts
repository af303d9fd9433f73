import { Effect, Option, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { callJson, type Caller } from "../net/Call.ts"
import * as Http from "../net/Http.ts"
import type { FoundModelServer, ProvenModel } from "../ports/ModelServer.ts"

/** Ports on which model servers listen by default. */
const usualPorts = [[11434, "Ollama"], [1234, "LM Studio"], [8080, "llama.cpp"], [8000, "vLLM"]] as const

/** Milliseconds to list the models of a server. */
const listingMs = 1_000
/** Milliseconds for one answer: a local server may have to load the model first. */
const answerMs = 60_000

const Listing = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const Answer = Schema.Struct({ choices: Schema.NonEmptyArray(Schema.Unknown) })
const Vectors = Schema.Struct({ data: Schema.NonEmptyArray(Schema.Struct({ embedding: Schema.Array(Schema.Finite) })) })

/** Matches names of embedding models; the protocol does not distinguish them. */
const embeds = /embed|minilm|\b(?:bge|gte|e5)\b/i

interface Candidate {
  readonly name: string
  readonly url: string
  readonly key?: Redacted.Redacted<string>
}

/**
 * The servers that speak OpenAI's protocol at `OPENAI_BASE_URL` and at the usual ports of this machine. One chat model and one embedding
 * model are called once each. Servers that do not answer, or have no models, are left out.
 */
export const findModelServers = (env: Readonly<Record<string, string | undefined>>): Effect.Effect<ReadonlyArray<FoundModelServer>> =>
  Effect.gen(function*() {
    const http = yield* HttpClient.HttpClient
    const given = env["OPENAI_BASE_URL"]?.replace(/\/+$/, "")
    const key = env["OPENAI_API_KEY"]
    const candidates: ReadonlyArray<Candidate> = [
      ...(given === undefined || given === ""
        ? []
        : [{ name: "OPENAI_BASE_URL", url: given, key: key === undefined || key === "" ? undefined : Redacted.make(key) }]),
      ...usualPorts.map(([port, name]) => ({ name, url: `http://127.0.0.1:${port}/v1` })).filter(({ url }) => url !== given)
    ]
    const found = yield* Effect.forEach(candidates, (candidate) => look(http, candidate), { concurrency: candidates.length })
    return found.flatMap(Option.toArray)
  }).pipe(Effect.provide(Http.layer({ connectTimeoutMs: listingMs })))

const look = (http: HttpClient.HttpClient, { key, name, url }: Candidate): Effect.Effect<Option.Option<FoundModelServer>> =>
  Effect.gen(function*() {
    const caller = (timeoutMs: number): Caller => ({ http, timeoutMs, retry: { times: 0 } })
    const signed = (request: HttpClientRequest.HttpClientRequest) =>
      key === undefined ? request : HttpClientRequest.bearerToken(request, key)
    const listing = yield* callJson(caller(listingMs), "the model server", signed(HttpClientRequest.get(`${url}/models`)), Listing).pipe(
      Effect.option
    )
    if (Option.isNone(listing) || listing.value.data.length === 0) return Option.none()
    const models = listing.value.data.map(({ id }) => id)
    const embedder = models.find((id) => embeds.test(id))
    const answerer = models.find((id) => !embeds.test(id))
    const post = <A>(path: string, body: object, schema: Schema.Decoder<A>) =>
      callJson(
        caller(answerMs),
        `the model server ${new URL(url).host}`,
        signed(HttpClientRequest.post(`${url}${path}`)).pipe(HttpClientRequest.bodyJsonUnsafe(body)),
        schema
      ).pipe(Effect.result)
    const proven = <A>(model: string, result: Result.Result<A, { readonly message: string }>, dimensions?: number): ProvenModel =>
      Result.isFailure(result) ? { model, problem: result.failure.message } : { model, dimensions }
    const answered = answerer === undefined
      ? undefined
      : yield* post("/chat/completions", { model: answerer, max_tokens: 1, messages: [{ role: "user", content: "Say yes." }] }, Answer)
    const embedded = embedder === undefined ? undefined : yield* post("/embeddings", { model: embedder, input: ["yes"] }, Vectors)
    return Option.some({
      name,
      url,
      signed: key !== undefined,
      answers: answerer === undefined || answered === undefined ? undefined : proven(answerer, answered),
      embeds: embedder === undefined || embedded === undefined
        ? undefined
        : proven(embedder, embedded, Result.isSuccess(embedded) ? embedded.success.data[0].embedding.length : undefined)
    })
  })
