/**
 * Measures how well chunks fit the answers in them. For each question, BM25 ranks the chunks of all documents, and the best ones
 * are read up to a budget of tokens. Recall is the share of the answer's characters that were read; IoU is the number of these
 * characters over the number in the union of what was read and the answer, with overlaps counted as often as they were read.
 *
 * With two states of a tree it measures the cost of the edits: `embedded` is the number of tokens in all chunks of the later
 * state, relative to a chunking without overlaps; `anew` is the share of them whose text is in no chunk of the earlier state.
 *
 * Usage: node bench/chunk-spans.ts <folder with questions.jsonl and {corpus}.md> [--before TREE --after TREE]
 */
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { Schema } from "effect"
import type { Chunking } from "../src/domain/Chunking.ts"
import type { Block, Chunk, ParsedDocument } from "../src/domain/Document.ts"
import { chunk } from "../src/text/chunk/Chunk.ts"
import { parse } from "../src/text/parse/Parse.ts"
import { defaultLimits } from "../src/text/Prepared.ts"

const budget = 1000

const Question = Schema.fromJsonString(
  Schema.Struct({
    text: Schema.String,
    corpus: Schema.String,
    references: Schema.Array(Schema.Struct({ start_index: Schema.Int, end_index: Schema.Int }))
  })
)
type Question = typeof Question.Type

/** A document with every line of text as a paragraph: spans are exact to the character, so the text must not change. */
const documentOf = (text: string): ParsedDocument => {
  const blocks: Array<Block> = []
  for (const match of text.matchAll(/\S.*/g)) {
    blocks.push({ kind: "paragraph", start: match.index, end: match.index + match[0].length })
  }
  return { text, blocks, format: "text" }
}

const terms = (text: string): Array<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** A chunk and its document. */
interface Passage {
  readonly corpus: string
  readonly chunk: Chunk
}

/** Ranks passages by BM25 with Lucene's k1 and b. Equal scores keep the order of the text. */
const ranker = (passages: ReadonlyArray<Passage>): (query: string) => Array<Passage> => {
  const postings = new Map<string, Map<number, number>>()
  const lengths = passages.map(({ chunk }, i) => {
    const words = terms(chunk.text)
    for (const word of words) {
      const list = postings.get(word) ?? new Map<number, number>()
      list.set(i, (list.get(i) ?? 0) + 1)
      postings.set(word, list)
    }
    return words.length
  })
  const average = lengths.reduce((sum, length) => sum + length, 0) / passages.length
  return (query) => {
    const scores = new Float64Array(passages.length)
    for (const word of new Set(terms(query))) {
      const list = postings.get(word)
      if (list === undefined) continue
      const idf = Math.log(1 + (passages.length - list.size + 0.5) / (list.size + 0.5))
      for (const [i, frequency] of list) {
        scores[i]! += (idf * frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * lengths[i]!) / average))
      }
    }
    return [...scores.keys()]
      .filter((i) => scores[i]! > 0)
      .sort((a, b) => scores[b]! - scores[a]! || a - b)
      .map((i) => passages[i]!)
  }
}

/** Recall and IoU of one question, over the best passages up to the budget. The last passage counts in part. */
const measure = (question: Question, length: number, ranked: ReadonlyArray<Passage>): { recall: number; iou: number } => {
  const wanted = new Uint8Array(length)
  for (const { end_index, start_index } of question.references) wanted.fill(1, start_index, end_index)
  const asked = wanted.reduce((sum, bit) => sum + bit, 0)
  const seen = new Uint8Array(length)
  let read = 0
  let left = budget
  for (const { chunk, corpus } of ranked) {
    if (left <= 0) break
    const taken = Math.floor((chunk.end - chunk.start) * Math.min(1, left / chunk.tokens))
    read += taken
    if (corpus === question.corpus) seen.fill(1, chunk.start, chunk.start + taken)
    left -= chunk.tokens
  }
  let hit = 0
  for (let i = 0; i < length; i++) hit += seen[i]! & wanted[i]!
  return { recall: hit / asked, iou: hit / (read + asked - hit) }
}

