/**
 * Loads a retrieval collection (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`) with a plain BM25 over it (k1 0.9, b 0.4), so that
 * measurements are repeatable without an index.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Context } from "../src/domain/Retrieval.ts"
import { RagFileName } from "../src/domain/RagFile.ts"
import { foldedWords, isCjk } from "../src/models/extractive/Words.ts"

export interface Doc {
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Query {
  readonly id: string
  readonly text: string
  /** Strings of which a right answer contains at least one, where the collection has them. */
  readonly answers?: ReadonlyArray<string>
  /** Gains by document. */
  readonly gains: ReadonlyMap<string, number>
}

export interface Collection {
  readonly docs: ReadonlyArray<Doc>
  /** Queries with judgements. */
  readonly queries: ReadonlyArray<Query>
  /** Returns the best allowed documents as contexts. */
  readonly search: (query: string, topK: number, allowed?: (doc: Doc) => boolean) => Array<Context>
}

const tokens = (text: string): Array<string> =>
  foldedWords(text).flatMap((word) =>
    isCjk(word) && word.length > 2 ? Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2)) : [word]
  )

/** Loads a collection with at most `limit` queries, spread evenly over the file. */
export const loadCollection = (folder: string, limit: number): Collection => {
  const lines = (file: string): Array<string> => readFileSync(join(folder, file), "utf8").split("\n").filter((line) => line !== "")
  const postings = new Map<string, Array<readonly [number, number]>>()
  const lengths: Array<number> = []
  const docs = lines("corpus.jsonl").map((line, at): Doc => {
    const { _id, title = "", text } = JSON.parse(line) as { _id: string; title?: string; text: string }
    const terms = tokens(`${title} ${text}`)
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, frequency] of counts) {
      const list = postings.get(term) ?? []
      list.push([at, frequency])
      postings.set(term, list)
    }
    lengths.push(terms.length)
    return { id: _id, title, text }
  })
  const average = lengths.reduce((sum, length) => sum + length, 0) / docs.length

  const search: Collection["search"] = (query, topK, allowed = () => true) => {
    const scores = new Map<number, number>()
    for (const term of new Set(tokens(query))) {
      const list = postings.get(term) ?? []
      const idf = Math.log(1 + (docs.length - list.length + 0.5) / (list.length + 0.5))
      for (const [at, frequency] of list) {
        const norm = 0.9 * (0.6 + (0.4 * lengths[at]!) / average)
        scores.set(at, (scores.get(at) ?? 0) + (idf * frequency) / (frequency + norm))
      }
    }
    return [...scores]
      .filter(([at]) => allowed(docs[at]!))
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, topK)
      .map(([at, score]) => contextOf(docs[at]!, score))
  }

  const gains = new Map<string, Map<string, number>>()
  for (const line of lines("qrels.tsv").slice(1)) {
    const [query, doc, gain] = line.split("\t")
    if (Number(gain) > 0) gains.set(query!, (gains.get(query!) ?? new Map<string, number>()).set(doc!, Number(gain)))
  }
  const queries = lines("queries.jsonl").flatMap((line): Array<Query> => {
    const { _id, text, metadata } = JSON.parse(line) as { _id: string; text: string; metadata?: { answers?: Array<string> } }
    const judged = gains.get(_id)
    if (judged === undefined) return []
    return [{ id: _id, text, gains: judged, ...(metadata?.answers === undefined ? {} : { answers: metadata.answers }) }]
  })
  const step = Math.max(1, Math.floor(queries.length / limit))
  return { docs, search, queries: queries.filter((_, at) => at % step === 0).slice(0, limit) }
}

const contextOf = (doc: Doc, score: number): Context => ({
  chunkId: doc.id,
  file: RagFileName.make(`corpora/bench/ragFiles/${doc.id}`),
  sourceUri: doc.id,
  sourceDisplayName: doc.title,
  text: doc.text,
  headings: [],
  score
})
