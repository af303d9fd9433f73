import Anthropic from "@anthropic-ai/sdk"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import OpenAI, { APIError } from "openai"
import { countTokens } from "../../src/text/Tokens.ts"
import { startServer } from "./support/TestServer.ts"

const token = "sesame"

/** A server with two corpora, one of which a model's name stands for. */
class Served extends Context.Service<Served, { readonly url: string }>()("test/server/CorpusChats") {}
const served = Layer.effect(
  Served,
  Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() =>
        startServer({
          token: Redacted.make(token),
          chatModels: { "gpt-handbook": "Handbook" },
          agents: { where: "has(title)" }
        })
      ),
      (server) => Effect.promise(() => server.stop())
    )
    yield* Effect.promise(async () => {
      const headers = { authorization: `Bearer ${token}` }
      for (const displayName of ["Handbook", "Twin", "Twin"]) {
        const { body } = await server.call("POST", "/v1/projects/p1/locations/us-central1/ragCorpora", { displayName }, headers)
        assert.strictEqual(body.error, undefined, JSON.stringify(body))
      }
      const { body: { ragCorpora } } = await server.call("GET", "/v1/projects/p1/locations/us-central1/ragCorpora", undefined, headers)
      const { name } = ragCorpora.find((corpus: { displayName: string }) => corpus.displayName === "Handbook")
      const documents = {
        "leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
        "prize.txt": "the prize of the raffle in Osaka is nine elephants."
      }
      for (const [display_name, text] of Object.entries(documents)) {
        const form = new FormData()
        form.set("metadata", JSON.stringify({ rag_file: { display_name } }))
        form.set("file", new Blob([text]), display_name)
        const response = await fetch(`${server.url}/upload/v1/${name}/ragFiles:upload`, { method: "POST", body: form, headers })
        assert.strictEqual(response.status, 200, await response.clone().text())
      }
    })
    return { url: server.url }
  })
)

const question = "How many unused days of annual leave carry over into the next year?"
const said = /^Five unused days of annual leave carry over into the next year\. ?\[1\]/

