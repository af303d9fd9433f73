import { Runtime, Schema } from "effect"
import { defined } from "./Defined.ts"

/**
 * The google.rpc codes, used by both engines and every connector, so that an error means the same wherever it was raised.
 * Source: google/rpc/code.proto.
 */
export const Code = Schema.Literals([
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED"
])
export type Code = typeof Code.Type

/** Exit codes of the command line. */
export const ExitCode = {
  done: 0,
  error: 1,
  changesPending: 2,
  someFailed: 3,
  invalid: 4,
  unauthenticated: 5,
  exhausted: 6,
  interrupted: 130
} as const

const exitCodes: Partial<Record<Code, number>> = {
  UNAUTHENTICATED: ExitCode.unauthenticated,
  PERMISSION_DENIED: ExitCode.unauthenticated,
  RESOURCE_EXHAUSTED: ExitCode.exhausted
}

const transient: ReadonlySet<Code> = new Set<Code>([
  "UNAVAILABLE",
  "RESOURCE_EXHAUSTED",
  "DEADLINE_EXCEEDED",
  "ABORTED",
  "INTERNAL",
  "UNKNOWN"
])

const refusals: ReadonlySet<Code> = new Set<Code>([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED"
])

/** A broken rule of a request: the field, and the rule. */
export const FieldViolation = Schema.Struct({ field: Schema.String, description: Schema.String })
export type FieldViolation = typeof FieldViolation.Type

interface Advised extends Error {
  readonly fix?: string
  readonly violations?: ReadonlyArray<FieldViolation>
}

/** Lines to print below an error's message: the broken rules that the message leaves out, then the fix. */
const adviceOf = ({ fix, message, violations = [] }: Advised): ReadonlyArray<string> => [
  ...violations.filter(({ description }) => !message.includes(description)).map(({ description, field }) => `${field}: ${description}`),
  ...(fix === undefined ? [] : [`fix: ${fix}`])
]

/**
 * Makes an error class that appends its advice to the message in `stack`, which is all that runtimes print of an
 * unhandled error: Effect's `runMain`, and Node for a rejected promise.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript takes no other parameters for a mixin's constructor.
const advised = <Base extends new(...args: Array<any>) => Advised>(base: Base): Base =>
  class extends base {
    // oxlint-disable-next-line typescript/no-explicit-any -- The same.
    constructor(...args: Array<any>) {
      super(...args)
      const head = `${this.name}: ${this.message}`
      const { stack = head } = this
      const advice = adviceOf(this).map((line) => `\n  ${line}`).join("")
      const value = stack.startsWith(head) ? `${head}${advice}${stack.slice(head.length)}` : `${stack}${advice}`
      Object.defineProperty(this, "stack", { value, configurable: true, writable: true, enumerable: false })
    }
  }

/** Fields of a {@link ServiceError}. */
interface ErrorFacts {
  readonly code: Code
  readonly message: string
  readonly fix: string | undefined
  readonly violations: ReadonlyArray<FieldViolation> | undefined
  readonly reason: string | undefined
  readonly retryAfter: number | undefined
  readonly status: number | undefined
  readonly field: string | undefined
  readonly cause: unknown
}

/**
 * A call through a port failed. `message` never contains a secret or a document's text.
 *
 * `retryAfter` is the time in milliseconds for which the service asked to wait, if it did.
 */
