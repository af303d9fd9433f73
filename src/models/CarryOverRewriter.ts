import { Effect } from "effect"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { completed } from "./rewrite/Complete.ts"
import { isFollowUp } from "./rewrite/FollowUp.ts"

/**
 * Rewrites follow-up questions without a model. One that names what differs takes its place in the question before: "How long is probation
 * in Sweden?" and "And in Japan?" become "How long is probation in Japan?". Any other that refers back is put after that question, so that
 * a search covers the words of both. A question that stands alone is searched together with the one before it, but answered on its own.
 */
export const make = (): QueryRewriter["Service"] =>
  QueryRewriter.of({
    rewrite: (question, history) => {
      const subject = history.reduce<string | undefined>(
        (subject, { question }) => subject === undefined || !isFollowUp(question) ? question : completed(subject, question) ?? subject,
        undefined
      )
      if (subject === undefined || !isFollowUp(question)) return Effect.succeed(question)
      return Effect.succeed(completed(subject, question) ?? `${subject} ${question}`)
    },
    // The questions of a conversation share a subject more often than their words show.
    searched: (rewritten, history) => {
      const last = history.at(-1)?.question
      return last === undefined || rewritten.includes(last) ? rewritten : `${last} ${rewritten}`
    }
  })
