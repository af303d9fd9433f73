import { existsSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { Context, Effect, Layer, Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { storage } from "../../connectors/storage/Storage.ts"
import type { StorageFactory } from "../../src/compose/Imports.ts"
import { embeddedServices } from "../../src/compose/Embedded.ts"
import { OperationName } from "../../src/domain/Operation.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import { Operations } from "../../src/ports/Operations.ts"
import * as Http from "../../src/net/Http.ts"
import { pages } from "../../src/ports/Paging.ts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { httpsServer } from "../fakes/Https.ts"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

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

  it("is the only one into its corpus, and what is uploaded beside it is stored once", async () => {
    const corpus = await server.corpus()
    const other = await server.corpus()
    const names = Array.from({ length: 30 }, (_, i) => `twice/${i}.md`)
    putObjects(server, Object.fromEntries(names.map((name, i) => [name, `# Note ${i}\n\nThis is note number ${i}.`])))
    const request = (into: string) => server.call("POST", `/v1beta1/${into}/ragFiles:import`, gcs("gs://docs/twice/"))
    const [first, elsewhere, ...rest] = await Promise.all([request(corpus), request(other), request(corpus), request(corpus)])
    assert.strictEqual(first.status, 200)
    assert.strictEqual(elsewhere.status, 200)
    const id = first.body.name.split("/").at(-1)
    for (const { body, status } of rest) {
      assert.strictEqual(status, 400)
      assert.strictEqual(body.error.status, "FAILED_PRECONDITION")
      assert.include(body.error.message, `There are other operations running on the RagCorpus "${corpus}". Operation IDs are: [${id}].`)
    }
    const uploads = await Promise.all(Array.from({ length: 5 }, (_, i) => server.upload(corpus, `up${i}.md`, `# Up ${i}\n\nNote ${i}.`)))
    assert.deepStrictEqual(uploads.map(({ status }) => status), [200, 200, 200, 200, 200])
    assert.deepStrictEqual(counts((await server.done(first.body.name, "v1beta1")).body), [30, 0, 0])
    const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles?pageSize=1000`)
    assert.strictEqual(body.ragFiles.length, 35)
    assert.deepStrictEqual(counts(await run(server, corpus, gcs("gs://docs/twice/"))), [0, 30, 0])
    await server.done(elsewhere.body.name, "v1beta1")
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
    const rows = (object: string) =>
      readFileSync(join(server.folder, "bucket", object), "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
    const sinks = (name: string) => ({
      importResultGcsSink: { outputUriPrefix: `gs://docs/results/${name}.ndjson` },
      partialFailureGcsSink: { outputUriPrefix: `gs://docs/failures/${name}/` },
      rebuildAnnIndex: true,
      globalMaxEmbeddingRequestsPerMin: 500
    })
    const first = await run(server, corpus, gcs(["gs://docs/sink/", "gs://docs/nowhere.md"], sinks("one")))
    const id = first.name.split("/").at(-1)
    assert.strictEqual(first.response.partialFailuresGcsPath, "gs://docs/failures/one/partial_failures.ndjson")
    const { importResultGcsSink, partialFailureGcsSink, rebuildAnnIndex } = first.metadata.importRagFilesConfig
    assert.deepStrictEqual(
      { importResultGcsSink, partialFailureGcsSink, rebuildAnnIndex, globalMaxEmbeddingRequestsPerMin: 500 },
      sinks("one")
    )
    const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles`)
    const { createTime } = first.metadata.genericMetadata
    const failed = { operation_id: id, create_time: createTime, file_name: "gs://docs/nowhere.md", status: "FAILED" }
    assert.deepStrictEqual(rows("results/one.ndjson").map(({ error: _, ...row }) => row).toSorted((a, b) => a.status < b.status ? -1 : 1), [
      failed,
      {
        operation_id: id,
        create_time: createTime,
        file_name: "gs://docs/sink/a.md",
        status: "IMPORTED",
        file_id: body.ragFiles[0].name.split("/").at(-1)
      }
    ])
    const [failure, ...more] = rows("failures/one/partial_failures.ndjson")
    assert.deepInclude(failure, failed)
    assert.isString(failure.error)
    assert.strictEqual(more.length, 0)

    const again = await server.call("POST", `/v1beta1/${corpus}/ragFiles:import`, gcs("gs://docs/sink/", sinks("one")))
    assert.strictEqual(again.status, 400)
    assert.include(again.body.error.message, "import_result_gcs_sink")
    await run(server, corpus, gcs("gs://docs/sink/", sinks("two")))
    assert.deepStrictEqual(rows("results/two.ndjson").map(({ status }) => status), ["SKIPPED"])
    for (const sink of ["importResultGcsSink", "partialFailureGcsSink"]) {
      const elsewhere = await server.call(
        "POST",
        `/v1beta1/${corpus}/ragFiles:import`,
        gcs("gs://docs/sink/", { [sink]: { outputUriPrefix: "gs://other/x" } })
      )
      assert.strictEqual(elsewhere.status, 501)
    }
  })

  it("takes objects whatever their names are, one by one and by folder, and knows them again", async () => {
    const corpus = await server.corpus()
    const names = ["a b.md", "a#b.md", "a%23b.md", "a?b.md", "100%.md", "q?x=1&y#z/deep #1.md", "träume.md", "+;=@,$.md"]
    putObjects(server, Object.fromEntries(names.map((name, i) => [`odd/${name}`, `# Odd ${i}\n\nFile number ${i} has a name of its own.`])))
    const uris = names.map((name) => `gs://docs/odd/${name}`)
    assert.deepStrictEqual(counts(await run(server, corpus, gcs("gs://docs/odd/"))), [names.length, 0, 0])
    assert.deepStrictEqual(await texts(server, corpus), uris.toSorted())
    assert.deepStrictEqual(counts(await run(server, corpus, gcs(uris))), [0, names.length, 0])
    assert.deepStrictEqual(counts(await run(server, corpus, gcs([...uris, "gs://docs/odd/q?x=1&y#z"]))), [0, names.length, 0])
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

  it("from elsewhere says how that is allowed", async () => {
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
      assert.strictEqual(status, 400, JSON.stringify(body))
      assert.strictEqual(body.error.status, "FAILED_PRECONDITION")
      assert.include(body.error.message, name)
      assert.include(body.error.message, "--allow-remote")
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

describe("imports that take long", () => {
  it("are parked by a shutdown and finished by the next server, with everything counted once", async () => {
    const gate = gated()
    const first = await startServer({ storage: gate.factory })
    putObjects(first, { "a.md": leave, "b.md": travel, "slow.md": "# Slow\n\nThis file takes its time." })
    const corpus = await first.corpus()
    const sink = { importResultGcsSink: { outputUriPrefix: "gs://docs/run.ndjson" } }
    const name = await start(first, corpus, gcs(["gs://docs/a.md", "gs://docs/b.md", "gs://docs/slow.md"], sink))
    await until("two files are stored and counted", async () => {
      const going = await first.call("GET", `/v1/${name}`)
      assert.isUndefined(going.body.done)
      return (await texts(first, corpus)).length === 2 && going.body.metadata.progressPercentage > 0
    })
    const second = await first.restart()
    gate.open()
    try {
      const { body } = await second.done(name)
      assert.deepStrictEqual(counts(body), [3, 0, 0])
      assert.strictEqual((await texts(second, corpus)).length, 3)
      const rows = readFileSync(join(second.folder, "bucket/run.ndjson"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
      assert.strictEqual(rows.length, 3)
      for (const row of rows) assert.deepInclude(row, { operation_id: name.split("/").at(-1), status: "IMPORTED" })
    } finally {
      await second.stop()
    }
  })

  it("run three at once, and can be cancelled while they run and while they wait", async () => {
    const gate = gated()
    const server = await startServer({ storage: gate.factory })
    try {
      putObjects(server, { "slow.md": leave })
      const names: Array<string> = []
      for (let i = 0; i < 4; i++) names.push(await start(server, await server.corpus(), gcs("gs://docs/slow.md", chunked(100 + i))))
      await until("three are under way", () => gate.reads() === 3)
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

  it("are seen and cancelled from outside, by whoever has the data directory", async () => {
    const gate = gated()
    const server = await startServer({ storage: gate.factory })
    const handbook = definePipeline({ name: "x", corpus: { displayName: "x" }, sources: {}, stages: [{ retrieve: { topK: 1 } }] })
    const outside = <A, E>(use: (operations: Operations["Service"]) => Effect.Effect<A, E>) =>
      Effect.runPromise(
        Effect.flatMap(Operations, use).pipe(Effect.provide(embeddedServices(handbook, { dataDir: join(server.folder, "data") })))
      )
    try {
      putObjects(server, { "slow.md": leave })
      const names: Array<string> = []
      for (let i = 0; i < 4; i++) names.push(await start(server, await server.corpus(), gcs("gs://docs/slow.md", chunked(100 + i))))
      await until("three are under way", () => gate.reads() === 3)
      const ids = names.map((name) => name.split("/").at(-1))
      const told = await outside((operations) => Stream.runCollect(pages(operations.list, 2)))
      assert.deepStrictEqual(told.filter(({ done }) => !done).map(({ name }) => name.split("/").at(-1)), ids.toReversed())
      await outside((operations) =>
        Effect.forEach([names[0], names[3]], (name) => operations.cancel(OperationName.make(name ?? "")), { discard: true })
      )
      for (const name of [names[0], names[3]]) assert.strictEqual((await server.done(name ?? "")).body.error.code, 1)
      const ended = await outside((operations) => operations.wait(OperationName.make(names[0] ?? ""), 120_000))
      assert.strictEqual(ended.error?.code, "CANCELLED")
      await outside((operations) => operations.delete(ended.name))
      assert.strictEqual((await server.call("GET", `/v1/${names[0]}`)).status, 404)
    } finally {
      gate.open()
      await server.stop()
    }
  })

  it("are quota of their own", async () => {
    const gate = gated()
    const server = await startServer({ storage: gate.factory, vertexQuotas: true })
    try {
      putObjects(server, { "slow.md": leave })
      for (let i = 0; i < 3; i++) await start(server, await server.corpus(), gcs("gs://docs/slow.md", chunked(100 + i)))
      const corpus = await server.corpus()
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
      const uris = [
        `https://127.0.0.1:${port}/a.md`,
        `https://localhost:${port}/a.md`,
        `https://[::ffff:127.0.0.1]:${port}/a.md`,
        `https://2130706433:${port}/a.md`
      ]
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

describe("redirects of what imports fetch over https", () => {
  it("lead to public addresses only, and never to http", async () => {
    const asked: Array<string> = []
    const { port, server: site } = await httpsServer(({ headers: { host }, url }, response) => {
      asked.push(`${host?.split(":")[0]}${url}`)
      const to = {
        "/moved.md": `https://mirror.test:${port}/page.md`,
        "/inside.md": `https://inside.test:${port}/secret.md`,
        "/plain.md": `http://mirror.test:${port}/page.md`
      }[url ?? ""]
      if (to === undefined) response.writeHead(200, { "content-type": "text/markdown" }).end("# Page\n\nThe page that was meant.")
      else response.writeHead(302, { location: to }).end()
    })
    // Public are only the names it is told to take for such; what they lead to is this machine.
    const publicHttp = await Effect.runPromise(
      Layer.build(Http.layer({
        publicOnly: { allowHosts: ["friend.test", "mirror.test"], resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) }
      })).pipe(Effect.map((built) => Context.get(built, HttpClient.HttpClient)), Scope.provide(Scope.makeUnsafe()))
    )
    const server = await startServer({ allowRemote: true, storage: (config, context) => storage(config, { ...context, publicHttp }) })
    try {
      const corpus = await server.corpus()
      const uris = ["moved", "inside", "plain"].map((name) => `https://friend.test:${port}/${name}.md`)
      const body = await run(server, corpus, gcs(uris))
      assert.deepStrictEqual(counts(body), [1, 0, 2])
      const failures = body.metadata.genericMetadata.partialFailures.map(({ message }: { message: string }) => message)
      assert.isTrue(failures.some((message: string) => /inside\.test/.test(message)), failures.join("\n"))
      assert.isTrue(failures.some((message: string) => /redirects to an address that is not followed/.test(message)), failures.join("\n"))
      assert.isFalse(asked.some((place) => place.startsWith("inside.test")))
      const found = await server.call("POST", `/v1/${parent}:retrieveContexts`, {
        vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
        query: { text: "page" }
      })
      assert.include(found.body.contexts.contexts[0].text, "The page that was meant.")
    } finally {
      site.close()
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
