/**
 * The quality bench: what a user gets. Each document of a collection is a Markdown file, put into a corpus by `runPipeline`
 * with default settings; hits are files, in the order of their best contexts.
 *
 *     npm run bench:quality -- FOLDER [COLLECTION…] [--queries 2000] [--slips 1] [--chunk-size N] [--keep DIRECTORY] [--json FILE]
 *     npm run bench:quality -- FOLDER [COLLECTION…] [--embedding MODEL] [--rank MODEL] [--queries N] [--chunk-size N] [--keep DIRECTORY]
 *     npm run bench:quality -- FOLDER [COLLECTION…] --vary NAME=VALUE,VALUE… [--vary …] [--slips N] [--embedding MODEL] [--queries N] [--chunk-size N] [--keep DIRECTORY] [--json FILE]
 *     npm run bench:quality -- --porter FOLDER
 *
 * FOLDER holds a folder for each collection in BEIR's layout (`collections.ts` makes them of other forms), and may hold
 * `lucene-reference.json` (figures by `collection|analyzer|k1/b`, of whole documents), which `quality/Lucene.java` writes. Per
 * collection, nDCG@10 and Recall@100: Lucene's BM25; ours (alpha 0); the default; the offline embedder alone (alpha 1), all of
 * 100 contexts; the default at the ten contexts that a request gets that names no number; then BM25 and the default for
 * misspelt questions (two words, or every sixth of more), without correction and with it, and how many of the slips are read
 * as what was meant. Spelling is corrected but where that is said. --slips N asks the misspelt questions N times, with other
 * slips each time, and prints the mean. At most --queries questions are asked, spread over the file; the reference has all
 * of them. --keep leaves the corpora for the next time; small chunks (--chunk-size, in tokens, no overlap) show what becomes of files
 * that are longer than a chunk.
 *
 * With --embedding or --rank, from offline to full: Lucene, BM25, the default, the default with the model's vectors, these
 * alone, and the best 50 of the last but one ordered by the one that ranks, each with the milliseconds of half of the
 * questions. An embedding model is a folder (`./all-MiniLM-L6-v2`) or one of a server that speaks OpenAI's protocol
 * (`http://127.0.0.1:1234/v1#all-minilm`); so is the one that ranks, whose server has `/rerank` as Cohere's does.
 *
 * With --vary, Lucene, BM25 and the default with each value of `alpha` or of a constant of `src/search/Ranking.ts`, with
 * milliseconds of processor time a question; several --vary are several tables of one run, each constant varied alone. Each
 * question is asked with all values before the next, another one first each time, so that times can be compared on a busy
 * machine: `--vary sharedChunks=0,10` is without shared words and with them. "least" is the collection that does least well
 * beside BM25. "left out" is what a choice of the value is worth where it was not made: each collection with the value that
 * is best on the others. With --slips the questions are misspelt.
 *
 * With --porter, FOLDER holds `voc.txt` and `output.txt`, and every stem is checked.
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
/** A constant, or `alpha`, and the values that it is given, the others as chosen. */
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
  // Which alpha a model has by default, its engine knows: each value is asked for.
  alpha: values.embedding === undefined ? defaultAlpha.words : Number.NaN
}
/** What is chosen is one way, whatever is varied. */
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

/** From offline to full: with a model's vectors and a cross encoder, where they are named. */
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

/** The default with each of the values, in turns. */
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
        // The engine keeps its answers, which know nothing of constants that change: each value has a question of its own.
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

/** So many ways to misspell a question, each with slips of its own. */
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

/** Of all collections; of figures that not all have there is none. */
const overall = (rows: ReadonlyArray<Row>, column: string): Figures | Corrected | undefined => {
  const known = rows.flatMap((row) => row[column] ?? [])
  const corrected = known.flatMap((one) => "slips" in one ? one : [])
  if (corrected.length > 0) return sumOf(corrected)
  return known.length < rows.length ? undefined : meanOf(known.flatMap((one) => "slips" in one ? [] : one))
}

/** The least that a way gains over BM25 in any collection, of either figure. */
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
