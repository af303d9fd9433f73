import { Result } from "effect"
import { ServiceError } from "./Errors.ts"
import { lastSegment } from "./ResourceNames.ts"

const operators = ["=", "!=", "=~", ":", "<", "<=", ">", ">="] as const

/**
 * A comparison: `display_name="a"`, `labels.team:*`, `model_user_id=~"(?i).*gemma.*"`; `is_deployable(true)` is
 * `is_deployable="true"`.
 */
export interface Condition {
  readonly field: string
  readonly operator: typeof operators[number]
  readonly value: string
}

export type Filter =
  | Condition
  | { readonly all: ReadonlyArray<Filter> }
  | { readonly any: ReadonlyArray<Filter> }
  | { readonly not: Filter }

const longest = 2000

/**
 * Parses the filter of a listing (google.aip.dev/160): comparisons joined with AND, OR, NOT and parentheses. As in
 * AIP-160, OR binds closer than AND, and AND may be left out. An empty filter passes everything.
 */
export const parseFilter = (text: string): Result.Result<Filter, ServiceError> => {
  if (text.length > longest) return Result.fail(ServiceError.invalid("filter", `has more than ${longest} characters`))
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[()]|!=|<=|>=|=~|[=<>:]|[^\s()=!<>:"]+|\S/g) ?? []
  let at = 0
  const invalid = (why: string): never => {
    throw ServiceError.invalid("filter", why)
  }

  const all = (): Filter => {
    const parts = [any()]
    while (at < tokens.length && tokens[at] !== ")") {
      if (tokens[at] === "AND") at++
      parts.push(any())
    }
    return parts.length === 1 ? parts[0] ?? { all: [] } : { all: parts }
  }
  const any = (): Filter => {
    const parts = [one()]
    while (tokens[at] === "OR") {
      at++
      parts.push(one())
    }
    return parts.length === 1 ? parts[0] ?? { any: [] } : { any: parts }
  }
  const one = (): Filter => {
    if (tokens[at] === "NOT" || tokens[at] === "-") {
      at++
      return { not: one() }
    }
    if (tokens[at] === "(") {
      at++
      const within = all()
      return tokens[at++] === ")" ? within : invalid("a parenthesis is not closed")
    }
    const [field = "", sign = "", written = "", end] = tokens.slice(at, at + 4)
    if (sign === "(" && /^(?:true|false)$/.test(written) && end === ")") {
      at += 4
      return { field, operator: "=", value: written }
    }
    at += 3
    const operator = operators.find((known) => known === sign) ??
      invalid(`is not understood from ${JSON.stringify(`${field} ${sign}`.slice(0, 100))} on`)
    return { field, operator, value: written.startsWith("\"") ? written.slice(1, -1).replaceAll(/\\(.)/g, "$1") : written }
  }

  if (tokens.length === 0) return Result.succeed({ all: [] })
  return Result.try({
    try: () => {
      const filter = all()
      return at < tokens.length ? invalid("a parenthesis is not opened") : filter
    },
    catch: (cause) => cause instanceof ServiceError ? cause : ServiceError.internal("the filter could not be read", cause)
  })
}

export type Test<A> = (thing: A) => boolean

/** Makes a test of a filter; `comparison` makes the test of a condition, and `takes` lists the conditions there are. */
export const testOf = <A>(
  filter: Filter,
  comparison: (condition: Condition) => Test<A> | undefined,
  takes: string
): Result.Result<Test<A>, ServiceError> => {
  if ("not" in filter) return Result.map(testOf(filter.not, comparison, takes), (test) => (thing) => !test(thing))
  if ("all" in filter) {
    return Result.map(
      Result.all(filter.all.map((part) => testOf(part, comparison, takes))),
      (tests) => (thing) => tests.every((test) => test(thing))
    )
  }
  if ("any" in filter) {
    return Result.map(
      Result.all(filter.any.map((part) => testOf(part, comparison, takes))),
      (tests) => (thing) => tests.some((test) => test(thing))
    )
  }
  const test = comparison(filter)
  return test === undefined
    ? Result.fail(
      ServiceError.invalid(
        "filter",
        `${`${filter.field}${filter.operator}`.slice(0, 100)} is not a comparison of this list: it takes ${takes}`
      )
    )
    : Result.succeed(test)
}

/** Makes the test of a condition on labels: `labels.team=a`, `labels.team!=a`, `labels.team:*`; undefined for other conditions. */
export const ofLabels = <A extends { readonly labels?: Readonly<Record<string, string>> }>(
  { field, operator, value }: Condition
): Test<A> | undefined => {
  const key = /^labels\.(.+)$/.exec(field)?.[1]
  if (key === undefined) return undefined
  const held = ({ labels = {} }: A): string | undefined => Object.hasOwn(labels, key) ? labels[key] : undefined
  if (operator === ":") return value === "*" ? (thing) => held(thing) !== undefined : (thing) => held(thing)?.includes(value) === true
  return equality(operator, value, held)
}

/** Makes the test of a condition with `=` or `!=`; undefined for other operators. */
export const equality = <A>(operator: Condition["operator"], value: string, read: (thing: A) => string | undefined): Test<A> | undefined =>
  operator === "=" || operator === "!=" ? (thing) => (read(thing) === value) === (operator === "=") : undefined

/** The fields by which listings of a project's models and endpoints are filtered. */
interface Named {
  readonly name: string
  readonly displayName: string
  readonly labels?: Readonly<Record<string, string>>
}

/** @param kind the field that holds the id: `endpoint`, `model` */
export const holds = (filter: Filter, kind: string): Result.Result<Test<Named>, ServiceError> =>
  testOf(filter, (condition): Test<Named> | undefined => {
    const { field, operator, value } = condition
    if (field === "display_name") return equality(operator, value, ({ displayName }) => displayName)
    if (field === kind) return equality(operator, value, ({ name }) => lastSegment(name))
    return ofLabels(condition)
  }, `${kind}, display_name and labels.KEY`)

/** The word in `(?i).*word.*`, the only form of pattern that is supported; undefined for others. */
export const soughtIn = (pattern: string): string | undefined => /^(?:\(\?i\))?\.\*([\w@./ -]*)\.\*$/.exec(pattern)?.[1]
