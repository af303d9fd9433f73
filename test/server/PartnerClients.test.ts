import { randomBytes } from "node:crypto"
import { APIError, BadRequestError } from "@anthropic-ai/sdk"
import type { MessageParam, Tool } from "@anthropic-ai/sdk/resources/messages"
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk"
import { v1 } from "@google-cloud/aiplatform"
import { Effect, Exit, Scope } from "effect"
import * as fc from "fast-check"
import { OAuth2Client } from "google-auth-library"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { chattyModel } from "../fakes/ChattyModel.ts"
import { type Fake, fakeOpenAi } from "../fakes/Openai.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

let upstream: Fake
let server: TestServer
let alone: TestServer
const scope = Scope.makeUnsafe()

beforeAll(async () => {
  upstream = await Effect.runPromise(fakeOpenAi(chattyModel).pipe(Scope.provide(scope)))
  server = await startServer({ upstream: { url: upstream.baseUrl, model: "chatty" } })
  alone = await startServer()
})
afterAll(async () => {
  await server.stop()
  await alone.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Any token will do: the server is on loopback and has none of its own. */
const signedIn = () => {
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return authClient
}

const client = (at: TestServer = server, region = "us-east5") =>
  new AnthropicVertex({
    projectId: "p1",
    region,
    baseURL: `${at.url}/v1`,
    authClient: signedIn() as never, // another version of the auth library's types
    maxRetries: 0
  })

const haiku = "claude-3-5-haiku@20241022"
const sonnet = "claude-3-7-sonnet@20250219"
const asks = (content: string) => ({ model: haiku, max_tokens: 100, messages: [{ role: "user" as const, content }] })
const weather: Tool = {
  name: "weather",
  description: "The weather of a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

const policy = "Travel\n\nFlights are booked by the team.\n\nHotels\n\nA night may cost 120 euros in cities."
const citable = (data: string, title: string) =>
  ({ type: "document", source: { type: "text", media_type: "text/plain", data }, title, citations: { enabled: true } }) as const
const asksToCite = {
  model: sonnet,
  max_tokens: 300,
  messages: [{
    role: "user" as const,
    content: [citable("Nothing about it.", "other"), citable(policy, "policy"), {
      type: "text" as const,
      text: "How much may a night in a hotel cost?"
    }]
  }]
}

const failureOf = async (call: PromiseLike<unknown>) => {
  const error = await Promise.resolve(call).then(() => undefined, (error: unknown) => error)
  if (!(error instanceof APIError)) assert.fail(`no error of the API: ${String(error)}`)
  return error
}

type Place = ReadonlyArray<string | number>

/** Where something is in a JSON value. */
const placesIn = (json: unknown): ReadonlyArray<Place> => {
  const entries = Array.isArray(json) ? [...json.entries()] : typeof json === "object" && json !== null ? Object.entries(json) : []
  return [[], ...entries.flatMap(([key, value]) => placesIn(value).map((place) => [key, ...place]))]
}

/** The value with another in a place; null takes out what is there. */
const changed = (json: unknown, [key, ...rest]: Place, value: unknown): unknown => {
  if (key === undefined) return value
  if (typeof json !== "object" || json === null) return json
  const next = changed(Reflect.get(json, key), rest, value)
  if (Array.isArray(json)) return json.flatMap((each: unknown, i) => (i !== key ? [each] : next === null ? [] : [next]))
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, each]) => (name !== String(key) ? [[name, each]] : next === null ? [] : [[name, next]]))
  )
}

