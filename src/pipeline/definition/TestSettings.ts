import { Schema } from "effect"
import { askerName } from "../../domain/Asker.ts"
import { textForm } from "../../domain/rag/Forms.ts"
import { atLeastOne, matches, positive, rule, text, withDefault } from "../../domain/settings/Rules.ts"

const texts = (description: string) => Schema.optionalKey(Schema.Array(text).annotate({ description }))

const isPattern = (source: string): boolean => {
  try {
    return new RegExp(source, "u").source !== ""
  } catch {
    return false
  }
}

const ExpectedFile = Schema.Struct({
  path: text.annotate({ description: "The file, by its path in its source or by its address." }),
  rank: Schema.optionalKey(positive.annotate({ description: "The worst rank it may have among the files found. Default: any." }))
})

const ExpectedAnswer = Schema.Struct({
  contains: texts("Texts that it must contain, in upper or lower case."),
  matches: Schema.optionalKey(
    Schema.String.check(
      matches(/\S/, textForm),
      rule<string>(isPattern, { rule: "must be a regular expression", fix: "try it in a JavaScript console: new RegExp(text, \"u\")" })
    ).annotate({ description: "A regular expression that it must match, ignoring case." })
  ),
  means: Schema.optionalKey(text.annotate({
    description:
      "The right answer, in any words: the pipeline's judge compares the answer with it. Where contains or matches are given too, those decide."
  }))
}).check(atLeastOne(["contains", "matches", "means"]))

const expectations = ["files", "contexts", "answer", "cites", "refused"]

/** One question, and the expected result. */
export const EvaluationTest = Schema.Struct({
  question: text.annotate({ description: "The question." }),
  id: Schema.optionalKey(text.annotate({ description: "Identifies the test when two evaluations are compared. Default: the question." })),
  principal: Schema.optionalKey(
    Schema.Union([text, Schema.Array(text)]).annotate({
      description:
        "Who asks; only files that this principal, or any of a list of them, may read are found. Default: the owner, who may read all."
    })
  ),
  files: Schema.optionalKey(Schema.Array(Schema.Union([text, ExpectedFile])).annotate({ description: "Files that must be found." })),
  contexts: texts("Texts that must be in a context, exactly except for white space."),
  answer: Schema.optionalKey(ExpectedAnswer.annotate({ description: "What the answer must say." })),
  cites: texts("Files that the answer must cite."),
  refused: Schema.optionalKey(Schema.Boolean.annotate({ description: "true: the corpus does not answer it, and the answer must say so." }))
}).check(
  atLeastOne(expectations),
  rule<{ readonly refused?: boolean; readonly answer?: unknown; readonly cites?: unknown }>(
    ({ answer, cites, refused }) => refused !== true || (answer === undefined && cites === undefined),
    { rule: "a refusal has no answer and no citations", fix: "leave answer and cites out, or refused" }
  )
)
export interface EvaluationTest extends Schema.Schema.Type<typeof EvaluationTest> {}

/** A list of tests, as in a file. */
export const EvaluationTests = Schema.Array(EvaluationTest).check(
  rule<ReadonlyArray<EvaluationTest>>(
    (tests) => new Set(tests.map(idOf)).size === tests.length,
    { rule: "two tests have the same id", fix: "give each its own id; without one a test is identified by its question" }
  )
)

/** Identity of a test. */
export const idOf = ({ id, principal, question }: EvaluationTest): string =>
  id ?? (principal === undefined ? question : `${question} (as ${askerName(principal)})`)

export const testSettings = withDefault(
  EvaluationTests.annotate({
    description: "Questions that the corpus is tested with: `sluice eval` asks them."
  }),
  []
)
