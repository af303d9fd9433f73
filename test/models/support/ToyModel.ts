import { createRequire } from "node:module"
import { join } from "node:path"
import { write } from "../../support/TempFolder.ts"
import { root } from "../../support/Root.ts"

const install = "npm install --prefix node_modules/.onnx --ignore-scripts onnxruntime-node@1.30.0"

/** Where ONNX Runtime is for the tests: too large to be installed for everybody. Undefined where it is not. */
export const runtimeFolder = ((): string | undefined => {
  const folder = join(root, "node_modules", ".onnx")
  try {
    createRequire(join(folder, "package.json")).resolve("onnxruntime-node")
    return folder
  } catch {
    // oxlint-disable-next-line no-console -- Tests that did not run are to be seen.
    console.warn(`the tests of local models are SKIPPED: ONNX Runtime is not installed; ${install}`)
    return undefined
  }
})()

/** Words of one line mean the same to the toy models. */
const meanings = [
  ["car", "automobile", "vehicle"],
  ["doctor", "physician"],
  ["holiday", "vacation", "leave"],
  ["cheap", "inexpensive"],
  ["query"],
  ["passage"]
]
const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
const vocabulary = [...special, ":", ".", ...meanings.flat()]

/** Of vectors of the toy embedder: one component for each meaning. */
export const width = meanings.length

/** The meaning's component of a word. */
export const component = (word: string): number => meanings.findIndex((words) => words.includes(word))

const single = [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, {
  SpecialToken: { id: "[SEP]", type_id: 0 }
}]

const tokenizer = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: special.map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false
  })),
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: {
    type: "TemplateProcessing",
    single,
    pair: [...single, { Sequence: { id: "B", type_id: 1 } }, { SpecialToken: { id: "[SEP]", type_id: 1 } }],
    special_tokens: Object.fromEntries(["[CLS]", "[SEP]"].map((id) => [id, { id, ids: [special.indexOf(id)], tokens: [id] }]))
  },
  decoder: null,
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id]))
  }
}

/** The files of a model that embeds: the vector of a token is one component for its meaning, made by two layers. */
export const toyEmbedder = (changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, string | Uint8Array>> => ({
  ...written({
    "tokenizer.json": tokenizer,
    "tokenizer_config.json": { tokenizer_class: "BertTokenizer", model_max_length: 512 },
    "config.json": { model_type: "bert", hidden_size: width, max_position_embeddings: 512 },
    "sentence_bert_config.json": { max_seq_length: 8 },
    "modules.json": [
      { idx: 0, name: "0", path: "", type: "sentence_transformers.models.Transformer" },
      { idx: 1, name: "1", path: "1_Pooling", type: "sentence_transformers.models.Pooling" }
    ],
    "1_Pooling/config.json": { word_embedding_dimension: width, pooling_mode_cls_token: false, pooling_mode_mean_tokens: true },
    ...changes
  }),
  "onnx/model.onnx": onnx(
    [
      ["Gather", ["first", "input_ids"], "inner"],
      ["MatMul", ["inner", "second"], "last_hidden_state"]
    ],
    {
      first: { dims: [vocabulary.length, vocabulary.length], data: identity(vocabulary.length) },
      second: { dims: [vocabulary.length, width], data: byMeaning }
    },
    ["input_ids", "attention_mask"],
    ["last_hidden_state", 3]
  )
})

/** The files of a cross encoder: its score is how many pairs of a question's and a text's words mean the same. */
export const toyCrossEncoder = (): Readonly<Record<string, string | Uint8Array>> => ({
  ...written({
    "tokenizer.json": tokenizer,
    "tokenizer_config.json": { tokenizer_class: "BertTokenizer", model_max_length: 16 },
    "config.json": { model_type: "bert", hidden_size: width, num_labels: 1 }
  }),
  "onnx/model.onnx": onnx(
    [
      ["Gather", ["words", "input_ids"], "all"],
      ["Cast", ["token_type_ids"], "types", 1],
      ["Unsqueeze", ["types", "last"], "texts"],
      ["Sub", ["one", "texts"], "questions"],
      ["Mul", ["all", "texts"], "of texts"],
      ["Mul", ["all", "questions"], "of questions"],
      ["ReduceSum", ["of texts", "middle"], "text"],
      ["ReduceSum", ["of questions", "middle"], "question"],
      ["Mul", ["text", "question"], "both"],
      ["ReduceSum", ["both", "last"], "pairs"],
      ["Squeeze", ["pairs", "last"], "logits"]
    ],
    {
      words: { dims: [vocabulary.length, width], data: byMeaning },
      one: { dims: [], data: [1] },
      middle: { dims: [1], data: [1], whole: true },
      last: { dims: [1], data: [2], whole: true }
    },
    ["input_ids", "attention_mask", "token_type_ids"],
    ["logits", 2]
  )
})

/** How a tensor's numbers are written in a file of safetensors. */
const tensorTypes = {
  F64: (numbers: ReadonlyArray<number>) => Float64Array.from(numbers),
  F32: (numbers: ReadonlyArray<number>) => Float32Array.from(numbers),
  /** Of numbers that it holds exactly: zero, and from 2^-14 on. */
  F16: (numbers: ReadonlyArray<number>) =>
    Uint16Array.from(numbers, (number) => {
      const exponent = Math.floor(Math.log2(Math.abs(number)))
      const size = number === 0 ? 0 : (exponent + 15) * 1024 + (Math.abs(number) / 2 ** exponent - 1) * 1024
      return size + (number < 0 ? 2 ** 15 : 0)
    }),
  BF16: (numbers: ReadonlyArray<number>) => Uint16Array.from(new Uint32Array(Float32Array.from(numbers).buffer), (bits) => bits >>> 16),
  I8: (numbers: ReadonlyArray<number>) => Int8Array.from(numbers),
  I64: (numbers: ReadonlyArray<number>) => BigInt64Array.from(numbers, BigInt)
}

export interface ToyTensor {
  readonly type: keyof typeof tensorTypes
  readonly shape: ReadonlyArray<number>
  readonly numbers: ReadonlyArray<number>
}

export const safetensors = (tensors: Readonly<Record<string, ToyTensor>>): Uint8Array => {
  const written = Object.entries(tensors).map(([name, { numbers, shape, type }]) => ({
    name,
    shape,
    dtype: type,
    bytes: Buffer.from(tensorTypes[type](numbers).buffer)
  }))
  let end = 0
  const entries = written.map(({ bytes, dtype, name, shape }) => [name, { dtype, shape, data_offsets: [end, end += bytes.length] }])
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, ...written.map(({ bytes }) => bytes)])
}

