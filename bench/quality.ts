/**
 * The quality bench: nDCG@10 and Recall@100 of the embedded engine over test collections.
 *
 *     npm run bench:quality -- FOLDER [COLLECTION…] [--queries 2000]
 *     npm run bench:quality -- --porter FOLDER
 *
 * FOLDER holds a folder for each collection in BEIR's layout, and may hold `lucene-reference.json` (figures by
 * `collection|analyzer|k1/b`). Per collection: Lucene's BM25, ours (alpha 0), the default mix, the offline embedder
 * alone (alpha 1); then BM25 for questions with two misspelt words, without correction and with it, and for the questions
 * as they are with correction, which should cost nothing. At most --queries questions are asked, spread over the file;
 * the reference has all of them.
 *
 * With --porter, FOLDER holds `voc.txt` and `output.txt`, and every stem is checked.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { porter } from "../src/search/analysis/Porter.ts"
import { type Collection, collectionNames, readCollection } from "./quality/Collection.ts"
import { withEngine } from "./quality/Engine.ts"
import { evaluate, type Figures } from "./quality/Evaluate.ts"
import { misspell } from "./quality/Misspell.ts"

const { positionals: [folder, ...wanted], values } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: "string", default: "2000" }, porter: { type: "boolean", default: false } }
})

const columns = ["lucene", "bm25", "default", "dense", "typos", "typos fixed", "clean fixed"] as const
type Row = Readonly<Record<(typeof columns)[number], Figures | undefined>>

const measure = (collection: Collection, asked: ReadonlyMap<string, string>): Promise<Omit<Row, "lucene">> =>
  withEngine(collection, async (search) => {
    const judgements = new Map([...collection.judgements].filter(([query]) => asked.has(query)))
    const run = (
      how: { readonly alpha?: number; readonly correctSpelling: boolean },
      spell: (text: string, query: string) => string = (text) => text
    ) =>
      evaluate(judgements, (query) =>
        search(spell(asked.get(query) ?? "", query), {
          correctSpelling: how.correctSpelling,
          ...(how.alpha === undefined ? {} : { hybrid: { alpha: how.alpha } })
        }))
    const misspelt = (text: string, query: string) => misspell(text.toLowerCase(), Number.parseInt(query.slice(-6), 36))
    return {
      bm25: await run({ alpha: 0, correctSpelling: false }),
      default: await run({ correctSpelling: false }),
      dense: await run({ alpha: 1, correctSpelling: false }),
      typos: await run({ alpha: 0, correctSpelling: false }, misspelt),
      "typos fixed": await run({ alpha: 0, correctSpelling: true }, misspelt),
      "clean fixed": await run({ alpha: 0, correctSpelling: true })
    }
  })

const luceneOf = (path: string, collection: string): Figures | undefined => {
  if (!existsSync(path)) return undefined
  const figures: Record<string, Record<string, number>> = JSON.parse(readFileSync(path, "utf8"))
  const key = Object.keys(figures).find((key) =>
    key.startsWith(`${collection}|`) && !key.includes("|std|") && key.endsWith("|1.2/0.75")
  )
  const found = key === undefined ? undefined : figures[key]
  return found && { ndcg10: found["nDCG@10"] ?? 0, recall100: found["Recall@100"] ?? 0 }
}

const print = (name: string, cells: ReadonlyArray<string>): void => {
  process.stdout.write(`${name.padEnd(18)}${cells.map((cell) => cell.padStart(14)).join("")}\n`)
}

const cell = (figures: Figures | undefined): string =>
  figures === undefined ? "-" : `${figures.ndcg10.toFixed(4)} ${figures.recall100.toFixed(3)}`

const mean = (rows: ReadonlyArray<Row>, column: keyof Row): Figures | undefined => {
  const known = rows.flatMap((row) => row[column] ?? [])
  if (known.length < rows.length) return undefined
  const average = (of: keyof Figures) => known.reduce((sum, figures) => sum + figures[of], 0) / known.length
  return { ndcg10: average("ndcg10"), recall100: average("recall100") }
}

const compareCollections = async (folder: string): Promise<void> => {
  print("nDCG@10 R@100", columns)
  const rows: Array<Row> = []
  for (const name of wanted.length > 0 ? wanted : collectionNames(folder)) {
    const collection = readCollection(folder, name)
    const judged = collection.queries.filter(({ id }) => collection.judgements.has(id))
    const every = Math.max(1, Math.ceil(judged.length / Number(values.queries)))
    const asked = new Map(judged.filter((_, index) => index % every === 0).map(({ id, text }) => [id, text]))
    const lucene = luceneOf(join(folder, "lucene-reference.json"), name)
    const row = { lucene, ...await measure(collection, asked) }
    print(name, columns.map((column) => cell(row[column])))
    rows.push(row)
  }
  print("mean", columns.map((column) => cell(mean(rows, column))))
}

const checkPorter = (folder: string): void => {
  const read = (file: string) => readFileSync(join(folder, file), "utf8").trim().split("\n")
  const expected = read("output.txt")
  const words = read("voc.txt")
  const wrong = words.filter((word, index) => porter(word) !== expected[index])
  process.stdout.write(`${words.length} words, ${wrong.length} stems differ${wrong.length > 0 ? `: ${wrong.slice(0, 20).join(" ")}` : ""}\n`)
  process.exitCode = wrong.length > 0 ? 1 : 0
}

if (folder === undefined) {
  process.stderr.write("usage: node bench/quality.ts FOLDER [COLLECTION…] [--queries N], or --porter FOLDER\n")
  process.exitCode = 4
} else if (values.porter) {
  checkPorter(folder)
} else {
  await compareCollections(folder)
}
