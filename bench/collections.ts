/**
 * Makes collections for the bench of quality, in BEIR's layout, of what is published in other forms:
 *
 *     node bench/collections.ts squad FOLDER/NAME FILE… [--queries N]
 *     node bench/collections.ts paragraphs FOLDER/NAME FILE… [--characters 28]
 *
 * `squad`: files as SQuAD has them (XQuAD, JaQuAD, DRCD, CMRC, KorQuAD, PersianQA). Each paragraph is a document, found by
 * each question that it answers; at most --queries of them, spread over the files.
 *
 * `paragraphs`: pages in HTML. Each paragraph of more than 60 characters is a document, found by what stands near its beginning,
 * after a third and after two thirds of it, so many characters each, from a blank on where one is near.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { parseDocument, DomUtils } from "htmlparser2"

interface Made {
  readonly documents: ReadonlyArray<string>
  /** Each with the document that it finds. */
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
      // What is left at a paragraph's end may be in others too.
      return excerpt.length < characters * 0.7 ? [] : [{ text: excerpt, document }]
    })
  )
  return { documents, questions }
}

const { positionals: [kind, folder, ...files], values } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: "string", default: "400" }, characters: { type: "string", default: "28" } }
})

if (folder === undefined || files.length === 0 || (kind !== "squad" && kind !== "paragraphs")) {
  process.stderr.write("usage: node bench/collections.ts squad|paragraphs FOLDER/NAME FILE… [--queries N] [--characters N]\n")
  process.exitCode = 4
} else {
  const { documents, questions } = kind === "squad" ? squad(files, Number(values.queries)) : paragraphs(files, Number(values.characters))
  const jsonl = (texts: ReadonlyArray<string>, idOf: (at: number) => string) =>
    texts.map((text, at) => `${JSON.stringify({ _id: idOf(at), title: "", text })}\n`).join("")
  const question = (at: number) => String(at + 1).padStart(6, "0")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "corpus.jsonl"), jsonl(documents, String))
  writeFileSync(join(folder, "queries.jsonl"), jsonl(questions.map(({ text }) => text), question))
  const judgements = questions.map(({ document }, at) => `${question(at)}\t${document}\t1\n`).join("")
  writeFileSync(join(folder, "qrels.tsv"), `query-id\tcorpus-id\tscore\n${judgements}`)
  process.stdout.write(`${documents.length} documents, ${questions.length} questions\n`)
}
