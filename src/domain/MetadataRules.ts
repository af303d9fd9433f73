import { DocumentError } from "./Errors.ts"
import {
  asType,
  type DataSchemaSpec,
  type FileMetadataSpec,
  isMetadataKey,
  type MetadataValue,
  type ScalarType,
  type ScalarValue
} from "./MetadataValue.ts"
import { longestList, longestValue, type Properties } from "./Properties.ts"
import { printable } from "./Text.ts"

/**
 * Rules that make metadata of what is known of a file: where it lies in its source, or what it says of itself. The values
 * are those that people may write too (`FileMetadata.ts`), typed by a data schema of the corpus.
 */

/** How the value of one key is found, and what it must be. Of `path` and `property` there is one. */
export interface MetadataRule {
  /** A pattern of paths in which `{key}` stands for the value. */
  readonly path?: string
  /** Names of properties, in lower case; the first that is there counts. */
  readonly property?: ReadonlyArray<string>
  readonly type: DataSchemaSpec["type"]
  /** What a list has; other types have none. */
  readonly element?: ScalarType
  /** The only values there may be, as texts. */
  readonly values?: ReadonlyArray<string>
  /** A file without a value breaks the rule. */
  readonly required: boolean
  /** A file that breaks the rule fails. Otherwise it is taken without the value, and its report says so. */
  readonly strict: boolean
}

/** By key. */
export type MetadataRules = Readonly<Record<string, MetadataRule>>

/** What rules make of a file. */
export interface Described {
  /** All rules were applied: what earlier rules made of the file goes. Otherwise those alone that go by its path. */
  readonly whole: boolean
  /** The keys of the rules that were applied; whatever the file had under them goes. */
  readonly keys: ReadonlyArray<string>
  readonly values: ReadonlyArray<FileMetadataSpec>
  /** What breaks a rule, in words for a person. */
  readonly broken: ReadonlyArray<string>
  /** One of the broken rules is strict. */
  readonly fails: boolean
}

/** What is said of a file that is not taken, since it breaks a strict rule. */
export const unfit = ({ broken }: Described): DocumentError =>
  new DocumentError({ problem: "metadata", message: `breaks a rule for its metadata: ${broken.join("; ")}` })

/** What an upload needs to know of the rules. */
export interface Describing {
  /** The properties that are asked for; empty: the document need not be looked at. */
  readonly properties: ReadonlyArray<string>
  readonly describe: (properties: Properties) => Described
}

/** Data schemas and values that rules make are known by their ids, `rule-{key}`: what people write has others. */
const mark = "rule-"
export const ruleId = (key: string): string => `${mark}${key}`
export const isRuleId = (id: string): boolean => id.startsWith(mark)

/** A key that leaves room for {@link ruleId}. */
export const isRuleKey = (key: string): boolean => isMetadataKey(key) && isMetadataKey(ruleId(key))

export const schemasOf = (rules: MetadataRules): ReadonlyArray<DataSchemaSpec & { readonly id: string }> =>
  Object.entries(rules).map(([key, { element, type }]) => ({
    id: ruleId(key),
    key,
    type,
    search: "exact",
    ...(element === undefined ? {} : { element })
  }))

/** What rules make of the file at a path of its source, once its properties are known. */
export const describing = (rules: MetadataRules, path: string): Describing => ({
  properties: [...new Set(Object.values(rules).flatMap(({ property = [] }) => property))],
  describe: (properties) => describe(rules, path, properties)
})

/** @param properties undefined: they are not known, and what was made of them stays */
export const describe = (rules: MetadataRules, path: string, properties: Properties | undefined): Described => {
  const applied = Object.entries(rules).filter(([, rule]) => properties !== undefined || rule.path !== undefined)
  const values: Array<FileMetadataSpec> = []
  const broken: Array<string> = []
  let fails = false
  for (const [key, rule] of applied) {
    const given = rule.path === undefined ? propertyOf(rule, properties ?? {}) : inPath(rule.path, key, path)
    const value = valueOf(rule, given)
    if (typeof value === "string") {
      broken.push(`${key}: ${value}`)
      fails ||= rule.strict
    } else if (value !== undefined) values.push({ key, value })
  }
  return { whole: properties !== undefined, keys: applied.map(([key]) => key), values, broken, fails }
}

