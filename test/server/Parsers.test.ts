import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat } from "../fakes/Openai.ts"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

const processor = "projects/p1/locations/us/processors/abc"
const long = `# Rules\n\nA rule stands before its cases.\n\n## Rooms\n\n${"A room has a door. ".repeat(25)}\n\n## Taxis\n\n${
  "A taxi has a meter. ".repeat(40)
}`

let folder: string
let fake: Fake
let plain: TestServer
let upstream: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-parsers-"))
  fake = await Effect.runPromise(
    fakeOpenAi(({ body }, response) => {
      const asked = String(body.messages.at(-1)?.content)
      sendChat(response, [
        "```markdown\n# Read by the model\n\n",
        asked.includes("Osaka") ? "The Osaka limit is one hundred and twenty." : "Else.",
        "\n```"
      ])
    }).pipe(Scope.provide(scope))
  )
  plain = await startServer({ tables: join(folder, "tables.sqlite") })
  upstream = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
})
afterAll(async () => {
  await plain.stop()
  await upstream.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const imported = async (server: TestServer, corpus: string, uri: string, config: object) => {
  const { body } = await server.call("POST", `/v1/${corpus}/ragFiles:import`, {
    importRagFilesConfig: { gcsSource: { uris: [uri] }, ...config }
  })
  return body.error === undefined ? (await server.done(body.name)).body : body
}
const contexts = async (server: TestServer, corpus: string, text: string): Promise<ReadonlyArray<string>> => {
  const { body } = await server.call("POST", `/v1/${parent}:retrieveContexts`, {
    vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
    query: { text, ragRetrievalConfig: { topK: 20 } }
  })
  return (body.contexts.contexts ?? []).map(({ text }: { readonly text: string }) => text)
}
const chunked = (chunkSize: number) => ({
  ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize, chunkOverlap: 0 } } }
})

describe("the layout parser", () => {
  it("cuts at headings, at the size asked for, and imports again what was read otherwise", async () => {
    putObjects(plain, { "rules.md": long })
    const corpus = await plain.corpus("layout")
    await imported(plain, corpus, "gs://docs/rules.md", chunked(250))
    const fixed = await contexts(plain, corpus, "taxi meter room door")
    assert.isTrue(fixed.some((text) => text.includes("door") && text.includes("meter")))
    const layout = { ragFileParsingConfig: { layoutParser: { processorName: `${processor}/processorVersions/pretrained-v1` } } }
    const { response } = await imported(plain, corpus, "gs://docs/rules.md", { ...chunked(250), ...layout })
    assert.strictEqual(response.importedRagFilesCount, "1")
    const structured = await contexts(plain, corpus, "taxi meter room door")
    assert.isAbove(structured.length, 1)
    assert.isFalse(structured.some((text) => text.includes("door") && text.includes("meter")))
    const again = await imported(plain, corpus, "gs://docs/rules.md", { ...chunked(250), ...layout })
    assert.strictEqual(again.response.skippedRagFilesCount, "1")
  })
})

describe("the LLM parser", () => {
  const parser = (more: object = {}) => ({
    ragFileParsingConfig: { llmParser: { modelName: `${parent}/publishers/google/models/gemini-2.0-flash-001`, ...more } }
  })

  it("puts what is read to the upstream's model with the prompt, and keeps what it makes of it", async () => {
    putObjects(upstream, { "travel.md": travel })
    const corpus = await upstream.corpus("llm")
    const { response } = await imported(
      upstream,
      corpus,
      "gs://docs/travel.md",
      parser({ customParsingPrompt: "Spell numbers out.", maxParsingRequestsPerMin: 600 })
    )
    assert.strictEqual(response.importedRagFilesCount, "1")
    const asked = String(fake.received[0]?.body.messages.at(-1)?.content)
    assert.include(asked, "Spell numbers out.")
    assert.include(asked, "120 EUR per night")
    const [found] = await contexts(upstream, corpus, "Osaka limit")
    assert.include(found, "one hundred and twenty")
    assert.notInclude(found, "```")
  })

  it("keeps the rate that the import asks for", async () => {
    putObjects(upstream, { "many/a.md": leave, "many/b.md": travel, "many/c.md": `${leave} More.` })
    const corpus = await upstream.corpus("rate")
    const since = Date.now()
    await imported(upstream, corpus, "gs://docs/many/", parser({ maxParsingRequestsPerMin: 60 }))
    assert.isAbove(Date.now() - since, 1_900)
  })

  it("is refused without an upstream, by the name of its flag", async () => {
    putObjects(plain, { "travel.md": travel })
    const corpus = await plain.corpus("refused")
    const { error } = await imported(plain, corpus, "gs://docs/travel.md", parser())
    assert.strictEqual(error.code, 400)
    assert.include(error.message, "--upstream")
    assert.include(error.message, "llm_parser")
  })
})

describe("results of imports in a table", () => {
  const rows = () => {
    const db = new DatabaseSync(join(folder, "tables.sqlite"))
    try {
      return db.prepare("SELECT status, file_name, error FROM results ORDER BY rowid").all()
    } finally {
      db.close()
    }
  }

  it("are added to what is there, in the table that stands for BigQuery's", async () => {
    putObjects(plain, { "sink/travel.md": travel, "sink/empty.md": "" })
    const corpus = await plain.corpus("sink")
    const sink = { importResultBigquerySink: { outputUri: "bq://p1.main.results" } }
    const { response } = await imported(plain, corpus, "gs://docs/sink/", sink)
    assert.strictEqual(response.importedRagFilesCount, "1")
    assert.sameDeepMembers(rows().map(({ file_name, status }) => [file_name, status]), [["gs://docs/sink/travel.md", "IMPORTED"], [
      "gs://docs/sink/empty.md",
      "FAILED"
    ]])
    await imported(plain, corpus, "gs://docs/sink/", sink)
    assert.lengthOf(rows(), 4)
  })

  it("go into no table of something else, and none without tables", async () => {
    const db = new DatabaseSync(join(folder, "tables.sqlite"))
    db.exec("CREATE TABLE wages (name TEXT)")
    db.close()
    putObjects(plain, { "travel.md": travel })
    const corpus = await plain.corpus("other")
    const { error } = await imported(plain, corpus, "gs://docs/travel.md", {
      importResultBigquerySink: { outputUri: "bq://p1.main.wages" }
    })
    assert.include(error.message, "other columns")
    assert.lengthOf((await plain.call("GET", `/v1/${corpus}/ragFiles`)).body.ragFiles ?? [], 0)
    putObjects(upstream, { "travel.md": travel })
    const refused = await imported(upstream, await upstream.corpus("none"), "gs://docs/travel.md", {
      importResultBigquerySink: { outputUri: "bq://p1.main.results" }
    })
    assert.strictEqual(refused.error.code, 501)
    assert.include(refused.error.message, "import_result_bigquery_sink")
  })
})
