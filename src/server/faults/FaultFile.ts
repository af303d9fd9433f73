import { Result, Schema, SchemaIssue } from "effect"
import { parse } from "yaml"
import { Code, ServiceError } from "../../domain/Errors.ts"
import { type RouteKey, routes } from "../../wire/Routes.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))
const seconds = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3_600 }))
const methods = Object.keys(routes) as ReadonlyArray<RouteKey> // the keys are those of the table

/** Which calls, and what goes wrong with them. Calls are counted from 1, by rule: only those of its method. */
export const FaultRule = Schema.Struct({
  /** `importRagFiles`, `retrieveContexts`, …; absent: every method. */
  method: Schema.optional(Schema.Literals(methods)),
  /** These calls. With neither `at` nor `every`: all. */
  at: Schema.optional(Schema.Union([count, Schema.Array(count)])),
  /** Every so many calls. */
  every: Schema.optional(count),
  /** Answered instead of what was asked for. */
  error: Schema.optional(Code),
  message: Schema.optional(Schema.String),
  /** Seconds, in the Retry-After header and the error's details. */
  retryAfter: Schema.optional(seconds),
  /** Seconds before the call is looked at. */
  delay: Schema.optional(seconds),
  /** Seconds that the operation it starts takes at least. */
  operation: Schema.optional(seconds),
  /** Breaks the connection: before anything is done, after everything is but before the reply, or within the reply. */
  drop: Schema.optional(Schema.Literals(["request", "reply", "middle"]))
})
export type FaultRule = typeof FaultRule.Type

const FaultFile = Schema.Struct({ faults: Schema.Array(FaultRule) })
const decode = Schema.decodeUnknownResult(FaultFile, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong, and where: `faults[1].metod is no key of a fault; …`. */
const problem = ({ message, path = [] }: ReturnType<typeof format>["issues"][number]): string => {
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("").slice(1)
  if (place === "") return "the script is not of the form faults: [{ method: ..., at: ..., error: ... }]"
  if (message.startsWith("Expected no excess")) {
    return `${place} is no key of a fault; those are ${Object.keys(FaultRule.fields).join(", ")}`
  }
  return path.at(-1) === "method" ? `${place} is no method of the server, as importRagFiles is one` : `${place}: ${message}`
}

/**
 * A script of faults, in YAML:
 *
 * ```yaml
 * faults:
 *   - { at: 7, error: RESOURCE_EXHAUSTED, retryAfter: 2 }
 *   - { method: importRagFiles, operation: 5 }
 *   - { method: uploadRagFile, at: [1, 3], drop: reply }
 *   - { method: retrieveContexts, every: 10, error: UNAVAILABLE }
 * ```
 */
export const readFaults = (text: string): Result.Result<ReadonlyArray<FaultRule>, ServiceError> => {
  const read = Result.try({
    try: () => parse(text) as unknown,
    catch: (cause) => ServiceError.invalid("faults", cause instanceof Error ? cause.message : "is not YAML")
  })
  return Result.flatMap(read, (value) =>
    Result.mapBoth(decode(value), {
      onSuccess: ({ faults }) => faults,
      onFailure: ({ issue }) =>
        ServiceError.invalid(
          "faults",
          format(issue).issues.map(problem).join("; ")
        )
    }))
}
