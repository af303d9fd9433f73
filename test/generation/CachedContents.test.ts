import { GoogleGenAI } from "@google/genai"
import { Effect, Exit, Scope } from "effect"
import { OAuth2Client } from "google-auth-library"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat } from "../fakes/Openai.ts"
import { leave, parent, startServer, type TestServer } from "../server/support/TestServer.ts"
import { until } from "../support/Eventually.ts"

const model = "gemini-2.0-flash-001"
const modelName = `${parent}/publishers/google/models/${model}`
const user = (text: string) => ({ role: "user", parts: [{ text }] })

describe("cached contents", () => {
  let fake: Fake
  let server: TestServer
  let plain: TestServer
  const scope = Scope.makeUnsafe()
  beforeAll(async () => {
    fake = await Effect.runPromise(fakeOpenAi((_, response) => sendChat(response, ["So ", "it is."])).pipe(Scope.provide(scope)))
    server = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
    plain = await startServer()
  })
  afterAll(async () => {
    await server.stop()
    await plain.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const create = async (content: object = {}, at = server) => {
    const { body, status } = await at.call("POST", `/v1/${parent}/cachedContents`, {
      model: modelName,
      contents: [user("The sky is green.")],
      ...content
    })
    assert.strictEqual(status, 200, JSON.stringify(body))
    return body
  }

  it("stand before a request of Google's client, and are named in its usage", async () => {
    const authClient = new OAuth2Client()
    authClient.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
    const ai = new GoogleGenAI({
      vertexai: true,
      project: "p1",
      location: "us-central1",
      httpOptions: { baseUrl: server.url },
      googleAuthOptions: { authClient: authClient as never } // another version of the auth library's types
    })
    const made = await ai.caches.create({
      model,
      config: { displayName: "sky", contents: "The sky is green.", systemInstruction: "Be brief.", ttl: "600s" }
    })
    const life = Date.parse(made.expireTime ?? "") - Date.parse(made.createTime ?? "")
    assert.isTrue(life > 590_000 && life < 610_000, `${life}`)
    assert.isAbove(made.usageMetadata?.totalTokenCount ?? 0, 4)
    const name = made.name ?? ""

    const asked = await ai.models.generateContent({ model, contents: "What colour is it?", config: { cachedContent: name } })
    assert.strictEqual(asked.text, "So it is.")
    assert.deepStrictEqual(fake.received.at(-1)?.body.messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "The sky is green." },
      { role: "user", content: "What colour is it?" }
    ])
    assert.strictEqual(asked.usageMetadata?.cachedContentTokenCount, made.usageMetadata?.totalTokenCount)
    const pieces = []
    for await (const piece of await ai.models.generateContentStream({ model, contents: "And now?", config: { cachedContent: name } })) {
      pieces.push(piece)
    }
    assert.strictEqual(pieces.map(({ text = "" }) => text).join(""), "So it is.")
    assert.isAbove(pieces.at(-1)?.usageMetadata?.cachedContentTokenCount ?? 0, 0)

    const expireTime = new Date(Date.now() + 7_200_000).toISOString()
    assert.strictEqual((await ai.caches.update({ name, config: { expireTime } })).expireTime, expireTime)
    assert.strictEqual((await ai.caches.get({ name })).displayName, "sky")
    const listed = []
    for await (const each of await ai.caches.list()) listed.push(each.name)
    assert.include(listed, name)
    await ai.caches.delete({ name })
    const gone = await server.call("GET", `/v1/${name}`)
    assert.strictEqual(gone.status, 404)
    const late = await server.call("POST", `/v1/${modelName}:generateContent`, { cachedContent: name, contents: [user("q")] })
    assert.deepStrictEqual([late.status, late.body.error.status], [404, "NOT_FOUND"])
  })

  it("are gone once they have expired, and survive a restart until then", async () => {
    const short = await create({ ttl: "0.2s" })
    const long = await create({ ttl: "3600s" })
    server = await server.restart()
    await until("the short one has expired", async () => (await server.call("GET", `/v1/${short.name}`)).status === 404)
    assert.strictEqual((await server.call("GET", `/v1/${long.name}`)).body.expireTime, long.expireTime)
    assert.strictEqual((await server.call("GET", `/v1/${long.name.replace("us-central1", "europe-west4")}`)).status, 404)
  })

  it("come in pages, without what they hold", async () => {
    const elsewhere = parent.replace("us-central1", "asia-east1")
    for (const displayName of ["a", "b", "c"]) {
      await server.call("POST", `/v1/${elsewhere}/cachedContents`, { displayName, model: modelName, contents: [user("x")] })
    }
    const first = await server.call("GET", `/v1/${elsewhere}/cachedContents?pageSize=2`)
    const second = await server.call("GET", `/v1/${elsewhere}/cachedContents?pageSize=2&pageToken=${first.body.nextPageToken}`)
    const told = [...first.body.cachedContents, ...second.body.cachedContents]
    assert.deepStrictEqual(told.map(({ displayName }) => displayName), ["c", "b", "a"])
    assert.isTrue(told.every((content) => !("contents" in content) && !("ttl" in content)))
    assert.isUndefined(second.body.nextPageToken)
  })

  it("bring the corpus to answer from", async () => {
    const corpus = await plain.corpus()
    await plain.upload(corpus, "leave.md", leave)
    const { name } = await create({
      contents: [],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] } } }]
    }, plain)
    const { body } = await plain.call("POST", `/v1/${modelName}:generateContent`, {
      cachedContent: name,
      contents: [user("How many days of paid annual leave are there?")]
    })
    assert.include(body.candidates[0].content.parts[0].text, "28 days")
  })

  it("are quoted without an upstream", async () => {
    const { name } = await create({ contents: [user(leave)] }, plain)
    const { body, status } = await plain.call("POST", `/v1/${modelName}:generateContent`, {
      cachedContent: name,
      contents: [user("How many days of paid annual leave are there?")]
    })
    assert.strictEqual(status, 200, JSON.stringify(body))
    assert.include(body.candidates[0].content.parts[0].text, "28 days")
  })

  it("are refused by the field that is wrong", async () => {
    const { name } = await create()
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ model: "" }, "cached_content.model"],
      [{ contents: [] }, "cached_content.contents"],
      [{ contents: [{ role: "user", parts: [] }] }, "cached_content.contents[0].parts"],
      [{ ttl: "-1s" }, "cached_content.ttl"],
      [{ expireTime: "2001-01-01T00:00:00Z" }, "cached_content.expire_time"],
      [{ ttl: "1s", expireTime: "2101-01-01T00:00:00Z" }, "expiration"],
      [{ encryptionSpec: { kmsKeyName: "k" } }, "cached_content.encryption_spec"]
    ]
    for (const [content, field] of wrong) {
      const { body } = await server.call("POST", `/v1/${parent}/cachedContents`, { model: modelName, contents: [user("x")], ...content })
      assert.include(body.error?.message, field)
    }
    const fixed = await server.call("PATCH", `/v1/${name}?updateMask=displayName`, { displayName: "other" })
    assert.deepStrictEqual([fixed.status, fixed.body.error.details[0].fieldViolations[0].field], [400, "cached_content.display_name"])
    assert.strictEqual((await server.call("PATCH", `/v1/${name}`, {})).status, 400)
    const ask = (more: object, of = modelName) =>
      server.call("POST", `/v1/${of}:generateContent`, { cachedContent: name, contents: [user("q")], ...more })
    assert.include((await ask({}, modelName.replace("2.0", "2.5"))).body.error.message, "has to be the same")
    assert.include((await ask({ systemInstruction: { parts: [{ text: "x" }] } })).body.error.message, "when using cached content")
  })
})
