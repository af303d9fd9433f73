import { Effect, Stream } from "effect"
import type { AnswerPart } from "../domain/Answer.ts"
import { ServiceError } from "../domain/Errors.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import type { TextPool } from "../text/TextPool.ts"
import { retrieveFrom } from "./AskPipeline.ts"
import { ExtensionsInUse } from "./Extensions.ts"
import type { Definition } from "./definition/Definition.ts"
import type { ChatSettings } from "./definition/StageSettings.ts"
import { Models } from "./Services.ts"
import { condense, type FollowUp } from "./stages/Condense.ts"
import { generateBy } from "./stages/Generate.ts"
import type { Retrieved, RetrieveOptions } from "./stages/Retrieve.ts"
import type { AnyStage } from "./stages/Stage.ts"

/** A turn of a conversation, whose answer is being generated. */
export interface ConversationTurn extends Retrieved {
  /** The answer as it is generated; the last part carries the complete answer. */
  readonly parts: Stream.Stream<AnswerPart, ServiceError>
}

/**
 * Opens a conversation over a pipeline's corpus: its models are made once, and a question may refer to the exchanges
 * passed with it. The `chat` stage holds the settings, or else the `generate` stage; of a composition, a last stage of
 * `generateBy` answers, after questions were completed without a model. A pipeline with none of these is `FAILED_PRECONDITION`.
 */
export const chatPipeline = Effect.fn("chatPipeline")(function*(pipeline: Definition, overrides: RetrieveOptions = {}) {
  const { composed } = yield* ExtensionsInUse
  const { answer, rewriter, turns } = composed === undefined || answersBySettings(composed.toAnswer)
    ? yield* bySettings(pipeline)
    : yield* byFunction(pipeline, composed.toAnswer)
  const around = yield* Effect.context<TextPool>()
  const alone = condense(turns === undefined ? {} : { turns })
  return Effect.fnUntraced(function*(question: FollowUp) {
    const standalone = yield* alone(question).pipe(Effect.provideService(QueryRewriter, rewriter))
    const retrieved = yield* retrieveFrom(pipeline, standalone, overrides)
    const turn: ConversationTurn = { ...retrieved, parts: Stream.provideContext(answer(retrieved), around) }
    return turn
  })
})

/** How questions of a conversation are completed and answered. */
interface Conversing {
  readonly turns?: number | undefined
  readonly rewriter: QueryRewriter["Service"]
  readonly answer: (retrieved: Retrieved) => Stream.Stream<AnswerPart, ServiceError, TextPool>
}

const bySettings = Effect.fnUntraced(function*(pipeline: Definition) {
  const { model, turns, ...options } = yield* chatStage(pipeline)
  const models = yield* Models
  const answer = generateBy(yield* models.generator(model), options).stream! // a stage that generates streams
  return { turns, rewriter: yield* models.rewriter(model), answer } satisfies Conversing
})

/** The last stage answers, and questions are completed without a model: the pipeline names none. */
const byFunction = Effect.fnUntraced(function*(pipeline: Definition, { parts = [] }: AnyStage) {
  const answer = parts.at(-1)?.stream as Conversing["answer"] | undefined // of `generateBy`
  if (answer === undefined) return yield* ofFunctions(pipeline)
  const { rewriter } = yield* Models
  return { turns: undefined, rewriter: yield* rewriter({ _tag: "extractive" }), answer } satisfies Conversing
})

/** Whether one of these stages has the settings that a conversation answers with. */
const answersBySettings = ({ parts = [] }: AnyStage): boolean =>
  parts.some(({ settings }) => settings?._tag === "generate" || settings?._tag === "chat")

const ofFunctions = ({ name }: Definition): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} answers with a function that does not stream, and a conversation needs one that does`,
    fix: "answer with generate({ ... }) or generateBy(...) as the last stage"
  })

const chatStage = ({ name, stages }: Definition): Effect.Effect<Omit<ChatSettings, "_tag">, ServiceError> => {
  const chat = stages.find((stage) => stage._tag === "chat")
  const generate = stages.find((stage) => stage._tag === "generate")
  if (chat !== undefined) {
    const { _tag, ...settings } = chat
    return Effect.succeed(settings)
  }
  if (generate !== undefined) {
    const { _tag, ground: _, ...settings } = generate
    return Effect.succeed(settings)
  }
  return Effect.fail(
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `pipeline ${name} has neither a chat nor a generate stage, so it cannot converse`,
      fix: "add `- chat: {}` to stages"
    })
  )
}
