import { Effect } from "effect"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { isFollowUp } from "./rewrite/FollowUp.ts"

/**
 * Rewrites follow-up questions without a model: one that refers back is appended to the last one that did not, so that a search covers the
 * words of both. "And in Japan?" becomes "How many days of leave carry over? And in Japan?". Any other question is searched together with
 * the last one before it, but answered on its own.
 */
export const make = (): QueryRewriter["Service"] =>
  QueryRewriter.of({
    rewrite: (question, history) => {
      const subject = history.findLast(({ question }) => !isFollowUp(question)) ?? history[0]
      return Effect.succeed(subject === undefined || !isFollowUp(question) ? question : `${subject.question} ${question}`)
    },
    // The questions of a conversation share a subject more often than their words show.
    searched: (rewritten, history) => {
      const last = history.at(-1)?.question
      return last === undefined || rewritten.includes(last) ? rewritten : `${last} ${rewritten}`
    }
  })
