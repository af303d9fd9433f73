import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Tokenizer } from "@huggingface/tokenizers"
import { Effect, Fiber, Scope } from "effect"
import type { Context } from "../../src/domain/Retrieval.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import * as CrossEncoder from "../../src/models/CrossEncoder.ts"
import * as LocalEmbedder from "../../src/models/LocalEmbedder.ts"
import { fetchModel } from "../../src/models/local/Hub.ts"
import { readModelFolder } from "../../src/models/local/ModelFolder.ts"
import { reading } from "../../src/models/local/Windows.ts"
import * as Http from "../../src/net/Http.ts"
import { eventually } from "../support/Eventually.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { component, place, runtimeFolder, toyCrossEncoder, toyEmbedder, toyTable, width } from "./support/ToyModel.ts"

const options = { cache: "", from: runtimeFolder ?? "" }

const file = (name: string, files = toyEmbedder()) => {
  const found = files[name]
  if (typeof found !== "string") throw new Error(name)
  return JSON.parse(found)
}

describe("a model's folder", () => {
  it.effect("says how its texts are read, pooled and prefixed", () =>
    Effect.gen(function*() {
      const folder = place(
        yield* tempFolder,
        toyEmbedder({ "config_sentence_transformers.json": { prompts: { query: "query: ", passage: "passage: " } } })
      )
      const { contentHash, weights, ...said } = yield* readModelFolder(folder, undefined)
      assert.deepStrictEqual(said, {
        form: "onnx",
        folder,
        dimensions: width,
        maxTokens: 8,
        pooling: "mean",
        prefixes: { query: "query: ", document: "passage: " }
      })
      assert.strictEqual(weights, join(folder, "onnx", "model.onnx"))
      writeFileSync(join(folder, "tokenizer.json"), JSON.stringify({ ...file("tokenizer.json"), version: "2" }))
      assert.notStrictEqual((yield* readModelFolder(folder, undefined)).contentHash, contentHash)
    }).pipe(Effect.scoped))

  it.effect("counts positions as RoBERTa's kin do, and takes the least of what limits it", () =>
    Effect.gen(function*() {
      const folder = place(
        yield* tempFolder,
        toyEmbedder({
          "config.json": { model_type: "xlm-roberta", hidden_size: width, max_position_embeddings: 514, pad_token_id: 1 },
          "tokenizer_config.json": { model_max_length: 1e30 },
          "sentence_bert_config.json": undefined
        })
      )
      assert.deepInclude(yield* readModelFolder(folder, undefined), { form: "onnx", maxTokens: 512 })
    }).pipe(Effect.scoped))

  it.effect("is refused where it lacks what decides the numbers, by what it lacks", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const refused = (files: Parameters<typeof place>[1], name: string, weights?: string) =>
        Effect.map(Effect.flip(readModelFolder(place(join(folder, name), files), weights)), ({ message }) => message)
      assert.include(yield* refused({ "tokenizer.json": "{}" }, "a"), "neither onnx/model.onnx nor model.onnx")
      assert.include(yield* refused(toyEmbedder(), "b", "onnx/model_quantized.onnx"), "it has no onnx/model_quantized.onnx")
      assert.include(yield* refused(toyEmbedder({ "tokenizer.json": undefined }), "c"), "it has no tokenizer.json")
      assert.include(yield* refused(toyEmbedder({ "config.json": { hidden_size: "wide" } }), "d"), "config.json is not what such a file is")
      const dense = [...file("modules.json"), { path: "2_Dense", type: "sentence_transformers.models.Dense" }]
      assert.include(yield* refused(toyEmbedder({ "modules.json": dense }), "e"), "2_Dense")
      const twice = { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true }
      assert.include(
        yield* refused(toyEmbedder({ "1_Pooling/config.json": twice }), "f"),
        "pooling_mode_cls_token and pooling_mode_mean_tokens"
      )
      assert.include((yield* Effect.flip(readModelFolder(join(folder, "nowhere"), undefined))).message, "there is no such folder")
    }).pipe(Effect.scoped))
})

