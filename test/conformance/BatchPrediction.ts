import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, type Layer, Stream } from "effect"
import { BatchJobName, type BatchSpec } from "../../src/domain/batch/BatchPrediction.ts"
import { BatchPrediction } from "../../src/ports/BatchPrediction.ts"
import { ObjectStore } from "../../src/ports/ObjectStore.ts"
import { pages } from "../../src/ports/Paging.ts"
import { batchLine } from "../support/EchoModel.ts"
import { eventually } from "../support/Eventually.ts"

let made = 0

/**
 * What every engine's BatchPrediction does. The engine answers with `echoModel`, and the objects it reads and writes
 * are those of the layer's store, bucket `gs://b`.
 */
export const suite = <E>(name: string, engine: Layer.Layer<BatchPrediction | ObjectStore, E>): void => {
  /** A job over these questions. */
  const specOf = Effect.fnUntraced(function*(questions: ReadonlyArray<string>, more: Partial<BatchSpec> = {}) {
    const uri = `gs://b/in-${++made}.jsonl`
    yield* (yield* ObjectStore).put(
      uri,
      new TextEncoder().encode(questions.map((question, at) => batchLine(`row-${at}`, question)).join("\n"))
    )
    const spec: BatchSpec = {
      displayName: `job ${made}`,
      model: "publishers/meta/models/llama-3.1-8b-instruct-maas",
      input: { _tag: "jsonl", uris: [uri] },
      output: { _tag: "jsonl", uriPrefix: "gs://b/out" },
      ...more
    }
    return spec
  })

  layer(engine, { excludeTestServices: true })(`BatchPrediction: ${name}`, (it) => {
    it.effect("creates a job that is pending, and runs it to its end", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const spec = yield* specOf(["one", "two"], { labels: { team: "search" } })
        const job = yield* jobs.create(spec)
        assert.strictEqual(job.state, "PENDING")
        assert.match(job.name, /^projects\/[^/]+\/locations\/[^/]+\/batchPredictionJobs\/\d+$/)
        assert.deepInclude(job, spec)
        assert.match(job.createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/)
        const states: Array<string> = []
        const ended = yield* jobs.wait(job.name, { observe: ({ state }) => Effect.sync(() => void states.push(state)) })
        assert.strictEqual(ended.state, "SUCCEEDED")
        assert.strictEqual(states.at(-1), "SUCCEEDED")
        assert.deepStrictEqual(ended.counts, { successful: 2, failed: 0, incomplete: 0 })
        assert.deepStrictEqual(yield* jobs.get(job.name), ended)
        const objects = yield* ObjectStore
        const [file, ...others] = yield* Stream.runCollect(objects.list(`${ended.results?.uri}/`))
        assert.lengthOf(others, 0)
        assert.match(file?.uri ?? "", /\/prediction-[^/]+\/predictions_0001\.jsonl$/)
        const text = yield* objects.get(file?.uri ?? "", 1e6).pipe(Stream.decodeText, Stream.mkString)
        assert.match(text, /"custom_id":"row-0".*"content":"You said: one".*\n.*"custom_id":"row-1".*"content":"You said: two"/)
        assert.notMatch(text, /"method"|"url"/)
      }))

    it.effect("ends well with rows that failed, in part or in all", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const partly = yield* jobs.wait((yield* jobs.create(yield* specOf(["one", "refuse this"]))).name)
        assert.strictEqual(partly.state, "PARTIALLY_SUCCEEDED")
        assert.deepStrictEqual(partly.counts, { successful: 1, failed: 1, incomplete: 0 })
        assert.strictEqual(partly.partialFailures[0]?.code, "INVALID_ARGUMENT")
        assert.match(partly.partialFailures[0]?.message ?? "", /^gs:\/\/b\/in-\d+\.jsonl:2: .*is refused/)
        const wholly = yield* jobs.wait((yield* jobs.create(yield* specOf(["refuse this"]))).name)
        assert.strictEqual(wholly.state, "FAILED")
        assert.strictEqual(wholly.error?.code, "INVALID_ARGUMENT")
      }))

    it.effect("fails a job whose rows break rules, each told at its line", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const spec = yield* specOf(["one"])
        const uri = spec.input._tag === "jsonl" ? spec.input.uris[0] ?? "" : ""
        const lines = [batchLine("a"), "{", batchLine("a"), batchLine("b", "", { body: { messages: [{ role: "robot", content: "x" }] } })]
        yield* (yield* ObjectStore).put(uri, new TextEncoder().encode(lines.join("\n")))
        const failed = yield* jobs.wait((yield* jobs.create(spec)).name)
        assert.strictEqual(failed.state, "FAILED")
        assert.strictEqual(failed.error?.code, "INVALID_ARGUMENT")
        assert.strictEqual(
          failed.error?.message,
          [
            `${uri}:2: the line is not JSON, or nested too deeply`,
            `${uri}:3: custom_id: is that of ${uri}:1 too`,
            `${uri}:4: body.messages[0].role: must be system, developer, user, assistant`
          ].join("\n")
        )
        assert.isUndefined(failed.results)
      }))

    it.effect("refuses places that are not there, before there is a job", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const spec = yield* specOf(["one"], { displayName: "nowhere", encryptionKey: "projects/p/locations/l/keyRings/r/cryptoKeys/k" })
        const refused = (more: Partial<BatchSpec>) =>
          Effect.map(Effect.flip(jobs.create({ ...spec, ...more })), ({ code, message }) => `${code}: ${message}`)
        const there = spec.input._tag === "jsonl" ? spec.input.uris : []
        assert.match(
          yield* refused({ input: { _tag: "jsonl", uris: [...there, "gs://b/none.jsonl"] } }),
          /^NOT_FOUND: .*gs:\/\/b\/none\.jsonl/
        )
        assert.match(yield* refused({ input: { _tag: "jsonl", uris: ["gs://other/in.jsonl"] } }), /^PERMISSION_DENIED: .*gs:\/\/other/)
        assert.match(yield* refused({ output: { _tag: "jsonl", uriPrefix: "gs://other" } }), /^PERMISSION_DENIED: .*gs:\/\/other/)
        assert.match(yield* refused({ encryptionKey: "k" }), /^INVALID_ARGUMENT: .*keyRings/)
        assert.lengthOf((yield* jobs.list({}, "display_name=nowhere")).items, 0)
        const { encryptionKey } = yield* jobs.create(spec)
        assert.strictEqual(encryptionKey, spec.encryptionKey)
      }))

    it.effect("refuses what breaks a rule, all of it at once", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const spec = yield* specOf(["one"])
        const error = yield* Effect.flip(
          jobs.create({ ...spec, displayName: "x".repeat(129), model: "llama", input: { _tag: "jsonl", uris: ["in.jsonl"] } })
        )
        assert.strictEqual(error.code, "INVALID_ARGUMENT")
        assert.lengthOf(error.violations ?? [], 3)
        for (const word of ["128 characters", "publishers/{publisher}/models/{model}", "gs://bucket/object"]) {
          assert.include(error.message, word)
        }
      }))

    it.effect("cancels a job, keeping what was answered", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const { name } = yield* jobs.create(yield* specOf(["one", "wait for ever", "two"]))
        const started = yield* Effect.forkChild(jobs.wait(name))
        yield* eventually("two rows are answered", Effect.map(jobs.get(name), ({ counts }) => counts?.successful === 2))
        yield* jobs.cancel(name)
        const ended = yield* Fiber.join(started)
        assert.strictEqual(ended.state, "CANCELLED")
        assert.strictEqual(ended.error?.code, "CANCELLED")
        assert.deepStrictEqual(ended.counts, { successful: 2, failed: 0, incomplete: 1 })
        const rows = yield* Stream.runCollect((yield* ObjectStore).list(`${ended.results?.uri}/predictions`))
        assert.lengthOf(rows, 1)
        yield* jobs.cancel(name)
        assert.strictEqual((yield* jobs.get(name)).state, "CANCELLED")
      }))

    it.effect("lists jobs newest first, by page and by filter", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const [first, second] = [
          yield* jobs.create(yield* specOf(["one"], { labels: { set: "list" } })),
          yield* jobs.create(yield* specOf(["two"], { labels: { set: "list" } }))
        ]
        const listed = yield* pages((page) => jobs.list(page, "labels.set=list"), 1).pipe(Stream.runCollect)
        assert.deepStrictEqual(listed.map((job) => job.name), [second.name, first.name])
        const only = yield* jobs.list({}, `display_name="${first.displayName}" AND NOT state=JOB_STATE_PAUSED`)
        assert.deepStrictEqual(only.items.map((job) => job.name), [first.name])
        assert.strictEqual((yield* Effect.flip(jobs.list({}, "shoe_size>44"))).code, "INVALID_ARGUMENT")
        assert.strictEqual((yield* Effect.flip(jobs.list({ token: "mine" }))).code, "INVALID_ARGUMENT")
      }))

    it.effect("deletes jobs that have ended, and no others", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const { name } = yield* jobs.create(yield* specOf(["wait for ever"]))
        const refused = yield* Effect.flip(jobs.delete(name))
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        yield* jobs.cancel(name)
        yield* jobs.wait(name)
        yield* jobs.delete(name)
        assert.strictEqual((yield* Effect.flip(jobs.get(name))).code, "NOT_FOUND")
      }))

    it.effect("returns from waiting when the time is up", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const { name } = yield* jobs.create(yield* specOf(["wait for ever"]))
        assert.notStrictEqual((yield* jobs.wait(name, { timeoutMs: 50 })).state, "SUCCEEDED")
        yield* jobs.cancel(name)
      }))

    it.effect("knows no job that was not made", () =>
      Effect.gen(function*() {
        const jobs = yield* BatchPrediction
        const { name } = yield* jobs.create(yield* specOf(["one"]))
        const other = BatchJobName.make(name.replace(/[^/]+$/, "1"))
        for (const call of [jobs.get(other), jobs.cancel(other), jobs.delete(other), jobs.wait(other)]) {
          assert.strictEqual((yield* Effect.flip(Effect.asVoid(call))).code, "NOT_FOUND")
        }
      }))
  })
}
