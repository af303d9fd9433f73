import { Effect, Stream } from "effect"
import type { BatchInput } from "../../domain/batch/BatchPrediction.ts"
import { type FieldViolation, ServiceError } from "../../domain/Errors.ts"
import { type PlacedRow, readRows, type Stores } from "./ReadRows.ts"
import { Spill } from "./Spill.ts"

/** Most mistakes reported at once; an input with more is not read further. */
const mostProblems = 50

/** Collects what is wrong with rows, and reports it as one error. */
export class RowProblems {
  readonly #violations: Array<FieldViolation & { readonly row: number }> = []

  /** Adds what is wrong with a row, which is the `row`th of the input. */
  addAll({ place, problems }: Omit<PlacedRow, "row">, row: number): void {
    for (const { path, rule } of problems) {
      if (!this.full) this.#violations.push({ row, field: place, description: path === "" ? rule : `${path}: ${rule}` })
    }
  }

  addRepeated(place: string, first: string, row: number): void {
    this.addAll({ place, problems: [{ path: "custom_id", rule: `is that of ${first} too` }] }, row)
  }

  get any(): boolean {
    return this.#violations.length > 0
  }

  get full(): boolean {
    return this.#violations.length >= mostProblems
  }

  error(): ServiceError {
    const violations = this.#violations.toSorted((a, b) => a.row - b.row).map(({ description, field }) => ({ field, description }))
    const lines = violations.map(({ description, field }) => `${field}: ${description}`)
    return new ServiceError({
      code: "INVALID_ARGUMENT",
      message: [...lines, ...(this.full ? [`that is ${mostProblems} mistakes; the rest was not read`] : [])].join("\n"),
      violations
    })
  }
}

/** The error of an input without rows, which is a mistake too. */
export const noRows = (input: BatchInput): ServiceError =>
  ServiceError.invalid(
    input._tag === "jsonl" ? "inputConfig.gcsSource.uris" : "inputConfig.bigquerySource.inputUri",
    "has no rows"
  )

/**
 * Reads a whole input and counts its rows, or fails with every mistake in it, up to a bound, each with its line. Memory use is constant
 * whatever the size of the input, the comparison of its `custom_id`s included.
 */
export const checkRows = Effect.fn("checkRows")(function*(input: BatchInput, stores: Stores, model?: string) {
  const seen = yield* Effect.acquireRelease(Effect.sync(() => new Spill()), (spill) => Effect.sync(() => spill.close()))
  const problems = new RowProblems()
  let rows = 0
  yield* readRows(input, stores, model).pipe(
    Stream.takeUntil((group) => {
      for (const placed of group) {
        if (problems.full) break
        rows += 1
        problems.addAll(placed, rows)
        const first = placed.row?.customId === undefined ? undefined : seen.add(placed.row.customId, placed.place)
        if (first !== undefined) problems.addRepeated(placed.place, first, rows)
      }
      return problems.full
    }),
    Stream.runDrain
  )
  if (problems.any) return yield* problems.error()
  return rows === 0 ? yield* noRows(input) : rows
}, Effect.scoped)
