/**
 * Converts published data sets into collections in BEIR's layout, for the quality bench:
 *
 *     node bench/collections.ts squad FOLDER/NAME FILE… [--queries N]
 *     node bench/collections.ts paragraphs FOLDER/NAME FILE… [--characters 28]
 *     node bench/collections.ts numbered FOLDER/NAME FILE… [--queries N]
 *     node bench/collections.ts sections FOLDER/NAME FILE… [--queries N]
 *     node bench/collections.ts manual FOLDER/NAME FILE… [--queries N]
 *
 * `squad`: files in SQuAD's format (XQuAD, JaQuAD, DRCD, CMRC, KorQuAD, PersianQA). Each paragraph is a document, relevant to
 * each question that it answers; at most --queries questions, spread over the files.
 *
 * `paragraphs`: HTML pages. Each paragraph of more than 60 characters is a document. Its queries are excerpts of --characters
 * characters, near its start, after a third and after two thirds of it, each from a nearby blank on.
 *
 * `numbered`: files with a number in their name, such as `pep-0008.rst`, each a document of that name. Its query is its number and
 * one of its headings that another file has too: "References of pep 8".
 *
 * `sections`: files in Markdown or reStructuredText, each a document. Its queries are its headings of up to four words that no other file
 * has, every second one asked: "What is alerting?".
 *
 * `manual`: manual pages (`man1/ls.1.gz`) in any language. Each page without its first section is a document. Its query is the
 * description in that section, unless it is in English, as in untranslated pages.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { gunzipSync } from "node:zlib"
import { parseDocument, DomUtils } from "htmlparser2"
import { numberedName } from "../src/text/NumberedNames.ts"

interface Made {
  /** Ids of the documents. Absent: their indices. */
  readonly names?: ReadonlyArray<string>
  readonly documents: ReadonlyArray<string>
  /** Questions, each with the index of the relevant document. */
  readonly questions: ReadonlyArray<{ readonly text: string; readonly document: number }>
}

interface SquadFile {
  readonly data: ReadonlyArray<{
    readonly paragraphs: ReadonlyArray<{
      readonly context: string
      readonly qas: ReadonlyArray<{ readonly question: string; readonly is_impossible?: boolean }>
    }>
  }>
}

const squad = (files: ReadonlyArray<string>, most: number): Made => {
  const documents = new Map<string, number>()
  const questions = files.flatMap((file) => {
    const { data }: SquadFile = JSON.parse(readFileSync(file, "utf8"))
    return data.flatMap(({ paragraphs }) =>
      paragraphs.flatMap(({ context, qas }) => {
        const document = documents.get(context) ?? documents.size
        documents.set(context, document)
        return qas.flatMap(({ is_impossible, question }) => is_impossible === true ? [] : [{ text: question, document }])
      })
    )
  })
  const every = Math.ceil(questions.length / most)
  return { documents: [...documents.keys()], questions: questions.filter((_, at) => at % every === 0) }
}

const paragraphs = (files: ReadonlyArray<string>, characters: number): Made => {
  const documents = files.flatMap((file) =>
    DomUtils.getElementsByTagName("p", parseDocument(readFileSync(file, "utf8")))
      .map((paragraph) => DomUtils.textContent(paragraph).replace(/\s+/g, " ").trim())
      .filter((text) => text.length > 60)
  )
  const questions = documents.flatMap((text, document) =>
    [0, 1, 2].flatMap((third) => {
      const place = Math.floor((text.length * third) / 3)
      const blank = text.indexOf(" ", place)
      const from = blank >= 0 && blank - place < 25 ? blank + 1 : place
      const excerpt = text.slice(from, from + characters).trim()
      // A short rest at a paragraph's end may occur in other paragraphs too.
      return excerpt.length < characters * 0.7 ? [] : [{ text: excerpt, document }]
    })
  )
  return { documents, questions }
}

const numbered = (files: ReadonlyArray<string>, most: number): Made => {
  const read = files.map((file) => ({ name: basename(file), text: readFileSync(file, "utf8") }))
  const { having, headings } = headingsIn(read.map(({ text }) => text))
  const questions = read.flatMap(({ name }, document) => {
    const number = numberedName(name)
    const shared = [...headings[document]!].filter((title) => (having.get(title) ?? 0) > 1)
    const title = shared[document % shared.length]
    return number === undefined || title === undefined ? [] : [{ text: `${title} of ${number}`, document }]
  })
  const every = Math.ceil(questions.length / most)
  return {
    names: read.map(({ name }) => name),
    documents: read.map(({ text }) => text),
    questions: questions.filter((_, at) => at % every === 0)
  }
}

