/**
 * How well a conversation without a model answers what refers back: `node bench/conversations.ts [--show]`.
 *
 * Each line of `answers/conversations.jsonl` is two questions to a corpus of this repository, the second of which is understood only
 * after the first, and the span that answers it. The handbook's were read when the rules were written
 * (`src/models/rewrite`), the toolshed's were written afterwards. Right: a citation's quote holds the span. First: the first one does.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Schema } from "effect"
import { local } from "../connectors/index.ts"
import type { Answer } from "../src/domain/Answer.ts"
import { compose, Embedded, generate, open, Pipeline, retrieve } from "../src/Promise.ts"
import { plain } from "./answers/Questions.ts"

const { values: { show } } = parseArgs({ options: { show: { type: "boolean", default: false } } })

const folders = { handbook: "../examples/handbook", toolshed: "answers/toolshed" } as const
const Conversation = Schema.fromJsonString(Schema.Struct({
  corpus: Schema.Literals(["handbook", "toolshed"]),
  first: Schema.String,
  next: Schema.String,
  gold: Schema.String
}))
const conversations = readFileSync(join(import.meta.dirname, "answers/conversations.jsonl"), "utf8").trimEnd().split("\n")
  .map((line) => Schema.decodeUnknownSync(Conversation)(line))

const work = mkdtempSync(join(tmpdir(), "sluice-conversations-"))
try {
  for (const [corpus, folder] of Object.entries(folders)) {
    const pipeline = Pipeline.make(corpus, {
      corpus: { displayName: corpus },
      sources: { docs: local(join(import.meta.dirname, folder)) },
      chunking: { strategy: "structure", size: 400, overlap: 0 },
      stages: compose(retrieve({ topK: 20 }), generate())
    })
    await using app = await open(pipeline, Embedded.layer({ dataDir: join(work, corpus) }))
    await app.run()
    const ask = async (question: string, before: ReadonlyArray<string>): Promise<Answer> => {
      const history = before.map((question) => ({ question, standalone: question, answer: "" }))
      for await (const part of app.chat({ question, history })) if (part._tag === "done") return part.answer
      throw new Error(`no answer to ${question}`)
    }
    const asked = conversations.filter((each) => each.corpus === corpus)
    let right = 0
    let firstRight = 0
    for (const { first, gold, next } of asked) {
      const { citations } = await ask(next, [first])
      const place = citations.findIndex(({ quote }) => plain(quote).includes(plain(gold)))
      if (place !== -1) right++
      if (place === 0) firstRight++
      if (show && place !== 0) console.log(`${place === -1 ? (citations.length === 0 ? "refused" : "wrong") : "later"}: ${first} ${next}`)
    }
    const percent = (part: number): string => `${(100 * part / asked.length).toFixed(1)}%`
    console.log(`${corpus}: ${asked.length} follow-ups, right ${percent(right)}, first citation right ${percent(firstRight)}`)
  }
} finally {
  rmSync(work, { recursive: true })
}
