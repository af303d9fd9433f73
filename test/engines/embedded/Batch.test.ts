import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { BatchJob, BatchSpec } from "../../../src/domain/batch/BatchPrediction.ts"
import * as EmbeddedBatchPrediction from "../../../src/engines/embedded/EmbeddedBatchPrediction.ts"
import { Names } from "../../../src/engines/embedded/Names.ts"
import * as FolderObjectStore from "../../../src/engines/embedded/stores/FolderObjectStore.ts"
import * as SqliteTableStore from "../../../src/engines/embedded/stores/SqliteTableStore.ts"
import * as BigQueryTableStore from "../../../src/engines/vertex/tableStore/BigQueryTableStore.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import * as Http from "../../../src/net/Http.ts"
import { BatchPrediction } from "../../../src/ports/BatchPrediction.ts"
import { ChatModel } from "../../../src/ports/ChatModel.ts"
import type { TableStore } from "../../../src/ports/TableStore.ts"
import { State } from "../../../src/state/State.ts"
import * as Conformance from "../../conformance/BatchPrediction.ts"
import { fakeBigQuery } from "../../fakes/Bigquery.ts"
import { batchLine, type EchoModel, echoModel } from "../../support/EchoModel.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

const names = new Names("local", "local")

const engineOver = (
  folder: string,
  { model }: EchoModel,
  options: Partial<EmbeddedBatchPrediction.EmbeddedBatchOptions> = {},
  tables: Layer.Layer<TableStore> = SqliteTableStore.layer(join(folder, "tables.db"))
) =>
  EmbeddedBatchPrediction.layer(names, { run: "always", ...options }).pipe(Layer.provideMerge(Layer.mergeAll(
    State.layer(join(folder, "data")),
    FolderObjectStore.layer({ buckets: new Map([["b", join(folder, "bucket")]]), files: options.files === true }),
    tables,
    Layer.succeed(ChatModel, model)
  )))

Conformance.suite("embedded", Layer.unwrap(Effect.map(tempFolder, (folder) => engineOver(folder, echoModel()))))
Conformance.suite(
  "embedded, run by whoever waits",
  Layer.unwrap(Effect.map(tempFolder, (folder) => engineOver(folder, echoModel(), { run: "awaited" })))
)

/** Runs something on an engine over a folder, which ends with it. */
const on = <A, E>(
  folder: string,
  body: (jobs: BatchPrediction["Service"]) => Effect.Effect<A, E>,
  model = echoModel(),
  options: Partial<EmbeddedBatchPrediction.EmbeddedBatchOptions> = {}
) => Effect.flatMap(BatchPrediction, body).pipe(Effect.provide(engineOver(folder, model, options)))

const spec = (more: Partial<BatchSpec> = {}): BatchSpec => ({
  displayName: "job",
  model: "publishers/meta/models/llama-3.1-8b-instruct-maas",
  input: { _tag: "jsonl", uris: ["gs://b/in.jsonl"] },
  output: { _tag: "jsonl", uriPrefix: "gs://b/out" },
  ...more
})

const run = (more: Partial<BatchSpec> = {}) => (jobs: BatchPrediction["Service"]) =>
  Effect.flatMap(jobs.create(spec(more)), ({ name }) => jobs.wait(name))

const put = (folder: string, lines: ReadonlyArray<string>): void => write(join(folder, "bucket"), { "in.jsonl": lines.join("\n") })

/** The lines of a job's result files, as text, by their names. */
const resultsOf = (folder: string, { results }: BatchJob): Record<string, ReadonlyArray<string>> => {
  const path = join(folder, "bucket", (results?.uri ?? "").replace("gs://b/", ""))
  return Object.fromEntries(
    readdirSync(path).toSorted().map((name) => [
      name,
      readFileSync(join(path, name), "utf8").split("\n").filter((text) => text !== "")
    ])
  )
}

