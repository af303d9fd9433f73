import { Cause, Effect, Predicate } from "effect"
import { printable } from "../../domain/Text.ts"
import { Output } from "../Output.ts"

/** Prints an error and its fix on stderr; with `--json` as one document on stdout. */
export const renderCause = (cause: Cause.Cause<unknown>): Effect.Effect<void, never, Output> =>
  Effect.gen(function*() {
    const output = yield* Output
    if (Cause.hasInterruptsOnly(cause)) {
      const { next, what } = output.interrupted
      if (output.wantsJson) yield* output.json({ version: 1, type: "error", error: "Interrupted", message: what, fix: next })
      return yield* output.say(`${what}; ${next}`)
    }
    const error = Cause.squash(cause)
    if (Predicate.isTagged(error, "Exited") || Predicate.isTagged(error, "ShowHelp")) return
    const fix = textField(error, "fix") ??
      (Cause.hasFails(cause) ? undefined : "this is a fault in Sluice: please report it, with the lines below")
    if (output.wantsJson) yield* output.json(errorDocument(error, fix))
    yield* output.say(`${output.paintError("red", "error:")} ${printable(messageOf(error))}`)
    for (const violation of violationsOf(error)) {
      if (!messageOf(error).includes(violation.description)) {
        yield* output.say(printable(`  ${violation.field}: ${violation.description}`))
      }
    }
    if (fix !== undefined) yield* output.say(`${output.paintError("green", "fix:")} ${printable(fix)}`)
    if (!Cause.hasFails(cause)) yield* output.say(printable(Cause.pretty(cause)))
  })

/** The document of an error for programs. The fields of errors never contain secrets. */
const errorDocument = (error: unknown, fix: string | undefined): object => ({
  version: 1,
  type: "error",
  error: textField(error, "_tag") ?? "Fault",
  message: messageOf(error),
  fix,
  ...pick(error, ["code", "violations", "issues", "problem"])
})

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

const textField = (error: unknown, key: string): string | undefined =>
  Predicate.hasProperty(error, key) && Predicate.isString(error[key]) ? error[key] : undefined

interface Violation {
  readonly field: string
  readonly description: string
}

const violationsOf = (error: unknown): ReadonlyArray<Violation> =>
  Predicate.hasProperty(error, "violations") && Array.isArray(error.violations) ? error.violations.filter(isViolation) : []

const isViolation = (value: unknown): value is Violation =>
  textField(value, "field") !== undefined && textField(value, "description") !== undefined

const pick = (error: unknown, keys: ReadonlyArray<string>): object =>
  Object.fromEntries(keys.flatMap((key) => Predicate.hasProperty(error, key) && error[key] !== undefined ? [[key, error[key]]] : []))