/** The parsed files of a tree; unreadable ones are left out. */
const treeOf = async (folder: string): Promise<ReadonlyArray<ParsedDocument>> => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const read = await Promise.allSettled(files.map(async ({ name, parentPath }) => {
    const path = join(parentPath, name)
    return parse({ bytes: readFileSync(path), name: basename(path), limits: defaultLimits })
  }))
  return read.flatMap((result) => result.status === "fulfilled" ? [result.value] : [])
}

const editCost = (before: ReadonlyArray<ParsedDocument>, after: ReadonlyArray<ParsedDocument>, chunking: Chunking) => {
  const texts = new Set(before.flatMap((document) => chunk(document, chunking).map(({ text }) => text)))
  const chunks = after.flatMap((document) => chunk(document, chunking))
  const sum = (some: typeof chunks): number => some.reduce((tokens, chunk) => tokens + chunk.tokens, 0)
  return { tokens: sum(chunks), anew: sum(chunks.filter(({ text }) => !texts.has(text))) }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { before: { type: "string" }, after: { type: "string" } }
})
const folder = positionals[0]
if (folder === undefined) throw new Error("usage: node bench/chunk-spans.ts <folder> [--before TREE --after TREE]")
const states = values.before === undefined || values.after === undefined
  ? undefined
  : await Promise.all([treeOf(values.before), treeOf(values.after)])

const documents = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name.slice(0, -3), documentOf(readFileSync(join(folder, name), "utf8"))])
)
const characters = [...documents.values()].reduce((sum, { text }) => sum + text.length, 0)
const questions = readFileSync(join(folder, "questions.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => Schema.decodeUnknownSync(Question)(line))

const configurations: Array<Chunking> = (["fixed", "structure"] as const).flatMap((strategy) =>
  [[200, 0], [200, 40], [400, 0], [400, 80], [800, 0], [800, 160], [1024, 200]].map(([size, overlap]) => ({
    strategy,
    size: size!,
    overlap: overlap!
  }))
)

// Loads the vocabulary and warms up the code before anything is timed.
for (const document of documents.values()) chunk(document, configurations[0]!)
console.log(`strategy   size  overlap  chunks  tokens/chunk  recall   IoU   MB/s${states === undefined ? "" : "  embedded   anew"}`)
for (const chunking of configurations) {
  const begin = performance.now()
  const passages = [...documents].flatMap(([corpus, document]) =>
    chunk(document, chunking).map((item): Passage => ({ corpus, chunk: item }))
  )
  const seconds = (performance.now() - begin) / 1000
  const tokens = passages.reduce((sum, { chunk }) => sum + chunk.tokens, 0)
  const rank = ranker(passages)
  let recall = 0
  let iou = 0
  for (const question of questions) {
    const result = measure(question, documents.get(question.corpus)!.text.length, rank(question.text))
    recall += result.recall
    iou += result.iou
  }
  const cost = states === undefined ? undefined : editCost(...states, chunking)
  const plain = states === undefined || chunking.overlap === 0 ? cost : editCost(...states, { ...chunking, overlap: 0 })
  console.log(
    [
      chunking.strategy.padEnd(9),
      String(chunking.size).padStart(5),
      String(chunking.overlap).padStart(8),
      String(passages.length).padStart(7),
      (tokens / passages.length).toFixed(0).padStart(13),
      (recall / questions.length).toFixed(3).padStart(7),
      (iou / questions.length).toFixed(3).padStart(6),
      (characters / 1e6 / seconds).toFixed(1).padStart(5),
      ...(cost === undefined || plain === undefined
        ? []
        : [(cost.tokens / plain.tokens).toFixed(2).padStart(9), `${(100 * cost.anew / cost.tokens).toFixed(1)}%`.padStart(7)])
    ].join(" ")
  )
}
