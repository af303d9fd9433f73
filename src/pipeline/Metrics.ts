import { Effect, Metric } from "effect"
import { outcomes, type Report } from "../domain/Report.ts"

const files = Metric.counter("sluice.files", { description: "Listed files by outcome", incremental: true })
const deleted = Metric.counter("sluice.files.deleted", { description: "Files removed from the target", incremental: true })
const chunks = Metric.counter("sluice.chunks.written", { description: "Chunks written to the target", incremental: true })
const embeddedTokens = Metric.counter("sluice.embedded.tokens", { description: "Tokens sent to the embedder", incremental: true })

/** Duration of one retrieval, without ranking stages and generation. */
export const retrievalTime = Metric.timer("sluice.retrieval.duration", { description: "Duration of one retrieval" })

/** Adds a run to the counters. */
export const countRun = (report: Report): Effect.Effect<void> =>
  Effect.all([
    ...outcomes.map((outcome) => Metric.update(Metric.withAttributes(files, { outcome }), report.totals[outcome])),
    Metric.update(deleted, report.totals.deleted),
    Metric.update(chunks, report.chunks ?? 0),
    Metric.update(embeddedTokens, report.embeddedTokens ?? 0)
  ], { discard: true })
