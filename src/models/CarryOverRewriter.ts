import { Effect } from "effect"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { isFollowUp } from "./rewrite/FollowUp.ts"

/**
 * Needs no model: a question that points back is put after the last one that did not, so that what both name is
 * searched. "And in Japan?" becomes "How many days of leave carry over? And in Japan?". Any other question is searched with
 * the last one before it, and answered by itself.
 */
export const make = (): QueryRewriter["Service"] =>
  QueryRewriter.of({
    rewrite: (question, history) => {
      const subject = history.findLast(({ question }) => !isFollowUp(question)) ?? history[0]
      return Effect.succeed(subject === undefined || !isFollowUp(question) ? question : `${subject.question} ${question}`)
    },
    // Questions of a conversation are about one thing more often than their words tell.
    searched: (rewritten, history) => {
      const last = history.at(-1)?.question
      return last === undefined || rewritten.includes(last) ? rewritten : `${last} ${rewritten}`
    }
  })
