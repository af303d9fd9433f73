import { Result } from "effect"
import { type BatchJob, modelId } from "./BatchPrediction.ts"
import { ServiceError } from "./Errors.ts"

type Test = (job: BatchJob) => boolean

/**
 * The filter of a listing (google.aip.dev/160, as far as the service's list of jobs takes it): comparisons of
 * `display_name`, `model_display_name`, `state`, `create_time` and `labels`, joined with AND, OR, NOT and parentheses.
 * As in AIP-160, OR binds closer than AND. Empty: every job.
 */
export const parseBatchFilter = (filter: string): Result.Result<Test, ServiceError> => {
  const tokens = filter.match(/"(?:[^"\\]|\\.)*"|[()]|!=|<=|>=|[=<>:]|[^\s()=!<>:"]+|\S/g) ?? []
  let at = 0
  const invalid = (why: string): never => {
    throw ServiceError.invalid("filter", why)
  }

  const all = (): Test => {
    const tests = [any()]
    while (at < tokens.length && tokens[at] !== ")") {
      if (tokens[at] === "AND") at++
      tests.push(any())
    }
    return (job) => tests.every((test) => test(job))
  }
  const any = (): Test => {
    const tests = [one()]
    while (tokens[at] === "OR") {
      at++
      tests.push(one())
    }
    return (job) => tests.some((test) => test(job))
  }
  const one = (): Test => {
    if (tokens[at] === "NOT" || tokens[at] === "-") {
      at++
      const test = one()
      return (job) => !test(job)
    }
    if (tokens[at] === "(") {
      at++
      const test = all()
      if (tokens[at++] !== ")") invalid("a parenthesis is not closed")
      return test
    }
    const [field = "", operator = "", written = ""] = tokens.slice(at, at + 3)
    at += 3
    const value = written.startsWith("\"") ? written.slice(1, -1).replaceAll(/\\(.)/g, "$1") : written
    return comparison(field, operator, value) ?? invalid(`${field.slice(0, 100)} ${operator} is not a comparison that the list takes`)
  }

  if (tokens.length === 0) return Result.succeed(() => true)
  return Result.try({
    try: () => {
      const test = all()
      return at < tokens.length ? invalid("a parenthesis is not opened") : test
    },
    catch: (cause) => cause instanceof ServiceError ? cause : ServiceError.invalid("filter", "is nested too deeply")
  })
}

const comparison = (field: string, operator: string, value: string): Test | undefined => {
  const equality = operator === "=" ? true : operator === "!=" ? false : undefined
  const equals = (read: (job: BatchJob) => string | undefined): Test | undefined =>
    equality === undefined ? undefined : (job) => (read(job) === value) === equality
  if (field === "display_name") {
    return operator === ":" ? (job) => wildcard(value).test(job.displayName) : equals(({ displayName }) => displayName)
  }
  if (field === "model_display_name") return equals(({ model }) => modelId(model))
  if (field === "state") return equals(({ state }) => `JOB_STATE_${state}`)
  if (field === "create_time") {
    const compare = orders[operator]
    const time = Date.parse(value)
    return compare === undefined || Number.isNaN(time) ? undefined : (job) => compare(Date.parse(job.createTime) - time)
  }
  const label = /^labels\.(.+)$/.exec(field)?.[1]
  if (label === undefined) return undefined
  if (operator === ":") return value === "*" ? ({ labels = {} }) => Object.hasOwn(labels, label) : undefined
  return equals(({ labels = {} }) => Object.hasOwn(labels, label) ? labels[label] : undefined)
}

const orders: Readonly<Record<string, (difference: number) => boolean>> = {
  "=": (d) => d === 0,
  "!=": (d) => d !== 0,
  "<": (d) => d < 0,
  "<=": (d) => d <= 0,
  ">": (d) => d > 0,
  ">=": (d) => d >= 0
}

/** `my_job_*`; without a star, the text anywhere. */
const wildcard = (text: string): RegExp => {
  const parts = text.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"))
  return parts.length === 1 ? new RegExp(parts[0] ?? "", "s") : new RegExp(`^${parts.join(".*")}$`, "s")
}
