/**
 * The quality bench measures what a user gets. Each document of a collection is a Markdown file, stored in a corpus by
 * `runPipeline` with default settings; hits are files, ordered by their best context.
 *
 *     npm run bench:quality -- FOLDER [COLLECTION…] [--queries 2000] [--slips 1] [--chunk-size N] [--keep DIRECTORY] [--json FILE]
 *     npm run bench:quality -- FOLDER [COLLECTION…] [--embedding MODEL] [--rank MODEL] [--queries N] [--chunk-size N] [--keep DIRECTORY]
 *     npm run bench:quality -- FOLDER [COLLECTION…] --vary NAME=VALUE,VALUE… [--vary …] [--slips N] [--embedding MODEL] [--queries N] [--chunk-size N] [--keep DIRECTORY] [--json FILE]
 *     npm run bench:quality -- --porter FOLDER
 *
 * FOLDER contains a folder for each collection in BEIR's layout (`collections.ts` converts other formats), and optionally
 * `lucene-reference.json` (figures by `collection|analyzer|k1/b`, for whole documents), which `quality/Lucene.java` writes. The
 * table has nDCG@10 and Recall@100 by collection: of Lucene's BM25, our BM25 (alpha 0), the default, and the offline embedder
 * alone (alpha 1), each with 100 contexts; of the default with the ten contexts that a request without a number gets; then of
 * BM25 and the default for misspelt questions (two words, or every sixth of longer questions), without and with correction, and
 * how many of the slips are corrected to the intended word. Spelling is corrected except where stated. --slips N asks the
 * misspelt questions N times with different slips, and prints the mean. At most --queries questions are asked, spread over the
 * file; the reference has all of them. --keep keeps the corpora for further runs. Small chunks (--chunk-size, in tokens, without
 * overlap) show the results for files that are longer than a chunk.
 *
 * With --embedding or --rank the table compares, from offline to full: Lucene, BM25, the default, the default with the model's
 * vectors, these vectors alone, and the default with the model's vectors whose best 50 are reranked, each with the milliseconds
 * of half of the questions. An embedding model is a folder (`./all-MiniLM-L6-v2`) or a model of a server that speaks OpenAI's
 * protocol (`http://127.0.0.1:1234/v1#all-minilm`); so is the reranker, whose server has `/rerank` as Cohere's does.
 *
 * With --vary the table compares Lucene, BM25, and the default with each value of `alpha` or of a constant of
 * `src/search/Ranking.ts`, with milliseconds of processor time per question. Several --vary make several tables of one run, each
 * with one constant varied. Each question is asked with all values before the next, starting with another value each time, so
 * that times are comparable on a busy machine: `--vary sharedChunks=0,10` compares without and with shared words. "least" is the
 * collection with the smallest gain over BM25. "left out" is leave-one-out cross-validation: each collection counts with the
 * value that is best on the others. With --slips the questions are misspelt.
 *
 * With --porter, FOLDER contains `voc.txt` and `output.txt`, and every stem is checked.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { defaultChunking } from "../src/domain/Chunking.ts"
import { defaultAlpha } from "../src/search/Fusion.ts"
import { porter } from "../src/search/analysis/Porter.ts"
import { ranking } from "../src/search/Ranking.ts"
import { type Collection, collectionNames, readCollection } from "./quality/Collection.ts"
import { type EngineOptions, type Search, withEngine } from "./quality/Engine.ts"
import { evaluate, evaluateEach, type Figures, leftOut } from "./quality/Evaluate.ts"
import { type Corrected, correctedIn, misspell } from "./quality/Misspell.ts"

const { positionals: [folder, ...wanted], values } = parseArgs({
  allowPositionals: true,
  options: {
    queries: { type: "string", default: "2000" },
    slips: { type: "string" },
    vary: { type: "string", multiple: true, default: [] },
    porter: { type: "boolean", default: false },
    "chunk-size": { type: "string" },
    keep: { type: "string" },
    json: { type: "string" },
    embedding: { type: "string" },
    rank: { type: "string" }
  }
})

const offline = ["lucene", "bm25", "default", "dense", "default@10", "typos bm25", "fixed bm25", "typos", "fixed", "right"]
const toFull = ["lucene", "bm25", "default", "model", "model dense", "ranked"]
/** A constant, or `alpha`, and the values to compare. Other constants keep their chosen values. */
interface Varied {
  readonly name: string
  readonly settings: ReadonlyArray<string>
}

