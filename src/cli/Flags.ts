import { Flag } from "effect/cli"
import { largestTopK } from "../domain/Retrieval.ts"

/** An optional text flag. */
export const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

/** An optional integer flag with bounds, both included. */
export const optionalInt = (name: string, [least, most]: readonly [number, number], metavar: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.filter((n) => n >= least && n <= most, () => `Expected ${least} to ${most}`),
    Flag.withDescription(description),
    Flag.withMetavar(metavar),
    Flag.optional
  )

/** `--top-k`. */
export const topKFlag = (description: string) => optionalInt("top-k", [1, largestTopK], "N", description).pipe(Flag.withAlias("k"))
