import { Effect } from "effect"
import { basename } from "node:path"
import * as KnowledgeBase from "../mcp/KnowledgeBase.ts"
import { askPipeline, retrieveFrom } from "../pipeline/AskPipeline.ts"
import { corpusOf } from "../pipeline/RunPipeline.ts"
import { findGenerations, liveRuns, namesIn } from "../pipeline/sync/Generations.ts"
import { Files } from "../ports/Files.ts"
import { Ledger } from "../ports/Ledger.ts"
import type { CommandPipeline } from "./Session.ts"

type Used = Effect.Services<ReturnType<typeof askPipeline | typeof retrieveFrom>>

/** Makes a knowledge base of a pipeline's corpus, or of a bundle's, which has no ledger. */
export const knowledgeBaseOf = Effect.fn("knowledgeBaseOf")(function*(
  { bundle, pipeline }: Pick<CommandPipeline, "bundle" | "pipeline">,
  limits: KnowledgeBase.Limits
) {
  const files = yield* Files
  const ledger = yield* Ledger
  const around = yield* Effect.context<Used>()
  const within = Effect.provideContext(around)
  const generation = findGenerations(namesIn(pipeline)).pipe(
    Effect.map(({ live, pipelineKey }) => ({ pipelineKey, live, scope: live?.scope ?? pipelineKey })),
    within
  )
  const corpus = corpusOf(pipeline).pipe(within)
  const asked = ({ principal, question, ...options }: KnowledgeBase.Inquiry) => [pipeline, { question, principal }, options] as const
  const base = yield* Effect.fromResult(KnowledgeBase.make({
    title: pipeline.corpus.displayName,
    description: pipeline.corpus.description,
    corpus: Effect.map(corpus, ({ name }) => name),
    files,
    retrieve: (inquiry) => retrieveFrom(...asked(inquiry)).pipe(Effect.map(({ contexts }) => contexts), within),
    answer: (inquiry) => askPipeline(...asked(inquiry)).pipe(within),
    status: bundle === undefined ?
      Effect.gen(function*() {
        const found = yield* generation
        const { live, scope } = found
        const [last] = yield* liveRuns(found, 1).pipe(Effect.provideService(Ledger, ledger))
        return {
          pipeline: pipeline.name,
          corpus: pipeline.corpus.displayName,
          generation: live?.number ?? null,
          files: yield* ledger.count(scope),
          lastRun: last === undefined ? null : {
            started: new Date(last.started).toISOString(),
            ...(last.ended === undefined ? {} : { ended: new Date(last.ended).toISOString() }),
            ...(last.report === undefined ? {} : { totals: last.report.totals, reasons: last.report.reasons ?? [] })
          }
        }
      }) :
      Effect.map(corpus, ({ displayName, filesCount = 0 }) => ({
        pipeline: pipeline.name,
        corpus: displayName,
        bundle: basename(bundle),
        files: { done: filesCount }
      }))
  }, limits))
  return { base, corpus }
})
