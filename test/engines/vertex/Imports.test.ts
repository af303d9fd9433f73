import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import { CorpusName } from "../../../src/domain/Corpus.ts"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { type ImportRequest, otherImports } from "../../../src/domain/Import.ts"
import { type Operation, OperationName } from "../../../src/domain/Operation.ts"
import { inImportPlace } from "../../../src/engines/vertex/ImportPlaces.ts"
import { Transport } from "../../../src/engines/vertex/Transport.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Files } from "../../../src/ports/Files.ts"
import { Operations } from "../../../src/ports/Operations.ts"
import { Quota } from "../../../src/ports/Quota.ts"
import { managed } from "../../conformance/Cases.ts"
import { eventually } from "../../support/Eventually.ts"
import { hosted, onFake } from "./Engine.ts"

const newImport = Effect.gen(function*() {
  const request: ImportRequest = {
    corpus: (yield* (yield* Corpora).create(managed("c"))).name,
    source: { _tag: "storage", uris: ["gs://bucket/docs/"] },
    chunking: defaultChunking,
    maxEmbeddingRequestsPerMinute: 900
  }
  return request
})

const isImport = ({ path }: { readonly path: string }) => path.endsWith("ragFiles:import")

describe("hosted imports", () => {
  it.live("start, and are followed by name, by another process too", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const request = yield* newImport
        fake.slowness = 4
        const started = yield* (yield* Files).import(request)
        assert.strictEqual(started.kind, "importFiles")
        assert.strictEqual(started.target, request.corpus)
        assert.isFalse(started.done)
        assert.deepStrictEqual(JSON.parse(fake.calls.find(isImport)?.body ?? ""), {
          importRagFilesConfig: {
            gcsSource: { uris: ["gs://bucket/docs/"] },
            ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 1024, chunkOverlap: 200 } } },
            maxEmbeddingRequestsPerMin: 900
          }
        })
        const operations = yield* Operations
        assert.isFalse((yield* operations.wait(started.name, 1)).done)
        const waiting = yield* Effect.forkChild(operations.wait(started.name, 60_000))
        yield* Fiber.interrupt(waiting)
        const ended = yield* Effect.flatMap(Operations, (others) => others.wait(started.name, 60_000)).pipe(
          Effect.provide(hosted(fake.baseUrl))
        )
        assert.deepStrictEqual(ended.counts, { imported: 1, failed: 0, skipped: 0 })
        assert.isFalse(fake.calls.some(({ path }) => path.endsWith(":cancel")))
      })
    ))

  it.live("are followed to their end though connections break while they are looked at", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const request = yield* newImport
        fake.slowness = 3
        const started = yield* (yield* Files).import(request)
        let looks = 0
        fake.fault = ({ method, path }) =>
          method === "GET" && path.includes("/operations/") && ++looks % 2 === 1 ? (looks === 1 ? "drop" : "lose") : undefined
        const ended = yield* (yield* Operations).wait(started.name, 60_000)
        assert.isTrue(ended.done)
        assert.isAtLeast(looks, 4)
        assert.strictEqual(fake.calls.filter(isImport).length, 1)
      })
    ))

  it.live("are not started twice when the answer is lost", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const request = yield* newImport
        fake.fault = (call) => isImport(call) ? "lose" : undefined
        const started = yield* (yield* Files).import(request)
        assert.isTrue(fake.operations.has(started.name))
        assert.strictEqual(fake.calls.filter(isImport).length, 1)
      })
    ))

  it.live("are not taken for another import into the same corpus", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const request = yield* newImport
        const other = yield* files.import({ ...request, source: { _tag: "storage", uris: ["gs://bucket/other/"] } })
        const before = fake.calls.length
        fake.fault = (call) => isImport(call) && fake.calls.length === before + 1 ? "drop" : undefined
        const started = yield* files.import(request)
        assert.notStrictEqual(started.name, other.name)
        assert.strictEqual(fake.calls.slice(before).filter(isImport).length, 2)
      })
    ))

  it.live("operations can be cancelled, listed, deleted; those of others are left out", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const started = yield* (yield* Files).import(yield* newImport)
        fake.operations.set("projects/p1/locations/us-central1/tensorboards/1/operations/9", {
          name: "projects/p1/locations/us-central1/tensorboards/1/operations/9",
          kind: "CreateTensorboardOperationMetadata",
          createTime: "2026-01-01T00:00:00Z",
          polls: 0,
          metadata: {},
          response: {}
        })
        const operations = yield* Operations
        yield* operations.cancel(started.name)
        const { items } = yield* operations.list({ size: 100 })
        assert.deepStrictEqual(items.map(({ kind }) => kind), ["createCorpus", "importFiles"])
        yield* operations.delete(started.name)
        assert.strictEqual((yield* Effect.flip(operations.get(started.name))).code, "NOT_FOUND")
      })
    ))
})

