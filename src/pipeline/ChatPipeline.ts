import { Effect, type Stream } from "effect"
import type { AnswerPart } from "../domain/Answer.ts"
import { ServiceError } from "../domain/Errors.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { retrieveFrom } from "./AskPipeline.ts"
import { ExtensionsInUse } from "./Extensions.ts"
import type { Definition } from "./definition/Definition.ts"
import type { ChatSettings } from "./definition/StageSettings.ts"
import { Models } from "./Services.ts"
import { condense, type FollowUp } from "./stages/Condense.ts"
import type { Retrieved, RetrieveOptions } from "./stages/Retrieve.ts"
import type { AnyStage } from "./stages/Stage.ts"

/** A turn of a conversation, whose answer is being generated. */
export interface ConversationTurn extends Retrieved {
  /** The answer as it is generated; the last part carries the complete answer. */
  readonly parts: Stream.Stream<AnswerPart, ServiceError>
}

/**
 * Opens a conversation over a pipeline's corpus: its models are made once, and a question may refer to the exchanges
 * passed with it. The `chat` stage holds the settings, or else the `generate` stage; a pipeline with neither, or one that
 * answers with a function, is `FAILED_PRECONDITION`.
 */
export const chatPipeline = Effect.fn("chatPipeline")(function*(pipeline: Definition, overrides: RetrieveOptions = {}) {
  const { composed } = yield* ExtensionsInUse
  const { instruction, model, turns, ...sampling } = composed === undefined || answersBySettings(composed.toAnswer)
    ? yield* chatStage(pipeline)
    : yield* ofFunctions(pipeline)
  const models = yield* Models
  const generator = yield* models.generator(model)
  const rewriter = yield* models.rewriter(model)
  const alone = condense(turns === undefined ? {} : { turns })
  return Effect.fnUntraced(function*(question: FollowUp) {
    const standalone = yield* alone(question).pipe(Effect.provideService(QueryRewriter, rewriter))
    const retrieved = yield* retrieveFrom(pipeline, standalone, overrides)
    const { contexts } = retrieved
    const parts = generator.stream({ question: standalone.question, contexts, sampling, instruction })
    const turn: ConversationTurn = { ...retrieved, parts }
    return turn
  })
})

/** Whether one of these stages has the settings that a conversation answers with. */
const answersBySettings = ({ parts = [] }: AnyStage): boolean =>
  parts.some(({ settings }) => settings?._tag === "generate" || settings?._tag === "chat")

const ofFunctions = ({ name }: Definition): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} answers with a function, and a conversation needs the settings of generate`,
    fix: "answer with generate({ ... }), or condense() each question and pass it to stream"
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
