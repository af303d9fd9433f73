import { Effect, Layer, Stream } from "effect"
import type { AnswerPart } from "../domain/Answer.ts"
import { shareLoop } from "../domain/EventLoop.ts"
import { Generator, type GroundedRequest } from "../ports/Generator.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import { answerExtractively, constants, type ExtractiveOptions } from "./extractive/Answer.ts"
import { comparedBy } from "./extractive/Nearness.ts"

const model = "extractive"

/**
 * Answers without a model: quotes the sentences of the contexts that best support the question, each cited to file, bytes and page, or says
 * that the corpus does not answer. The same request gives the same answer.
 *
 * `instruction` tells a model how to write; an extractive answer is always in the documents' own words, so it has no effect here. Text in
 * documents cannot give instructions either: nothing is ever interpreted, only quoted.
 *
 * @param embedderOf finds the embedder of the first context's corpus. The best 30 passages are compared with the question by it, in two
 *   calls of `embed`, whose errors are those of the answer. One of words (`ofWords`, `embedWeighed`) is not called: the order of passages
 *   takes words into account already.
 */
export const make = (options: ExtractiveOptions = {}, embedderOf?: Retrieval["Service"]["embedderOf"]): Generator["Service"] => {
  const comparedFor = Effect.fnUntraced(function*(request: GroundedRequest) {
    const [best] = request.contexts
    const embedder = best === undefined ? undefined : yield* embedderOf?.(best.file) ?? Effect.undefined
    const isModel = embedder !== undefined && embedder.embedWeighed === undefined && embedder.ofWords !== true
    return isModel ? yield* comparedBy(embedder, request) : undefined
  })
  const answer = Effect.fn("ExtractiveGenerator.answer")(function*(request: GroundedRequest) {
    yield* Effect.annotateCurrentSpan({ contexts: request.contexts.length })
    yield* shareLoop
    return answerExtractively(request, model, options, constants, yield* comparedFor(request))
  })
  return Generator.of({
    model,
    answer,
    stream: (request) =>
      Stream.fromEffect(answer(request)).pipe(
        Stream.flatMap((answer) =>
          Stream.fromIterable<AnswerPart>([
            // Cut after each mark: a reader sees whole cited sentences.
            ...answer.text.split(/(?<=\]\n)/).map((text) => ({ _tag: "text" as const, text })),
            { _tag: "done", answer }
          ])
        )
      )
  })
}

export const layer = (options?: ExtractiveOptions): Layer.Layer<Generator> => Layer.succeed(Generator, make(options))
