import { Effect, Stream } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import { withoutThoughts } from "../domain/Text.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Judge, type JudgeRequest } from "../ports/Judge.ts"
import { judgePrompt } from "./Prompts.ts"

/** Most UTF-16 units of a verdict that are read, thoughts included. */
const longestVerdict = 20_000

/** Lets a chat model judge answers, each in a separate call at temperature 0. */
export const make = (chat: ChatModel["Service"]): Judge["Service"] =>
  Judge.of({
    model: chat.model,
    judge: Effect.fn("ChatJudge.judge")(function*(request: JudgeRequest) {
      let room = longestVerdict
      let usage: ChatUsage | undefined
      const said = yield* chat.stream(judgePrompt(request)).pipe(
        Stream.map((event) => {
          if (event.type === "usage") usage = event.usage
          return event.type === "text" ? event.text : ""
        }),
        Stream.takeUntil((piece) => (room -= piece.length) < 0),
        Stream.mkString
      )
      return { right: verdictIn(said), usage }
    })
  })

/**
 * The verdict in a model's reply: its first or last line, where that is only the word. Words inside a sentence do not count ("It would be
 * wrong to say …"), nor do two lines that contradict each other.
 */
const verdictIn = (said: string): boolean | undefined => {
  // A model that reasons aloud weighs both words there.
  const lines = withoutThoughts(said).split("\n").filter((line) => line.trim() !== "")
  const words = [lines.at(0), lines.at(-1)].flatMap((line = "") =>
    /^\W*(?:verdict\W+)?(right|wrong)\W*$/i.exec(line)?.[1]?.toLowerCase() ?? []
  )
  return new Set(words).size === 1 ? words[0] === "right" : undefined
}