describe("the service's three places for imports", () => {
  const operation = (id: number, done: boolean): Operation => ({
    name: OperationName.make(`projects/p1/locations/us-central1/operations/${id}`),
    kind: "importFiles",
    target: "c",
    done,
    partialFailures: [],
    createTime: "",
    updateTime: ""
  })

  const setUp = Effect.gen(function*() {
    const over = new Set<string>()
    let looks = 0
    const operations = Operations.of({
      ...yield* Operations,
      get: (name) =>
        Effect.sync(() => {
          looks++
          return { ...operation(0, over.has(name)), name }
        })
    })
    const services = { operations, quota: yield* Quota, transport: yield* Transport }
    const start = (id: number, done = false, corpus = `c${id}`) =>
      inImportPlace(services, CorpusName.make(corpus), Effect.succeed(operation(id, done)))
    return { over, services, start, looks: () => looks }
  })
  const here = hosted("http://127.0.0.1:1")

  it.effect("the fourth waits until one is over", () =>
    Effect.gen(function*() {
      const { looks, over, start } = yield* setUp
      for (const id of [1, 2, 3]) yield* start(id)
      const fourth = yield* Effect.forkChild(start(4))
      yield* TestClock.adjust("2 minutes")
      assert.isUndefined(fourth.pollUnsafe())
      assert.isAtMost(looks(), 45)
      over.add(operation(2, true).name)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* Fiber.join(fourth)).name, operation(4, false).name)
    }).pipe(Effect.provide(here)))

  it.effect("a process that died while it started one leaves its place at once, one that lives does not", () =>
    Effect.gen(function*() {
      const { services: { quota, transport }, start } = yield* setUp
      const bucket = `${transport.endpoint.host}/mine/imports`
      // One of an earlier process, and one of an earlier process that had the id of this one, as in a container.
      for (const pid of [spawnSync(process.execPath, ["--version"]).pid, process.pid]) {
        yield* quota.occupy(bucket, 1, `starting/${pid}/earlier`, 900_000)
        assert.strictEqual((yield* start(1, true, "mine")).name, operation(1, true).name)
      }
      yield* quota.occupy(bucket, 1, `starting/${process.ppid}/other`, 900_000)
      const waiting = yield* Effect.forkChild(start(2, true, "mine"))
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(waiting.pollUnsafe())
      yield* Fiber.interrupt(waiting)
    }).pipe(Effect.provide(here)))

  it.effect("a short import is not waited for longer than it takes", () =>
    Effect.gen(function*() {
      const { over, start } = yield* setUp
      yield* start(1, false, "mine")
      const second = yield* Effect.forkChild(start(2, false, "mine"))
      yield* TestClock.adjust("1 second")
      over.add(operation(1, true).name)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(second)).name, operation(2, false).name)
    }).pipe(Effect.provide(here)))

  it.effect("a corpus has one of them", () =>
    Effect.gen(function*() {
      const { over, start } = yield* setUp
      yield* start(1, false, "mine")
      const second = yield* Effect.forkChild(start(2, false, "mine"))
      yield* start(3, false, "another")
      yield* TestClock.adjust("2 minutes")
      assert.isUndefined(second.pollUnsafe())
      over.add(operation(1, true).name)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* Fiber.join(second)).name, operation(2, false).name)
    }).pipe(Effect.provide(here)))

  it.effect("a corpus into which others import is waited for, as the refusal names them", () =>
    Effect.gen(function*() {
      const { over, services } = yield* setUp
      const others = operation(77, false).name
      let sent = 0
      const start = Effect.suspend(() => {
        sent++
        return over.has(others) ? Effect.succeed(operation(2, false)) : Effect.fail(otherImports("c", ["77"]))
      })
      const mine = yield* Effect.forkChild(inImportPlace(services, CorpusName.make("c"), start))
      yield* TestClock.adjust("5 minutes")
      assert.isUndefined(mine.pollUnsafe())
      assert.strictEqual(sent, 1)
      over.add(others)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* Fiber.join(mine)).name, operation(2, false).name)
      assert.strictEqual(sent, 2)
      const refused = ServiceError.invalid("corpus", "is another's")
      assert.strictEqual(yield* Effect.flip(inImportPlace(services, CorpusName.make("d"), Effect.fail(refused))), refused)
    }).pipe(Effect.provide(here)))

  it.effect("those that end at once, fail or are given up take none", () =>
    Effect.gen(function*() {
      const { services, start } = yield* setUp
      for (const id of [1, 2, 3, 4]) yield* start(id, true)
      for (const _ of [1, 2, 3]) {
        yield* Effect.flip(inImportPlace(services, CorpusName.make("c"), Effect.fail(ServiceError.notFound("corpus"))))
      }
      for (const _ of [1, 2, 3]) {
        const fiber = yield* Effect.forkChild(inImportPlace(services, CorpusName.make("c"), Effect.never))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      const fifth = yield* Effect.forkChild(start(5))
      yield* eventually("the fifth import has a place", Effect.sync(() => fifth.pollUnsafe()))
      assert.strictEqual((yield* Fiber.join(fifth)).name, operation(5, false).name)
    }).pipe(Effect.provide(here)))
})