describe("windows", () => {
  const tokenizer = new Tokenizer(file("tokenizer.json"), file("tokenizer_config.json"))
  const of = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids
  const [cls, sep] = [2, 3]

  it("hold every token of a text once, of nearly equal length, between the model's own tokens", () => {
    const words = Array.from({ length: 13 }, (_, at) => ["car", "doctor", "holiday", "cheap"][at % 4]).join(" ")
    const rows = reading(tokenizer, 8).single(words, "")
    assert.deepStrictEqual(rows.map(({ ids }) => ids.length), [7, 7, 5])
    assert.isTrue(rows.every(({ ids }) => ids[0] === cls && ids.at(-1) === sep))
    assert.deepStrictEqual(rows.flatMap(({ ids }) => ids.slice(1, -1)), of(words))
  })

  it("begin with the prefix each", () => {
    const rows = reading(tokenizer, 8).single("car car car doctor doctor doctor", "query: ")
    assert.deepStrictEqual(rows.map(({ ids }) => ids), [
      [cls, ...of("query: car car car"), sep],
      [cls, ...of("query: doctor doctor doctor"), sep]
    ])
  })

  it("hold the question beside each part of a text, each of its own type", () => {
    const rows = reading(tokenizer, 8).pair("car", "doctor doctor doctor doctor holiday holiday")
    assert.deepStrictEqual(rows.map(({ ids }) => ids), [
      [cls, ...of("car"), sep, ...of("doctor doctor doctor"), sep],
      [cls, ...of("car"), sep, ...of("doctor holiday holiday"), sep]
    ])
    assert.deepStrictEqual(rows[0]?.types, [0, 0, 0, 1, 1, 1, 1])
  })

  it("give a question at most half", () => {
    const rows = reading(tokenizer, 9).pair("car car car car car car", "doctor")
    assert.deepStrictEqual(rows.map(({ ids }) => ids), [[cls, ...of("car car car"), sep, ...of("doctor"), sep]])
  })
})