const vary = values.vary.map((one): Varied => {
  const [name = "", ...settings] = one.split(/[=,]/)
  return { name, settings }
})
const fixed = { ...ranking }
const chosen: Readonly<Record<string, number>> = {
  ...fixed,
  // Only the engine knows the default alpha of a model, so that no value counts as the default.
  alpha: values.embedding === undefined ? defaultAlpha.words : Number.NaN
}
/** Name of a setting in the table. The chosen value of every constant is the same way, `default`. */
const wayOf = (name: string, setting: string): string => Number(setting) === chosen[name] ? "default" : `${name} ${setting}`
const ways = [...new Set(vary.flatMap(({ name, settings }) => settings.map((setting) => wayOf(name, setting))))]
const columns = ways.length > 0
  ? ["lucene", "bm25", ...ways]
  : values.embedding === undefined && values.rank === undefined
  ? offline
  : toFull
const isTimed = columns !== offline
type Row = { readonly [column: string]: Figures | Corrected | undefined }

const chunkSize = values["chunk-size"]
const engine: EngineOptions = {
  keep: values.keep,
  chunking: chunkSize === undefined ? undefined : { ...defaultChunking, size: Number(chunkSize), overlap: 0 }
}

/** Measures the ways from offline to full: with a model's vectors and a reranker, where they are named. */
const measureModels = async (collection: Collection, asked: ReadonlyMap<string, string>): Promise<Row> => {
  const judgements = judged(collection, asked)
  const runs = (search: Search) => (how: Parameters<Search>[1] = {}) =>
    evaluate(judgements, (query) => search(asked.get(query) ?? "", { correctSpelling: true, topK: 100, ...how }))
  const rank = values.rank === undefined ? undefined : { _tag: "crossEncoder", model: values.rank } as const
  const row = await withEngine(collection, engine, async (search) => {
    const run = runs(search)
    return {
      bm25: await run({ hybrid: { alpha: 0 } }),
      default: await run(),
      ...(rank === undefined || values.embedding !== undefined ? {} : { ranked: await run({ rank }) })
    }
  })
  if (values.embedding === undefined) return row
  return withEngine(collection, { ...engine, embedding: values.embedding }, async (search) => {
    const run = runs(search)
    return {
      ...row,
      model: await run(),
      "model dense": await run({ hybrid: { alpha: 1 } }),
      ...(rank === undefined ? {} : { ranked: await run({ rank }) })
    }
  })
}

/** Measures the default with each of the values, in turns. */
const measureVaried = (collection: Collection, asked: ReadonlyMap<string, string>): Promise<Row> =>
  withEngine(collection, { ...engine, embedding: values.embedding }, async (search) => {
    const how = { correctSpelling: true, topK: 100 }
    const measureIn = async (spell: (text: string, query: string) => string): Promise<ReadonlyArray<Figures>> => {
      const textOf = (query: string) => spell(asked.get(query) ?? "", query)
      const bm25 = (query: string) => {
        Object.assign(ranking, fixed)
        return search(textOf(query), { ...how, hybrid: { alpha: 0 } })
      }
      const withValues = ways.map((way, at) => (query: string) => {
        // The engine caches results by question, regardless of constants: trailing blanks make each value's question different.
        const text = `${textOf(query)}${" ".repeat(at + 1)}`
        const [name = "", value] = way.split(" ")
        const { alpha, ...constants } = { ...chosen, ...(value === undefined ? {} : { [name]: Number(value) }) }
        Object.assign(ranking, constants)
        return search(text, name === "alpha" ? { ...how, hybrid: { alpha } } : how)
      })
      const figures = await evaluateEach(judged(collection, asked), [bm25, ...withValues])
      return figures.map((one) => ({ ...one, milliseconds: one.processor }))
    }
    if (values.slips === undefined) return rowOf(await measureIn((text) => text))
    const runs: Array<ReadonlyArray<Figures>> = []
    for (const { text } of misspellings(Number(values.slips))) runs.push(await measureIn(text))
    return rowOf(["bm25", ...ways].map((_, at) => meanOf(runs.map((figures) => figures[at]!))))
  })

