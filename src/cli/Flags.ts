import { Flag } from "effect/cli"

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
