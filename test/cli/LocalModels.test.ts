import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { place, runtimeFolder, toyCrossEncoder, toyEmbedder, toyTable, width } from "../models/support/ToyModel.ts"
import { parent } from "../server/support/TestServer.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

describe.skipIf(runtimeFolder === undefined)("models of this machine", () => {
  it.live("fill and search a pipeline's corpus, embed equal texts once, and plan tells of another model", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      symlinkSync(join(runtimeFolder ?? "", "node_modules"), join(cwd, "node_modules"))
      place(join(cwd, "here", "model"), toyEmbedder())
      place(join(cwd, "here", "cross"), toyCrossEncoder())
      const pipeline = (stages: string) =>
        `name: toys\ncorpus: { displayName: Toys, embedding: { local: { model: ./model } } }\nsources: { docs: { local: { path: ./docs } } }\nstages: ${stages}\n`
      write(join(cwd, "here"), {
        "pipeline.yaml": pipeline("[{ retrieve: { topK: 1, hybrid: { alpha: 1 } } }]"),
        "ranked.yaml": pipeline(
          "[{ retrieve: { topK: 3, hybrid: { alpha: 0 }, rank: { crossEncoder: { model: ./cross } } } }, { rank: { crossEncoder: { model: ./cross } } }]"
        ),
        "docs/a.md": "An inexpensive automobile.\n",
        "docs/b.md": "A physician.\n",
        "docs/copy.md": "A physician.\n"
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice([...args, "--data-dir", "data", "--json"], { cwd }))
      const first = yield* run("run", "here/pipeline.yaml")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.deepInclude(events(first).at(-1)?.["report"], { chunks: 3, embedded: 2 })
      const again = yield* run("run", "here/pipeline.yaml")
      assert.deepInclude(events(again).at(-1)?.["report"], { embedded: 0 })
      const found = yield* run("retrieve", "--pipeline", "here/pipeline.yaml", "a cheap car")
      assert.include(found.stdout, "An inexpensive automobile.", found.stderr)
      assert.notInclude(found.stdout, "physician")
      const ranked = yield* run("retrieve", "--pipeline", "here/ranked.yaml", "an automobile or a physician doctor doctor")
      assert.isBelow(ranked.stdout.indexOf("physician"), ranked.stdout.indexOf("automobile."), ranked.stdout + ranked.stderr)
      const doctor = yield* run("doctor", "here/ranked.yaml")
      assert.match(doctor.stdout, new RegExp(`opens, and gives ${width} dimensions`))
      assert.include(doctor.stdout, "cross opens, and orders two texts")
      place(join(cwd, "here", "model"), toyEmbedder({ "sentence_bert_config.json": { max_seq_length: 16 } }))
      const plan = yield* run("plan", "here/pipeline.yaml")
      assert.include(plan.stdout, "\"field\":\"corpus.embedding\"")
      assert.include(plan.stdout, "\"forcesReplacement\":true")
    }).pipe(Effect.scoped))
})

