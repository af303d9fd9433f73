import { defined } from "../../domain/Defined.ts"
import { type Code, ServiceError } from "../../domain/Errors.ts"
import type { RouteKey } from "../../wire/Routes.ts"
import type { FaultRule } from "./FaultFile.ts"

/** The faults of one call, several of which may be set. */
export interface Fault {
  readonly error?: ServiceError
  /** Milliseconds of delay before the call is handled. */
  readonly delay?: number
  /** Milliseconds for which an operation that the call starts does not appear done. */
  readonly operation?: number
  /** Where the connection breaks: before the call is handled, after it but before the reply, or within the reply. */
  readonly drop?: "request" | "reply" | "middle"
}

/** Counts calls, and returns the faults of each by a script. */
export class Faults {
  readonly #rules: ReadonlyArray<{ readonly rule: FaultRule; seen: number }>

  constructor(rules: ReadonlyArray<FaultRule>) {
    this.#rules = rules.map((rule) => ({ rule, seen: 0 }))
  }

  next(key: RouteKey): Fault {
    let fault: Fault = {}
    for (const each of this.#rules) {
      const { rule } = each
      if (rule.method !== undefined && rule.method !== key) continue
      each.seen += 1
      if (hits(rule, each.seen)) fault = { ...fault, ...defined(faultOf(rule)) }
    }
    return fault
  }
}

const hits = ({ at, every }: FaultRule, call: number): boolean => {
  if (at === undefined && every === undefined) return true
  const listed = at !== undefined && (Array.isArray(at) ? at.includes(call) : at === call)
  return listed || (every !== undefined && call % every === 0)
}

const faultOf = ({ delay, drop, error, message, operation, retryAfter }: FaultRule): Fault => ({
  error: error === undefined ? undefined : failure(error, message, retryAfter),
  delay: delay === undefined ? undefined : delay * 1000,
  operation: operation === undefined ? undefined : operation * 1000,
  drop
})

const failure = (code: Code, message: string | undefined, retryAfter: number | undefined): ServiceError =>
  new ServiceError({
    code,
    message: message ?? "this failure was scripted",
    reason: code === "RESOURCE_EXHAUSTED" ? "RATE_LIMIT_EXCEEDED" : undefined,
    retryAfter: retryAfter === undefined ? undefined : retryAfter * 1000
  })
