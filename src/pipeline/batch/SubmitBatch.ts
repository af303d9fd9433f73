import { Effect } from "effect"
import { type BatchSpec, batchViolations, batchWarnings, sameRegion } from "../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { TableStore } from "../../ports/TableStore.ts"
import { checkRows } from "../../text/rows/CheckRows.ts"
import { BatchEngine } from "./BatchEngine.ts"

export interface BatchCheck {
  readonly rows: number
  /** Warnings about settings that may be unintended; the job is sent all the same. */
  readonly warnings: ReadonlyArray<string>
}

/**
 * Checks a job, its rows included, against every rule, before it is created. Fails with all mistakes found, those in rows
 * each at its line.
 */
export const checkBatch = Effect.fn("checkBatch")(function*(spec: BatchSpec) {
  const { location, name } = yield* BatchEngine
  const objects = yield* ObjectStore
  const tables = yield* TableStore
  const broken = refusalOf(batchViolations(spec, { local: name === "embedded" }))
  if (broken !== undefined) return yield* broken
  const warnings = name === "vertex" ? [...batchWarnings(spec)] : []
  if (spec.input._tag === "table" && location !== undefined) {
    const { location: held } = yield* tables.head(spec.input.uri)
    const same = held === undefined ? "yes" : sameRegion(location, held)
    if (same === "no") {
      return yield* ServiceError.invalid(
        "inputConfig.bigquerySource.inputUri",
        `the table is in ${held} and the job would be in ${location}: they must be in the same region`,
        `run the job in ${held?.toLowerCase()}, or copy the table to ${location}`
      )
    }
    if (same === "unsure") {
      warnings.push(`the table is in the multi-region ${held}; the job's region is ${location}, and the service may refuse it`)
    }
  }
  const check: BatchCheck = { rows: yield* checkRows(spec.input, { objects, tables }, spec.model), warnings }
  return check
})

/** Checks a job and creates it. */
export const submitBatch = Effect.fn("submitBatch")(function*(spec: BatchSpec) {
  const check = yield* checkBatch(spec)
  return { ...check, job: yield* (yield* BatchPrediction).create(spec) }
})
