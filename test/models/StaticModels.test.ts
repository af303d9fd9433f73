import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Tokenizer } from "@huggingface/tokenizers"
import { Effect } from "effect"
import * as CrossEncoder from "../../src/models/CrossEncoder.ts"
import * as LocalEmbedder from "../../src/models/LocalEmbedder.ts"
import { readModelFolder } from "../../src/models/local/ModelFolder.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { component, place, safetensors, toyEmbedder, type ToyTensor, toyTable, vocabularySize, width } from "./support/ToyModel.ts"

// No runtime is there: these models want none.
const options = { cache: "", from: "" }

type Files = Parameters<typeof place>[1]

const embedder = Effect.fnUntraced(function*(files: Files) {
  return yield* LocalEmbedder.make({ model: place(yield* tempFolder, files) }, options)
})

/** A table of three columns, as wide as the vocabulary or as many rows as are said. */
const table = (type: ToyTensor["type"], rows = vocabularySize): ToyTensor => ({
  type,
  shape: [rows, 3],
  numbers: Array.from({ length: rows * 3 }, (_, at) => (Math.floor(at / 3) * 7 + (at % 3) * 3) % 11 - 5)
})

const closeTo = (vector: Float32Array | undefined, expected: ReadonlyArray<number>) => {
  assert.strictEqual(vector?.length, expected.length)
  expected.forEach((value, at) => assert.closeTo(vector?.[at] ?? Number.NaN, value, 1e-6))
}

/** sentence-transformers' layout, its files where it says. */
const staticEmbedding = (path: string, tensors: Readonly<Record<string, ToyTensor>>, modules: ReadonlyArray<object> = []): Files => ({
  "modules.json": JSON.stringify([{ idx: 0, name: "0", path, type: "sentence_transformers.models.StaticEmbedding" }, ...modules]),
  [join(path, "tokenizer.json")]: toyTable()["tokenizer.json"] ?? "",
  [join(path, "model.safetensors")]: safetensors(tensors)
})