const propertyOf = ({ property = [] }: MetadataRule, properties: Properties): Properties[string] | undefined =>
  property.map((name) => Object.hasOwn(properties, name) ? properties[name] : undefined).find(isGiven)

const isGiven = (value: Properties[string] | undefined): boolean => value !== undefined && value.length > 0

/** The value, nothing, or why there is none although there should be one. */
const valueOf = (rule: MetadataRule, given: Properties[string] | undefined): MetadataValue | string | undefined => {
  const { element = "string", property, required, type } = rule
  if (given === undefined || given.length === 0) {
    return required ? `is required, and there is none${property === undefined ? "" : ` (property ${property.join(", ")})`}` : undefined
  }
  if (type !== "list") {
    const text = typeof given === "string" ? given : given.length === 1 ? given[0] : undefined
    return text === undefined ? `has ${given.length} values where ${a(type)} is wanted` : scalar(rule, type, text)
  }
  const texts = typeof given === "string" ? given.split(/[,;]/).map((text) => text.trim()).filter((text) => text !== "") : given
  if (texts.length > longestList) return `has more than ${longestList} values`
  const values: Array<ScalarValue> = []
  for (const text of texts) {
    const value = scalar(rule, element, text)
    if (typeof value === "string") return value
    values.push(value)
  }
  return { _tag: "list", values }
}

const scalar = ({ values }: MetadataRule, type: ScalarType, text: string): ScalarValue | string => {
  if (text.length > longestValue) return `has more than ${longestValue} characters`
  const value = typed(type, text)
  if (value === undefined) return `${quoted(text)} is not ${a(type)}`
  const allowed = values === undefined || values.some((other) => typed(type, other)?.value === value.value)
  return allowed ? value : `${quoted(text)} is none of ${values.join(", ")}`
}

/** A text as documents write it, as a value; undefined where it is none. */
export const typed = (type: ScalarType, text: string): ScalarValue | undefined => {
  const trimmed = text.trim()
  if (type === "boolean") return asType(type, trimmed.toLowerCase())
  // Front matter has a space between day and time.
  if (type === "datetime") {
    return asType(type, trimmed.replace(/^(\d{4}-\d\d-\d\d) +(?=\d\d)/, "$1T").replace(/ +(?=Z|[+-]\d\d:?\d\d$)/, ""))
  }
  return asType(type, trimmed)
}

const a = (type: string): string => `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`

const quoted = (text: string): string => JSON.stringify(printable(text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text))

/** What stands in a path where a pattern has `{key}`. */
const inPath = (pattern: string, key: string, path: string): string | undefined => patternOf(pattern, key)?.exec(path)?.[1]

/**
 * A pattern of paths as a regular expression whose first group is the value: `*` and `?` within a name, `**` any folders,
 * `{key}` a name or a part of one. Undefined where `{key}` is not in it exactly once, or another name is.
 */
export const patternOf = (pattern: string, key: string): RegExp | undefined => {
  const parts = pattern.split(/(\{[^{}/]*\}|\*\*\/|\*\*|\*|\?)/)
  if (parts.filter((part) => /^\{.*\}$/.test(part)).join() !== `{${key}}`) return undefined
  return new RegExp(
    `^${
      parts.map((part) =>
        part === "**/"
          ? "(?:[^/]+/)*"
          : part === "**"
          ? ".*"
          : part === "*"
          ? "[^/]*"
          : part === "?"
          ? "[^/]"
          : part === `{${key}}`
          ? "([^/]+?)"
          : part.replaceAll(/[\\^$.|+()[\]{}]/g, "\\$&")
      ).join("")
    }$`,
    "su"
  )
}
