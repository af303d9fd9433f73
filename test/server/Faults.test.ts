import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readFaults } from "../../src/server/faults/FaultFile.ts"
import { Faults } from "../../src/server/faults/Faults.ts"
import { Quotas } from "../../src/server/quotas/Quotas.ts"
import { leave, parent, startServer, type TestServer } from "./support/TestServer.ts"

const script = `
faults:
  - { method: listRagCorpora, at: 2, error: RESOURCE_EXHAUSTED, retryAfter: 2 }
  - { method: listRagCorpora, every: 3, error: UNAVAILABLE, message: come back later }
  - { method: createRagCorpus, operation: 0.4 }
  - { method: getRagCorpus, at: [1], drop: request }
  - { method: getRagCorpus, at: [2], drop: middle }
  - { method: uploadRagFile, at: 1, drop: reply }
  - { method: getRagEngineConfig, delay: 0.3 }
`

describe("scripted faults", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ faults: script })
  })
  afterAll(() => server.stop())

  it("come at the calls they are for", async () => {
    const list = () => server.call("GET", `/v1/${parent}/ragCorpora`)
    assert.strictEqual((await list()).status, 200)
    const second = await list()
    assert.strictEqual(second.status, 429)
    assert.strictEqual(second.headers.get("retry-after"), "2")
    assert.strictEqual(second.body.error.details[0].reason, "RATE_LIMIT_EXCEEDED")
    assert.strictEqual(second.body.error.details[1].retryDelay, "2s")
    const third = await list()
    assert.strictEqual(third.status, 503)
    assert.strictEqual(third.body.error.message, "come back later")
    assert.strictEqual((await list()).status, 200)
  })

  it("slow operations and answers down", async () => {
    const { body } = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "slow" })
    assert.isUndefined(body.done)
    assert.isUndefined(body.response)
    const done = await server.done(body.name)
    assert.strictEqual(done.body.response.displayName, "slow")
    const before = performance.now()
    await server.call("GET", `/v1/${parent}/ragEngineConfig`)
    assert.isAtLeast(performance.now() - before, 290)
  })

  it("break connections before, within and after the work", async () => {
    const { body } = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "dropped" })
    const corpus = (await server.done(body.name)).body.response.name
    const get = () => server.call("GET", `/v1/${corpus}`)
    for (let i = 0; i < 2; i++) assert.instanceOf(await get().then(() => undefined, (error: unknown) => error), Error)
    assert.strictEqual((await get()).status, 200)
    const lost = await server.upload(corpus, "lost.md", leave).then(() => undefined, (error: unknown) => error)
    assert.instanceOf(lost, Error)
    const files = await server.call("GET", `/v1/${corpus}/ragFiles`)
    assert.deepStrictEqual(files.body.ragFiles.map((file: { displayName: string }) => file.displayName), ["lost.md"])
  })
})

describe("a script", () => {
  it("is refused with what is wrong in it", () => {
    for (
      const text of [
        "faults: [{ at: 0 }]",
        "faults: [{ method: nothing }]",
        "faults: [{ error: OOPS }]",
        "faults: [{ colour: red }]",
        "- x",
        ":\n :"
      ]
    ) {
      assert.isTrue(Result.isFailure(readFaults(text)), text)
    }
  })

  it("without a method counts every call", () => {
    const faults = new Faults(Result.getOrThrow(readFaults("faults: [{ at: 7, error: RESOURCE_EXHAUSTED }]")))
    const codes = Array.from({ length: 8 }, (_, i) => faults.next(i % 2 === 0 ? "getRagFile" : "retrieveContexts").error?.code)
    assert.strictEqual(codes.findIndex((code) => code !== undefined), 6)
    assert.strictEqual(codes[6], "RESOURCE_EXHAUSTED")
  })
})

describe("the service's quotas", () => {
  const us = "projects/p/locations/us-central1"

  it("let 60 management calls and 1,500 retrievals through in any minute", () => {
    const quotas = new Quotas()
    const passed = (key: "getRagFile" | "retrieveContexts" | "getOperation", count: number, now: number) =>
      Array.from({ length: count }, () => quotas.take(key, us, now)).filter((over) => over === undefined).length
    assert.strictEqual(passed("getRagFile", 40, 0), 40)
    assert.strictEqual(passed("getRagFile", 40, 30_000), 20)
    assert.strictEqual(passed("retrieveContexts", 2_000, 30_000), 1_500)
    assert.strictEqual(passed("getOperation", 2_000, 30_000), 2_000)
    assert.strictEqual(passed("getRagFile", 100, 59_999), 0)
    assert.strictEqual(passed("getRagFile", 100, 60_000), 40)
    assert.isUndefined(quotas.take("getRagFile", "projects/p/locations/europe-west3", 60_000))
  })

  it("are told as the service tells them", async () => {
    const server = await startServer({ vertexQuotas: true })
    try {
      // What is refused uses up nothing.
      for (let i = 0; i < 70; i++) assert.strictEqual((await server.call("GET", `/v1/${parent}/ragCorpora/404`)).status, 404)
      for (let i = 0; i < 70; i++) assert.strictEqual((await server.call("POST", `/v1/${parent}/ragCorpora`, { nonsense: 1 })).status, 400)
      for (let i = 0; i < 59; i++) await server.call("GET", `/v1/${parent}/ragCorpora`)
      let last = await server.call("GET", `/v1/${parent}/ragCorpora`)
      assert.strictEqual(last.status, 200)
      for (let i = 0; i < 60; i++) last = await server.call("GET", `/v1/${parent}/ragCorpora`)
      assert.strictEqual(last.status, 429)
      const { error } = last.body
      assert.match(
        error.message,
        /^Quota exceeded for quota metric '.*' and limit '.*' of service 'aiplatform\.googleapis\.com' for consumer 'projects\/p1'/
      )
      assert.strictEqual(error.status, "RESOURCE_EXHAUSTED")
      const [info] = error.details
      assert.strictEqual(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo")
      assert.strictEqual(info.reason, "RATE_LIMIT_EXCEEDED")
      assert.strictEqual(info.domain, "googleapis.com")
      assert.strictEqual(info.metadata.quota_limit_value, "60")
      assert.match(last.headers.get("retry-after") ?? "", /^\d+$/)
    } finally {
      await server.stop()
    }
  })
})
