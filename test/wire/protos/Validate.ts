import protobuf from "protobufjs"
import type { ApiVersion } from "../../../src/wire/Message.ts"
import { behaviorsOf, lookup } from "./Load.ts"

export interface ValidateOptions {
  readonly version: ApiVersion
  /** What a client sends: REQUIRED fields there, OUTPUT_ONLY and deprecated ones not. */
  readonly request?: { readonly inPath: ReadonlyArray<string>; readonly partial: boolean }
  /** Of what an Any holds. Default: those of `@google-cloud/aiplatform`. */
  readonly lookup?: (name: string) => protobuf.ReflectionObject | null
}

const behaviorOption = "(google.api.field_behavior)"

/** Strict proto JSON: what is wrong with `json` as a message of `type`. */
export const validate = (type: protobuf.Type, json: unknown, options: ValidateOptions): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const say = (at: string, problem: string) => problems.push(`${at === "" ? "$" : at}: ${problem}`)

  const hasBehavior = (message: string, field: protobuf.Field, behavior: string): boolean =>
    field.options?.[behaviorOption] === behavior || behaviorsOf(options.version, message, field.name).has(behavior)

  const message = (type: protobuf.Type, json: unknown, at: string): void => {
    const name = type.fullName.slice(1)
    const wellKnown = wellKnownTypes[name]
    if (wellKnown !== undefined) return wellKnown(json) ? undefined : void say(at, `not a ${name}`)
    if (name === "google.protobuf.Any") return any(json, at)
    if (!isObject(json)) return void say(at, `expected an object, ${name}`)
    const oneofs = new Map<string, string>()
    for (const [key, value] of Object.entries(json)) {
      const here = at === "" ? key : `${at}.${key}`
      const field = type.fields[key]
      if (field === undefined) {
        say(here, `unknown field of ${name}`)
        continue
      }
      field.resolve()
      if (value === null || value === undefined) say(here, "null or undefined")
      if (options.request !== undefined) {
        if (hasBehavior(name, field, "OUTPUT_ONLY")) say(here, "OUTPUT_ONLY field in a request")
        if (field.options?.["deprecated"] === true) say(here, "deprecated field in a request")
      } else if (isUnwrittenZero(field, value)) say(here, "zero value written")
      const oneof = field.partOf?.name
      if (oneof !== undefined) {
        if (oneofs.has(oneof)) say(here, `one-of ${oneof} is set by ${oneofs.get(oneof)}`)
        oneofs.set(oneof, key)
      }
      every(field, value, here)
    }
    if (options.request !== undefined && !(at === "" && options.request.partial)) required(type, json, at)
  }

  const required = (type: protobuf.Type, json: Record<string, unknown>, at: string): void => {
    for (const field of type.fieldsArray) {
      const { name } = field
      if (at === "" && options.request?.inPath.includes(name) === true) continue
      const value = json[name]
      const empty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
      if (empty && hasBehavior(type.fullName.slice(1), field, "REQUIRED")) {
        say(at === "" ? name : `${at}.${name}`, "REQUIRED field is missing")
      }
    }
  }

  const every = (field: protobuf.Field, value: unknown, at: string): void => {
    if (field.map) {
      if (!isObject(value)) return void say(at, "expected an object, a map")
      for (const [key, item] of Object.entries(value)) single(field, item, `${at}[${key}]`)
    } else if (field.repeated) {
      if (!Array.isArray(value)) return void say(at, "expected a list")
      value.forEach((item, i) => single(field, item, `${at}[${i}]`))
    } else single(field, value, at)
  }

  const single = (field: protobuf.Field, value: unknown, at: string): void => {
    if (field.resolvedType instanceof protobuf.Enum) {
      const { values, valuesById } = field.resolvedType
      const known = typeof value === "string" ? Object.hasOwn(values, value) : typeof value === "number" && Object.hasOwn(valuesById, value)
      if (!known) say(at, `${JSON.stringify(value)} is no value of ${field.resolvedType.name}`)
    } else if (field.resolvedType instanceof protobuf.Type) message(field.resolvedType, value, at)
    else if (scalars[field.type]?.(value) !== true) say(at, `${JSON.stringify(value)} is no ${field.type}`)
  }

  const any = (json: unknown, at: string): void => {
    if (!isObject(json) || typeof json["@type"] !== "string") return void say(at, "an Any without @type")
    const { "@type": url, ...rest } = json
    const type = (options.lookup ?? lookup)(url.replace(/^type\.googleapis\.com\//, ""))
    if (!(type instanceof protobuf.Type)) return void say(at, `no such type: ${url}`)
    message(type, rest, at)
  }

  message(type, json, "")
  return problems
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value)

/** Proto JSON leaves zero out, unless the field tells set from unset. */
const isUnwrittenZero = (field: protobuf.Field, value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0
  if (field.map) return isObject(value) && Object.keys(value).length === 0
  if (field.partOf !== null || field.resolvedType instanceof protobuf.Type) return false
  if (field.resolvedType instanceof protobuf.Enum) return value === 0 || field.resolvedType.values[String(value)] === 0
  return value === 0 || value === "" || value === false || (value === "0" && field.type === "int64")
}

const integer = (bits: bigint) => (value: unknown): boolean => {
  const digits = typeof value === "number" || typeof value === "string" ? String(value) : ""
  if (!/^-?\d{1,20}$/.test(digits)) return false
  return BigInt.asIntN(Number(bits), BigInt(digits)) === BigInt(digits)
}

const finite = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value)

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string" && value.isWellFormed(),
  bool: (value) => typeof value === "boolean",
  int32: (value) => typeof value === "number" && integer(32n)(value),
  // In JSON a string, always.
  int64: (value) => typeof value === "string" && integer(64n)(value),
  float: finite,
  double: finite,
  bytes: (value) => typeof value === "string" && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)
}

const wellKnownTypes: Readonly<Record<string, (json: unknown) => boolean>> = {
  "google.protobuf.Timestamp": (json) =>
    typeof json === "string" && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/.test(json) && !Number.isNaN(Date.parse(json)),
  "google.protobuf.Duration": (json) => typeof json === "string" && /^-?\d+(?:\.\d{1,9})?s$/.test(json),
  "google.protobuf.Struct": isObject,
  "google.protobuf.ListValue": Array.isArray,
  "google.protobuf.Value": (json) => json !== undefined
}
