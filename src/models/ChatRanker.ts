import { Effect, Stream } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { type Context, rankedBy } from "../domain/Retrieval.ts"
import { withoutThoughts } from "../domain/Text.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Ranker } from "../ports/Ranker.ts"
import { gradedPassage, gradePrompt } from "./Prompts.ts"

/** UTF-16 units of all passages of one call; more are put to it in further calls. */
const passagesAtOnce = 60_000
/** UTF-16 units of an answer that are read. */
const longestAnswer = 20_000

/**
 * Lets a model grade every context on its own, 0 to 10, and orders by the grades. Ties, and contexts that it left out,
 * keep the order they came in. `score` becomes the grade as 0..1, so that grades of several searches compare. An answer
 * without any grade is an error: the order asked for is not there.
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
        message: `${chat.model} was to rank ${contexts.length} contexts, and graded none of them`,
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

/** The contexts in their order, in as many calls as their length takes. */
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

/** Grades by a passage's number; what is out of bounds is left out, and of several the first counts. */
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