describe("models that are a table of vectors", () => {
  it.live("embed without a runtime, each text by the mean of its tokens' rows, all of it", () =>
    Effect.gen(function*() {
      const { dimensions, embed, ofWords } = yield* embedder(toyTable())
      const texts = ["car", "", "automobile doctor", ...Array.from({ length: 50 }, () => "cheap ".repeat(2_000)), "physician"]
      const vectors = yield* embed(texts, "document")
      assert.deepStrictEqual([dimensions, ofWords], [width, true])
      assert.strictEqual(vectors[0]?.[component("car")], 1)
      assert.deepStrictEqual([...vectors[1] ?? []], Array.from({ length: width }, () => 0))
      assert.closeTo(vectors[2]?.[component("car")] ?? 0, Math.SQRT1_2, 1e-6)
      assert.closeTo(vectors[2]?.[component("doctor")] ?? 0, Math.SQRT1_2, 1e-6)
      assert.isTrue(vectors.slice(3, 53).every((vector) => vector[component("cheap")] === 1))
      assert.strictEqual(vectors.at(-1)?.[component("doctor")], 1)
    }).pipe(Effect.scoped))

  it.live("give what model2vec gives: with weights and a mapping, without what the tokenizer does not know", () =>
    Effect.gen(function*() {
      const files = {
        ...toyTable(),
        "model.safetensors": safetensors({
          embeddings: table("F32", 9),
          weights: { type: "F64", shape: [vocabularySize], numbers: Array.from({ length: vocabularySize }, (_, at) => (at % 4 + 1) / 2) },
          mapping: { type: "I64", shape: [vocabularySize], numbers: Array.from({ length: vocabularySize }, (_, at) => at % 9) }
        })
      }
      const { embed } = yield* embedder(files)
      const vectors = yield* embed(["An automobile. A cheap car: cheap!", "unheard physician", "vacation", "[SEP] car"], "document")
      // StaticModel(...).encode of model2vec 0.10 over the same table, weights, mapping and tokenizer.
      closeTo(vectors[0], [-0.9103665351867676, 0.3310423791408539, -0.24828177690505981])
      closeTo(vectors[1], [0.3244428336620331, 0.8111070990562439, -0.4866642653942108])
      closeTo(vectors[2], [0.857492983341217, -0.5144957900047302, 0])
      closeTo(vectors[3], [0.7977594137191772, -0.5983195900917053, -0.07478994876146317])
    }).pipe(Effect.scoped))

  it.live("of sentence-transformers count what the tokenizer does not know, wherever they have their files", () =>
    Effect.gen(function*() {
      const tensors = { "embedding.weight": table("F32") }
      const nested = yield* embedder(staticEmbedding("0_StaticEmbedding", tensors))
      const flat = yield* embedder(staticEmbedding("", tensors, [{ path: "1_Normalize", type: "sentence_transformers.models.Normalize" }]))
      const model2vec = yield* embedder({ ...toyTable(), "model.safetensors": safetensors(tensors) })
      const vectors = yield* Effect.forEach([nested, flat, model2vec], ({ embed }) => embed(["unheard physician"], "query"))
      // [UNK] is the second token and its row (2, 5, -3), physician the eleventh and (-1, 2, 5).
      const sum = [1, 7, 2].map((value) => value / Math.hypot(1, 7, 2))
      closeTo(vectors[0]?.[0], sum)
      closeTo(vectors[1]?.[0], sum)
      closeTo(vectors[2]?.[0], [-1, 2, 5].map((value) => value / Math.hypot(-1, 2, 5)))
      assert.strictEqual(nested.id, flat.id)
      assert.notStrictEqual(nested.id, model2vec.id)
    }).pipe(Effect.scoped))

  it.live("are read in each type of number that they are written in", () =>
    Effect.gen(function*() {
      const types = ["F64", "F32", "F16", "BF16", "I8"] as const
      const vectors = yield* Effect.forEach(types, (type) =>
        Effect.flatMap(embedder({ ...toyTable(), "model.safetensors": safetensors({ embeddings: table(type) }) }), ({ embed }) =>
          embed(["a cheap car, no holiday"], "document")))
      for (const [vector] of vectors) {
        assert.deepStrictEqual(vector, vectors[1]?.[0])
      }
      assert.isAbove(Math.abs(vectors[1]?.[0]?.[0] ?? 0), 0)
    }).pipe(Effect.scoped))

  it.live("read a text that their tokenizer takes whole word by word, with the tokens of the whole", () =>
    Effect.gen(function*() {
      const pieces = ["<unk>", "\u2581", "c", "a", "r", "o", "t", "ca", "car", "\u2581car", "ot", "\u2581\u2581", "car\u2581"]
      const written = (vocabulary: ReadonlyArray<string>) => ({
        version: "1.0",
        truncation: { max_length: 4, strategy: "LongestFirst", stride: 0, direction: "Right" },
        padding: null,
        added_tokens: [],
        normalizer: {
          type: "Sequence",
          normalizers: [{ type: "Prepend", prepend: "\u2581" }, { type: "Replace", pattern: { String: " " }, content: "\u2581" }]
        },
        pre_tokenizer: null,
        post_processor: null,
        decoder: null,
        model: {
          type: "BPE",
          unk_token: "<unk>",
          vocab: Object.fromEntries(vocabulary.map((piece, id) => [piece, id])),
          merges: ["c a", "ca r", "\u2581 car", "o t", "\u2581 \u2581", "car \u2581"].slice(0, vocabulary.length === pieces.length ? 6 : 5)
        }
      })
      const text = "car carrot  cart   oats car"
      for (const vocabulary of [pieces, pieces.slice(0, -1)]) {
        const tokenizer = written(vocabulary)
        const numbers = Array.from({ length: vocabulary.length ** 2 }, (_, at) => at % (vocabulary.length + 1) === 0 ? 1 : 0)
        const { embed } = yield* embedder({
          "config.json": JSON.stringify({ model_type: "model2vec" }),
          "tokenizer.json": JSON.stringify(tokenizer),
          "model.safetensors": safetensors({ embeddings: { type: "F32", shape: [vocabulary.length, vocabulary.length], numbers } })
        })
        const counts = new Float64Array(vocabulary.length)
        // The last letter but one is none that the tokenizer knows.
        for (const id of new Tokenizer(tokenizer, {}).encode(text).ids) if (id !== 0) counts[id] = (counts[id] ?? 0) + 1
        const [vector] = yield* embed([text], "document")
        closeTo(vector, [...counts].map((count) => count / Math.hypot(...counts)))
        assert.isAbove(counts.filter((count) => count > 0).length, 5)
      }
    }).pipe(Effect.scoped))

  it.live("put before a text what they want there", () =>
    Effect.gen(function*() {
      const { embed } = yield* embedder(toyTable({ "config_sentence_transformers.json": { prompts: { query: "query: " } } }))
      assert.closeTo((yield* embed(["car"], "query"))[0]?.[component("query")] ?? 0, Math.SQRT1_2, 1e-6)
      assert.strictEqual((yield* embed(["car"], "document"))[0]?.[component("query")], 0)
    }).pipe(Effect.scoped))

  it.effect("are told from models in ONNX by what their configuration says, whatever else lies there", () =>
    Effect.gen(function*() {
      const both = place(yield* tempFolder, { ...toyEmbedder(), ...toyTable(), "modules.json": "[]" })
      const found = yield* readModelFolder(both, undefined)
      assert.deepInclude(found, { form: "static", table: "embeddings", dimensions: width, weights: join(both, "model.safetensors") })
      assert.strictEqual((yield* readModelFolder(both, "onnx/model.onnx")).form, "onnx")
      writeFileSync(join(both, "model.safetensors"), safetensors({ embeddings: table("F32") }))
      assert.notStrictEqual((yield* readModelFolder(both, undefined)).contentHash, found.contentHash)
    }).pipe(Effect.scoped))

  it.effect("are refused by what they lack", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const whole = safetensors({ embeddings: table("F32") })
      const refused = (name: string, files: Files) =>
        Effect.map(Effect.flip(readModelFolder(place(join(folder, name), files), undefined)), ({ message }) => message)
      const { "model.safetensors": _, ...without } = toyTable()
      assert.include(yield* refused("a", without), "it has no model.safetensors")
      const { "tokenizer.json": __, ...wordless } = toyTable()
      assert.include(yield* refused("b", wordless), "it has no tokenizer.json")
      const file = (content: string | Uint8Array) => ({ ...toyTable(), "model.safetensors": content })
      assert.include(yield* refused("c", file("none")), "model.safetensors cannot be read: it is no file of safetensors")
      assert.include(yield* refused("d", file(whole.slice(0, -1))), "its header says of embeddings what no tensor has")
      const layers = safetensors({ "layer.0": table("F32"), embeddings: { ...table("F32"), shape: [vocabularySize * 3] } })
      assert.include(yield* refused("e", file(layers)), "no table of vectors under embeddings or embedding.weight")
      const dense = [{ path: "1_Dense", type: "sentence_transformers.models.Dense" }]
      assert.include(yield* refused("f", staticEmbedding("", { "embedding.weight": table("F32") }, dense)), "1_Dense")
    }).pipe(Effect.scoped))

  it.live("say of settings, and of uses, which of them they have none for", () =>
    Effect.gen(function*() {
      const model = place(yield* tempFolder, toyTable())
      const refused = (settings: object) =>
        Effect.map(Effect.flip(LocalEmbedder.make({ model, ...settings }, options)), ({ message }) => message)
      assert.include(yield* refused({ pooling: "mean" }), "corpus.embedding.local.pooling: ")
      assert.include(yield* refused({ threads: 2 }), "corpus.embedding.local.threads: ")
      const ranker = yield* Effect.flip(CrossEncoder.make("rank.crossEncoder", { model }, options))
      assert.include(ranker.message, "does not score them")
      const short = yield* embedder({ ...toyTable(), "model.safetensors": safetensors({ embeddings: table("F32", 5) }) })
      const broken = yield* Effect.flip(short.embed(["car"], "query"))
      assert.include(broken.message, `cannot be opened: its tokenizer has ${vocabularySize} tokens, and its table 5`)
      assert.strictEqual(broken.code, "FAILED_PRECONDITION")
    }).pipe(Effect.scoped))
})