const rowsIn = (folder: string): number => {
  const db = new DatabaseSync(join(folder, "data", "sluice.db"), { timeout: 60_000 })
  const count = Number(db.prepare("SELECT count(*) AS n FROM batch_rows").get()?.["n"])
  db.close()
  return count
}

describe("batch jobs on the embedded engine", () => {
  it.live("lay results out as the service does, columns carried over to the digit", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, [batchLine("a", "one", { team: "x" }).replace("{", "{\"n\":12345678901234567890,"), "\r", batchLine("b", "refuse")])
      const job = yield* on(folder, run())
      assert.match(job.results?.uri ?? "", /^gs:\/\/b\/out\/prediction-llama-3\.1-8b-instruct-maas-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual([job.modelVersionId, job.updateTime], ["echo-1", job.endTime])
      const { "errors_0001.jsonl": errors = [], "predictions_0001.jsonl": rows = [], ...others } = resultsOf(folder, job)
      assert.deepStrictEqual(others, {})
      const [answered, failed] = [JSON.parse(rows[0] ?? ""), JSON.parse(errors[0] ?? "")]
      assert.hasAllKeys(answered, ["custom_id", "n", "team", "body", "id", "response"])
      assert.include(rows[0], "\"n\":12345678901234567890,")
      assert.deepInclude(answered.response, {
        object: "chat.completion",
        model: "echo-1",
        usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
      })
      assert.deepStrictEqual(answered.response.choices, [
        { index: 0, message: { role: "assistant", content: "You said: one" }, logprobs: null, finish_reason: "stop" }
      ])
      assert.hasAllKeys(failed, ["custom_id", "body", "id", "error"])
      assert.deepStrictEqual(failed.error, { code: 3, message: "body.messages: is refused" })
      // The folder has nothing that was only there while the job went on, nor the database.
      assert.deepStrictEqual([rows.length, errors.length, rowsIn(folder)], [1, 1, 0])
    }).pipe(Effect.scoped))

  it.live("read tables and write tables, or either", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const db = new DatabaseSync(join(folder, "tables.db"))
      db.exec("CREATE TABLE prompts (custom_id TEXT, method TEXT, url TEXT, team TEXT, n INTEGER, body JSON)")
      const body = JSON.stringify({ messages: [{ role: "user", content: "one" }], max_tokens: 9 })
      db.prepare("INSERT INTO prompts VALUES ('a', 'POST', '/v1', 'x', ?, ?), ('b', NULL, NULL, NULL, 7, ?)").run(
        2n ** 62n,
        body,
        body.replace("one", "refuse")
      )
      const table = yield* on(
        folder,
        run({ input: { _tag: "table", uri: "bq://p.main.prompts" }, output: { _tag: "table", uri: "p.main.answers" } })
      )
      assert.strictEqual(table.state, "PARTIALLY_SUCCEEDED", JSON.stringify(table))
      assert.deepStrictEqual(table.results, { _tag: "table", uri: "p.main.answers" })
      const read = db.prepare("SELECT * FROM answers")
      read.setReadBigInts(true)
      const [first, second] = read.all()
      assert.deepStrictEqual(Object.keys(first ?? {}), ["custom_id", "team", "n", "body", "id", "response"])
      assert.deepInclude({ ...first }, { custom_id: "a", team: "x", n: 2n ** 62n, body })
      assert.strictEqual(JSON.parse(String(first?.["response"])).choices[0].message.content, "You said: one")
      assert.deepStrictEqual(JSON.parse(String(second?.["response"])), {
        error: { code: "INVALID_ARGUMENT", message: "body.messages: is refused" }
      })

      const file = yield* on(folder, run({ input: { _tag: "table", uri: "p.main.prompts" } }))
      assert.lengthOf(resultsOf(folder, file)["predictions_0001.jsonl"] ?? [], 1)
      put(folder, [batchLine("c", "three", { team: "y", tags: ["z"] })])
      const other = yield* on(folder, run({ output: { _tag: "table", uri: "bq://p.d.answers" } }))
      assert.strictEqual(other.state, "SUCCEEDED", JSON.stringify(other))
      assert.deepInclude({ ...db.prepare("SELECT * FROM \"d.answers\"").get() }, { custom_id: "c", team: "y", tags: "[\"z\"]" })
      db.close()
    }).pipe(Effect.scoped))

  it.live("refuse tables whose columns break a rule, and a place that is taken", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const db = new DatabaseSync(join(folder, "tables.db"))
      db.exec("CREATE TABLE taken (custom_id TEXT, Response JSON, id TEXT, body TEXT)")
      db.close()
      yield* on(folder, (jobs) =>
        Effect.gen(function*() {
          const input = yield* Effect.flip(jobs.create(spec({ input: { _tag: "table", uri: "bq://p.main.taken" } })))
          assert.strictEqual(
            input.message,
            [
              "bq://p.main.taken: column Response is reserved for the output",
              "bq://p.main.taken: column id is reserved for the output",
              "bq://p.main.taken: column body must be JSON, not STRING"
            ].join("\n")
          )
          put(folder, [batchLine("a", "wait")])
          const output = yield* Effect.flip(jobs.create(spec({ output: { _tag: "table", uri: "p.main.taken" } })))
          assert.include(output.message, "is there already")
          yield* jobs.create(spec({ output: { _tag: "table", uri: "p.main.new" } }))
          assert.include(
            (yield* Effect.flip(jobs.create(spec({ output: { _tag: "table", uri: "bq://q.main.new" } })))).message,
            "is making table"
          )
          const sameInSqlite = yield* Effect.flip(jobs.create(spec({ output: { _tag: "table", uri: "p.main.NEW" } })))
          assert.include(sameInSqlite.message, "is making table")
          const same = yield* Effect.flip(
            jobs.create(spec({ input: { _tag: "table", uri: "p.main.t" }, output: { _tag: "table", uri: "bq://p.main.t" } }))
          )
          assert.include(same.message, "must not be the input table")
        }))
    }).pipe(Effect.scoped))

  it.live("may write tables of one name in two projects, where projects are told apart", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, [batchLine("a", "wait")])
      const { origin } = yield* fakeBigQuery()
      const bigQuery = BigQueryTableStore.layer({ endpoint: origin }).pipe(Layer.provide([Http.layer(), GoogleAuth.layerAnonymous]))
      yield* Effect.gen(function*() {
        const { create } = yield* BatchPrediction
        const into = (uri: string) => create(spec({ output: { _tag: "table", uri } }))
        const { name } = yield* into("bq://p.d.new")
        assert.include((yield* Effect.flip(into("p.d.new"))).message, `${name} is making table`)
        assert.strictEqual((yield* into("bq://q.d.new")).state, "PENDING")
        // BigQuery's names differ by the case of their letters.
        assert.strictEqual((yield* into("bq://p.d.NEW")).state, "PENDING")
      }).pipe(Effect.provide(engineOver(folder, echoModel(), { run: "awaited" }, bigQuery)))
    }).pipe(Effect.scoped))

  it.live("go on where they were stopped, asking no answered row again", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, Array.from({ length: 40 }, (_, at) => batchLine(`r${at}`, `q${at} ${at === 20 ? "hold" : ""}`)))
      const reached = yield* Deferred.make<void>()
      const stuck = echoModel((text) =>
        text.includes("hold") ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
      )
      const name = yield* on(
        folder,
        (jobs) =>
          Effect.gen(function*() {
            const { name } = yield* jobs.create(spec())
            yield* Deferred.await(reached)
            return name
          }),
        stuck,
        { concurrency: 1 }
      )
      assert.lengthOf(stuck.asked, 21)
      // What the input says now is not what the job was given.
      put(folder, [batchLine("other")])
      const free = echoModel()
      const job = yield* on(folder, (jobs) => jobs.wait(name), free)
      assert.strictEqual(job.state, "SUCCEEDED")
      assert.lengthOf(free.asked, 20)
      const ids = (resultsOf(folder, job)["predictions_0001.jsonl"] ?? []).map((row) => JSON.parse(row).custom_id)
      assert.deepStrictEqual(ids, Array.from({ length: 40 }, (_, at) => `r${at}`))
    }).pipe(Effect.scoped))

  it.live("give up when nothing but failures comes, and keep what was answered", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, [batchLine("first", "one"), ...Array.from({ length: 60 }, (_, at) => batchLine(`r${at}`, "down"))])
      const job = yield* on(folder, run(), echoModel(), { concurrency: 1 })
      assert.deepStrictEqual([job.state, job.error?.code], ["FAILED", "PERMISSION_DENIED"])
      assert.match(job.error?.message ?? "", /^20 rows failed one after the other, the last one with: no such key$/)
      assert.deepStrictEqual(job.counts, { successful: 1, failed: 20, incomplete: 40 })
      const { "errors_0001.jsonl": errors = [], "predictions_0001.jsonl": rows = [] } = resultsOf(folder, job)
      assert.deepStrictEqual([rows.length, errors.length], [1, 20])
    }).pipe(Effect.scoped))

  it.live("say before the first row is asked that the results cannot be written", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, [batchLine("a")])
      writeFileSync(join(folder, "bucket", "out"), "a file where the folder belongs")
      const model = echoModel()
      const job = yield* on(folder, run(), model)
      assert.strictEqual(job.state, "FAILED")
      assert.lengthOf(model.asked, 0)
      const out = yield* on(folder, (jobs) =>
        Effect.flip(jobs.create(spec({ input: { _tag: "jsonl", uris: ["gs://b/../../etc/passwd"] } }))), model)
      assert.deepStrictEqual([out.code, out.violations?.[0]?.field], ["PERMISSION_DENIED", "inputConfig.gcsSource.uris[0]"])
    }).pipe(Effect.scoped))

  it.live("are run by one process at a time; whoever waits takes over", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      put(folder, [batchLine("a"), batchLine("b", "hold")])
      const reached = yield* Deferred.make<void>()
      const stuck = echoModel((text) =>
        text.includes("hold") ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
      )
      const free = echoModel()
      yield* on(
        folder,
        (jobs) =>
          Effect.gen(function*() {
            const { name } = yield* jobs.create(spec())
            const runner = yield* Effect.forkChild(on(folder, (others) => others.wait(name), stuck, { run: "awaited" }))
            yield* Deferred.await(reached)
            assert.strictEqual((yield* jobs.wait(name, { timeoutMs: 200 })).state, "RUNNING")
            assert.lengthOf(free.asked, 0)
            yield* Fiber.interrupt(runner)
            assert.strictEqual((yield* jobs.wait(name)).state, "SUCCEEDED")
            assert.deepStrictEqual(free.asked, ["hold"])
          }),
        free,
        { run: "awaited" }
      )
    }).pipe(Effect.scoped))

  it.live("take files of this machine only where they may", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, { "questions é #1.jsonl": batchLine("a") })
      const local = {
        input: { _tag: "jsonl" as const, uris: [new URL(`file://${join(folder, "questions é #1.jsonl").replace("#", "%23")}`).href] },
        output: { _tag: "jsonl" as const, uriPrefix: `file://${folder}/out` }
      }
      assert.include((yield* Effect.flip(on(folder, run(local)))).message, "must be gs://bucket/object")
      const job = yield* on(folder, run(local), echoModel(), { files: true })
      assert.strictEqual(job.state, "SUCCEEDED", JSON.stringify(job))
      assert.isTrue(existsSync(join(new URL(job.results?.uri ?? "").pathname, "predictions_0001.jsonl")))
      // A server over the same data, which may not read them, leaves them to whoever may.
      const beside = yield* on(folder, () => on(folder, run(local), echoModel(), { files: true, run: "awaited" }))
      assert.strictEqual(beside.state, "SUCCEEDED", JSON.stringify(beside))
    }).pipe(Effect.scoped))
})
