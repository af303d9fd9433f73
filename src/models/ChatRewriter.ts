import { Effect, Stream } from "effect"
import type { Exchange } from "../domain/Answer.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { rewritePrompt } from "./Prompts.ts"

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
    })
  })
