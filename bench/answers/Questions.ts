import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"

export const Asked = Schema.Struct({
  corpus: Schema.String,
  /** What the question's form asks for, or how far off the corpus's subject it is. */
  kind: Schema.String,
  question: Schema.String,
  /** Where the answer is; absent where the corpus has none. */
  file: Schema.optional(Schema.String),
  /** Spans of it, any of which answers. */
  gold: Schema.optional(Schema.Array(Schema.String)),
  /** Other files that say the same, and where. */
  also: Schema.optional(Schema.Array(Schema.Struct({ file: Schema.String, gold: Schema.String }))),
  half: Schema.Literals(["tuning", "test"])
})
export type Asked = typeof Asked.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Asked))

const read = (file: string): ReadonlyArray<Asked> =>
  readFileSync(join(import.meta.dirname, file), "utf8").split("\n").filter((line) => line !== "").map((line) => decode(line))

export const questions = read("questions.jsonl")

export const blindSets = ["earlier", "everyday", "later", "latest", "library", "newest", "near", "toolshed", "typed"] as const

/** Of files that no other question is about, answered once, after all else was settled: read by no one who tunes. */
export const blindQuestions = (set: (typeof blindSets)[number]): ReadonlyArray<Asked> => read(`blind-${set}.jsonl`)

/** Of files that no other question is about, to learn from. */
export const trainingQuestions = read("training.jsonl")

/** Questions of general knowledge, which no corpus about something else answers. */
export const strangers: ReadonlyArray<string> = readFileSync(join(import.meta.dirname, "strangers.txt"), "utf8").split("\n").filter((
  line
) => line !== "")

/** A text without white space and the marks that a format may add or take away. */
export const plain = (text: string): string => text.replace(/[\s`*]+/g, "").toLowerCase()

/** Whether a quote of a file holds a span that answers. */
export const isOf = (
  { also = [], file, gold }: Asked,
  { quote, sourceDisplayName }: { readonly quote: string; readonly sourceDisplayName: string }
): boolean => {
  const said = plain(quote)
  return gold !== undefined && ((sourceDisplayName === file && gold.some((span) => said.includes(plain(span)))) ||
    also.some((other) => other.file === sourceDisplayName && said.includes(plain(other.gold))))
}

const Query = Schema.fromJsonString(Schema.Struct({
  _id: Schema.String,
  text: Schema.String,
  metadata: Schema.optional(Schema.Struct({ answers: Schema.optional(Schema.Array(Schema.String)) }))
}))
const Passage = Schema.fromJsonString(Schema.Struct({ _id: Schema.String, title: Schema.optional(Schema.String) }))

const SpanQuery = Schema.fromJsonString(Schema.Struct({
  text: Schema.String,
  corpus: Schema.String,
  references: Schema.Array(Schema.Struct({ content: Schema.String }))
}))

const perLanguage = 120

/** More questions of files of the tuning half, to learn from: those that come with their answers. */
export const moreQuestions = (data: string): ReadonlyArray<Asked> => {
  const known = new Set(questions.map(({ question }) => question))
  const spans = readFileSync(join(data, "qa/chunk-spans/questions.jsonl"), "utf8").split("\n").filter((line) => line !== "").map((line) =>
    Schema.decodeUnknownSync(SpanQuery)(line)
  ).flatMap(({ corpus, references, text }): ReadonlyArray<Asked> => {
    const file = `${corpus}.md`
    return halfOf(file) === "tuning" && !known.has(text)
      ? [{ corpus: "texts", kind: "more", question: text, file, gold: references.map(({ content }) => content), half: "tuning" }]
      : []
  })
  return [
    ...spans,
    ...["xquad-en", "xquad-de", "xquad-zh"].flatMap((corpus) => {
      const lines = (file: string): ReadonlyArray<string> =>
        readFileSync(join(data, "ir", corpus, file), "utf8").split("\n").filter((line) => line !== "")
      const titles = new Map(
        lines("corpus.jsonl").map((line) => Schema.decodeUnknownSync(Passage)(line)).map(({ _id, title = "" }) => [_id, title])
      )
      const judged = new Map(
        lines("qrels.tsv").slice(1).map((line) => line.split("\t")).map(([query = "", passage = ""]) => [query, passage])
      )
      const all = lines("queries.jsonl").map((line) => Schema.decodeUnknownSync(Query)(line)).flatMap(
        ({ _id, metadata, text }): ReadonlyArray<Asked> => {
          const file = fileOf(titles.get(judged.get(_id) ?? "") ?? "")
          const half = halfOf(file)
          return half === "tuning" && !known.has(text) && metadata?.answers !== undefined
            ? [{ corpus, kind: "more", question: text, file, gold: metadata.answers, half }]
            : []
        }
      )
      const every = Math.max(1, Math.floor(all.length / perLanguage))
      return all.filter((_, at) => at % every === 0)
    })
  ]
}

/** The file that an article of a collection is written to. */
export const fileOf = (title: string): string => `${title.replace(/[^\w.-]+/g, "_")}.md`

/** A file is of one half or the other. */
const halfOf = (
  file: string
): Asked["half"] => (Number.parseInt(createHash("sha1").update(file).digest("hex").slice(-1), 16) % 2 === 1 ? "test" : "tuning")
