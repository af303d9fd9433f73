import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { batchLine } from "../support/EchoModel.ts"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

/** Beside the bucket's folder: nothing in it may be read or written through the bucket. */
let outside: string
let server: TestServer
beforeAll(async () => {
  server = await startServer()
  outside = join(server.folder, "outside")
  mkdirSync(join(outside, "deep"), { recursive: true })
  writeFileSync(join(outside, "secret.md"), "# Secret\n\nThe password is swordfish.")
  writeFileSync(join(outside, "rows.jsonl"), batchLine("a", "one"))
  putObjects(server, { "in.jsonl": batchLine("a", "one"), "real/leave.md": leave, "travel.md": travel })
  const bucket = join(server.folder, "bucket")
  symlinkSync(outside, join(bucket, "out"))
  symlinkSync("../outside", join(bucket, "relative"))
  symlinkSync(join(outside, "secret.md"), join(bucket, "secret.md"))
  symlinkSync(join(outside, "nowhere"), join(bucket, "dangling"))
  symlinkSync("..", join(bucket, "real", "up"))
  symlinkSync("real", join(bucket, "inside"))
  symlinkSync("travel.md", join(bucket, "same.md"))
})
afterAll(() => server.stop())

const start = async (corpus: string, config: object) =>
  server.call("POST", `/v1/${corpus}/ragFiles:import`, { importRagFilesConfig: config })
const counts = ({ response = {} }: { response?: Record<string, string> }) =>
  ["importedRagFilesCount", "skippedRagFilesCount", "failedRagFilesCount"].map((name) => Number(response[name] ?? 0))
const untouched = () => assert.deepStrictEqual(readdirSync(outside).toSorted(), ["deep", "rows.jsonl", "secret.md"])

describe("a bucket that is a folder", () => {
  it("shows nothing that a link in it leads to outside of it, to an import", async () => {
    const corpus = await server.corpus()
    for (
      const name of [
        "out/",
        "out",
        "out/deep/",
        "relative/secret.md",
        "out/nothing.md",
        "secret.md",
        "dangling",
        "real/up/out/secret.md",
        "x/../out/secret.md",
        "../outside/secret.md"
      ]
    ) {
      const { body, status } = await start(corpus, { gcsSource: { uris: ["gs://docs/travel.md", `gs://docs/${name}`] } })
      assert.deepStrictEqual([status, body.error?.status], [403, "PERMISSION_DENIED"], name)
      assert.include(JSON.stringify(body), "import_rag_files_config.gcs_source.uris")
      // Callers learn no path of the server's.
      assert.notInclude(JSON.stringify(body), server.folder)
    }
    const all = await server.done((await start(corpus, { gcsSource: { uris: ["gs://docs/"] } })).body.name)
    const { body } = await server.call("GET", `/v1/${corpus}/ragFiles?pageSize=100`)
    assert.deepStrictEqual(body.ragFiles.map(({ displayName }: { displayName: string }) => displayName).toSorted(), [
      "in.jsonl",
      "real/leave.md",
      "travel.md"
    ])
    assert.notInclude(JSON.stringify(all.body), "swordfish")
  })

  it("follows links that stay inside, under the names asked for", async () => {
    const corpus = await server.corpus()
    const { body } = await start(corpus, { gcsSource: { uris: ["gs://docs/inside/leave.md", "gs://docs/same.md"] } })
    assert.deepStrictEqual(counts((await server.done(body.name)).body), [2, 0, 0])
    const listed = await server.call("GET", `/v1/${corpus}/ragFiles`)
    const uris = listed.body.ragFiles.map(({ gcsSource }: { gcsSource: { uris: ReadonlyArray<string> } }) => gcsSource.uris[0])
    assert.deepStrictEqual(uris.toSorted(), ["gs://docs/inside/leave.md", "gs://docs/same.md"])
  })

  it("takes no results of an import through a link out of it", async () => {
    const corpus = await server.corpus()
    for (
      const uri of [
        "gs://docs/out/r.ndjson",
        "gs://docs/out/",
        "gs://docs/relative/deep/r.ndjson",
        "gs://docs/dangling/r.ndjson",
        "gs://docs/../outside/r.ndjson"
      ]
    ) {
      for (const sink of ["importResultGcsSink", "partialFailureGcsSink"]) {
        const { body, status } = await start(corpus, { gcsSource: { uris: ["gs://docs/travel.md"] }, [sink]: { outputUriPrefix: uri } })
        assert.deepStrictEqual([status, body.error?.status], [403, "PERMISSION_DENIED"], `${sink} ${uri}`)
      }
    }
    untouched()
  })

  it("neither gives rows to batch jobs nor takes their results through a link out of it", async () => {
    const create = (input: string, output: string) =>
      server.call("POST", `/v1/${parent}/batchPredictionJobs`, {
        displayName: "j",
        model: "publishers/meta/models/llama-3.1-8b-instruct-maas",
        inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: [input] } },
        outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: output } }
      })
    for (
      const [input, output] of [
        ["gs://docs/out/rows.jsonl", "gs://docs/results"],
        ["gs://docs/in.jsonl", "gs://docs/out"],
        ["gs://docs/in.jsonl", "gs://docs/relative/deep"],
        ["gs://docs/in.jsonl", "gs://docs/dangling"]
      ] as const
    ) {
      const { body, status } = await create(input, output)
      assert.deepStrictEqual([status, body.error?.status], [403, "PERMISSION_DENIED"], `${input} ${output}`)
      assert.notInclude(JSON.stringify(body), server.folder)
    }
    untouched()
  })

  it("shows nothing of the data directory, even where its folder holds it", async () => {
    const around = await startServer({ buckets: new Map([["all", server.folder]]) }, join(server.folder, "nested"))
    const secrets = join(around.folder, "data", "secrets")
    mkdirSync(secrets, { recursive: true })
    writeFileSync(join(secrets, "token.md"), "# Token\n\nA secret of the operator.", { mode: 0o600 })
    try {
      const corpus = await around.corpus()
      const uri = "gs://all/nested/data/secrets/token.md"
      const { status } = await around.call("POST", `/v1/${corpus}/ragFiles:import`, {
        importRagFilesConfig: { gcsSource: { uris: [uri] } }
      })
      assert.strictEqual(status, 403)
      const sink = await around.call("POST", `/v1/${corpus}/ragFiles:import`, {
        importRagFilesConfig: {
          gcsSource: { uris: ["gs://all/bucket/travel.md"] },
          importResultGcsSink: { outputUriPrefix: "gs://all/nested/data/secrets/new" }
        }
      })
      assert.strictEqual(sink.status, 403)
      assert.isFalse(existsSync(join(secrets, "new")))
      assert.include(readFileSync(join(secrets, "token.md"), "utf8"), "operator")
    } finally {
      await around.stop()
    }
  })
})
