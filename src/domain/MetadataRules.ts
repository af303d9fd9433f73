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
 * Rules that derive metadata from a file's path in its source, or from its own properties. The values are of the same
 * kind as those that people write (`FileMetadata.ts`), typed by a data schema of the corpus.
 */

/** How the value of one key is found, and what it must be. Either `path` or `property` is set. */
export interface MetadataRule {
  /** Pattern of paths in which `{key}` stands for the value. */
  readonly path?: string
  /** Names of properties, in lower case; the first one present counts. */
  readonly property?: ReadonlyArray<string>
  readonly type: DataSchemaSpec["type"]
  /** Type of a list's elements; lists only. */
  readonly element?: ScalarType
  /** The allowed values, as texts. */
  readonly values?: ReadonlyArray<string>
  /** Whether a file without a value breaks the rule. */
  readonly required: boolean
  /** Whether a file that breaks the rule fails. Otherwise it is stored without the value, and the report says so. */
  readonly strict: boolean
}

/** Rules by key. */
export type MetadataRules = Readonly<Record<string, MetadataRule>>

/** Metadata that rules make of a file. */
export interface Described {
  /** Whether all rules were applied, so that metadata from earlier rules is removed. Otherwise only rules by path were. */
  readonly whole: boolean
  /** Keys of the applied rules; the file's previous values of these keys are removed. */
  readonly keys: ReadonlyArray<string>
  readonly values: ReadonlyArray<FileMetadataSpec>
  /** Broken rules, in words for people. */
  readonly broken: ReadonlyArray<string>
  /** Whether one of the broken rules is strict. */
  readonly fails: boolean
}

/** The error of a file that is not stored since it breaks a strict rule. */
export const unfit = ({ broken }: Described): DocumentError =>
  new DocumentError({ problem: "metadata", message: `breaks a rule for its metadata: ${broken.join("; ")}` })

/** The rules in the form that an upload needs. */
export interface Describing {
  /** Properties to read; empty: the document's properties need not be read. */
  readonly properties: ReadonlyArray<string>
  readonly describe: (properties: Properties) => Described
}

/** Prefix of the ids of data schemas and values made by rules, `rule-{key}`; those that people write have others. */
const mark = "rule-"
export const ruleId = (key: string): string => `${mark}${key}`
export const isRuleId = (id: string): boolean => id.startsWith(mark)

/** Whether a key leaves room for {@link ruleId}. */
export const isRuleKey = (key: string): boolean => isMetadataKey(key) && isMetadataKey(ruleId(key))

export const schemasOf = (rules: MetadataRules): ReadonlyArray<DataSchemaSpec & { readonly id: string }> =>
  Object.entries(rules).map(([key, { element, type }]) => ({
    id: ruleId(key),
    key,
    type,
    search: "exact",
    ...(element === undefined ? {} : { element })
  }))

/** Prepares the rules for the file at a path of its source, to be applied once its properties are known. */
export const describing = (rules: MetadataRules, path: string): Describing => ({
  properties: [...new Set(Object.values(rules).flatMap(({ property = [] }) => property))],
  describe: (properties) => describe(rules, path, properties)
})

/** @param properties undefined: they are unknown, and metadata made of them stays */
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

/** The value, undefined for none, or a text saying why a required value is missing. */
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

/** Converts a text from a document to a typed value; undefined where that is not possible. */
export const typed = (type: ScalarType, text: string): ScalarValue | undefined => {
  const trimmed = text.trim()
  if (type === "boolean") return asType(type, trimmed.toLowerCase())
  // Front matter may have a space between day and time.
  if (type === "datetime") {
    return asType(type, trimmed.replace(/^(\d{4}-\d\d-\d\d) +(?=\d\d)/, "$1T").replace(/ +(?=Z|[+-]\d\d:?\d\d$)/, ""))
  }
  return asType(type, trimmed)
}

const a = (type: string): string => `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`

const quoted = (text: string): string => JSON.stringify(printable(text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text))

/** The part of a path that matches `{key}` in a pattern. */
const inPath = (pattern: string, key: string, path: string): string | undefined => patternOf(pattern, key)?.exec(path)?.[1]

/**
 * Compiles a pattern of paths to a regular expression whose first group is the value: `*` and `?` match within a name,
 * `**` any folders, `{key}` a name or a part of one. Undefined if `{key}` is not in it exactly once, or another name is.
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
