import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as fc from "fast-check"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { type BatchJob, BatchJobName } from "../../src/domain/batch/BatchPrediction.ts"
import { readResult, readRow, requestOf } from "../../src/domain/batch/BatchRow.ts"
import { parseExactly } from "../../src/domain/Json.ts"
import * as FolderObjectStore from "../../src/engines/embedded/stores/FolderObjectStore.ts"
import * as SqliteTableStore from "../../src/engines/embedded/stores/SqliteTableStore.ts"
import { ObjectStore } from "../../src/ports/ObjectStore.ts"
import { TableStore } from "../../src/ports/TableStore.ts"
import { checkRows } from "../../src/text/rows/CheckRows.ts"
import { joinResults } from "../../src/text/rows/JoinResults.ts"
import { type Line, LineSplitter } from "../../src/text/rows/LineSplitter.ts"
import { readRows, type Stores } from "../../src/text/rows/ReadRows.ts"
import { batchLine } from "../support/EchoModel.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const uri = "gs://b/in.jsonl"
const input = { _tag: "jsonl" as const, uris: [uri] }

/** Stores over a folder, with objects of these texts in bucket `b`. */
const stores = Effect.fnUntraced(function*(objects: Readonly<Record<string, string | Uint8Array>>) {
  const folder = yield* tempFolder
  write(join(folder, "bucket"), objects)
  const made = yield* Layer.build(Layer.merge(
    FolderObjectStore.layer({ buckets: new Map([["b", join(folder, "bucket")]]) }),
    SqliteTableStore.layer(join(folder, "tables.db"))
  ))
  return yield* Effect.gen(function*() {
    const both: Stores = { objects: yield* ObjectStore, tables: yield* TableStore }
    return both
  }).pipe(Effect.provide(made))
})

const mistakes = (text: string | Uint8Array) =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(checkRows(input, yield* stores({ "in.jsonl": text })))
    return error.message.split("\n").map((line) => line.replace(`${uri}:`, ""))
  }).pipe(Effect.scoped)

