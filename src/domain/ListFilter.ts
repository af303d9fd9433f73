import { Result } from "effect"
import { ServiceError } from "./Errors.ts"

/** `display_name="a"`, `labels.team:*`, `model_user_id=~"(?i).*gemma.*"`; `is_deployable(true)` is `is_deployable="true"`. */
export interface Condition {
  readonly field: string
  readonly operator: "=" | "!=" | ":" | "=~"
  readonly value: string
}

/** All of the groups must hold, and of each group one condition. */
export type Filter = ReadonlyArray<ReadonlyArray<Condition>>

const condition = /^([A-Za-z_][\w.-]*)(?:\((true|false)\)|\s*(=~|!=|=|:)\s*(?:"([^"]*)"|([^\s"()]+)))/
const longest = 2000

/**
 * The filter of a listing, as far as the service's listings of models and endpoints take it: conditions joined by AND
 * and OR, of which OR binds closer (google.aip.dev/160), so that parentheses around an OR say what holds anyway.
 */
export const parseFilter = (text: string): Result.Result<Filter, ServiceError> => {
  const groups: Array<Array<Condition>> = []
  let rest = text.trim()
  if (rest.length > longest) return invalid(`has more than ${longest} characters`)
  let joint = "AND"
  let open = false
  while (rest !== "") {
    if (rest.startsWith("(")) {
      if (open || joint === "OR") return invalid("parentheses go around conditions joined by OR, once")
      open = true
      rest = rest.slice(1).trimStart()
    }
    const found = condition.exec(rest)
    if (found === null) return invalid(`is not understood from ${JSON.stringify(rest.slice(0, 40))} on`)
    const [all, field = "", truth, operator = "=", quoted, bare = ""] = found
    const one: Condition = { field, operator: operator as Condition["operator"], value: truth ?? quoted ?? bare } // the pattern has no others
    if (joint === "OR") groups.at(-1)?.push(one)
    else groups.push([one])
    rest = rest.slice(all.length).trimStart()
    if (open && rest.startsWith(")")) {
      open = false
      rest = rest.slice(1).trimStart()
    }
    if (rest === "") break
    const next = /^(AND|OR)\s*(?=\S)/.exec(rest)
    if (next === null) return invalid(`AND or OR is missing before ${JSON.stringify(rest.slice(0, 40))}`)
    joint = next[1] ?? ""
    if (open && joint === "AND") return invalid("parentheses go around conditions joined by OR, once")
    rest = rest.slice(next[0].length)
  }
  return open ? invalid("a parenthesis is not closed") : Result.succeed(groups)
}

const invalid = (rule: string): Result.Result<never, ServiceError> => Result.fail(ServiceError.invalid("filter", rule))

/** The word within `(?i).*word.*`, the one form of pattern that is matched; undefined for others. */
export const soughtIn = (pattern: string): string | undefined => /^(?:\(\?i\))?\.\*([\w@./ -]*)\.\*$/.exec(pattern)?.[1]

/** What the listings of a project's own resources are filtered by. */
interface Named {
  readonly name: string
  readonly displayName: string
  readonly labels?: Readonly<Record<string, string>>
}

/** @param kind the field that holds the id: `endpoint`, `model` */
export const holds = (filter: Filter, kind: string): Result.Result<(resource: Named) => boolean, ServiceError> => {
  const strange = filter.flat().find(({ field, operator }) =>
    field.startsWith("labels.") ? operator === "=~" : (field !== "display_name" && field !== kind) || (operator !== "=" && operator !== "!="))
  if (strange !== undefined) {
    return invalid(`${strange.field}${strange.operator} is not a comparison of this list: it takes ${kind}, display_name and labels.KEY`)
  }
  return Result.succeed((resource) => filter.every((group) => group.some((one) => matches(one, resource))))
}

const matches = ({ field, operator, value }: Condition, { displayName, labels = {}, name }: Named): boolean => {
  const key = field.slice("labels.".length)
  const actual = field === "display_name"
    ? displayName
    : !field.startsWith("labels.")
    ? name.slice(name.lastIndexOf("/") + 1)
    : Object.hasOwn(labels, key) ? labels[key] : undefined
  if (operator === ":") return actual !== undefined && (value === "*" || actual.includes(value))
  return (actual === value) === (operator === "=")
}
