import { Result } from "effect"
import { type BatchJob, modelId } from "./BatchPrediction.ts"
import type { ServiceError } from "../Errors.ts"
import { type Condition, equality, ofLabels, parseFilter, type Test, testOf } from "../ListFilter.ts"

/** Parses the filter of a listing of jobs, as far as the service supports it. An empty filter passes every job. */
export const parseBatchFilter = (text: string): Result.Result<Test<BatchJob>, ServiceError> =>
  Result.flatMap(
    parseFilter(text),
    (filter) => testOf(filter, comparison, "display_name, model_display_name, state, create_time and labels.KEY")
  )

const comparison = (condition: Condition): Test<BatchJob> | undefined => {
  const { field, operator, value } = condition
  switch (field) {
    case "display_name": {
      const matches = wildcard(value)
      return operator === ":"
        ? ({ displayName }) => matches(displayName)
        : equality(operator, value, ({ displayName }) => displayName)
    }
    case "model_display_name":
      return equality(operator, value, ({ model }) => modelId(model))
    case "state":
      return equality(operator, value, ({ state }) => `JOB_STATE_${state}`)
    case "create_time": {
      const compare = orders[operator]
      const time = Date.parse(value)
      return compare === undefined || Number.isNaN(time) ? undefined : ({ createTime }) => compare(Date.parse(createTime) - time)
    }
    default:
      return ofLabels(condition)
  }
}

const orders: Readonly<Partial<Record<Condition["operator"], (difference: number) => boolean>>> = {
  "=": (d) => d === 0,
  "!=": (d) => d !== 0,
  "<": (d) => d < 0,
  "<=": (d) => d <= 0,
  ">": (d) => d > 0,
  ">=": (d) => d >= 0
}

/**
 * Tests for a pattern such as `my_job_*`; without a star, for the text anywhere. Matched part by part from the left,
 * since a caller's pattern must not be run as a regular expression.
 */
const wildcard = (pattern: string): Test<string> => {
  const [first = "", ...others] = pattern.split("*")
  const last = others.pop()
  if (last === undefined) return (text) => text.includes(first)
  const within = others.filter((part) => part !== "")
  return (text) => {
    let from = text.startsWith(first) ? first.length : Infinity
    for (const part of within) {
      const found = text.indexOf(part, from)
      from = found < 0 ? Infinity : found + part.length
    }
    return text.endsWith(last) && text.length - last.length >= from
  }
}