layer(served, { excludeTestServices: true })("conversations with a corpus", (it) => {
  it.effect("chat completions, by OpenAI's client: whole, streamed, by another name, and as a conversation", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        for (const model of ["corpus/Handbook", "gpt-handbook"]) {
          const { choices: [choice], model: told } = await client.chat.completions.create({
            model,
            temperature: 0.2,
            messages: [{ role: "system", content: "Be short." }, { role: "user", content: [{ type: "text", text: question }] }]
          })
          assert.strictEqual(told, model)
          const content = choice?.message.content ?? ""
          assert.match(content, said)
          const [annotation] = choice?.message.annotations ?? []
          assert.strictEqual(annotation?.type, "url_citation")
          const { end_index, start_index, title } = annotation?.url_citation ?? { end_index: 0, start_index: 0, title: "" }
          assert.strictEqual(title, "leave.md")
          assert.strictEqual(content.slice(start_index, end_index), "Five unused days of annual leave carry over into the next year.")
        }

        const stream = await client.chat.completions.create({
          model: "corpus/Handbook",
          stream: true,
          stream_options: { include_usage: true },
          messages: [{ role: "user", content: question }]
        })
        let text = ""
        let annotations: ReadonlyArray<unknown> = []
        const finished: Array<unknown> = []
        let usage = false
        for await (const chunk of stream) {
          const [choice] = chunk.choices
          text += choice?.delta.content ?? ""
          annotations = (choice?.delta as { annotations?: ReadonlyArray<unknown> } | undefined)?.annotations ?? annotations
          if (choice?.finish_reason !== null && choice !== undefined) finished.push(choice.finish_reason)
          usage ||= (chunk.usage ?? null) !== null
        }
        assert.match(text, said)
        assert.strictEqual(annotations.length, 1)
        assert.deepStrictEqual(finished, ["stop"])
        assert.isTrue(usage)

        const { choices: [followed] } = await client.chat.completions.create({
          model: "corpus/Handbook",
          messages: [
            { role: "user", content: question },
            { role: "assistant", content: "Five." },
            { role: "user", content: "And of those, how many carry over?" }
          ]
        })
        assert.match(followed?.message.content ?? "", said)
        // What has no title the operator leaves out.
        for (const content of ["Who painted the ceiling of the Sistine Chapel?", "What is the prize of the raffle in Osaka?"]) {
          const { choices: [refused] } = await client.chat.completions.create({
            model: "corpus/Handbook",
            messages: [{ role: "user", content }]
          })
          assert.match(refused?.message.content ?? "", /does not answer/)
        }
      })
    }))

  it.effect("tells the tokens of question and passages, and of the answer, in every protocol, whole and streamed", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      const anthropic = new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        const asked = { model: "corpus/Handbook", messages: [{ role: "user" as const, content: question }] }
        const { choices: [choice], usage } = await openai.chat.completions.create(asked)
        const output = countTokens(choice?.message.content ?? "")
        const input = usage?.prompt_tokens ?? 0
        // The question, and the one passage that may be shown.
        assert.isAbove(input, countTokens(question) + countTokens("Five unused days of annual leave carry over into the next year."))
        assert.isBelow(input, 2 * countTokens(question) + 30)
        assert.deepStrictEqual(usage, { prompt_tokens: input, completion_tokens: output, total_tokens: input + output })
        const told: Array<unknown> = []
        for await (
          const chunk of await openai.chat.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } })
        ) {
          if ((chunk.usage ?? null) !== null) told.push(chunk.usage)
        }
        assert.deepStrictEqual(told, [usage])

        const given = { model: "corpus/Handbook", input: question }
        const expected = { input_tokens: input, output_tokens: output, total_tokens: input + output }
        assert.deepInclude((await openai.responses.create(given)).usage, expected)
        assert.deepInclude((await openai.responses.stream(given).finalResponse()).usage, expected)

        const message = { ...asked, max_tokens: 500 }
        const tokens = { input_tokens: input, output_tokens: output }
        assert.deepInclude((await anthropic.messages.create(message)).usage, tokens)
        const stream = anthropic.messages.stream(message)
        const begun = new Promise<number>((resolve) =>
          stream.on("streamEvent", (event) => {
            if (event.type === "message_start") resolve(event.message.usage.input_tokens)
          })
        )
        assert.deepInclude((await stream.finalMessage()).usage, tokens)
        assert.strictEqual(await begun, input)
      })
    }))

  it.effect("lists corpora as models, those of one name by their ids", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      yield* Effect.promise(async () => {
        const models = await new OpenAI({ baseURL: `${url}/v1`, apiKey: token }).models.list()
        const ids = models.data.map(({ id }) => id)
        assert.includeMembers(ids, ["corpus/Handbook", "gpt-handbook"])
        assert.strictEqual(ids.filter((id) => /^corpus\/\d+$/.test(id)).length, 2)
        const others = await new Anthropic({ baseURL: url, apiKey: token }).models.list()
        assert.deepStrictEqual(others.data.map(({ id }) => id), ids)
        // Clients look one up by its id, whose slash they encode.
        const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token })
        const handbook = await openai.models.retrieve("corpus/Handbook")
        assert.deepStrictEqual(handbook, models.data.find(({ id }) => id === "corpus/Handbook"))
        const missing = await openai.models.retrieve("corpus/None").catch((error: unknown) => error)
        assert.strictEqual((missing as { status?: number }).status, 404)
      })
    }))

  it.effect("Responses, by OpenAI's client", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        const response = await client.responses.create({ model: "corpus/Handbook", instructions: "Be short.", input: question })
        assert.strictEqual(response.status, "completed")
        assert.match(response.output_text, said)
        const [item] = response.output
        const [part] = item?.type === "message" ? item.content : []
        const [annotation] = part?.type === "output_text" ? part.annotations : []
        assert.deepInclude(annotation, { type: "file_citation", filename: "leave.md" })

        const types: Array<string> = []
        let text = ""
        const stream = client.responses.stream({ model: "corpus/Handbook", input: [{ role: "user", content: question }] })
        for await (const event of stream) {
          types.push(event.type)
          if (event.type === "response.output_text.delta") text += event.delta
        }
        assert.match(text, said)
        assert.strictEqual(types.at(0), "response.created")
        assert.strictEqual(types.at(-1), "response.completed")
        assert.include(types, "response.output_text.annotation.added")
        assert.match((await stream.finalResponse()).output_text, said)
      })
    }))

  it.effect("Responses that search files, by OpenAI's client, whole, streamed and as a conversation", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        const asked = (options: object = {}) => ({
          model: "gpt-of-any-name",
          input: [{ role: "user" as const, content: question }],
          tools: [{ type: "file_search" as const, vector_store_ids: ["Handbook"], ...options }],
          include: ["file_search_call.results" as const]
        })
        const response = await client.responses.create(asked({ max_num_results: 3 }))
        assert.match(response.output_text, said)
        const [call, message] = response.output
        assert.strictEqual(call?.type, "file_search_call")
        if (call?.type !== "file_search_call" || message?.type !== "message") return assert.fail("has no call and message")
        assert.deepStrictEqual(call.queries, [question])
        assert.deepInclude(call.results?.[0], { filename: "leave.md" })
        assert.include(call.results?.[0]?.text, "carry over")
        const [part] = message.content
        assert.deepInclude(part?.type === "output_text" ? part.annotations[0] : undefined, {
          type: "file_citation",
          filename: "leave.md",
          file_id: call.results?.[0]?.file_id
        })
        assert.deepInclude(response.tools[0], { type: "file_search", max_num_results: 3 })

        const stream = client.responses.stream({ ...asked(), include: [] })
        const types: Array<string> = []
        for await (const { type } of stream) types.push(type)
        const [first, last] = [types.indexOf("response.file_search_call.in_progress"), types.indexOf("response.file_search_call.completed")]
        assert.isTrue(0 < first && first < last && last < types.indexOf("response.output_text.delta"))
        const streamed = await stream.finalResponse()
        assert.match(streamed.output_text, said)
        assert.deepInclude(streamed.output[0], { type: "file_search_call", results: null })

        const earlier = response.output.filter((item) => item.type === "message" || item.type === "file_search_call")
        const next = await client.responses.create({
          ...asked(),
          input: [...asked().input, ...earlier, { role: "user", content: question }]
        })
        assert.match(next.output_text, said)
        const none = await client.responses.create(asked({ filters: { type: "eq", key: "title", value: "Nothing" } }))
        assert.deepInclude(none.output[0], { type: "file_search_call", results: [] })

        const fails = async (body: object): Promise<string> =>
          await client.responses.create({ ...asked(), ...body }).then(() => "", (error: unknown) => String(error))
        assert.match(await fails({ tools: [{ type: "web_search" }] }), /tools\.0.*web_search/)
        assert.match(await fails({ tools: [...asked().tools, ...asked().tools] }), /tools\.1/)
        assert.match(await fails(asked({ max_num_results: 51 })), /tools\.0\.max_num_results.*50/)
        assert.match(await fails(asked({ filters: { type: "eq", key: "a b", value: 1 } })), /tools\.0\.filters/)
        const picture = { role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,AA==" }] }
        assert.match(await fails({ input: [call, picture] }), /input\.1\.content\.0/)
        assert.match(await fails({ tools: [{ type: "file_search", vector_store_ids: [] }] }), /tools\.0\.vector_store_ids/)
        assert.match(await fails({ tools: [{ type: "file_search", vector_store_ids: ["Nobody"] }] }), /404.*Nobody/)
      })
    }))

  it.effect("messages, by Anthropic's client", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const client = new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        const asked = {
          model: "corpus/Handbook",
          max_tokens: 500,
          system: "Be short.",
          messages: [{ role: "user" as const, content: question }]
        }
        const message = await client.messages.create(asked)
        assert.strictEqual(message.stop_reason, "end_turn")
        const cited = message.content.flatMap((block) => block.type === "text" ? block.citations ?? [] : [])
        assert.strictEqual(cited.length, 1)
        assert.deepInclude(cited[0], {
          type: "search_result_location",
          title: "leave.md",
          cited_text: "Five unused days of annual leave carry over into the next year."
        })
        const textOf = ({ content }: typeof message) => content.map((block) => block.type === "text" ? block.text : "").join("")
        assert.match(textOf(message), said)

        const streamed = await client.messages.stream(asked).finalMessage()
        assert.strictEqual(textOf(streamed), textOf(message))
        const [block] = streamed.content
        assert.strictEqual(block?.type === "text" ? block.citations?.length : 0, 1)
      })
    }))

  it.effect("says in each protocol's own form what is not served, and who may not ask", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      const messages = [{ role: "user" as const, content: question }]
      const failed = async (call: () => PromiseLike<unknown>) => {
        try {
          await call()
        } catch (error) {
          return { status: (error as { status?: number }).status, message: (error as Error).message }
        }
        throw new Error("it was answered")
      }
      yield* Effect.promise(async () => {
        const unknown = await failed(() => openai.chat.completions.create({ model: "corpus/Nobody", messages }))
        assert.deepInclude(unknown, { status: 404 })
        const other = await failed(() => openai.chat.completions.create({ model: "gpt-5", messages }))
        assert.strictEqual(other.status, 404)
        const twins = await failed(() => openai.chat.completions.create({ model: "corpus/Twin", messages }))
        assert.strictEqual(twins.status, 400)
        const tools = await failed(() =>
          openai.chat.completions.create({
            model: "corpus/Handbook",
            messages,
            tools: [{ type: "function", function: { name: "f", parameters: {} } }]
          })
        )
        assert.strictEqual(tools.status, 400)
        assert.match(tools.message, /tools/)
        const kept = await failed(() => openai.responses.create({ model: "corpus/Handbook", input: "a", previous_response_id: "resp_1" }))
        assert.match(kept.message, /previous_response_id/)
        const picture = await failed(() =>
          openai.chat.completions.create({
            model: "corpus/Handbook",
            messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }]
          })
        )
        assert.match(picture.message, /messages\.0\.content\.0/)
        const anthropic = await failed(() =>
          new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 }).messages.create({ model: "corpus/Nobody", max_tokens: 5, messages })
        )
        assert.strictEqual(anthropic.status, 404)
        assert.match(anthropic.message, /not_found_error/)
        const stranger = await failed(() =>
          new Anthropic({ baseURL: url, apiKey: "wrong", maxRetries: 0 }).messages.create({
            model: "corpus/Handbook",
            max_tokens: 5,
            messages
          })
        )
        assert.strictEqual(stranger.status, 401)
        const broken = await fetch(`${url}/v1/messages`, { method: "POST", body: "{", headers: { "x-api-key": token } })
        assert.strictEqual(broken.status, 400)
      })
    }))

  it.effect("vector stores, by OpenAI's client: listed, and searched by one query or several, with filters", () =>
    Effect.gen(function*() {
      const { url } = yield* Served
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
      yield* Effect.promise(async () => {
        const { data: stores } = await client.vectorStores.list()
        assert.sameMembers(stores.map(({ name }) => name), ["Handbook", "Twin", "Twin"])
        const store = stores.find(({ name }) => name === "Handbook")!
        assert.strictEqual(store.file_counts.completed, 2)
        assert.strictEqual((await client.vectorStores.retrieve(store.id)).name, "Handbook")

        const ids = stores.map(({ id }) => id)
        const page = async (query: OpenAI.VectorStores.VectorStoreListParams) => {
          const { data, has_more } = await client.vectorStores.list(query)
          return [data.map(({ id }) => ids.indexOf(id)), has_more]
        }
        assert.deepStrictEqual(await page({ limit: 2 }), [[0, 1], true])
        assert.deepStrictEqual(await page({ limit: 2, after: ids[1]! }), [[2], false])
        assert.deepStrictEqual(await page({ limit: 1, before: ids[2]! }), [[1], true])
        assert.deepStrictEqual(await page({ order: "asc" }), [[2, 1, 0], false])
        const all: Array<string> = []
        for await (const { id } of client.vectorStores.list({ limit: 1 })) all.push(id)
        assert.deepStrictEqual(all, ids)
        const raw: object = await client.get("/vector_stores", { query: { limit: 2, order: "asc" } })
        assert.deepInclude(raw, { first_id: ids[2], last_id: ids[1], has_more: true })
        for (const query of [{ limit: 0 }, { limit: 101 }, { order: "up" }, { after: "nobody" }]) {
          const refused: unknown = await client.get("/vector_stores", { query }).catch((error: unknown) => error)
          if (!(refused instanceof APIError)) assert.fail(`${JSON.stringify(query)} was not refused`)
          assert.include(JSON.stringify(refused.error), Object.keys(query).join())
        }

        const search = (body: OpenAI.VectorStores.VectorStoreSearchParams, id = store.id) => client.vectorStores.search(id, body)
        const { data: [first] } = await search({ query: question, max_num_results: 3 })
        assert.strictEqual(first?.filename, "leave.md")
        assert.include(first?.content[0]?.text, "Five unused days")
        assert.isAbove(first?.score ?? 0, 0)
        assert.strictEqual((await search({ query: ["leave", "annual leave"] }, "Handbook")).data[0]?.filename, "leave.md")
        // What has no title the operator leaves out, whatever the filter says.
        assert.deepStrictEqual((await search({ query: "raffle in Osaka elephants" })).data.map(({ filename }) => filename), ["leave.md"])
        const titled = (type: "eq" | "ne", value: string) => search({ query: question, filters: { type, key: "title", value } })
        assert.lengthOf((await titled("eq", "Leave")).data, 1)
        assert.lengthOf((await titled("ne", "Leave")).data, 0)
        assert.lengthOf(
          (await search({ query: question, filters: { type: "and", filters: [{ type: "eq", key: "title", value: "Leave" }] } })).data,
          1
        )
        assert.lengthOf((await search({ query: question, ranking_options: { score_threshold: 2 } as object })).data, 0)

        const refusals: ReadonlyArray<readonly [OpenAI.VectorStores.VectorStoreSearchParams, string, string]> = [
          [{ query: question, max_num_results: 51 }, store.id, "max_num_results"],
          [{ query: question, filters: { type: "eq", key: "title) || (has(x)", value: "x" } }, store.id, "filters"],
          [{ query: question, filters: { type: "in", key: "title", value: "x" } as never }, store.id, "filters"],
          [{ query: question, filters: { type: "eq", value: "x" } as never }, store.id, "filters: eq needs a key and a value"],
          [{ query: question, filters: { type: "like", key: "title", value: "x" } as never }, store.id, "\\\"eq\\\""],
          [{ query: [] }, store.id, "query"],
          [{ query: question }, "Nobody", "Nobody"],
          [{ query: question }, "Twin", "vector_stores/"]
        ]
        for (const [body, id, told] of refusals) {
          const refused: unknown = await search(body, id).then(() => undefined, (error: unknown) => error)
          if (!(refused instanceof APIError)) assert.fail(`${told} was not refused`)
          assert.include(JSON.stringify(refused.error), told)
        }
      })
    }))
})