const rowOf = (figures: ReadonlyArray<Figures>): Row => Object.fromEntries(["bm25", ...ways].map((way, at) => [way, figures[at]]))

/** Functions that misspell a question, each with different slips. */
const misspellings = (count: number) =>
  Array.from({ length: count }, (_, run) => {
    const misspelt = (text: string, query: string) => misspell(text.toLowerCase(), Number.parseInt(query.slice(-6), 36) + run)
    return { misspelt, text: (text: string, query: string) => misspelt(text, query).text }
  })

const judged = (collection: Collection, asked: ReadonlyMap<string, string>): Collection["judgements"] =>
  new Map([...collection.judgements].filter(([query]) => asked.has(query)))

const measure = (collection: Collection, asked: ReadonlyMap<string, string>): Promise<Row> =>
  withEngine(collection, engine, async (search) => {
    const judgements = judged(collection, asked)
    const run = (
      how: { readonly alpha?: number; readonly correctSpelling?: boolean; readonly topK?: number },
      spell: (text: string, query: string) => string = (text) => text
    ) =>
      evaluate(judgements, (query) =>
        search(spell(asked.get(query) ?? "", query), {
          correctSpelling: how.correctSpelling ?? true,
          topK: how.topK ?? 100,
          ...(how.alpha === undefined ? {} : { hybrid: { alpha: how.alpha } })
        }))
    const runs = misspellings(Number(values.slips ?? 1))
    const runMisspelt = async (how: Parameters<typeof run>[0]): Promise<Figures> => {
      const figures: Array<Figures> = []
      for (const { text } of runs) figures.push(await run(how, text))
      return meanOf(figures)
    }
    const corrected: Array<Corrected> = []
    for (const { misspelt } of runs) {
      for (const [query, text] of asked) corrected.push(await correctedIn(search, text.toLowerCase(), misspelt(text, query)))
    }
    return {
      bm25: await run({ alpha: 0 }),
      default: await run({}),
      dense: await run({ alpha: 1 }),
      "default@10": await run({ topK: 10 }),
      "typos bm25": await runMisspelt({ alpha: 0, correctSpelling: false }),
      "fixed bm25": await runMisspelt({ alpha: 0 }),
      typos: await runMisspelt({ correctSpelling: false }),
      fixed: await runMisspelt({}),
      right: sumOf(corrected)
    }
  })

const luceneOf = (path: string, collection: string): Figures | undefined => {
  if (!existsSync(path)) return undefined
  const figures: Record<string, Record<string, number>> = JSON.parse(readFileSync(path, "utf8"))
  const key = Object.keys(figures).find((key) => key.startsWith(`${collection}|`) && !key.includes("|std|") && key.endsWith("|1.2/0.75"))
  const found = key === undefined ? undefined : figures[key]
  return found && { ndcg10: found["nDCG@10"] ?? 0, recall100: found["Recall@100"] ?? 0 }
}

const print = (name: string, cells: ReadonlyArray<string>): void => {
  process.stdout.write(`${name.padEnd(18)}${cells.map((cell) => cell.padStart(isTimed ? 20 : 14)).join("")}\n`)
}

const cell = (measured: Figures | Corrected | undefined): string => {
  if (measured === undefined) return "-"
  if ("slips" in measured) return measured.slips === 0 ? "-" : `${measured.right} of ${measured.slips}`
  const time = isTimed && measured.milliseconds !== undefined ? ` ${measured.milliseconds.toFixed(1).padStart(5)}` : ""
  return `${measured.ndcg10.toFixed(4)} ${measured.recall100.toFixed(3)}${time}`
}

const meanOf = (figures: ReadonlyArray<Figures>): Figures => {
  const average = (of: keyof Figures) => figures.reduce((sum, one) => sum + (one[of] ?? 0), 0) / figures.length
  return { ndcg10: average("ndcg10"), recall100: average("recall100"), milliseconds: average("milliseconds") }
}

const sumOf = (corrected: ReadonlyArray<Corrected>): Corrected => ({
  slips: corrected.reduce((sum, { slips }) => sum + slips, 0),
  right: corrected.reduce((sum, { right }) => sum + right, 0)
})

