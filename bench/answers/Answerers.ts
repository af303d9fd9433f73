/** Who answers the questions: the extractive generator, or a model of a server that speaks OpenAI's protocol. */
import { Effect, Layer, ManagedRuntime } from "effect"
import type { Answer } from "../../src/domain/Answer.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { stretchesOf } from "../../src/domain/Stretches.ts"
import { answerExtractively, type Constants } from "../../src/models/extractive/Answer.ts"
import { comparedBy, type Compared } from "../../src/models/extractive/Nearness.ts"
import * as OpenAiGenerator from "../../src/models/OpenAiGenerator.ts"
import { Embedder } from "../../src/ports/Embedder.ts"
import { Generator } from "../../src/ports/Generator.ts"
import { connectionOf, embedderOf, network } from "../lib/Models.ts"

export interface Answerer {
  readonly name: string
  readonly answer: (question: string, contexts: ReadonlyArray<Context>) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Makes extractive generators with constants of their own. By a model's vectors, where one is named, all of them compare units. */
export const extractives = async (embedding: string | undefined): Promise<(name: string, by?: Constants) => Answerer> => {
  if (embedding === undefined) {
    return (name, by) => ({
      name,
      answer: (question, contexts) => Promise.resolve(answerExtractively({ question, contexts }, "extractive", {}, by)),
      close: () => Promise.resolve()
    })
  }
  const runtime = ManagedRuntime.make(await embedderOf(embedding))
  const embedder = await runtime.runPromise(Effect.service(Embedder))
  const known = new Map<string, Compared>()
  return (name, by) => ({
    name,
    answer: async (question, contexts) => {
      const request = { question, contexts }
      const key = JSON.stringify([question, contexts.map(({ chunkId }) => chunkId)])
      const compared = known.get(key) ?? (await runtime.runPromise(comparedBy(embedder, request)))
      known.set(key, compared)
      return answerExtractively(request, "extractive", {}, by, compared)
    },
    close: () => runtime.dispose()
  })
}

/** `served` is `URL#MODEL`, the URL up to and including the version; `OPENAI_API_KEY` is sent where it is set. @throws for another form */
export const servedBy = (served: string): Answerer => {
  const connection = connectionOf("--generate", served)
  const runtime = ManagedRuntime.make(OpenAiGenerator.layer(connection).pipe(Layer.provide(network)))
  return {
    name: connection.model,
    answer: (question, contexts) => runtime.runPromise(Effect.flatMap(Generator, (generator) => generator.answer({ question, contexts }))),
    close: () => runtime.dispose()
  }
}

/** What became of the citations that were written. */
export interface Cited {
  readonly shown: number
  /** Shown, but not to the letter in a context of that file, or in such as follow each other: 0 by construction. */
  readonly invented: number
  /** Taken out of answers: of contexts that the model was not given, and such as do not bear the sentence out. */
  readonly unknown: number
  readonly unsupported: number
  /** Answers of which nothing could be verified. */
  readonly unverified: number
}

export const citedIn = (
  outcomes: ReadonlyArray<{ readonly answer: Answer; readonly contexts: ReadonlyArray<Context> }>
): Cited => {
  const sum = (of: (outcome: (typeof outcomes)[number]) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0)
  return {
    shown: sum(({ answer }) => answer.citations.length),
    invented: sum(({ answer, contexts }) =>
      answer.citations.filter(({ file, quote }) =>
        !stretchesOf(contexts).stretches.some(({ chunks, text }) => chunks[0]!.context.file === file && text.includes(quote))
      ).length
    ),
    unknown: sum(({ answer }) => answer.removed?.unknown ?? 0),
    unsupported: sum(({ answer }) => answer.removed?.unsupported ?? 0),
    unverified: sum(({ answer }) => (answer.unverified === undefined ? 0 : 1))
  }
}