describe("a model of the hub", () => {
  /** A hub that has one model; `spoil` changes what it sends. */
  const hub = (spoil: (path: string, body: Buffer) => Buffer | number = (_, body) => body, files = toyEmbedder()) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const content = (path: string) => Buffer.from(files[path] ?? "")
        const asked: Array<string> = []
        const sha = "0123456789012345678901234567890123456789"
        const listing = [...Object.keys(files), "README.md"].map((path) => {
          const body = content(path)
          const size = body.length
          const oid = createHash("sha1").update(`blob ${size}\0`).update(body).digest("hex")
          return /\.(?:onnx|safetensors)$/.test(path)
            ? { type: "file", path, size, oid: "pointer", lfs: { oid: createHash("sha256").update(body).digest("hex") } }
            : { type: "file", path, size, oid }
        })
        const server = createServer((request, response) => {
          const url = request.url ?? ""
          asked.push(url)
          if (url === "/api/models/toys/embedder/revision/main") return response.end(JSON.stringify({ sha }))
          if (url === `/api/models/toys/embedder/tree/${sha}?recursive=true`) return response.end(JSON.stringify(listing))
          const path = url.replace(`/toys/embedder/resolve/${sha}/`, "")
          const body = spoil(path, content(path))
          return typeof body === "number" ? response.writeHead(body).end() : response.end(body)
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return { asked, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      }),
      ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    )
  const from = (url: string, cache: string) => fetchModel({ model: "toys/embedder", cache, hub: url, retry: { times: 1, baseMs: 1 } })

  it.live("is fetched once, whole and as the hub has it, and then nothing is asked", () =>
    Effect.gen(function*() {
      const cache = yield* tempFolder
      const { asked, url } = yield* hub()
      const folder = yield* from(url, cache)
      assert.strictEqual((yield* readModelFolder(folder, undefined)).dimensions, width)
      assert.isFalse(readdirSync(folder).includes("README.md"))
      const calls = asked.length
      assert.strictEqual(yield* from(url, cache), folder)
      assert.strictEqual(asked.length, calls)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("that is a table of vectors is fetched as that, whatever other weights it has", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* hub(undefined, { ...toyEmbedder({ "modules.json": [] }), ...toyTable() })
      const folder = yield* from(url, yield* tempFolder)
      assert.strictEqual((yield* readModelFolder(folder, undefined)).form, "static")
      assert.isFalse(asked.some((path) => path.endsWith(".onnx")))
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("that was changed on the way is not taken", () =>
    Effect.gen(function*() {
      const cache = yield* tempFolder
      const { url } = yield* hub((path, body) => path === "onnx/model.onnx" ? Buffer.from(body).fill(0, 0, 1) : body)
      const refused = yield* Effect.flip(from(url, cache))
      assert.deepStrictEqual([refused.code, refused.message.slice(0, 30)], ["DATA_LOSS", "onnx/model.onnx did not arrive"])
      assert.isFalse(readdirSync(cache, { recursive: true }).some((name) => String(name).includes("model.onnx")))
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("goes on where it was broken off", () =>
    Effect.gen(function*() {
      const cache = yield* tempFolder
      let down = true
      const { asked, url } = yield* hub((path, body) => down && path === "onnx/model.onnx" ? 503 : body)
      const failed = yield* Effect.flip(from(url, cache))
      assert.strictEqual(failed.code, "UNAVAILABLE")
      down = false
      const folder = yield* from(url, cache)
      assert.strictEqual((yield* readModelFolder(folder, undefined)).dimensions, width)
      assert.strictEqual(asked.filter((path) => path.endsWith("/tokenizer.json")).length, 1)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("that is not to be had is one error that says what to do", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(from("http://127.0.0.1:9", yield* tempFolder))
      assert.include(refused.fix ?? "", "model: ./folder")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})

/** Processes that run models for this one. */
const modelProcesses = (): ReadonlyArray<number> =>
  execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .split("\n").filter((line) => line.includes("model.worker")).map((line) => Number.parseInt(line, 10))

/** Ends a process, which may have ended since it was seen. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has.
  }
}

const context = (text: string): Context => ({
  chunkId: text,
  file: RagFileName.make(text),
  sourceUri: text,
  sourceDisplayName: "",
  text,
  headings: [],
  score: 0
})

describe.skipIf(runtimeFolder === undefined)("models run on this machine", () => {
  const embedder = Effect.fnUntraced(function*(changes: Parameters<typeof toyEmbedder>[0] = {}) {
    return yield* LocalEmbedder.make({ model: place(yield* tempFolder, toyEmbedder(changes)) }, options)
  })
  const cosine = (a: Float32Array | undefined, b: Float32Array | undefined) =>
    Array.from(a ?? []).reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0)

  it.live("embed: unit vectors in order, whatever their batches, none for nothing", () =>
    Effect.gen(function*() {
      const { dimensions, embed } = yield* embedder()
      const texts = ["car", "", "automobile doctor", ...Array.from({ length: 200 }, (_, at) => "cheap ".repeat(at % 7 + 1)), "physician"]
      const vectors = yield* embed(texts, "document")
      assert.strictEqual(dimensions, width)
      assert.deepStrictEqual(vectors.map(({ length }) => length), texts.map(() => width))
      assert.strictEqual(vectors[0]?.[component("car")], 1)
      assert.deepStrictEqual([...vectors[1] ?? []], Array.from({ length: width }, () => 0))
      assert.closeTo(cosine(vectors[0], vectors[2]), Math.SQRT1_2, 1e-6)
      assert.isTrue(vectors.slice(3, 203).every((vector) => vector[component("cheap")] === 1))
      assert.strictEqual(vectors.at(-1)?.[component("doctor")], 1)
    }).pipe(Effect.scoped))

  it.live("embed all of a text that is longer than they read", () =>
    Effect.gen(function*() {
      const { embed } = yield* embedder()
      const [vector] = yield* embed([`${"car ".repeat(6)}${"doctor ".repeat(6)}`], "document")
      assert.closeTo(vector?.[component("car")] ?? 0, Math.SQRT1_2, 1e-6)
      assert.closeTo(vector?.[component("doctor")] ?? 0, Math.SQRT1_2, 1e-6)
    }).pipe(Effect.scoped))

  it.live("put before a text what the model wants there, and pool as it says", () =>
    Effect.gen(function*() {
      const { embed, id } = yield* embedder({
        "config_sentence_transformers.json": { prompts: { query: "query: ", document: "passage: " } }
      })
      const [question] = yield* embed(["car"], "query")
      const [document] = yield* embed(["car"], "document")
      assert.isAbove(question?.[component("query")] ?? 0, 0)
      assert.isAbove(document?.[component("passage")] ?? 0, 0)
      const cls = yield* embedder({ "1_Pooling/config.json": { pooling_mode_cls_token: true } })
      assert.notStrictEqual(cls.id, id)
      const [first] = yield* cls.embed(["car"], "query")
      // The toy's own tokens mean nothing.
      assert.deepStrictEqual([...first ?? []], Array.from({ length: width }, () => 0))
    }).pipe(Effect.scoped))

  it.live("are known by their content: the same elsewhere is the same, another is another", () =>
    Effect.gen(function*() {
      const [one, same] = [yield* embedder(), yield* embedder()]
      assert.strictEqual(one.id, same.id)
      const other = yield* embedder({ "sentence_bert_config.json": { max_seq_length: 16 } })
      assert.notStrictEqual(one.id, other.id)
    }).pipe(Effect.scoped))

  it.live("that say nothing of pooling are refused by name, and taken with it said", () =>
    Effect.gen(function*() {
      const model = place(yield* tempFolder, toyEmbedder({ "1_Pooling/config.json": undefined, "modules.json": undefined }))
      const refused = yield* Effect.flip(LocalEmbedder.make({ model }, options))
      assert.include(refused.message, "corpus.embedding.local.pooling")
      const { embed } = yield* LocalEmbedder.make({ model, pooling: "max" }, options)
      assert.strictEqual((yield* embed(["car"], "query"))[0]?.[component("car")], 1)
    }).pipe(Effect.scoped))

  it.live("that cannot be opened, or are not for this, are one typed error", () =>
    Effect.gen(function*() {
      const folder = place(yield* tempFolder, { ...toyEmbedder(), "onnx/model.onnx": "no model" })
      const { embed } = yield* LocalEmbedder.make({ model: folder }, options)
      const broken = yield* Effect.flip(embed(["car"], "query"))
      assert.strictEqual(broken.code, "FAILED_PRECONDITION")
      assert.include(broken.message, "cannot be opened")
      const ranker = yield* CrossEncoder.make("rank.crossEncoder", { model: place(yield* tempFolder, toyEmbedder()) }, options)
      const wrong = yield* Effect.flip(ranker.rank("car", [context("car"), context("doctor")]))
      assert.include(wrong.message, "where a cross encoder gives one score")
    }).pipe(Effect.scoped))

  it.live("go on in a new process when theirs is killed, and say so when that goes too", () =>
    Effect.gen(function*() {
      const { embed } = yield* embedder()
      yield* embed(["car"], "query")
      const [first] = modelProcesses()
      if (first !== undefined) kill(first)
      assert.strictEqual((yield* embed(["car"], "query"))[0]?.[component("car")], 1)
      const killer = setInterval(() => modelProcesses().forEach(kill), 5)
      const failed = yield* Effect.flip(embed(Array.from({ length: 500 }, () => "car ".repeat(4_000)), "document")).pipe(
        Effect.ensuring(Effect.sync(() => clearInterval(killer)))
      )
      assert.strictEqual(failed.code, "UNAVAILABLE")
      assert.include(failed.message, "was ended by SIGKILL")
    }).pipe(Effect.scoped))

  it.live("end with their scope, and with what was asked of them", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { embed } = yield* Scope.provide(embedder(), scope)
      yield* embed(["car"], "query")
      assert.lengthOf(modelProcesses(), 1)
      const long = yield* Effect.forkChild(embed(Array.from({ length: 100 }, () => "car ".repeat(20_000)), "document"))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(long)
      assert.strictEqual((yield* embed(["doctor"], "document"))[0]?.[component("doctor")], 1)
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      yield* eventually("its process is gone", Effect.sync(() => modelProcesses().length === 0))
    }).pipe(Effect.scoped))

  it.live("answer a question before they go on with documents", () =>
    Effect.gen(function*() {
      const { embed } = yield* embedder()
      let done = false
      const long = yield* Effect.forkChild(
        Effect.andThen(embed(Array.from({ length: 20 }, () => "car ".repeat(20_000)), "document"), Effect.sync(() => void (done = true)))
      )
      yield* Effect.sleep(50)
      yield* embed(["doctor"], "query")
      assert.isFalse(done)
      yield* Fiber.interrupt(long)
    }).pipe(Effect.scoped))

  it.live("rank: by the best part of each text, equals as they were", () =>
    Effect.gen(function*() {
      const model = place(yield* tempFolder, toyCrossEncoder())
      const { rank } = yield* CrossEncoder.make("rank.crossEncoder", { model }, options)
      const far = `${"cheap ".repeat(40)}automobile car vehicle`
      const ranked = yield* rank("which vehicle", ["doctor", "an automobile", "cheap", far].map(context))
      assert.deepStrictEqual(ranked.map(({ text }) => text), [far, "an automobile", "doctor", "cheap"])
      const [first, second, third] = ranked.map(({ score }) => score)
      assert.closeTo(first ?? 0, 1 / (1 + Math.exp(-3)), 1e-6)
      assert.closeTo(second ?? 0, 1 / (1 + Math.exp(-1)), 1e-6)
      assert.strictEqual(third, 0.5)
    }).pipe(Effect.scoped))
})