describe("rows of a batch", () => {
  it("are cut into lines, however the bytes come", () => {
    fc.assert(fc.property(
      fc.array(fc.oneof(fc.constantFrom("\n", "\r\n", "", " ", "é𝄞", "{}"), fc.string()), { maxLength: 20 }),
      fc.array(fc.nat(40), { maxLength: 20 }),
      (parts, cuts) => {
        const bytes = new TextEncoder().encode(parts.join(""))
        const splitter = new LineSplitter(1_000)
        const lines: Array<Line> = []
        let at = 0
        for (const cut of cuts) lines.push(...splitter.push(bytes.subarray(at, at += cut)))
        lines.push(...splitter.push(bytes.subarray(at)), ...splitter.finish())
        const expected = new TextDecoder().decode(bytes).split("\n").flatMap((text, index) =>
          text.trim() === "" ? [] : [{ number: index + 1, text }]
        )
        assert.deepStrictEqual(lines, expected)
      }
    ))
  })

  it("are read from any bytes at all: nothing throws, and every line is a row or told by its number", () => {
    const line = fc.oneof(
      { weight: 3, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
      {
        weight: 3,
        arbitrary: fc.record({ custom_id: fc.anything(), body: fc.record({ messages: fc.anything(), max_tokens: fc.anything() }) }).map(
          (value) => {
            try {
              return JSON.stringify(value)
            } catch {
              return "{"
            }
          }
        )
      },
      { weight: 1, arbitrary: fc.constant(batchLine("a")) },
      { weight: 1, arbitrary: fc.string() }
    )
    const bytes = fc.oneof(
      fc.array(line).map((lines) => new TextEncoder().encode(lines.join("\n"))),
      fc.uint8Array({ maxLength: 200 })
    )
    fc.assert(
      fc.property(bytes, (given) => {
        const splitter = new LineSplitter(100_000)
        const lines = [...splitter.push(given), ...splitter.finish()]
        const ends = given.filter((byte) => byte === 10).length + 1
        let last = 0
        for (const one of lines) {
          assert.isTrue(one.number > last && one.number <= ends)
          last = one.number
          if (!("text" in one)) continue
          const { problems, row } = (() => {
            try {
              return readRow(parseExactly(one.text))
            } catch {
              return { problems: [{ path: "", rule: "no JSON" }], row: undefined }
            }
          })()
          assert.strictEqual(row === undefined, problems.length > 0)
          if (row !== undefined) requestOf(row.body)
        }
      }),
      { numRuns: 500 }
    )
  })

  it.effect("are told with every mistake, each at its line", () =>
    Effect.gen(function*() {
      const text = [
        batchLine("fine"),
        "[]",
        "",
        batchLine("", "x", { method: 1 }),
        JSON.stringify({
          custom_id: "a",
          response: null,
          id: 7,
          body: { messages: [{ role: "robot", content: 1 }, "text", { content: [{ type: "image_url" }] }], max_tokens: 0 }
        }),
        "{\"custom_id\": ",
        batchLine("fine"),
        JSON.stringify({ custom_id: "b", body: { messages: [] } }),
        `${"[".repeat(2_000)}${"]".repeat(2_000)}`,
        JSON.stringify({})
      ].join("\n")
      assert.deepStrictEqual(yield* mistakes(text), [
        "2: must be a JSON object",
        "4: custom_id: must be a string, and not empty",
        "4: method: must be a string",
        "5: response: is reserved for the output",
        "5: id: is reserved for the output",
        "5: body.messages[0].role: must be system, developer, user, assistant",
        "5: body.messages[0].content: must be a text",
        "5: body.messages[1]: must be an object with role and content",
        "5: body.messages[2].role: is missing",
        "5: body.messages[2].content[0]: must be a text part: batch prompts are text only",
        "5: body.max_tokens: must be a whole number, 1 or more",
        "6: the line is not JSON, or nested too deeply",
        `7: custom_id: is that of ${uri}:1 too`,
        "8: body.messages: must be a list of messages, and not empty",
        "9: the line is not JSON, or nested too deeply",
        "10: custom_id: is missing",
        "10: body: is missing"
      ])
    }))

  it.effect("are refused when their bytes are not UTF-8, their line is endless, or there are none", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* mistakes(Buffer.concat([Buffer.from(`${batchLine("a")}\n`), Buffer.from([0x22, 0xff, 0x22]), Buffer.from("\n")])),
        ["2: the line is not UTF-8"]
      )
      assert.deepStrictEqual(yield* mistakes(`${"x".repeat(11 * 1024 * 1024)}\n{}`), [
        "1: the line is longer than 10485760 bytes",
        "2: custom_id: is missing",
        "2: body: is missing"
      ])
      assert.deepStrictEqual(yield* mistakes("\n \n"), ["inputConfig.gcsSource.uris: has no rows"])
      const many = yield* mistakes("{\n".repeat(200))
      assert.strictEqual(many.length, 51)
      assert.strictEqual(many.at(-1), "that is 50 mistakes; the rest was not read")
    }))

  it.effect("go by files, with ids that no two of them share", () =>
    Effect.gen(function*() {
      const both = yield* stores({ "a.jsonl": batchLine("x"), "b.jsonl": `\ufeff${batchLine("y")}\n${batchLine("x")}` })
      const error = yield* Effect.flip(checkRows({ _tag: "jsonl", uris: ["gs://b/a.jsonl", "gs://b/b.jsonl"] }, both))
      assert.strictEqual(error.message, "gs://b/b.jsonl:2: custom_id: is that of gs://b/a.jsonl:1 too")
      assert.strictEqual(yield* checkRows({ _tag: "jsonl", uris: ["gs://b/a.jsonl"] }, both), 1)
    }).pipe(Effect.scoped))

  it("are checked 200,000 at a time in flat memory, ids and all", async () => {
    // The rows are 85 MB of text: a thread of this much memory could not hold them.
    const worker = new Worker(new URL("./support/checkRows.worker.ts", import.meta.url), {
      workerData: { rows: 200_000 },
      resourceLimits: { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16 }
    })
    const found = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))
    assert.strictEqual(found, 200_000)
  })
})

