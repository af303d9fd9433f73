import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { CorpusName } from "../../../src/domain/Corpus.ts"
import { RagFileName } from "../../../src/domain/RagFile.ts"
import type { Context } from "../../../src/domain/Retrieval.ts"
import * as GeminiChat from "../../../src/engines/vertex/GeminiChat.ts"
import * as GenerateContent from "../../../src/engines/vertex/GenerateContent.ts"
import * as HostedGeneration from "../../../src/engines/vertex/HostedGeneration.ts"
import * as RagStoreGenerator from "../../../src/engines/vertex/RagStoreGenerator.ts"
import { Generation } from "../../../src/ports/Generation.ts"
import * as GroundedGenerator from "../../../src/models/GroundedGenerator.ts"
import { type Call, type FakeVertex, fakeVertex } from "../../fakes/Vertex.ts"
import { hosted } from "./Engine.ts"

const corpus = CorpusName.make("projects/p1/locations/us-central1/ragCorpora/1")
const path = "/v1beta1/projects/p1/locations/us-central1/publishers/google/models/gemini-2.0-flash:streamGenerateContent?alt=sse"

const context: Context = {
  chunkId: "c1",
  file: RagFileName.make(`${corpus}/ragFiles/7`),
  sourceUri: "claims.md",
  sourceDisplayName: "claims.md",
  text: "Claims are paid within 10 working days. Café bills too.",
  headings: [],
  score: 1,
  byteStart: 100
}

const piece = (text: string, more: object = {}) => ({ candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }] })
const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 }

