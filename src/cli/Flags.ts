import { Flag } from "effect/cli"

/** A text that may be left out. */
export const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

/** A whole number within bounds, both included, that may be left out. */
export const optionalInt = (name: string, [least, most]: readonly [number, number], metavar: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.filter((n) => n >= least && n <= most, () => `Expected ${least} to ${most}`),
    Flag.withDescription(description),
    Flag.withMetavar(metavar),
    Flag.optional
  )