describe.skipIf(runtimeFolder === undefined)("sluice serve with models of this machine", () => {
  it.live("embeds with the one and ranks by the other", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      symlinkSync(join(runtimeFolder ?? "", "node_modules"), join(cwd, "node_modules"))
      place(join(cwd, "model"), toyEmbedder())
      place(join(cwd, "cross"), toyCrossEncoder())
      const models = ["--embedding", "./model", "--reranker", "./cross"]
      const { child, finished } = yield* Effect.acquireRelease(
        Effect.sync(() => start(["serve", "--port", "0", "--data-dir", "data", ...models], { cwd })),
        ({ child, finished }) => Effect.promise(() => (child.kill("SIGTERM"), finished))
      )
      const url = yield* Effect.promise(() =>
        Promise.race([
          new Promise<string>((resolve) => child.stdout?.once("data", (line) => resolve(String(line).trim()))),
          finished.then(({ stderr }) => Promise.reject(new Error(stderr)))
        ])
      )
      const call = (path: string, body: object) =>
        Effect.promise(async () => {
          const sent = body instanceof FormData ? body : JSON.stringify(body)
          const response = await fetch(`${url}${path}`, { method: "POST", body: sent })
          const text = await response.text()
          assert.isTrue(response.ok, text)
          return JSON.parse(text)
        })
      const made = yield* call(`/v1/${parent}/ragCorpora`, { displayName: "toys" })
      const ragCorpus = String(made.response.name)
      for (const text of ["An inexpensive automobile.", "A physician.", "Any car, vehicle or automobile."]) {
        const form = new FormData()
        form.append("metadata", JSON.stringify({ ragFile: { displayName: "a text" } }))
        form.append("file", new Blob([text], { type: "text/plain" }), "a.txt")
        yield* call(`/upload/v1/${ragCorpus}/ragFiles:upload`, form)
      }
      const found = (ranking: object) =>
        Effect.map(
          call(`/v1/${parent}:retrieveContexts`, {
            vertexRagStore: { ragResources: [{ ragCorpus }] },
            query: { text: "a cheap vehicle", ragRetrievalConfig: { topK: 2, hybridSearch: { alpha: 1 }, ...ranking } }
          }),
          ({ contexts }) => contexts.contexts.map(({ text }: { readonly text: string }) => text.trim())
        )
      assert.deepStrictEqual(yield* found({}), ["An inexpensive automobile.", "Any car, vehicle or automobile."])
      const ranked = yield* found({ ranking: { rankService: {} } })
      assert.deepStrictEqual(ranked, ["Any car, vehicle or automobile.", "An inexpensive automobile."])
    }).pipe(Effect.scoped))

  it.live("refuses what is no model, and a model's settings that a model here has no use for", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const refused = (...args: ReadonlyArray<string>) =>
        Effect.map(Effect.promise(() => sluice(["serve", "--port", "0", ...args], { cwd })), ({ stderr }) => stderr)
      assert.include(yield* refused("--embedding", "MiniLM"), "--embedding: must be a model's folder")
      assert.include(
        yield* refused("--reranker", "./cross", "--reranker-model", "m"),
        "--reranker-model: is of no use with a model of this machine"
      )
    }).pipe(Effect.scoped))
})

describe("a table of vectors", () => {
  it.live("fills and searches a pipeline's corpus without a runtime, and plan tells of another", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      place(join(cwd, "model"), toyTable())
      write(cwd, {
        "pipeline.yaml":
          "name: toys\ncorpus: { displayName: Toys, embedding: { local: { model: ./model } } }\nsources: { docs: { local: { path: ./docs } } }\nstages: [{ retrieve: { topK: 1, hybrid: { alpha: 1 } } }]\n",
        "docs/a.md": "An inexpensive automobile.\n",
        "docs/b.md": "A physician.\n",
        "docs/unknown.md": "Une grenouille\n"
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice([...args, "--data-dir", "data", "--json"], { cwd }))
      const first = yield* run("run", "pipeline.yaml")
      assert.strictEqual(first.code, 0, first.stderr)
      const found = yield* run("retrieve", "--pipeline", "pipeline.yaml", "a cheap car")
      assert.include(found.stdout, "An inexpensive automobile.", found.stderr)
      assert.notInclude(found.stdout, "physician")
      const doctor = yield* run("doctor", "pipeline.yaml")
      assert.match(doctor.stdout, new RegExp(`opens, and gives ${width} dimensions`))
      place(join(cwd, "model"), toyTable({ "config_sentence_transformers.json": { prompts: { query: "query: " } } }))
      const plan = yield* run("plan", "pipeline.yaml")
      assert.include(plan.stdout, "\"forcesReplacement\":true")
    }).pipe(Effect.scoped))
})

describe("ONNX Runtime that is not installed", () => {
  it.live("is one clear error that says how to install it", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      place(join(folder, "model"), toyEmbedder())
      write(folder, {
        "pipeline.yaml":
          "name: toys\ncorpus: { displayName: Toys, embedding: { local: { model: ./model } } }\nsources: { docs: { local: { path: ./docs } } }\n",
        "docs/a.md": "# A\n\nWords.\n"
      })
      const { code, stderr } = yield* Effect.promise(() => sluice(["run", "pipeline.yaml", "--data-dir", "data"], { cwd: folder }))
      assert.strictEqual(code, 1)
      assert.include(stderr, "corpus.embedding.local: ONNX Runtime is a separate package, and is not installed")
      assert.include(stderr, "npm install --ignore-scripts onnxruntime-node")
      assert.strictEqual(stderr.split("is not installed").length, 2, stderr)
    }).pipe(Effect.scoped))
})