const events = ({ response }: Call, chunks: ReadonlyArray<object>) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`)
}

/** Runs a test with a service that answers methods of generation as the script says. */
const onModel = <A, E>(
  script: (call: Call) => void,
  body: (generation: Generation["Service"], fake: FakeVertex, calls: GenerateContent.GenerateContent["Service"]) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const fake = yield* fakeVertex
    fake.handle = (call) => {
      script(call)
      return true
    }
    const service = HostedGeneration.layer.pipe(Layer.provideMerge(GenerateContent.layer), Layer.provide(hosted(fake.baseUrl)))
    return yield* Effect.gen(function*() {
      return yield* body(yield* Generation, fake, yield* GenerateContent.GenerateContent)
    }).pipe(Effect.provide(service))
  }).pipe(Effect.scoped)

const promptOnly = (generation: Generation["Service"]) => GroundedGenerator.make(GeminiChat.make(generation, "gemini-2.0-flash"))

describe("answers from given contexts", () => {
  it.live("stream, with verified citations and usage", () =>
    onModel(
      (call) => {
        events(call, [
          piece("Claims are paid within ten days [1 \"paid within 10"),
          piece(" working days\"]."),
          { ...piece("", { finishReason: "STOP" }), usageMetadata }
        ])
        call.response.end()
      },
      (generation, fake) =>
        Effect.gen(function*() {
          const parts = yield* Stream.runCollect(promptOnly(generation).stream({ question: "When are claims paid?", contexts: [context] }))
          const last = parts.at(-1)
          assert.strictEqual(last?._tag, "done")
          if (last?._tag !== "done") return
          const text = parts.flatMap((part) => part._tag === "text" ? [part.text] : []).join("")
          assert.strictEqual(text, "Claims are paid within ten days [1].")
          assert.strictEqual(last.answer.text, text)
          assert.strictEqual(last.answer.citations[0]?.quote, "paid within 10 working days")
          assert.deepStrictEqual(last.answer.usage, { promptTokens: 12, answerTokens: 5, totalTokens: 17 })
          assert.strictEqual(fake.calls[0]?.path, path)
          const sent = JSON.parse(fake.calls[0]?.body ?? "")
          assert.deepStrictEqual(Object.keys(sent).toSorted(), ["contents", "systemInstruction"])
          assert.include(sent.contents[0].parts[0].text, context.text)
        })
    ))

  const failing = (name: string, code: string, script: (call: Call) => void, tries = 1, says?: RegExp) =>
    it.live(`${name}: ${code}`, () =>
      onModel(script, (generation, fake) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(promptOnly(generation).answer({ question: "q", contexts: [context] }))
          assert.strictEqual(error.code, code)
          if (says !== undefined) assert.match(error.message, says)
          assert.strictEqual(fake.calls.length, tries)
        })))

  it.live("a connection dropped in mid-stream is not asked again: UNAVAILABLE", () => {
    let drop: () => void = () => undefined
    return onModel(
      (call) => {
        events(call, [piece("Claims are paid [1 \"paid\"]. "), piece("And so ")])
        drop = () => call.response.destroy()
      },
      (generation, fake) =>
        Effect.gen(function*() {
          // Dropped when the client has the first of it, and not before.
          const error = yield* promptOnly(generation).stream({ question: "q", contexts: [context] }).pipe(
            Stream.runForEach(() => Effect.sync(drop)),
            Effect.flip
          )
          assert.strictEqual(error.code, "UNAVAILABLE")
          assert.strictEqual(fake.calls.length, 1)
        })
    )
  })
  failing("a stream that ends without its end", "UNAVAILABLE", (call) => {
    events(call, [piece("Claims are")])
    call.response.end()
  })
  failing(
    "an error inside the stream",
    "RESOURCE_EXHAUSTED",
    (call) => {
      events(call, [piece("Claims are"), { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow down" } }])
      call.response.end()
    },
    1,
    /^StreamGenerateContent of 127\.0\.0\.1:\d+: slow down$/
  )
  for (const end of ["\n", "\r\n"]) {
    failing(
      `an error after the last event, as JSON alone (${JSON.stringify(end)})`,
      "RESOURCE_EXHAUSTED",
      (call) => {
        const error = [{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow down" } }]
        call.response.writeHead(200, { "content-type": "text/event-stream" })
        call.response.write(`data: ${JSON.stringify(piece("Claims are"))}${end}${end}`)
        call.response.end(JSON.stringify(error, null, 2).replaceAll("\n", end) + end)
      },
      1,
      /^StreamGenerateContent of 127\.0\.0\.1:\d+: slow down$/
    )
  }
  failing("an event that is cut", "UNAVAILABLE", (call) => {
    call.response.writeHead(200, { "content-type": "text/event-stream" })
    call.response.end("data: {\"candidates\": [{\"con\n\n")
  })
  failing("an answer that is withheld", "FAILED_PRECONDITION", (call) => {
    events(call, [piece("Cl", { finishReason: "SAFETY" })])
    call.response.end()
  })
  failing("a prompt that is blocked", "FAILED_PRECONDITION", (call) => {
    events(call, [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }])
    call.response.end()
  })
  failing("a service that is overloaded is asked again until it begins", "UNAVAILABLE", (call) => {
    call.response.writeHead(503).end("[{\"error\": {\"code\": 503, \"status\": \"UNAVAILABLE\"}}]")
  }, 4)

  it.live("giving up closes the connection", () => {
    let closed: () => void = () => undefined
    const gone = new Promise<void>((resolve) => (closed = resolve))
    return onModel(
      (call) => {
        call.response.on("close", closed)
        events(call, [piece("Claims are paid [1 \"paid\"]. "), piece("And so ")])
      },
      (generation) =>
        Effect.gen(function*() {
          const first = yield* promptOnly(generation).stream({ question: "q", contexts: [context] }).pipe(Stream.take(1), Stream.runCollect)
          assert.strictEqual(first.length, 1)
          yield* Effect.promise(() => gone)
        })
    )
  })
})

describe("answers that the service grounds itself", () => {
  const evidence = {
    finishReason: "STOP",
    groundingMetadata: {
      groundingChunks: [{
        retrievedContext: {
          uri: "claims.md",
          title: "claims.md",
          text: context.text,
          ragChunk: { text: context.text, fileId: "7", chunkId: "c1", pageSpan: { firstPage: 2, lastPage: 3 } }
        }
      }],
      groundingSupports: [{ segment: { endIndex: 21, text: "Café bills are paid." }, groundingChunkIndices: [0], confidenceScores: [0.9] }]
    }
  }
  const grounded = { ...piece("Café bills are paid. So are claims.", evidence), usageMetadata }
  const make = (generation: GenerateContent.GenerateContent["Service"]) =>
    RagStoreGenerator.make({ generation, model: "gemini-2.0-flash", selection: { corpus, topK: 3 } })
  const expected = "Café bills are paid. [1] So are claims."

  it.live("in one piece", () =>
    onModel(
      (call) => call.response.end(JSON.stringify(grounded)),
      (_, fake, generation) =>
        Effect.gen(function*() {
          const answer = yield* make(generation).answer({ question: "Who is paid?", contexts: [context], instruction: "Be brief." })
          assert.strictEqual(answer.text, expected)
          assert.isTrue(answer.grounded)
          assert.deepStrictEqual(answer.supports, [{ start: 0, end: 20, citations: [1], confidence: 0.9 }])
          const [citation] = answer.citations
          assert.strictEqual(citation?.file, context.file)
          assert.strictEqual(citation?.chunkId, "c1")
          assert.strictEqual(citation?.lastPage, 3)
          assert.strictEqual(fake.calls[0]?.path, path.replace(":streamGenerateContent?alt=sse", ":generateContent"))
          assert.deepStrictEqual(JSON.parse(fake.calls[0]?.body ?? ""), {
            contents: [{ role: "user", parts: [{ text: "Who is paid?" }] }],
            systemInstruction: { parts: [{ text: "Be brief." }] },
            tools: [{
              retrieval: {
                vertexRagStore: {
                  ragResources: [{ ragCorpus: corpus, ragFileIds: ["7"] }],
                  ragRetrievalConfig: { topK: 3 }
                }
              }
            }]
          })
        })
    ))

  it.live("streamed, shown once its evidence is there", () =>
    onModel(
      (call) => {
        events(call, [piece("Café bills "), piece("are paid. So are claims."), { ...piece("", evidence), usageMetadata }])
        call.response.end()
      },
      (_, __, generation) =>
        Effect.gen(function*() {
          const parts = yield* Stream.runCollect(make(generation).stream({ question: "Who is paid?", contexts: [] }))
          assert.deepStrictEqual(parts.map((part) => part._tag), ["text", "done"])
          assert.strictEqual(parts[0]?._tag === "text" && parts[0].text, expected)
        })
    ))

  it.live("not at all, when nothing of the corpus bears on it", () =>
    onModel(
      (call) => call.response.end(JSON.stringify(piece("I think so.", { finishReason: "STOP" }))),
      (_, __, generation) =>
        Effect.gen(function*() {
          const answer = yield* make(generation).answer({ question: "q", contexts: [] })
          assert.isFalse(answer.grounded)
          assert.strictEqual(answer.text, "The model gave an answer, but nothing of it could be verified in the corpus.")
          assert.strictEqual(answer.unverified, "I think so.")
        })
    ))
})
