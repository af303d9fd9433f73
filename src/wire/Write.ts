import { type AnyMessage, type ApiVersion, type Field, fullName, isJsonObject, type Json, type JsonObject, type Kind } from "./Message.ts"

export interface WriteOptions {
  readonly version: ApiVersion
  /** Whether enums are written as numbers, as `$alt=json;enum-encoding=int` requests. */
  readonly enumNumbers?: boolean
}

/**
 * A message in the JSON that the service would write: without zero values unless they have a meaning, and without fields that
 * the API version lacks.
 */
export const write = (message: AnyMessage, value: object, options: WriteOptions): JsonObject => {
  const out: Record<string, Json> = {}
  for (const [key, field] of Object.entries(message.fields)) {
    const given = Reflect.get(value, key) as Json | undefined // the shape of a message is JSON
    if (given === undefined || (field.only !== undefined && field.only !== options.version)) continue
    if (given === null && field.kind.kind !== "value") continue
    if (isZero(field, given)) continue
    out[key] = writeKind(field.kind, given, options)
  }
  return out
}

const writeKind = (kind: Kind, value: Json, options: WriteOptions): Json => {
  switch (kind.kind) {
    case "enum":
      return options.enumNumbers === true && typeof value === "string" ? kind.numbers[value] ?? value : value
    case "message":
      return isJsonObject(value) ? write(kind.message(), value, options) : value
    case "list":
      return Array.isArray(value) ? value.map((item) => writeKind(kind.of, item, options)) : value
    case "map":
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeKind(kind.of, item, options)]))
        : value
    case "any":
      return isJsonObject(value) ? writeAny(kind.types(), value, options) : value
    default:
      return value
  }
}

const writeAny = (types: ReadonlyArray<AnyMessage>, value: JsonObject, options: WriteOptions): Json => {
  const name = String(value["@type"]).replace(/^.*\//, "")
  const type = types.find((type) => fullName(type, "v1") === name || fullName(type, "v1beta1") === name)
  return type === undefined ? value : { "@type": value["@type"] ?? "", ...write(type, value, options) }
}

const isZero = (field: Field, value: Json): boolean => {
  if (Array.isArray(value)) return value.length === 0
  if (field.kind.kind === "map" && isJsonObject(value)) return Object.keys(value).length === 0
  if (field.presence === true || field.kept === true || field.kind.kind === "value") return false
  if (field.kind.kind === "int64") return value === "0"
  if (field.kind.kind === "enum") return typeof value === "string" && field.kind.numbers[value] === 0
  return value === "" || value === 0 || value === false
}

/** Path of the first field that is set but absent from a version of the API; undefined where there is none. */
export const missingIn = (message: AnyMessage, value: object, version: ApiVersion, at = ""): string | undefined => {
  for (const [key, field] of Object.entries(message.fields)) {
    const given = Reflect.get(value, key) as Json | undefined // the shape of a message is JSON
    if (given === undefined) continue
    const path = at === "" ? key : `${at}.${key}`
    if (field.only !== undefined && field.only !== version) return path
    const inner = missingInKind(field.kind, given, version, path)
    if (inner !== undefined) return inner
  }
  return undefined
}

const missingInKind = (kind: Kind, value: Json, version: ApiVersion, at: string): string | undefined => {
  if (kind.kind === "message" && isJsonObject(value)) return missingIn(kind.message(), value, version, at)
  if (kind.kind === "list" && Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const inner = missingInKind(kind.of, item, version, `${at}[${i}]`)
      if (inner !== undefined) return inner
    }
  }
  return undefined
}
