/**
 * Measures the extractive generator: `node bench/answers.ts FOLDER [QUESTIONS] [TOP_K]`, FOLDER being a retrieval
 * collection (see `collection.ts`). Every question is asked three times: of the whole corpus, of the corpus without the
 * documents judged relevant (a hard case: their neighbours stay), and of the corpus without anything of the same title
 * (the subject is gone). Right is an answer to the first and none to the others. `SHOW=1` prints the answers.
 */
import type { Context } from "../src/domain/Retrieval.ts"
import { answerExtractively } from "../src/models/extractive/Answer.ts"
import { normalize } from "../src/models/extractive/Words.ts"
import { loadCollection } from "./collection.ts"

const [folder, count = "300", topK = "8"] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write("usage: node bench/answers.ts FOLDER [QUESTIONS] [TOP_K]\n")
  process.exit(4)
}
const { docs, queries, search } = loadCollection(folder, Number(count))
const ask = (question: string, contexts: ReadonlyArray<Context>) => answerExtractively({ question, contexts }, "extractive")

let [answered, held, judged, found, hard, gone, sentences, milliseconds] = [0, 0, 0, 0, 0, 0, 0, 0]
for (const { text, answers, gains } of queries) {
  const titles = new Set(docs.filter((doc) => gains.has(doc.id)).map((doc) => doc.title))
  const contexts = search(text, Number(topK))
  if (contexts.some((context) => gains.has(context.chunkId))) found++
  const before = performance.now()
  const answer = ask(text, contexts)
  milliseconds += performance.now() - before
  if (answer.grounded) {
    answered++
    sentences += answer.supports.length
    if (answers !== undefined) {
      judged++
      const said = normalize(answer.text)
      if (answers.some((expected) => said.includes(normalize(expected)))) held++
    }
  }
  if (process.env["SHOW"] !== undefined) process.stdout.write(`${text}\n  expected: ${answers?.join(" | ") ?? "?"}\n${answer.text}\n\n`)
  if (ask(text, search(text, Number(topK), (doc) => !gains.has(doc.id))).grounded) hard++
  if (ask(text, search(text, Number(topK), (doc) => !titles.has(doc.title))).grounded) gone++
}
const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)}%`)
const n = queries.length
process.stdout.write([
  `questions                            ${n}, a relevant document among the ${topK} contexts ${percent(found, n)}`,
  `answered                             ${percent(answered, n)} (false refusals ${percent(n - answered, n)})`,
  `answers that hold the expected words ${percent(held, judged)} of ${judged}`,
  `answered without relevant documents  ${percent(hard, n)}`,
  `answered without the subject         ${percent(gone, n)}`,
  `sentences an answer ${(sentences / Math.max(1, answered)).toFixed(2)}, ${(milliseconds / n).toFixed(1)} ms a question`,
  ""
].join("\n"))
