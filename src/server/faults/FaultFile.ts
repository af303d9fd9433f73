import { Result, Schema, SchemaIssue } from "effect"
import { parse } from "yaml"
import { Code, ServiceError } from "../../domain/Errors.ts"
import { type RouteKey, routes } from "../../wire/Routes.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))
const seconds = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3_600 }))
const methods = Object.keys(routes) as ReadonlyArray<RouteKey> // the keys are those of the table

/** A rule of a fault script: which calls it is about, and what goes wrong with them. Each rule counts the calls of its method, from 1. */
export const FaultRule = Schema.Struct({
  /** The method: `importRagFiles`, `retrieveContexts`, …. Absent: every method. */
  method: Schema.optional(Schema.Literals(methods)),
  /** Numbers of the calls. With neither `at` nor `every`: all calls. */
  at: Schema.optional(Schema.Union([count, Schema.Array(count)])),
  /** Every n-th call. */
  every: Schema.optional(count),
  /** Code of the error that is returned instead of the response. */
  error: Schema.optional(Code),
  message: Schema.optional(Schema.String),
  /** Seconds in the Retry-After header and the error's details. */
  retryAfter: Schema.optional(seconds),
  /** Seconds of delay before the call is handled. */
  delay: Schema.optional(seconds),
  /** Least seconds that an operation takes that the call starts. */
  operation: Schema.optional(seconds),
  /**
   * Breaks the connection: before the call is handled (`request`), after it but before the reply (`reply`), or within the reply
   * (`middle`).
   */
  drop: Schema.optional(Schema.Literals(["request", "reply", "middle"]))
})
export type FaultRule = typeof FaultRule.Type

const FaultFile = Schema.Struct({ faults: Schema.Array(FaultRule) })
const decode = Schema.decodeUnknownResult(FaultFile, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The problem in a script, with its path: `faults[1].metod is not a key of a fault; …`. */
const problem = ({ message, path = [] }: ReturnType<typeof format>["issues"][number]): string => {
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("").slice(1)
  if (place === "") return "the script is not of the form faults: [{ method: ..., at: ..., error: ... }]"
  if (message.startsWith("Expected no excess")) {
    return `${place} is not a key of a fault; the keys are ${Object.keys(FaultRule.fields).join(", ")}`
  }
  return path.at(-1) === "method" ? `${place} is not a method of the server, such as importRagFiles` : `${place}: ${message}`
}

/**
 * Reads a script of faults, in YAML:
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
