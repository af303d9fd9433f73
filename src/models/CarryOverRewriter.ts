import { Effect } from "effect"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { isFollowUp } from "./rewrite/FollowUp.ts"

/**
 * Needs no model: a question that points back is put after the last one that did not, so that what both name is
 * searched. "And in Japan?" becomes "How many days of leave carry over? And in Japan?".
 */
export const make = (): QueryRewriter["Service"] =>
  QueryRewriter.of({
    rewrite: (question, history) => {
      const subject = history.findLast(({ question }) => !isFollowUp(question)) ?? history[0]
      return Effect.succeed(subject === undefined || !isFollowUp(question) ? question : `${subject.question} ${question}`)
    }
  })