/** Means over all collections; undefined for a column that not all collections have. */
const overall = (rows: ReadonlyArray<Row>, column: string): Figures | Corrected | undefined => {
  const known = rows.flatMap((row) => row[column] ?? [])
  const corrected = known.flatMap((one) => "slips" in one ? one : [])
  if (corrected.length > 0) return sumOf(corrected)
  return known.length < rows.length ? undefined : meanOf(known.flatMap((one) => "slips" in one ? [] : one))
}

/** The smallest gain of a way over BM25 in any collection, for each figure. */
const leastOf = (rows: ReadonlyArray<Row>, way: string): string => {
  const least = (of: "ndcg10" | "recall100") => Math.min(...rows.map((row) => (row[way] as Figures)[of] - (row["bm25"] as Figures)[of]))
  return `${least("ndcg10").toFixed(4)} ${least("recall100").toFixed(3)}`
}

const heading = isTimed ? "nDCG@10 R@100 ms" : "nDCG@10 R@100"

const compareCollections = async (folder: string): Promise<void> => {
  if (vary.length < 2) print(heading, columns)
  const rows: Array<Row> = []
  const names: Array<string> = []
  for (const name of wanted.length > 0 ? wanted : collectionNames(folder)) {
    const collection = readCollection(folder, name)
    const judged = collection.queries.filter(({ id }) => collection.judgements.has(id))
    const every = Math.max(1, Math.ceil(judged.length / Number(values.queries)))
    const asked = new Map(judged.filter((_, index) => index % every === 0).map(({ id, text }) => [id, text]))
    const lucene = luceneOf(join(folder, "lucene-reference.json"), name)
    const measured = await (ways.length > 0 ? measureVaried : columns === offline ? measure : measureModels)(collection, asked)
    const row: Row = { lucene, ...measured }
    if (vary.length < 2) print(name, columns.map((column) => cell(row[column])))
    else process.stderr.write(`${name}: ${asked.size} questions, ${ways.length} ways\n`)
    rows.push(row)
    names.push(name)
  }
  if (vary.length === 0) print("mean", columns.map((column) => cell(overall(rows, column))))
  for (const one of vary) {
    const own = one.settings.map((setting) => wayOf(one.name, setting))
    const shown = ["lucene", "bm25", ...own]
    if (vary.length > 1) {
      print(one.name, shown)
      rows.forEach((row, at) => print(names[at] ?? "", shown.map((column) => cell(row[column]))))
    }
    print("mean", shown.map((column) => cell(overall(rows, column))))
    print("least", ["", "", ...own.map((way) => leastOf(rows, way))])
    if (own.length > 1 && rows.length > 1) {
      print("left out", ["", "", cell(leftOut(rows.map((row) => own.map((way) => row[way] as Figures))))])
    }
  }
  if (values.json !== undefined) {
    writeFileSync(values.json, `${JSON.stringify(rows.map((row, at) => ({ collection: names[at], ...row })), null, 2)}\n`)
  }
}

const checkPorter = (folder: string): void => {
  const read = (file: string) => readFileSync(join(folder, file), "utf8").trim().split("\n")
  const expected = read("output.txt")
  const words = read("voc.txt")
  const wrong = words.filter((word, index) => porter(word) !== expected[index])
  process.stdout.write(
    `${words.length} words, ${wrong.length} stems differ${wrong.length > 0 ? `: ${wrong.slice(0, 20).join(" ")}` : ""}\n`
  )
  process.exitCode = wrong.length > 0 ? 1 : 0
}

const isVariable = vary.every(({ name, settings }) =>
  name in chosen && settings.length > 0 && settings.every((value) => /^[\d.]+$/.test(value))
)

if (folder === undefined || !isVariable || !/^[1-9]\d*$/.test(values.slips ?? "1")) {
  process.stderr.write(
    `usage: node bench/quality.ts FOLDER [COLLECTION…] [--queries N] [--slips N] [--chunk-size N] [--keep DIRECTORY] [--json FILE] [--embedding URL#MODEL or FOLDER] [--rank URL#MODEL or FOLDER] [--vary NAME=VALUE,VALUE…]…, or --porter FOLDER; NAME is one of ${
      Object.keys(chosen).join(", ")
    }\n`
  )
  process.exitCode = 4
} else if (values.porter) {
  checkPorter(folder)
} else {
  await compareCollections(folder)
}