export class ServiceError extends advised(
  Schema.TaggedError<ServiceError>()("ServiceError", {
    code: Code,
    message: Schema.String,
    /** What a person can do about it, in one sentence. */
    fix: Schema.optional(Schema.String),
    violations: Schema.optional(Schema.Array(FieldViolation)),
    /** The reason of a google.rpc.ErrorInfo, where the service gave one. */
    reason: Schema.optional(Schema.String),
    retryAfter: Schema.optional(Schema.Finite),
    /** HTTP status of the service's answer, where there was one. */
    status: Schema.optional(Schema.Int),
    /** Field of the pipeline file that causes the error: `corpus.vectorDb.weaviate.apiKey`. The message starts with it. */
    field: Schema.optional(Schema.String),
    cause: Schema.optional(Schema.Defect())
  })
) {
  override readonly [Runtime.errorExitCode] = exitCodes[this.code] ?? ExitCode.error

  /** Whether the same call may succeed later, with nothing changed here. */
  get retryable(): boolean {
    return transient.has(this.code)
  }

  /** Whether the service refused the call as such, and did nothing for it. */
  get refused(): boolean {
    return refusals.has(this.code)
  }

  /** A copy of the error with fields that the caller knows better. */
  with(facts: Partial<ErrorFacts>): ServiceError {
    const { cause, code, field, fix, message, reason, retryAfter, status, violations } = { ...this.facts, ...defined(facts) }
    return new ServiceError({
      code,
      message,
      fix,
      violations,
      reason,
      retryAfter,
      status,
      field,
      cause
    })
  }

  /** A copy of the error with all of its texts changed: the message, the fix, the broken rules and the reason. */
  mapTexts(change: (text: string) => string): ServiceError {
    const { fix, message, reason, violations } = this
    return this.with({
      message: change(message),
      fix: fix === undefined ? undefined : change(fix),
      reason: reason === undefined ? undefined : change(reason),
      violations: violations?.map(({ description, field }) => ({ field: change(field), description: change(description) }))
    })
  }

  private get facts(): ErrorFacts {
    const { cause, code, field, fix, message, reason, retryAfter, status, violations } = this
    return { cause, code, field, fix, message, reason, retryAfter, status, violations }
  }

  static readonly invalid = (field: string, description: string, fix?: string): ServiceError =>
    new ServiceError({
      code: "INVALID_ARGUMENT",
      message: `${field}: ${description}`,
      violations: [{ field, description }],
      fix
    })

  static readonly notFound = (what: string, fix?: string): ServiceError =>
    new ServiceError({ code: "NOT_FOUND", message: `${what} was not found`, fix })

  static readonly internal = (message: string, cause?: unknown): ServiceError => new ServiceError({ code: "INTERNAL", message, cause })
}

/**
 * Why the content of a file could not be stored. Those up to `limit` are skips (nothing is wrong with the file); the others are failures.
 */
export const DocumentProblem = Schema.Literals([
  "unsupported",
  /** A search index, or the like, that a program made of other files. */
  "generated",
  "empty",
  /** Text, if any, is in pictures only: it needs text recognition. */
  "pictures",
  /** Text in an unknown charset. */
  "charset",
  "limit",
  "encrypted",
  "corrupt",
  "timeout",
  "memory",
  "crash",
  /** Its metadata breaks a strict rule of the pipeline. */
  "metadata"
])
export type DocumentProblem = typeof DocumentProblem.Type

/** The content of a file cannot be parsed. Fails that file, never the run. */
export class DocumentError extends Schema.TaggedError<DocumentError>()("DocumentError", {
  problem: DocumentProblem,
  message: Schema.String
}) {
  get skips(): boolean {
    return this.problem === "unsupported" || this.problem === "generated" || this.problem === "empty" || this.problem === "pictures" ||
      this.problem === "charset" || this.problem === "limit"
  }
}

/** The state database, or the disk under it, cannot be used. Nothing was lost; nothing was overwritten. */
export class StateError extends advised(
  Schema.TaggedError<StateError>()("StateError", {
    problem: Schema.Literals(["damaged", "newer", "readOnly", "full", "locked", "other"]),
    message: Schema.String,
    fix: Schema.String,
    cause: Schema.optional(Schema.Defect())
  })
) {}

/** A secret version could not be resolved. Names the version, never the value. */
export class SecretError extends advised(
  Schema.TaggedError<SecretError>()("SecretError", {
    version: Schema.String,
    message: Schema.String,
    fix: Schema.String
  })
) {
  override readonly [Runtime.errorExitCode] = ExitCode.unauthenticated
}

/** Turns a secret error into a service error, for ports that know no secrets: access that needs the secret is denied. */
export const asServiceError = (error: ServiceError | SecretError): ServiceError =>
  error._tag === "ServiceError" ? error : new ServiceError({ code: "PERMISSION_DENIED", message: error.message, fix: error.fix })

/** What an error of anybody's says, or its name where it says nothing. */
export const messageOf = (error: unknown): string =>
  error instanceof Error
    ? error.message === "" ? error.name : error.message
    : typeof error === "string"
    ? error
    : "failed with something that is no Error"