describe("@anthropic-ai/vertex-sdk", () => {
  it("gets a message", async () => {
    const message = await client().messages.create({ ...asks("hi"), system: "Be brief." })
    assert.deepStrictEqual(message.content.map((block) => block.type === "text" && block.text), ["Hello there"])
    assert.deepStrictEqual([message.type, message.role, message.model, message.stop_reason], [
      "message",
      "assistant",
      "claude-3-5-haiku-20241022",
      "end_turn"
    ])
    assert.deepInclude(message.usage, { input_tokens: 20, output_tokens: 7 })
    assert.match(message._request_id ?? "", /^req_vrtx_/)
  })

  it("streams a message", async () => {
    const stream = client().messages.stream(asks("hi"))
    let text = ""
    stream.on("text", (delta) => (text += delta))
    const message = await stream.finalMessage()
    assert.strictEqual(text, "Hello there")
    assert.deepInclude(message.usage, { input_tokens: 20, output_tokens: 7 })
    assert.strictEqual(message.stop_reason, "end_turn")
    const kinds: Array<string> = []
    for await (const event of await client().messages.create({ ...asks("hi"), stream: true })) kinds.push(event.type)
    assert.deepStrictEqual(kinds, [
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop"
    ])
  })

  it("has tools called, and gives their results", async () => {
    const messages: Array<MessageParam> = [{ role: "user", content: "weather?" }]
    const called = await client().messages.stream({ ...asks(""), messages, tools: [weather] }).finalMessage()
    assert.strictEqual(called.stop_reason, "tool_use")
    const calls = called.content.filter((block) => block.type === "tool_use")
    assert.deepStrictEqual(calls.map(({ input }) => input), [{ city: "Osaka" }, { city: "Kyoto" }])
    messages.push({ role: "assistant", content: called.content })
    messages.push({ role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "22 degrees" })) })
    const answer = await client().messages.create({ ...asks(""), messages, tools: [weather] })
    assert.strictEqual(answer.content[0]?.type === "text" && answer.content[0].text, "The tool says 22 degrees")
  })

  it("has it think, and gives the thoughts back", async () => {
    const asked = { ...asks("why?"), model: sonnet, max_tokens: 2048, thinking: { type: "enabled" as const, budget_tokens: 1024 } }
    const answer = await client().messages.stream(asked).finalMessage()
    assert.deepStrictEqual(answer.content.map(({ type }) => type), ["thinking", "text"])
    assert.strictEqual(answer.content[0]?.type === "thinking" && answer.content[0].thinking, "Hm. Yes.")
    const next = await client().messages.create({
      ...asked,
      messages: [...asked.messages, { role: "assistant", content: answer.content }, { role: "user", content: "sure?" }]
    })
    assert.strictEqual(next.stop_reason, "end_turn")
  })

  it("has documents cited without a model behind the server, streamed or not, and refuses it with one", async () => {
    const message = await client(alone).messages.create(asksToCite)
    const streamed = await client(alone).messages.stream(asksToCite).finalMessage()
    assert.deepStrictEqual(streamed.content, message.content)
    const [block] = message.content
    if (block?.type !== "text") assert.fail("no text")
    assert.include(block.text, "120 euros")
    const [cited] = block.citations ?? []
    if (cited?.type !== "char_location") assert.fail("no place")
    assert.deepInclude(cited, { document_index: 1, document_title: "policy" })
    assert.strictEqual(policy.slice(cited.start_char_index, cited.end_char_index), cited.cited_text)

    const nowhere = {
      ...asksToCite,
      messages: [{
        role: "user" as const,
        content: [citable(policy, "policy"), { type: "text" as const, text: "Who is the king of Spain?" }]
      }]
    }
    const [refused] = (await client(alone).messages.create(nowhere)).content
    assert.strictEqual(refused?.type === "text" && refused.text, "The text given does not answer this.")
    assert.match((await failureOf(client().messages.create(asksToCite))).message, /messages\.0\.content\.0\.citations/)
  })

  it("has blocks and search results cited, in a message and in what a tool found", async () => {
    const blocks = {
      type: "document" as const,
      title: "rules",
      source: {
        type: "content" as const,
        content: [{ type: "text" as const, text: "Cranes 🏗 rest at night." }, { type: "text" as const, text: policy }]
      },
      citations: { enabled: true }
    }
    const result = {
      type: "search_result" as const,
      source: "https://intranet/prize",
      title: "Raffle",
      content: [{ type: "text" as const, text: "The raffle is in May." }, {
        type: "text" as const,
        text: "The prize of the raffle is nine elephants."
      }],
      citations: { enabled: true }
    }
    const asking = async (messages: Array<MessageParam>) => {
      const message = await client(alone).messages.create({ ...asksToCite, messages })
      const [block] = message.content
      return block?.type === "text" ? block.citations?.[0] : undefined
    }
    const asked = (text: string): MessageParam => ({ role: "user", content: [blocks, result, { type: "text", text }] })
    const ofBlock = await asking([asked("How much may a night in a hotel cost?")])
    assert.deepInclude(ofBlock, {
      type: "content_block_location",
      document_index: 0,
      document_title: "rules",
      start_block_index: 1,
      end_block_index: 2
    })
    const place = { type: "search_result_location" as const, search_result_index: 0, source: result.source, title: "Raffle" }
    const ofResult = { ...place, start_block_index: 1, end_block_index: 2 }
    assert.deepInclude(await asking([asked("What is the prize of the raffle?")]), ofResult)
    const found = await asking([
      { role: "user", content: "What is the prize of the raffle?" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "find", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [result] }] }
    ])
    assert.deepInclude(found, ofResult)
  })

  it("takes names of features on trial", async () => {
    const answer = await client(alone).beta.messages.create({ ...asks("hi"), betas: ["context-1m-2025-08-07"] })
    assert.strictEqual(answer.type, "message")
  })

  it("counts tokens", async () => {
    const { input_tokens } = await client().messages.countTokens({ model: sonnet, messages: [{ role: "user", content: "Hello there" }] })
    assert.isAbove(input_tokens, 0)
  })

  it("hears of mistakes in the model's words", async () => {
    const failure = await failureOf(client().messages.create({ ...asks("hi"), max_tokens: 0 }))
    assert.instanceOf(failure, BadRequestError)
    assert.strictEqual(failure.type, "invalid_request_error")
    assert.include(failure.apiMessage, "max_tokens: must be a whole number, 1 or more")
    const budget = await failureOf(
      client().messages.create({ ...asks("hi"), model: sonnet, thinking: { type: "enabled", budget_tokens: 10 } })
    )
    assert.include(budget.apiMessage, "thinking.budget_tokens: must be 1024 or more")
    assert.include((await failureOf(client().messages.create(asks("fail")))).apiMessage, "the model cannot")
  })

  it("hears of an error within a stream", async () => {
    const stream = client().messages.stream(asks("break"))
    let text = ""
    stream.on("text", (delta) => (text += delta))
    const failure = await failureOf(stream.finalMessage())
    assert.strictEqual(text, "So ")
    assert.strictEqual(failure.type, "overloaded_error")
  })

  it("hears of a model that is elsewhere as Google tells it", async () => {
    const failure = await failureOf(client(server, "us-central1").messages.create(asks("hi")))
    assert.strictEqual(failure.status, 404)
    const error = failure.error as { readonly error: { readonly status: string; readonly message: string; readonly details: unknown } } // google.rpc.Status
    assert.strictEqual(error.error.status, "NOT_FOUND")
    assert.match(
      error.error.message,
      /^Publisher Model `projects\/p1\/locations\/us-central1\/publishers\/anthropic\/models\/claude-3-5-haiku@20241022` was not found/
    )
    assert.include(JSON.stringify(error.error.details), "use us-east5")
  })

  it("stops the model when it goes away", async () => {
    const stream = client().messages.stream(asks("on forever"))
    for await (const event of stream) if (event.type === "content_block_delta") break
    await until("the upstream is left", () => upstream.received.at(-1)?.aborted === true)
  })

  it("is told what takes a model, where there is none", async () => {
    const answer = await client(alone).messages.create(asks("The hotel limit in Osaka is 120 EUR.\n\nWhat is the hotel limit in Osaka?"))
    assert.include(answer.content[0]?.type === "text" ? answer.content[0].text : "", "120 EUR")
    const thinking = await failureOf(
      client(alone).messages.create({
        ...asks("why?"),
        model: sonnet,
        max_tokens: 2048,
        thinking: { type: "enabled", budget_tokens: 1024 }
      })
    )
    assert.strictEqual(thinking.type, "invalid_request_error")
    assert.include(thinking.apiMessage, "--upstream")
    const forced = await failureOf(client(alone).messages.create({ ...asks("weather?"), tools: [weather], tool_choice: { type: "any" } }))
    assert.match(forced.apiMessage ?? "", /^tool_choice: .*--upstream/)
    const prefilled = await failureOf(
      client(alone).messages.create({ ...asks(""), messages: [{ role: "user", content: "hi" }, { role: "assistant", content: "Ho" }] })
    )
    assert.match(prefilled.apiMessage ?? "", /^messages\.1\.content: .*--upstream/)
  })
})

