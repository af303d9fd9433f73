/**
 * The generated corpus of the performance bench: Markdown pages in folders, identical for equal options on any machine.
 *
 *     node bench/corpus.ts FOLDER [--files 2000] [--bytes 10000000] [--seed 1]    writes the pages
 *     node bench/corpus.ts FOLDER --edit 0.01 [--files …] [--seed …]              changes one paragraph in 1% of them
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { PageWriter } from "./lib/Page.ts"
import { Random } from "./lib/Random.ts"
import type { Edit, TextCorpus } from "./lib/TextCorpus.ts"
import { Vocabulary } from "./lib/Vocabulary.ts"

export interface CorpusOptions {
  readonly files: number
  /** Bytes of all pages together, met to within one block of text. */
  readonly bytes: number
  readonly seed: number
}

export const defaultCorpus: CorpusOptions = { files: 2_000, bytes: 10_000_000, seed: 1 }

const filesPerFolder = 100
const topicWords = 8

const pagePath = (page: number): string =>
  join(`part-${String(Math.floor(page / filesPerFolder)).padStart(3, "0")}`, `page-${String(page).padStart(6, "0")}.md`)

/** The random sequence of a page. Pages have separate sequences, so that one page can be made again without the others. */
const pageRandom = (seed: number, page: number, purpose: number): Random =>
  new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(page + 1, 0x85ebca6b) ^ Math.imul(purpose, 0xc2b2ae35))

const topicOf = (vocabulary: Vocabulary, seed: number, page: number): Array<string> =>
  pageRandom(seed, page, 1).sample(vocabulary.content, topicWords)

/** Writes all pages below `folder`, and returns their number of bytes. */
export const writeCorpus = (folder: string, { bytes, files, seed }: CorpusOptions): number => {
  const vocabulary = new Vocabulary(seed)
  const shared = Array.from({ length: 40 }, (_, at) => {
    const random = pageRandom(seed, at, 2)
    return new PageWriter(vocabulary, random, random.sample(vocabulary.content, topicWords)).paragraph()
  })
  let written = 0
  for (let page = 0; page < files; page++) {
    const random = pageRandom(seed, page, 3)
    const share = (bytes - written) / (files - page)
    // Pages differ in length as real ones do; later pages compensate for what a page takes too much or too little.
    const size = page === files - 1 ? share : share * (0.3 + 1.4 * random.next())
    const text = new PageWriter(vocabulary, random, topicOf(vocabulary, seed, page)).page(size, shared)
    const path = join(folder, pagePath(page))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    written += text.length
  }
  return written
}

/** Rewrites one paragraph in `fraction` of the pages, in at least one. Each `round` makes different edits. */
export const editCorpus = (
  folder: string,
  { files, seed }: CorpusOptions,
  fraction: number,
  round = 1
): ReadonlyArray<Edit> => {
  const vocabulary = new Vocabulary(seed)
  const pages = pageRandom(seed, round, 4).sample(
    Array.from({ length: files }, (_, page) => page),
    Math.max(1, Math.round(files * fraction))
  )
  return pages.map((page) => {
    const path = join(folder, pagePath(page))
    const random = pageRandom(seed, page, 4 + round)
    const before = readFileSync(path, "utf8")
    const blocks = before.trimEnd().split("\n\n")
    const paragraphs = blocks.flatMap((block, at) => (/^[A-Z]/.test(block) ? [at] : []))
    const fresh = new PageWriter(vocabulary, random, topicOf(vocabulary, seed, page)).paragraph()
    if (paragraphs.length === 0) blocks.push(fresh)
    else blocks[random.pick(paragraphs)] = fresh
    const after = `${blocks.join("\n\n")}\n`
    writeFileSync(path, after)
    return { path, before, after }
  })
}

/** Questions about some page each: two to five of its topic words among common words. */
export const corpusQueries = ({ files, seed }: CorpusOptions, count: number): ReadonlyArray<string> => {
  const vocabulary = new Vocabulary(seed)
  return Array.from({ length: count }, (_, at) => {
    const random = pageRandom(seed, at, 3_000)
    const topic = random.sample(topicOf(vocabulary, seed, random.between(0, files - 1)), random.between(2, 5))
    const common = Array.from({ length: random.between(1, 4) }, () => vocabulary.word(random))
    return random.sample([...topic, ...common], topic.length + common.length).join(" ")
  })
}

/** The generated pages as the text corpus of a bench. */
export const generatedText = (options: CorpusOptions): TextCorpus => ({
  about: `${options.files} generated files of Markdown, seed ${options.seed}`,
  files: options.files,
  write: (folder) => writeCorpus(folder, options),
  edit: (folder, fraction, round) => editCorpus(folder, options, fraction, round),
  queries: (count) => corpusQueries(options, count)
})

if (import.meta.main) {
  const { positionals: [folder], values } = parseArgs({
    allowPositionals: true,
    options: {
      files: { type: "string", default: String(defaultCorpus.files) },
      bytes: { type: "string", default: String(defaultCorpus.bytes) },
      seed: { type: "string", default: String(defaultCorpus.seed) },
      edit: { type: "string" }
    }
  })
  if (folder === undefined) {
    process.stderr.write("usage: node bench/corpus.ts FOLDER [--files N] [--bytes N] [--seed N] [--edit FRACTION]\n")
    process.exit(4)
  }
  const options = { files: Number(values.files), bytes: Number(values.bytes), seed: Number(values.seed) }
  process.stdout.write(
    values.edit === undefined
      ? `${options.files} files, ${writeCorpus(folder, options)} bytes\n`
      : `${editCorpus(folder, options, Number(values.edit)).length} files edited\n`
  )
}
