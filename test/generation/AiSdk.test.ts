import { createVertexAnthropic } from "@ai-sdk/google-vertex/anthropic"
import { generateText, Output, streamText, tool } from "ai"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { z } from "zod"
import { chattyModel } from "../fakes/ChattyModel.ts"
import { delta, type Fake, fakeOpenAi, sendChat, sendChunks } from "../fakes/Openai.ts"
import { startServer, type TestServer } from "../server/support/TestServer.ts"

let upstream: Fake
let server: TestServer
let alone: TestServer
const scope = Scope.makeUnsafe()

beforeAll(async () => {
  upstream = await Effect.runPromise(
    fakeOpenAi((request, response) => {
      const { response_format: format, tools = [] } = request.body as {
        readonly response_format?: object
        readonly tools?: ReadonlyArray<{ readonly function: { readonly name: string } }>
      }
      const city = "{\"city\":\"Osaka\"}"
      if (format !== undefined) return sendChat(response, [city])
      if (tools[0]?.function.name !== "json") return chattyModel(request, response)
      // What the SDK has objects told by, where it takes a model to know no schemas.
      const call = { index: 0, id: "c1", function: { name: "json", arguments: city } }
      return sendChunks(response, [delta({ tool_calls: [call] }), delta({}, { finish_reason: "tool_calls" })])
    }).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: upstream.baseUrl, model: "chatty" } })
  alone = await startServer()
})
afterAll(async () => {
  await server.stop()
  await alone.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const claude = (model: string, at: TestServer = server) =>
  createVertexAnthropic({
    project: "p1",
    location: "us-east5",
    baseURL: `${at.url}/v1/projects/p1/locations/us-east5/publishers/anthropic/models`,
    headers: { authorization: "Bearer any" },
    // Its own fetch asks Google for a token first; any will do here.
    fetch: (url, init) => fetch(url, init),
    googleAuthOptions: { authClient: { getAccessToken: async () => ({ token: "any" }) } as never } // as little of one as is used
  })(model)

const older = "claude-3-7-sonnet@20250219"
const newer = "claude-sonnet-4-5@20250929"

const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `fine in ${city}`
})

const bodyOf = (post: object) =>
  fetch(`${server.url}/v1/projects/p1/locations/us-east5/publishers/anthropic/models/${Reflect.get(post, "model")}:rawPredict`, {
    method: "POST",
    body: JSON.stringify({
      anthropic_version: "vertex-2023-10-16",
      max_tokens: 3_000,
      messages: [{ role: "user", content: "hi" }],
      ...post,
      model: undefined
    })
  })
const failure = async (post: object) => {
  const response = await bodyOf(post)
  const { error } = await response.json() as { readonly error: { readonly message: string } }
  return { status: response.status, message: error.message }
}

describe("the AI SDK's Claude on Vertex AI", () => {
  it("calls tools in a stream", async () => {
    const calls: Array<unknown> = []
    const result = streamText({ model: claude(older), tools: { weather }, prompt: "How is it?", maxOutputTokens: 200 })
    let text = ""
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error
      if (part.type === "text-delta") text += part.text
      if (part.type === "tool-call") calls.push(part.input)
    }
    assert.deepStrictEqual(calls, [{ city: "Osaka" }, { city: "Kyoto" }])
    assert.strictEqual(text, "Let me look.")
  })

  it("gets objects of a schema", async () => {
    const { output } = await generateText({
      model: claude(newer),
      prompt: "Which city?",
      output: Output.object({ schema: z.object({ city: z.string() }) })
    })
    assert.deepStrictEqual(output, { city: "Osaka" })
  })

  it("asks for adaptive thinking and an effort", async () => {
    const { reasoningText, text } = await generateText({
      model: claude(newer),
      prompt: "hi",
      providerOptions: { anthropic: { thinking: { type: "adaptive" }, effort: "low", cacheControl: { type: "ephemeral" } } }
    })
    assert.deepStrictEqual([reasoningText, text], ["Hm. Yes.", "42"])
    assert.strictEqual(upstream.received.at(-1)?.body["reasoning_effort"], "low")
  })
})

describe("today's fields of Claude", () => {
  const tools = [{
    name: "weather",
    input_schema: { type: "object" },
    strict: true,
    eager_input_streaming: true,
    input_examples: [{ city: "Oslo" }],
    cache_control: { type: "ephemeral", ttl: "1h" }
  }]
  const format = { type: "json_schema", schema: { type: "object" } }

  it("reach the model, in its own terms", async () => {
    assert.strictEqual((await bodyOf({ model: newer, tools, cache_control: { type: "ephemeral" }, context_management: null })).status, 200)
    const sent = upstream.received.at(-1)?.body["tools"] as ReadonlyArray<
      { readonly function: { readonly strict?: boolean; readonly description?: string } }
    >
    assert.strictEqual(sent[0]?.function.strict, true)
    assert.include(sent[0]?.function.description, "{\"city\":\"Oslo\"}")
    for (const body of [{ output_format: format }, { output_config: { format } }]) {
      assert.strictEqual((await bodyOf({ model: newer, ...body })).status, 200)
      assert.deepStrictEqual(upstream.received.at(-1)?.body["response_format"], {
        type: "json_schema",
        json_schema: { name: "answer", schema: format.schema }
      })
    }
  })

  it("are refused for models that do not have them, by name", async () => {
    for (
      const [body, field] of [
        [{ tools }, "tools.0.strict"],
        [{ output_format: format }, "output_config.format"],
        [{ output_config: { effort: "high" } }, "output_config.effort"],
        [{ thinking: { type: "adaptive" } }, "thinking.type"],
        [{ context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } }, "context_management"]
      ] as const
    ) {
      const { message, status } = await failure({ model: older, ...body })
      assert.strictEqual(status, 400)
      assert.include(message, `${field}: ${older} does not have`)
    }
    const edits = await failure({ model: newer, context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } })
    assert.match(edits.message, /^context_management: is done by the partner's own service/)
    const both = await failure({ model: newer, output_format: format, output_config: { format } })
    assert.include(both.message, "output_format: Extra inputs are not permitted")
  })

  it("are refused where there is no model, by the field that asks", async () => {
    const ask = async (config: object) => {
      const response = await alone.call("POST", `/v1/projects/p1/locations/us-east5/publishers/anthropic/models/${newer}:rawPredict`, {
        anthropic_version: "vertex-2023-10-16",
        max_tokens: 100,
        messages: [{ role: "user", content: "hi" }],
        output_config: config
      })
      return String(response.body.error.message)
    }
    assert.match(await ask({ effort: "low" }), /^output_config\.effort: .*--upstream/)
    assert.match(await ask({ format }), /^output_config\.format: .*--upstream/)
  })
})
