import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"

export const Asked = Schema.Struct({
  corpus: Schema.String,
  /** What the question's form asks for, or how far off the corpus's subject it is. */
  kind: Schema.String,
  question: Schema.String,
  /** Where the answer is; absent where the corpus has none. */
  file: Schema.optionalKey(Schema.String),
  /** Spans of it, any of which answers. */
  gold: Schema.optionalKey(Schema.Array(Schema.String)),
  half: Schema.Literals(["tuning", "test"])
})
export type Asked = typeof Asked.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Asked))

export const questions: ReadonlyArray<Asked> = readFileSync(join(import.meta.dirname, "questions.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => decode(line))

/** A text without white space and the marks that a format may add or take away. */
export const plain = (text: string): string => text.replace(/[\s`*]+/g, "").toLowerCase()
