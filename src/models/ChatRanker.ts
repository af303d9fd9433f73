import { Effect, Stream } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { type Context, rankedBy } from "../domain/Retrieval.ts"
import { withoutThoughts } from "../domain/Text.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Ranker } from "../ports/Ranker.ts"
import { gradedPassage, gradePrompt } from "./Prompts.ts"

/** Most UTF-16 units of all passages in one call; more go in further calls. */
const passagesAtOnce = 60_000
/** Most UTF-16 units of an answer that are read. */
const longestAnswer = 20_000

/**
 * Lets a chat model grade every context separately, 0 to 10, and orders them by grade. Ties, and contexts that it left out, keep their
 * order. `score` becomes the grade as 0..1, so that grades of several searches are comparable. An answer without any grade is an error,
 * since it contains no order.
 */
export const make = (chat: ChatModel["Service"]): Ranker["Service"] => {
  const graded = Effect.fnUntraced(function*(query: string, contexts: ReadonlyArray<Context>) {
    let room = longestAnswer
    const answer = yield* chat.stream(gradePrompt(query, contexts)).pipe(
      Stream.map((event) => (event.type === "text" ? event.text : "")),
      Stream.takeUntil((piece) => (room -= piece.length) < 0),
      Stream.mkString
    )
    const grades = gradesIn(answer, contexts.length)
    if (grades.size === 0) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${chat.model} graded none of the ${contexts.length} contexts that it was to rank`,
        fix: "rank with another model, or leave ranking out"
      })
    }
    return contexts.map((_, at) => grades.get(at + 1))
  })

  return Ranker.of({
    rank: Effect.fn("ChatRanker.rank")(function*(query: string, contexts: ReadonlyArray<Context>) {
      if (contexts.length < 2) return contexts
      const grades = (yield* Effect.forEach(calls(contexts), (some) => graded(query, some))).flat()
      return rankedBy(contexts, grades.map((grade) => (grade ?? 0) / 10))
    })
  })
}

/** The contexts in their order, split into as many calls as their length requires. */
const calls = (contexts: ReadonlyArray<Context>): ReadonlyArray<ReadonlyArray<Context>> => {
  const all: Array<Array<Context>> = []
  let room = 0
  for (const context of contexts) {
    const length = gradedPassage(context).length
    if (length > room) {
      all.push([])
      room = passagesAtOnce
    }
    room -= length
    all.at(-1)?.push(context)
  }
  return all
}

/** Grades by a passage's number. Grades that are out of bounds are left out, and of several the first counts. */
const gradesIn = (answer: string, passages: number): ReadonlyMap<number, number> => {
  const grades = new Map<number, number>()
  // A model that reasons aloud writes lines of numbers there too.
  for (const line of withoutThoughts(answer).split("\n")) {
    const [, number = "", grade = ""] = /^\W*(?:passage\s+)?(\d{1,4})\W+(\d{1,2}(?:\.\d+)?)(?:\s*\/\s*10)?\W*$/i.exec(line) ?? []
    const at = Number(number)
    if (grade !== "" && at >= 1 && at <= passages && Number(grade) <= 10 && !grades.has(at)) grades.set(at, Number(grade))
  }
  return grades
}