const sections = (files: ReadonlyArray<string>, most: number): Made => {
  const documents = files.map((file) => readFileSync(file, "utf8"))
  const { having, headings } = headingsIn(documents.map((text) => text.replace(/^```[\s\S]*?^```/gm, "")))
  const questions = headings.flatMap((own, document) =>
    [...own].filter((title) => having.get(title) === 1 && title.split(/\s+/).length <= 4 && /\p{L}{3}/u.test(title))
      .map((title) => title.replace(/[`*_[\]]|\(.*?\)|\s#+$/g, "").trim())
      .map((title, at) => ({
        text: at % 2 === 0 || /^(?:how|what|when|where|why|who)\b/i.test(title) ? title : `What is ${title}?`,
        document
      }))
  )
  const every = Math.ceil(questions.length / most)
  return {
    names: files.map((file, at) => `${at}-${basename(file)}`),
    documents,
    questions: questions.filter((_, at) => at % every === 0)
  }
}

/** The headings of each text, and how many texts have each. */
const headingsIn = (texts: ReadonlyArray<string>) => {
  const headings = texts.map((text) => new Set([...text.matchAll(heading)].map(({ 0: line, 1: title = line }) => title.trim())))
  const having = new Map<string, number>()
  for (const title of headings.flatMap((own) => [...own])) having.set(title, (having.get(title) ?? 0) + 1)
  return { having, headings }
}

/** A heading of Markdown, or of reStructuredText, where headings are underlined. */
const heading = /(?<=^#{1,6} ).+$|^(\S.*)(?=\n[=~"'^*+#-]{4,}$)/gm

const manual = (files: ReadonlyArray<string>, most: number): Made => {
  const read = new Map<string, string>()
  for (const file of files) {
    const sections = withoutRequests(gunzipSync(readFileSync(file)).toString()).split(/^\.S[Hh] */m).slice(1)
    const [, about] = /\s[-–—]{1,2}\s+(.+)/s.exec(sections[0] ?? "") ?? []
    const question = about?.replace(/\s+/g, " ").trim() ?? ""
    const text = sections.slice(1).map((section) => `## ${section.trim()}`).join("\n\n")
    if (question.length >= 12 && question.length < 300 && text.length >= 300 && !read.has(question)) read.set(question, text)
  }
  const questions = [...read.keys()].flatMap((text, document) => english.test(text) ? [] : [{ text, document }])
  const every = Math.ceil(questions.length / most)
  return { documents: [...read.values()], questions: questions.filter((_, at) => at % every === 0) }
}

const english = /\b(?:the|and|or|of|to|for|with|file|files)\b/

/** The text of a manual page: without escapes, and without formatting requests except for the text that they print. */
const withoutRequests = (page: string): string =>
  page
    .replace(/^[.'](?:\\"|TH|Dd|Dt|Os|PP|P|LP|TP|Pp|sp|br|RS|RE|nf|fi|ie|el|if|ad|ds|de|so|ft|in|ti|ta|\.).*$/gm, "")
    .replace(/^[.']\s*(?!S[Hh]\b)[A-Za-z]{1,3} (.*)$/gm, (_, words: string) => words.replaceAll("\"", ""))
    .replace(/\\\[u([0-9A-F]{4,5})\]/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll("\\-", "-")
    .replace(/\\(?:f(?:\[[^\]]*\]|\(..|.)|s[-+]?\d|\*?\(..|\*?\[[^\]]*\]|[,/&|^%c:])/g, "")
    .replace(/\\[ ~]/g, " ")

const kinds = { squad, paragraphs, numbered, sections, manual }
const isKind = (kind = ""): kind is keyof typeof kinds => Object.hasOwn(kinds, kind)

const { positionals: [kind, folder, ...files], values } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: "string", default: "400" }, characters: { type: "string", default: "28" } }
})

if (folder === undefined || files.length === 0 || !isKind(kind)) {
  process.stderr.write(
    "usage: node bench/collections.ts squad|paragraphs|numbered|sections|manual FOLDER/NAME FILE… [--queries N] [--characters N]\n"
  )
  process.exitCode = 4
} else {
  const { documents, names, questions } = kinds[kind](files, kind === "paragraphs" ? Number(values.characters) : Number(values.queries))
  const idOf = (document: number) => names?.[document] ?? String(document)
  const jsonl = (texts: ReadonlyArray<string>, idOf: (at: number) => string) =>
    texts.map((text, at) => `${JSON.stringify({ _id: idOf(at), title: "", text })}\n`).join("")
  const question = (at: number) => String(at + 1).padStart(6, "0")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "corpus.jsonl"), jsonl(documents, idOf))
  writeFileSync(join(folder, "queries.jsonl"), jsonl(questions.map(({ text }) => text), question))
  const judgements = questions.map(({ document }, at) => `${question(at)}\t${idOf(document)}\t1\n`).join("")
  writeFileSync(join(folder, "qrels.tsv"), `query-id\tcorpus-id\tscore\n${judgements}`)
  process.stdout.write(`${documents.length} documents, ${questions.length} questions\n`)
}
