import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, type Received, sendChat, sendJson } from "../fakes/Openai.ts"
import { withPlainPages } from "../../src/text/parse/pdf/PlainPages.ts"
import { png } from "../../src/text/parse/Png.ts"
import { writePdf } from "../text/parse/support/PdfWriter.ts"
import { settingsHash } from "../../src/server/import/ImportMarker.ts"
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

/** The image and the text of a question; a model without eyes is asked in text alone. */
const parts = ({ body }: Received) => {
  const content: unknown = body.messages.at(-1)?.content
  const all = (Array.isArray(content) ? content : [{ type: "text", text: content }]) as ReadonlyArray<
    { readonly type: string; readonly text?: string; readonly image_url?: { readonly url: string } }
  >
  return {
    image: all.find(({ type }) => type === "image_url")?.image_url?.url,
    text: all.map(({ text = "" }) => text).join("\n")
  }
}

/** Width and height that a PNG's header tells. */
const sizeOf = (url: string): ReadonlyArray<number> => {
  const file = Buffer.from(url.slice("data:image/png;base64,".length), "base64")
  return [file.readUInt32BE(16), file.readUInt32BE(20)]
}

/** Lines of a page that has no text in it: shapes. */
const scanned = ["% 0 0 0 rg 100 500 200 40 re f 100 400 300 40 re f"]

describe("the LLM parser over a model that sees", () => {
  let seeing: Fake
  let server: TestServer
  const seen = Scope.makeUnsafe()
  beforeAll(async () => {
    seeing = await Effect.runPromise(
      fakeOpenAi((request, response) => {
        const { image, text } = parts(request)
        if (image === undefined) return sendChat(response, [text.includes("ledger") ? "The ledger closes at noon." : "Read as text."])
        if (text.includes("ledger")) return sendJson(response, 400, { error: { message: "this image is not taken" } })
        return sendChat(response, [text.includes("harbour") ? "The harbour opens at six." : "A scan shows two black bars."])
      }).pipe(Scope.provide(seen))
    )
    server = await startServer({ upstream: { url: seeing.baseUrl, model: "eyes", images: true }, tables: join(folder, "seen.sqlite") })
  })
  afterAll(async () => {
    await server.stop()
    await Effect.runPromise(Scope.close(seen, Exit.void))
  })
  const parser = (more: object = {}) => ({
    ragFileParsingConfig: { llmParser: { modelName: `${parent}/publishers/google/models/gemini-2.0-flash-001`, ...more } }
  })
  const put = (at: TestServer, name: string, content: Uint8Array): void => {
    mkdirSync(join(at.folder, "bucket"), { recursive: true })
    writeFileSync(join(at.folder, "bucket", name), content)
  }

  it("gives it each page of a PDF as an image with its text and the prompt, scans too, and names the pages whose image it refuses", async () => {
    put(server, "port.pdf", writePdf([["Opening hours of the harbour"], scanned, ["Closing hours of the ledger"], []]))
    const corpus = await server.corpus("seen")
    const { response } = await imported(server, corpus, "gs://docs/port.pdf", {
      ...parser({ customParsingPrompt: "Name what is drawn." }),
      importResultBigquerySink: { outputUri: "bq://p1.main.results" }
    })
    assert.strictEqual(response.importedRagFilesCount, "1")
    const asked = seeing.received.map(parts)
    assert.lengthOf(asked, 4)
    for (const { text } of asked) assert.include(text, "Name what is drawn.")
    const images = asked.flatMap(({ image }) => image === undefined ? [] : [image])
    assert.lengthOf(images, 3)
    for (const image of images) assert.deepStrictEqual(sizeOf(image), [1_582, 2_048])
    assert.isDefined(asked.find(({ text }) => text.includes("harbour"))?.image)
    const texts = (await contexts(server, corpus, "harbour scan ledger")).join("\n")
    for (const sentence of ["The harbour opens at six.", "A scan shows two black bars.", "The ledger closes at noon."]) {
      assert.include(texts, sentence)
    }
    const db = new DatabaseSync(join(folder, "seen.sqlite"))
    const [row] = db.prepare("SELECT status, error FROM results").all()
    db.close()
    assert.strictEqual(row?.["status"], "IMPORTED")
    assert.match(
      String(row?.["error"]),
      /^1 of 4 pages not read at all: 4 \(blank\); 1 of 4 pages read by the model from their text alone, without a picture: 3 \(.*this image is not taken/
    )
  })

  it("gives it a picture as it is", async () => {
    const picture = await withPlainPages(writePdf([scanned]), async (pages) => png((await pages.draw(1, 300))!, "colour"))
    put(server, "scan.png", picture)
    const corpus = await server.corpus("picture")
    const { response } = await imported(server, corpus, "gs://docs/scan.png", parser())
    assert.strictEqual(response.importedRagFilesCount, "1")
    assert.strictEqual(parts(seeing.received.at(-1)!).image, `data:image/png;base64,${Buffer.from(picture).toString("base64")}`)
    assert.include((await contexts(server, corpus, "scan bars")).join("\n"), "two black bars")
  })

  it("keeps the rate page by page", async () => {
    put(server, "rate.pdf", writePdf([["harbour one"], ["harbour two"], ["harbour three"]]))
    const since = Date.now()
    await imported(server, await server.corpus("rate"), "gs://docs/rate.pdf", parser({ maxParsingRequestsPerMin: 60 }))
    assert.isAbove(Date.now() - since, 1_900)
  })

  it("offers no more images to a model that refused three and took none, fails a scan of which nothing was read", async () => {
    const scope = Scope.makeUnsafe()
    const blind = await Effect.runPromise(
      fakeOpenAi((request, response) =>
        parts(request).image === undefined
          ? sendChat(response, ["Read by its text."])
          : sendJson(response, 500, { error: { message: "image input is not supported" } })
      ).pipe(Scope.provide(scope))
    )
    const server = await startServer({ upstream: { url: blind.baseUrl, model: "blind", images: true } })
    try {
      put(server, "scan.pdf", writePdf([scanned]))
      put(server, "text.pdf", writePdf(Array.from({ length: 9 }, (_, at) => [`Paragraph ${at} of the contract`])))
      const corpus = await server.corpus("blind")
      const scan = await imported(server, corpus, "gs://docs/scan.pdf", parser())
      assert.strictEqual(scan.response.failedRagFilesCount, "1")
      assert.include(JSON.stringify(scan.metadata), "image input is not supported")
      const { response } = await imported(server, corpus, "gs://docs/text.pdf", parser())
      assert.strictEqual(response.importedRagFilesCount, "1")
      // One of the scan, and of those that are asked for at once.
      const images = blind.received.filter((request) => parts(request).image !== undefined).length
      assert.isAtLeast(images, 3)
      assert.isAtMost(images, 5)
      assert.lengthOf(blind.received.filter((request) => parts(request).image === undefined), 9)
    } finally {
      await server.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  })
})

it("what was read with eyes is not what was read without, of the LLM parser alone", () => {
  const chunking = { strategy: "structure", size: 500, overlap: 0 } as const
  const llm = { _tag: "llm", model: "m" } as const
  assert.notStrictEqual(settingsHash(chunking, llm, true), settingsHash(chunking, llm, false))
  assert.strictEqual(settingsHash(chunking, llm), settingsHash(chunking, llm, false))
  assert.strictEqual(settingsHash(chunking, undefined, true), settingsHash(chunking))
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
