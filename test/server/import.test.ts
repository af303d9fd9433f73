import { existsSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { storage } from "../../connectors/storage/Storage.ts"
import type { StorageFactory } from "../../src/compose/buckets.ts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

const gcs = (uris: ReadonlyArray<string> | string, more: object = {}) => ({ importRagFilesConfig: { gcsSource: { uris }, ...more } })
const chunked = (chunkSize: number) => ({
  ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize, chunkOverlap: 0 } } }
})

/** Imported, skipped and failed, as an operation's answer counts them. */
const counts = ({ response = {} }: { response?: Record<string, string> }) =>
  ["importedRagFilesCount", "skippedRagFilesCount", "failedRagFilesCount"].map((name) => Number(response[name] ?? 0))

const start = async (server: TestServer, corpus: string, body: object): Promise<string> => {
  const { body: operation } = await server.call("POST", `/v1beta1/${corpus}/ragFiles:import`, body)
  assert.isString(operation.name, JSON.stringify(operation))
  return operation.name
}

const run = async (server: TestServer, corpus: string, body: object) =>
  (await server.done(await start(server, corpus, body), "v1beta1")).body

const texts = async (server: TestServer, corpus: string): Promise<ReadonlyArray<string>> => {
  const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles?pageSize=1000`)
  return (body.ragFiles ?? []).map((file: { gcsSource?: { uris: ReadonlyArray<string> } }) => file.gcsSource?.uris[0]).toSorted()
}

describe("an import", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it("takes a folder, then only what changed", async () => {
    const corpus = await server.corpus()
    putObjects(server, { "hr/leave.md": leave, "hr/sub/travel.md": travel, "other/x.md": "# X\n\nNothing of interest." })
    const first = await run(server, corpus, gcs("gs://docs/hr/"))
    assert.deepStrictEqual(counts(first), [2, 0, 0])
    assert.strictEqual(first.metadata.progressPercentage, 100)
    assert.strictEqual(first.metadata.ragCorpusId, corpus.split("/").at(-1))
    assert.deepStrictEqual(first.metadata.importRagFilesConfig.gcsSource, { uris: ["gs://docs/hr/"] })
    assert.deepStrictEqual(await texts(server, corpus), ["gs://docs/hr/leave.md", "gs://docs/hr/sub/travel.md"])
    const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles`)
    assert.isTrue(body.ragFiles.every((file: { description?: string }) => file.description === undefined))

    assert.deepStrictEqual(counts(await run(server, corpus, gcs("gs://docs/hr/"))), [0, 2, 0])
    putObjects(server, { "hr/leave.md": leave.replace("28", "30") })
    assert.deepStrictEqual(counts(await run(server, corpus, gcs(["gs://docs/hr/leave.md", "gs://docs/hr/"]))), [1, 1, 0])
    assert.strictEqual((await texts(server, corpus)).length, 2)
    const found = await server.call("POST", `/v1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
      query: { text: "days of annual leave" }
    })
    assert.include(found.body.contexts.contexts[0].text, "30 days")
    assert.deepStrictEqual(counts(await run(server, corpus, gcs("gs://docs/hr/", chunked(64)))), [2, 0, 0])
  })

  it("tells of what it could not take, and ends well however much that is", async () => {
    const corpus = await server.corpus()
    putObjects(server, { "bad/broken.docx": "no document", "bad/fine.md": "# Fine\n\nThis one can be read." })
    const some = await run(server, corpus, gcs("gs://docs/bad/"))
    assert.deepStrictEqual(counts(some), [1, 0, 1])
    assert.strictEqual(some.metadata.genericMetadata.partialFailures[0].code, 3)
    assert.match(some.metadata.genericMetadata.partialFailures[0].message, /processing gs:\/\/docs\/bad\/broken\.docx/)
    const none = await run(server, corpus, gcs(["gs://docs/bad/broken.docx", "gs://docs/nowhere.md"]))
    assert.strictEqual(none.done, true)
    assert.isUndefined(none.error)
    assert.deepStrictEqual(counts(none), [0, 0, 2])
  })

  it("writes its results where it is told, once", async () => {
    const corpus = await server.corpus()
    putObjects(server, { "sink/a.md": leave })
    const sink = { importResultGcsSink: { outputUriPrefix: "gs://docs/results/run.ndjson" } }
    await run(server, corpus, gcs("gs://docs/sink/", sink))
    const [row] = readFileSync(join(server.folder, "bucket/results/run.ndjson"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
    assert.strictEqual(row.file, "gs://docs/sink/a.md")
    assert.strictEqual(row.status, "IMPORTED")
    const second = await run(server, corpus, gcs("gs://docs/sink/", sink))
    assert.strictEqual(second.error.code, 6)
  })

  it("is refused where it leads anywhere but to a bucket that is served", async () => {
    const corpus = await server.corpus()
    const refused: ReadonlyArray<string> = [
      "file:///etc/passwd",
      "gs://other/x",
      "gs://docs/../../data/sluice.db",
      "gs://docs/a/../../../etc/passwd",
      "http://169.254.169.254/latest/meta-data",
      "https://metadata.google.internal/computeMetadata/v1/",
      "s3://bucket/key",
      "gs://",
      "/etc/passwd"
    ]
    for (const uri of refused) {
      const { body, status } = await server.call("POST", `/v1/${corpus}/ragFiles:import`, gcs([uri]))
      assert.include([400, 403], status, uri)
      assert.isArray(body.error.details)
    }
  })

  it("from another source says that it is not here", async () => {
    const corpus = await server.corpus()
    const apiKeyConfig = { apiKeySecretVersion: "projects/1/secrets/s/versions/1" }
    const others = {
      google_drive_source: { resource_ids: { resource_type: "RESOURCE_TYPE_FOLDER", resource_id: "abc" } },
      slack_source: { channels: { channels: { channel_id: "C1" }, api_key_config: apiKeyConfig } },
      jira_source: { jira_queries: { projects: "P", email: "a@b.c", server_uri: "x.atlassian.net", api_key_config: apiKeyConfig } },
      share_point_sources: {
        share_point_sources: { drive_name: "d", client_id: "c", tenant_id: "t", sharepoint_site_name: "s", client_secret: apiKeyConfig }
      }
    }
    for (const [name, source] of Object.entries(others)) {
      const { body, status } = await server.call("POST", `/v1/${corpus}/ragFiles:import`, { import_rag_files_config: { [name]: source } })
      assert.strictEqual(status, 501, JSON.stringify(body))
      assert.include(body.error.message, name)
    }
    const two = await server.call("POST", `/v1/${corpus}/ragFiles:import`, {
      import_rag_files_config: { gcs_source: { uris: ["gs://docs/"] }, google_drive_source: others.google_drive_source }
    })
    assert.strictEqual(two.status, 400)
    assert.strictEqual((await server.call("POST", `/v1/${corpus}404/ragFiles:import`, gcs("gs://docs/"))).status, 404)
  })
})

/** Storage whose reads wait until the gate is opened. */
const gated = () => {
  let open: () => void = () => undefined
  let passing = 0
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const factory: StorageFactory = (config, context) => {
    const connector = storage(config, context)
    return {
      ...connector,
      read: (item, maxBytes) =>
        Stream.unwrap(Effect.gen(function*() {
          passing += 1
          if (item.displayName.startsWith("slow")) yield* Effect.promise(() => opened)
          return connector.read(item, maxBytes)
        }))
    }
  }
  return { factory, open, reads: () => passing }
}

const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  const end = Date.now() + 15_000
  while (!(await condition())) {
    assert.isBelow(Date.now(), end, "it never came to be so")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe("imports that take long", () => {
  it("are parked by a shutdown and finished by the next server, with everything counted once", async () => {
    const gate = gated()
    const first = await startServer({ storage: gate.factory })
    putObjects(first, { "a.md": leave, "b.md": travel, "slow.md": "# Slow\n\nThis file takes its time." })
    const corpus = await first.corpus()
    const name = await start(first, corpus, gcs("gs://docs/"))
    await until(async () => (await texts(first, corpus)).length === 2)
    const going = await first.call("GET", `/v1/${name}`)
    assert.isUndefined(going.body.done)
    assert.isAbove(going.body.metadata.progressPercentage, 0)
    const [second] = await Promise.all([first.restart(), new Promise<void>((resolve) => setTimeout(() => resolve(gate.open()), 300))])
    try {
      const { body } = await second.done(name)
      assert.deepStrictEqual(counts(body), [3, 0, 0])
      assert.strictEqual((await texts(second, corpus)).length, 3)
    } finally {
      await second.stop()
    }
  })

  it("run three at once, and can be cancelled while they run and while they wait", async () => {
    const gate = gated()
    const server = await startServer({ storage: gate.factory })
    try {
      putObjects(server, { "slow.md": leave })
      const corpus = await server.corpus()
      const names: Array<string> = []
      for (let i = 0; i < 4; i++) names.push(await start(server, corpus, gcs("gs://docs/slow.md", chunked(100 + i))))
      await until(() => gate.reads() === 3)
      await server.call("POST", `/v1/${names[3]}:cancel`)
      await server.call("POST", `/v1/${names[0]}:cancel`, {})
      const cancelled = await server.done(names[0] ?? "")
      assert.strictEqual(cancelled.body.error.code, 1)
      const waiting = await server.done(names[3] ?? "")
      assert.strictEqual(waiting.body.error.code, 1)
      assert.strictEqual(gate.reads(), 3)
      gate.open()
      for (const name of names.slice(1, 3)) assert.isUndefined((await server.done(name)).body.error)
    } finally {
      await server.stop()
    }
  })

  it("are quota of their own", async () => {
    const gate = gated()
    const server = await startServer({ storage: gate.factory, vertexQuotas: true })
    try {
      putObjects(server, { "slow.md": leave })
      const corpus = await server.corpus()
      for (let i = 0; i < 3; i++) await start(server, corpus, gcs("gs://docs/slow.md", chunked(100 + i)))
      const fourth = await server.call("POST", `/v1/${corpus}/ragFiles:import`, gcs("gs://docs/slow.md"))
      assert.strictEqual(fourth.status, 429)
      assert.strictEqual(fourth.body.error.details[0].reason, "RATE_LIMIT_EXCEEDED")
    } finally {
      gate.open()
      await server.stop()
    }
  })
})

describe("imports from anywhere, where they are allowed", () => {
  it("reach no address that is not public", async () => {
    const server = await startServer({ allowRemote: true })
    let reached = 0
    const inside = createServer((socket) => {
      reached += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => void inside.listen(0, "127.0.0.1", resolve))
    const address = inside.address()
    const port = typeof address === "object" ? address?.port : undefined
    try {
      const corpus = await server.corpus()
      const uris = [`https://127.0.0.1:${port}/a.md`, `https://localhost:${port}/a.md`, `https://[::ffff:127.0.0.1]:${port}/a.md`, `https://2130706433:${port}/a.md`]
      const body = await run(server, corpus, gcs(uris))
      assert.isUndefined(body.error)
      assert.strictEqual(counts(body)[0], 0)
      assert.isAtLeast(counts(body)[2] ?? 0, 1)
      assert.strictEqual(reached, 0)
      for (const uri of ["file:///etc/passwd", `http://127.0.0.1:${port}/`, "ftp://x/y"]) {
        assert.strictEqual((await server.call("POST", `/v1/${corpus}/ragFiles:import`, gcs([uri]))).status, 403)
      }
    } finally {
      inside.close()
      await server.stop()
    }
  })
})

describe("the data directory", () => {
  it("is served by one server at a time", async () => {
    const server = await startServer()
    const second = await startServer({}, server.folder).then(() => undefined, (error: unknown) => error)
    assert.match(String(second), /being written by `sluice serve`/)
    const { folder } = server
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
    assert.isFalse(existsSync(folder))
  })
})
