import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A test collection in BEIR's layout: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`. */
export interface Collection {
  readonly name: string
  readonly documents: ReadonlyArray<{ readonly id: string; readonly title: string; readonly text: string }>
  readonly queries: ReadonlyArray<{ readonly id: string; readonly text: string }>
  /** Grades by query and document. */
  readonly judgements: ReadonlyMap<string, ReadonlyMap<string, number>>
}

export const collectionNames = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort()

export const readCollection = (folder: string, name: string): Collection => {
  const path = join(folder, name)
  const lines = (file: string) => readFileSync(join(path, file), "utf8").split("\n").filter((line) => line.trim() !== "")
  const records = (file: string) =>
    lines(file).map((line) => {
      const record: { _id: string; title?: string; text: string } = JSON.parse(line)
      return { id: String(record._id), title: record.title ?? "", text: record.text }
    })
  const judgements = new Map<string, Map<string, number>>()
  for (const line of lines("qrels.tsv").slice(1)) {
    const [query = "", document = "", grade = "0"] = line.split("\t")
    const graded = judgements.get(query) ?? new Map<string, number>()
    judgements.set(query, graded.set(document, Number(grade)))
  }
  return { name, documents: records("corpus.jsonl"), queries: records("queries.jsonl"), judgements }
}
