import { Effect, Stream } from "effect"
import type { JsonRecord } from "../../domain/Chat.ts"
import type { Asker } from "../../domain/Asker.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { parseExactly } from "../../domain/Json.ts"
import { askerBroken } from "../../domain/rag/RagRules.ts"
import { RowProblems } from "../../text/rows/CheckRows.ts"
import { lineGroups } from "../../text/rows/ReadRows.ts"
import { Spill } from "../../text/rows/Spill.ts"
import type { Question } from "../stages/Retrieve.ts"

/** One question of a file, identified by its id. */
export interface BatchQuestion extends Question {
  readonly customId: string
  /** The other fields of its line, where it comes from a file; they are passed on to the answer. */
  readonly carried?: JsonRecord
}

/** Keys reserved for the answer. */
const taken = new Set(["answer", "grounded", "citations", "model", "usage", "error"])

/**
 * Questions of a file, in its order: JSON lines with `question` and, optionally, `custom_id` (default: the line's number)
 * and `principal` (one or a list); or, as `text`, a question per line. Fails with every mistake, each at its line.
 */
export const readQuestions = (
  place: string,
  bytes: Stream.Stream<Uint8Array, ServiceError>,
  form: "json" | "text"
): Stream.Stream<BatchQuestion, ServiceError> =>
  Stream.suspend(() => {
    const problems = new RowProblems()
    const seen = new Spill()
    return lineGroups(bytes).pipe(
      Stream.mapEffect((lines) => {
        const questions: Array<BatchQuestion> = []
        for (const line of lines) {
          const at = `${place}:${line.number}`
          const read = "problem" in line
            ? `the line is ${line.problem === "long" ? "too long" : "not UTF-8"}`
            : form === "text"
            ? { question: line.text.trim(), customId: String(line.number), carried: {} }
            : questionOf(line.text, line.number)
          if (typeof read === "string") problems.addAll({ place: at, problems: [{ path: "", rule: read }] }, line.number)
          else {
            const first = seen.add(read.customId, at)
            if (first === undefined) questions.push(read)
            else problems.addRepeated(at, first, line.number)
          }
        }
        // After a mistake the rest is only read to find more mistakes.
        return problems.full ? problems.error() : Effect.succeed(problems.any ? [] : questions)
      }),
      Stream.flattenIterable,
      Stream.concat(Stream.suspend(() => problems.any ? Stream.fail(problems.error()) : Stream.empty)),
      Stream.onExit(() => Effect.sync(() => seen.close()))
    )
  })

/** Parses a line; a returned string says what is wrong with it. */
const questionOf = (line: string, number: number): BatchQuestion | string => {
  let value: unknown
  try {
    value = parseExactly(line)
  } catch {
    return "the line is not JSON"
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be a JSON object with a question"
  const { custom_id: customId = String(number), principal, question, ...carried } = value as JsonRecord // an object is one
  if (typeof question !== "string" || question.trim() === "") return "question: must be a text, and not empty"
  if (typeof customId !== "string" || customId === "") return "custom_id: must be a string, and not empty"
  const [flaw] = askerBroken("principal", principal)
  if (flaw !== undefined) return `${flaw.field}: ${flaw.description}`
  const clash = Object.keys(carried).find((key) => taken.has(key))
  if (clash !== undefined) return `${clash}: is reserved for the answer`
  return { question, customId, carried, principal: principal as Asker | undefined } // checked above
}
