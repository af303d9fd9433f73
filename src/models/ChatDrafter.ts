import { Effect, Stream } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import { withoutThoughts } from "../domain/Text.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Drafter, type Passage } from "../ports/Drafter.ts"
import { draftPrompt } from "./Prompts.ts"

/** Most UTF-16 units of a model's reply that are read, thoughts included. */
const longestReply = 20_000

/** Lets a chat model draft questions, one passage per call. */
export const make = (chat: ChatModel["Service"]): Drafter["Service"] =>
  Drafter.of({
    model: chat.model,
    draft: Effect.fn("ChatDrafter.draft")(function*(passage: Passage, count: number) {
      let room = longestReply
      let usage: ChatUsage | undefined
      const said = yield* chat.stream(draftPrompt(passage, count)).pipe(
        Stream.map((event) => {
          if (event.type === "usage") usage = event.usage
          return event.type === "text" ? event.text : ""
        }),
        Stream.takeUntil((piece) => (room -= piece.length) < 0),
        Stream.mkString
      )
      return { drafts: draftsIn(said).slice(0, count), usage }
    })
  })

/**
 * The questions of a reply, each with the sentence under it. A question without a sentence, and a sentence without a question, are left
 * out.
 */
const draftsIn = (said: string): ReadonlyArray<{ readonly question: string; readonly span: string }> => {
  const drafts: Array<{ readonly question: string; readonly span: string }> = []
  let question: string | undefined
  for (const line of withoutThoughts(said).split("\n")) {
    // Models number lines and set them in bold whatever the instruction.
    const [, kind, text = ""] = /^[\s\d.)*_#-]*([QA])[*_]*\s*[:.][*_\s]*(.*)$/.exec(line) ?? []
    const words = unquoted(text)
    if (kind === "Q") question = words
    else if (kind === "A" && question !== undefined) {
      if (question !== "" && words !== "") drafts.push({ question, span: words })
      question = undefined
    }
  }
  return drafts
}

/** A text without bold face and quotation marks around the whole. */
const unquoted = (text: string): string => text.trim().replace(/(?:\*\*|__)$/, "").replace(/^(["“'`«])(.*)(["”'`»])$/, "$2").trim()
