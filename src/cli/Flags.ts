import { Flag } from "effect/cli"
import type { Asker } from "../domain/Asker.ts"
import { largestTopK } from "../domain/Retrieval.ts"

/** An optional text flag. */
export const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

/** A flag of who asks. One principal is itself, several are a list; `undefined` where the flag is not given. */
export const askerFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}. May be repeated`),
    Flag.withMetavar("PRINCIPAL"),
    Flag.atLeast(0),
    Flag.withDefault([]),
    Flag.filter(
      (principals) => principals.length < 2 || principals.every((principal) => principal.trim() !== ""),
      () => "Expected principals that are not empty"
    ),
    Flag.map((principals): Asker | undefined => principals.length < 2 ? principals[0] : principals)
  )

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