describe("what other clients send", () => {
  const where = (model: string, method = "rawPredict") =>
    `/v1/projects/p1/locations/us-east5/publishers/anthropic/models/${model}:${method}`
  const body = { anthropic_version: "vertex-2023-10-16", max_tokens: 10, messages: [{ role: "user", content: "hi" }] }
  const post = (path: string, body: unknown) =>
    fetch(`${server.url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

  it("is answered: an encoded model, the other version, a stream that is not to be one", async () => {
    for (
      const path of [where("claude-3-5-haiku%4020241022"), where(haiku).replace("/v1/", "/v1beta1/"), where(haiku, "streamRawPredict")]
    ) {
      const response = await post(path, body)
      assert.strictEqual(response.status, 200)
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/)
      assert.include(await response.json(), { stop_reason: "end_turn" })
    }
  })

  it("may be 20 images of 5 MB, which others may not", async () => {
    const data = randomBytes(5 * 1024 * 1024).toString("base64")
    const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}`
    const images = Array.from({ length: 20 }, () => image).join(",")
    const counted = await fetch(`${server.url}${where("count-tokens")}`, {
      method: "POST",
      body: `{"model":"${haiku}","messages":[{"role":"user","content":[${images}]}]}`
    })
    assert.deepStrictEqual([counted.status, await counted.json()], [200, { input_tokens: 20 * 1_600 }])
    const elsewhere = await fetch(`${server.url}/v1/projects/p1/locations/us-central1:retrieveContexts`, {
      method: "POST",
      body: `{"a":[${images.slice(0, 22_000_000)}`
    })
    assert.strictEqual(elsewhere.status, 400)
    assert.include(await elsewhere.text(), "payload size exceeds the limit")
  })

  it("is held to the quotas of the model, where those are enforced", async () => {
    const strict = await startServer({ upstream: { url: upstream.baseUrl, model: "chatty" }, vertexQuotas: true })
    try {
      const opus = `${strict.url}${where("claude-3-opus@20240229", "streamRawPredict")}`
      const statuses: Array<number> = []
      let last: Response | undefined
      for (let i = 0; i < 21; i++) {
        last = await fetch(opus, { method: "POST", body: JSON.stringify({ ...body, stream: i % 2 === 0 }) })
        statuses.push(last.status)
        if (last.status === 200) await last.text()
        // What is refused uses up nothing.
        assert.strictEqual(
          (await fetch(opus, { method: "POST", body: JSON.stringify({ ...body, max_tokens: 0 }) })).status,
          i < 19 ? 400 : 429
        )
      }
      assert.deepStrictEqual(statuses, [...Array.from({ length: 20 }, () => 200), 429])
      assert.isAbove(Number(last?.headers.get("retry-after")), 0)
      assert.match(await last?.text() ?? "", /"status":"RESOURCE_EXHAUSTED".*RATE_LIMIT_EXCEEDED/)
      assert.strictEqual((await fetch(`${strict.url}${where(haiku)}`, { method: "POST", body: JSON.stringify(body) })).status, 200)
    } finally {
      await strict.stop()
    }
  })

  it("may be a message that holds the body, as Google's library has it", async () => {
    const predictions = new v1.PredictionServiceClient({
      fallback: true,
      protocol: "http",
      apiEndpoint: "127.0.0.1",
      port: server.port,
      authClient: signedIn()
    } as unknown as NonNullable<ConstructorParameters<typeof v1.PredictionServiceClient>[0]>) // its types know nothing of `protocol`
    const [answer] = await predictions.rawPredict({
      endpoint: `projects/p1/locations/us-east5/publishers/anthropic/models/${haiku}`,
      httpBody: { contentType: "application/json", data: Buffer.from(JSON.stringify(body)) }
    })
    assert.include(JSON.parse(Buffer.from(answer.data ?? "").toString()), { type: "message", stop_reason: "end_turn" })
  })

  it("is answered or refused in the model's form, whatever it is", async () => {
    const whole = {
      ...body,
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "a" }, { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }]
        },
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: "t", signature: "s" }, { type: "tool_use", id: "c", name: "weather", input: {} }]
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "r" }], is_error: true }] }
      ],
      tools: [weather],
      tool_choice: { type: "auto" },
      stop_sequences: ["x"],
      metadata: { user_id: "u" }
    }
    const places = placesIn(whole)
    const nonsense = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(null, "", " ", -1, 1e308, {}, [], { type: "url" }, [{ type: "text" }], { __proto__: null, toString: 1 })
    )
    const change = fc.tuple(fc.constantFrom(...places), fc.option(nonsense))
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(where(haiku), where(haiku, "streamRawPredict"), where("count-tokens")),
        async (changes, path) => {
          const response = await post(path, changes.reduce((json, [place, value]) => changed(json, place, value), whole as unknown))
          const text = await response.text()
          assert.include([200, 400], response.status, text)
          if (response.status !== 400) return
          const answer: unknown = JSON.parse(text)
          assert.deepNestedInclude(answer, { type: "error", "error.type": "invalid_request_error" })
        }
      ),
      { numRuns: 150, endOnFailure: true }
    )
  })

  it("is a stream of events when it asks for one", async () => {
    const response = await post(where(haiku, "streamRawPredict"), { ...body, stream: true })
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
    assert.match(
      await response.text(),
      /^event: message_start\ndata: \{"type":"message_start","message":\{"type":"message","role":"assistant",/
    )
  })

  it("is refused for a publisher that is not there, and for a body that is none", async () => {
    const other = await post(where(haiku).replace("anthropic", "acme"), body)
    assert.strictEqual(other.status, 404)
    assert.include(await other.text(), "\"status\":\"NOT_FOUND\"")
    for (const bad of [[], "x", null, { ...body, anthropic_version: undefined }]) {
      const response = await post(where(haiku), bad)
      assert.strictEqual(response.status, 400)
      assert.match(await response.text(), /^\{"type":"error","error":\{"type":"invalid_request_error",/)
    }
  })
})