/** The files of a model of model2vec: the row of a token is one component for its meaning. */
export const toyTable = (changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, string | Uint8Array>> => ({
  ...written({
    "tokenizer.json": tokenizer,
    "config.json": { model_type: "model2vec", normalize: true },
    ...changes
  }),
  "model.safetensors": safetensors({ embeddings: { type: "F32", shape: [vocabulary.length, width], numbers: byMeaning } })
})

/** How many tokens the toys know. */
export const vocabularySize = vocabulary.length

/** Puts a model into a folder, and gives it. */
export const place = (folder: string, files: Readonly<Record<string, string | Uint8Array>>): string => {
  write(folder, files)
  return folder
}

const written = (files: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).flatMap(([name, content]) => content === undefined ? [] : [[name, JSON.stringify(content)]]))

const identity = (size: number): ReadonlyArray<number> => Array.from({ length: size * size }, (_, at) => at % (size + 1) === 0 ? 1 : 0)

const byMeaning = vocabulary.flatMap((word) => meanings.map((words) => words.includes(word) ? 1 : 0))

interface Constant {
  readonly dims: ReadonlyArray<number>
  readonly data: ReadonlyArray<number>
  readonly whole?: boolean
}

type Node = readonly [op: string, inputs: ReadonlyArray<string>, output: string, to?: number]

const opset = 17
const float = 1
const int64 = 7

/** A model in ONNX's own bytes: its messages are protocol buffers, and a few of their fields make a graph. */
const onnx = (
  nodes: ReadonlyArray<Node>,
  constants: Readonly<Record<string, Constant>>,
  inputs: ReadonlyArray<string>,
  [output, rank]: readonly [name: string, rank: number]
): Uint8Array => {
  const value = (name: string, type: number, dims: number) =>
    message(
      text(1, name),
      message(
        message(number(1, type), message(...Array.from({ length: dims }, (_, at) => message(text(2, `${name} ${at}`)).as(1))).as(2)).as(1)
      ).as(2)
    )
  const graph = message(
    ...nodes.map(([op, from, to, type]) =>
      message(
        ...from.map((name) => text(1, name)),
        text(2, to),
        text(4, op),
        ...(type === undefined ? [] : [message(text(1, "to"), number(3, type), number(20, 2)).as(5)])
      ).as(1)
    ),
    text(2, "toy"),
    ...Object.entries(constants).map(([name, { data, dims, whole }]) =>
      message(
        ...dims.map((size) => number(1, size)),
        number(2, whole === true ? int64 : float),
        text(8, name),
        bytes(9, new Uint8Array((whole === true ? BigInt64Array.from(data, BigInt) : Float32Array.from(data)).buffer))
      ).as(5)
    ),
    ...inputs.map((name) => value(name, int64, 2).as(11)),
    value(output, float, rank).as(12)
  )
  return Uint8Array.from(message(number(1, 8), graph.as(7), message(text(1, ""), number(2, opset)).as(8)).content)
}

const varint = (value: number): ReadonlyArray<number> => value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]
const number = (field: number, value: number): ReadonlyArray<number> => [...varint(field << 3), ...varint(value)]
const bytes = (
  field: number,
  content: ArrayLike<number>
): ReadonlyArray<number> => [...varint((field << 3) | 2), ...varint(content.length), ...Array.from(content)]
const text = (field: number, content: string): ReadonlyArray<number> => bytes(field, new TextEncoder().encode(content))
const message = (...fields: ReadonlyArray<ReadonlyArray<number>>) => {
  const content = fields.flat()
  return { content, as: (field: number) => bytes(field, content) }
}
