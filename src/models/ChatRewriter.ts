import { Effect, Stream } from "effect"
import type { Exchange } from "../domain/Answer.ts"
import { withoutThoughts } from "../domain/Text.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { queriesPrompt, rewritePrompt } from "./Prompts.ts"

/** Most UTF-16 units of a rewritten question; a model that writes more has not rewritten it. */
const longestQuestion = 1_000

/** Lets a chat model rewrite questions. The first one of a conversation is used as it is, at no cost. */
export const make = (chat: ChatModel["Service"]): QueryRewriter["Service"] =>
  QueryRewriter.of({
    rewrite: Effect.fn("QueryRewriter.rewrite")(function*(question: string, history: ReadonlyArray<Exchange>) {
      if (history.length === 0) return question
      const written = yield* chat.stream(rewritePrompt(question, history)).pipe(
        Stream.map((event) => (event.type === "text" ? event.text : "")),
        Stream.mkString
      )
      const line = written.trim().split(/\s*\n\s*/)[0] ?? ""
      return line === "" || line.length > longestQuestion ? question : line
    }),
    queries: Effect.fn("QueryRewriter.queries")(function*(question: string, count: number) {
      const written = yield* chat.stream(queriesPrompt(question, count)).pipe(
        Stream.map((event) => (event.type === "text" ? event.text : "")),
        Stream.mkString
      )
      // Models number lists whatever they are told.
      const lines = withoutThoughts(written).split("\n").map((line) => line.replace(/^\s*(?:[-*•]|\d{1,2}[.):])\s+/, "").trim())
      return lines.filter((line) => line !== "" && line.length <= longestQuestion).slice(0, count)
    })
  })
