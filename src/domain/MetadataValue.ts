import { Schema } from "effect"

/** Metadata of files: typed values under keys, and the schema of each key's values in a corpus. */

const Scalar = Schema.Union([
  /** A decimal 64-bit integer as text: JSON numbers are exact only to 2^53. */
  Schema.TaggedStruct("integer", { value: Schema.String }),
  Schema.TaggedStruct("float", { value: Schema.Finite }),
  Schema.TaggedStruct("string", { value: Schema.String }),
  /** The date as written: `2026`, `2026-03`, `2026-03-01`, `2026-03-01T08:30`, RFC 3339. */
  Schema.TaggedStruct("datetime", { value: Schema.String }),
  Schema.TaggedStruct("boolean", { value: Schema.Boolean })
])
export type ScalarValue = typeof Scalar.Type

/** A value that people give a file, tagged by its type. A list's values are of one type. */
export const MetadataValue = Schema.Union([...Scalar.members, Schema.TaggedStruct("list", { values: Schema.Array(Scalar) })])
export type MetadataValue = typeof MetadataValue.Type

const ScalarType = Schema.Literals(["integer", "float", "string", "datetime", "boolean"])
export type ScalarType = typeof ScalarType.Type

export const DataSchemaSpec = Schema.Struct({
  /** Unique key in the corpus: 1 to 63 of `a-z`, `0-9` and `-`, starting with a letter. */
  key: Schema.String,
  type: Schema.Union([ScalarType, Schema.Literal("list")]),
  /** Type of a list's elements. */
  element: Schema.optionalKey(ScalarType),
  /** How filters may use the key; `none`: not at all. Unset: `exact`. */
  search: Schema.optionalKey(Schema.Literals(["none", "exact"])),
  /** What the key is attached to; `file` is the only choice. */
  granularity: Schema.optionalKey(Schema.Literal("file"))
})
export type DataSchemaSpec = typeof DataSchemaSpec.Type

/** A key of a file with its value. The key has a data schema in the corpus, which the value conforms to. */
export interface FileMetadataSpec {
  readonly key: string
  readonly value: MetadataValue
}

const idForm = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
export const idRule = "must have 1 to 63 of the letters a-z, digits and -, a letter first and no - at the end"

/** Whether a text is a valid key, or id, for the API. */
export const isMetadataKey = (key: string): boolean => idForm.test(key)

export const textOf = (value: ScalarValue): string => String(value.value)

/** Converts a text to a value of a type; undefined where it is not one. */
export const asType = (type: ScalarType, text: string): ScalarValue | undefined => {
  switch (type) {
    case "integer": {
      if (!/^[+-]?\d{1,19}$/.test(text)) return undefined
      const value = BigInt(text)
      return value === BigInt.asIntN(64, value) ? { _tag: "integer", value: String(value) } : undefined
    }
    case "float": {
      const value = number(text)
      return value === undefined ? undefined : { _tag: "float", value }
    }
    case "string":
      return { _tag: "string", value: text }
    case "datetime":
      return instantOf(text) === undefined ? undefined : { _tag: "datetime", value: text }
    case "boolean":
      return text === "true" || text === "false" ? { _tag: "boolean", value: text === "true" } : undefined
  }
}

export const number = (text: string): number | undefined =>
  /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined

const dateForm = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?(Z|[+-]\d\d:?\d\d)?)?)?$/

/** Parses a date in any form that the API accepts to microseconds since the epoch; without a zone it is UTC. */
export const instantOf = (text: string): number | undefined => {
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = dateForm.exec(text) ?? []
  if (year === undefined) return undefined
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Date.parse reads 30 February as 2 March.
  if (Number.isNaN(at) || new Date(at).getUTCDate() !== Number(day)) return undefined
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000)
  return (at - offset) * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"))
}