describe("a request made of a row", () => {
  const body = (more: object) => ({ messages: [{ role: "user", content: "q" }], ...more })

  it("has the conversation and the parameters of its body", () => {
    assert.deepStrictEqual(
      requestOf({
        model: "ignored",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "developer", content: [{ type: "text", text: "In " }, { type: "text", text: "French." }] },
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Salut" },
          { role: "user", content: "Well?" }
        ],
        max_tokens: 5,
        temperature: 0,
        top_p: null,
        stop: "END"
      }),
      {
        system: "Be brief.\n\nIn French.",
        turns: [
          { role: "user", parts: [{ type: "text", text: "Hello" }] },
          { role: "assistant", parts: [{ type: "text", text: "Salut" }] },
          { role: "user", parts: [{ type: "text", text: "Well?" }] }
        ],
        maxTokens: 5,
        temperature: 0,
        stop: ["END"]
      }
    )
  })

  it("refuses what would be lost on the way", () => {
    assert.deepStrictEqual(requestOf(body({ tools: [] })), { path: "body.tools", rule: "is not taken by batch jobs here" })
    assert.deepStrictEqual(requestOf(body({ temperature: "hot" })), { path: "body.temperature", rule: "must be a number" })
    assert.deepStrictEqual(requestOf(body({ stop: [1] })), { path: "body.stop", rule: "must be a text or a list of texts" })
    assert.deepStrictEqual(requestOf({ messages: [{ role: "system", content: "x" }] }), {
      path: "body.messages",
      rule: "must have a message of the user"
    })
  })
})

describe("results", () => {
  const completion = (content: string) => ({ choices: [{ message: { content } }] })

  it("are read in every form in which services write them", () => {
    assert.deepStrictEqual(readResult({ custom_id: "a", response: completion("x") }), { customId: "a", response: completion("x") })
    assert.deepStrictEqual(readResult({ custom_id: "a", response: { status_code: 200, body: completion("x") } }), {
      customId: "a",
      response: completion("x")
    })
    assert.deepStrictEqual(readResult({ custom_id: "a", error: { code: 8, message: "quota" } }), {
      customId: "a",
      error: { code: "RESOURCE_EXHAUSTED", message: "quota" }
    })
    assert.deepStrictEqual(readResult({ custom_id: "a", response: { error: { code: "NOT_FOUND", message: "x" } } }), {
      customId: "a",
      error: { code: "NOT_FOUND", message: "x" }
    })
    assert.deepStrictEqual(readResult({ custom_id: "a", response: null })?.error?.code, "UNKNOWN")
    for (const value of [null, 1, [], {}, { custom_id: 1 }]) assert.isUndefined(readResult(value))
  })

  it.effect("are joined to the rows in their order; what is missing and what is strange is counted", () =>
    Effect.gen(function*() {
      const both = yield* stores({
        "in.jsonl": ["a", "b", "c"].map((id) => batchLine(id)).join("\n"),
        "out/predictions_0001.jsonl": [JSON.stringify({ custom_id: "c", response: completion("C") }), "torn {"].join("\n"),
        "out/predictions_0002.jsonl": [JSON.stringify({ custom_id: "z", response: completion("Z") })].join("\n"),
        "out/errors_0001.jsonl": JSON.stringify({ custom_id: "a", error: { code: 3, message: "no" } }),
        "outside.jsonl": JSON.stringify({ custom_id: "b", response: completion("B") })
      })
      const job: BatchJob = {
        name: BatchJobName.make("projects/p/locations/l/batchPredictionJobs/1"),
        displayName: "j",
        model: "m",
        input,
        output: { _tag: "jsonl", uriPrefix: "gs://b" },
        results: { _tag: "folder", uri: "gs://b/out" },
        state: "SUCCEEDED",
        partialFailures: [],
        createTime: "",
        updateTime: ""
      }
      const joined = yield* joinResults(job, both)
      const rows = yield* Stream.runCollect(joined.rows)
      assert.deepStrictEqual(rows.map(({ result, row }) => [row.customId, result?.error?.code ?? result?.response]), [
        ["a", "INVALID_ARGUMENT"],
        ["b", undefined],
        ["c", completion("C")]
      ])
      assert.deepStrictEqual(joined.tally(), { answered: 1, failed: 1, missing: 1, unmatched: 1 })
      const { results: _, ...unfinished } = job
      assert.strictEqual((yield* Effect.flip(joinResults({ ...unfinished, state: "RUNNING" }, both))).code, "FAILED_PRECONDITION")
    }).pipe(Effect.scoped))

  it.effect("come with the rows that were read, once each", () =>
    Effect.gen(function*() {
      const both = yield* stores({ "in.jsonl": [batchLine("a"), "{", batchLine("b")].join("\n") })
      const rows = (yield* Stream.runCollect(readRows(input, both))).flat()
      assert.deepStrictEqual(rows.map(({ place, problems }) => [place, problems.length]), [[`${uri}:1`, 0], [`${uri}:2`, 1], [
        `${uri}:3`,
        0
      ]])
    }).pipe(Effect.scoped))
})
