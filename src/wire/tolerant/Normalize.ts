import { Result } from "effect"
import { type FieldViolation, ServiceError } from "../../domain/Errors.ts"
import { type AnyMessage, type ApiVersion, type Field, fullName, isJsonObject, type Json, type JsonObject, type Kind } from "../Message.ts"
import { aliases, inPath, moved, rewrites } from "./Aliases.ts"
import { invalidPayload } from "./LenientJson.ts"
import { readScalar } from "./Scalars.ts"

export interface NormalizeOptions {
  readonly version: ApiVersion
  /** Path of the message in its request, such as `rag_corpus`: the start of every path in violations. */
  readonly at?: string
  /** Whether fields that the API version lacks are refused. Default: the fields of both versions are accepted. */
  readonly strict?: boolean
}

/** Most violations reported at once. */
const maxViolations = 20

/**
 * Normalizes a message that a client sent to its canonical JSON. It accepts names in snake and camel case, old and mistaken
 * names, enums by number, a single value for a list, and numbers in strings. Violations have the service's words.
 */
export const normalize = (
  message: AnyMessage,
  json: Json,
  options: NormalizeOptions
): Result.Result<JsonObject, ServiceError> => {
  if (json !== null && !isJsonObject(json)) return Result.fail(invalidPayload("Unknown name \"\": Root element must be a message."))
  const walk = new Walk(options)
  const canonical = walk.message(message, json, options.at ?? "")
  const { violations } = walk
  return violations.length === 0 ? Result.succeed(canonical) : Result.fail(
    new ServiceError({
      code: "INVALID_ARGUMENT",
      message: violations.map(({ description }) => description).join("\n"),
      violations
    })
  )
}

/** Name of a field as the proto spells it: `chunk_size` for `chunkSize`. */
export const snake = (camel: string): string => camel.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The fields of each message, by every accepted name. */
const names = new WeakMap<AnyMessage, ReadonlyMap<string, readonly [key: string, field: Field]>>()

const namesOf = (message: AnyMessage): ReadonlyMap<string, readonly [key: string, field: Field]> => {
  const known = names.get(message)
  if (known !== undefined) return known
  const made = new Map<string, readonly [string, Field]>()
  for (const [key, field] of Object.entries(message.fields)) made.set(key, [key, field]).set(snake(key), [key, field])
  for (const [alias, key] of Object.entries(aliases.get(message) ?? {})) {
    const field = message.fields[key]
    if (field !== undefined) made.set(alias, [key, field]).set(snake(alias), [key, field])
  }
  names.set(message, made)
  return made
}

class Walk {
  readonly violations: Array<FieldViolation> = []
  readonly #options: NormalizeOptions

  constructor(options: NormalizeOptions) {
    this.#options = options
  }

  message(message: AnyMessage, json: Json, at: string): JsonObject {
    if (json === null) return {}
    if (!isJsonObject(json)) {
      this.#invalid(at, `Invalid value at '${at}' (type.googleapis.com/${this.#name(message)}), ${shown(json)}`)
      return {}
    }
    const out: Record<string, Json> = {}
    const members = new Map<string, string>()
    for (const [given, content] of Object.entries(json)) {
      const part = moved.get(message)?.get(given)
      const [name, value]: readonly [string, Json] = part === undefined ? [given, content] : [part, { [given]: content }]
      const found = namesOf(message).get(name)
      if (found === undefined || (this.#options.strict === true && !this.#has(found[1]))) {
        if (inPath.get(message)?.includes(name) !== true) this.#unknown(name, at, "Cannot find field.")
        continue
      }
      const [key, field] = found
      if (value === null && field.kind.kind !== "value") continue
      if (Array.isArray(value) && !holdsLists(field.kind)) {
        this.#unknown(name, at, "Proto field is not repeating, cannot start list.")
        continue
      }
      if (field.oneof !== undefined) {
        const other = members.get(field.oneof)
        if (other !== undefined && other !== key) this.#second(field.oneof, key, at)
        members.set(field.oneof, key)
      }
      out[key] = merge(out[key], this.#value(field.kind, value, at === "" ? snake(key) : `${at}.${snake(key)}`))
    }
    return rewrites.get(message)?.(out) ?? out
  }

  #value(kind: Kind, value: Json, at: string): Json {
    switch (kind.kind) {
      case "message":
        return this.message(kind.message(), value, at)
      case "list":
        return (Array.isArray(value) ? value : [value]).map((item, i) => this.#value(kind.of, item, `${at}[${i}]`))
      case "map":
        return this.#map(kind.of, value, at)
      case "any":
        return this.#any(kind.types(), value, at)
      case "struct":
        if (!isJsonObject(value)) {
          this.#invalid(at, `Invalid value at '${at}' (type.googleapis.com/google.protobuf.Struct), ${shown(value)}`)
        }
        return value
      case "value":
        return value
      default:
        return this.#scalar(kind, value, at)
    }
  }

  #map(of: Kind, value: Json, at: string): Json {
    if (!isJsonObject(value)) {
      this.#invalid(at, `Invalid value at '${at}' (Map), Cannot bind a list to map for field '${at}'.`)
      return {}
    }
    const out: Record<string, Json> = {}
    for (const [key, item] of Object.entries(value)) {
      Object.defineProperty(out, key, { value: this.#value(of, item, `${at}[${key.slice(0, 64)}]`), enumerable: true })
    }
    return out
  }

  #any(types: ReadonlyArray<AnyMessage>, value: Json, at: string): Json {
    if (!isJsonObject(value)) {
      this.#invalid(at, `Invalid value at '${at}' (type.googleapis.com/google.protobuf.Any), ${shown(value)}`)
      return value
    }
    const { "@type": url, ...rest } = value
    const type = types.find((type) => typeof url === "string" && url.endsWith(`/${this.#name(type)}`))
    return type === undefined ? value : { "@type": url ?? "", ...this.message(type, rest, at) }
  }

  #scalar(kind: Kind, value: Json, at: string): Json {
    const read = readScalar(kind, value)
    if (read !== undefined) return read
    const type = kind.kind === "enum" ? `type.googleapis.com/${this.#enum(kind.name)}` : scalarTypes[kind.kind] ?? kind.kind
    this.#invalid(
      at,
      `Invalid value at '${at}' (${type}), ${secretive(kind) && typeof value !== "object" ? `a ${typeof value}` : shown(value)}`
    )
    return ""
  }

  #has(field: Field): boolean {
    return field.only === undefined || field.only === this.#options.version
  }

  #name(message: AnyMessage): string {
    return fullName(message, this.#options.version)
  }

  #enum(name: string): string {
    return name.startsWith("google.") ? name : `google.cloud.aiplatform.${this.#options.version}.${name}`
  }

  #unknown(name: string, at: string, reason: string): void {
    // The name is cut: it can be a whole document, pasted by mistake.
    const place = at === "" ? "" : ` at '${at}'`
    this.#invalid(at, `Invalid JSON payload received. Unknown name ${JSON.stringify(name.slice(0, 100))}${place}: ${reason}`)
  }

  #second(oneof: string, key: string, at: string): void {
    this.#invalid(at, `Invalid value at '${at}' (oneof), oneof field '${oneof}' is already set. Cannot set '${key}'`)
  }

  #invalid(field: string, description: string): void {
    if (this.violations.length < maxViolations) this.violations.push({ field, description })
  }
}

const scalarTypes: Readonly<Record<string, string>> = {
  string: "TYPE_STRING",
  bool: "TYPE_BOOL",
  int32: "TYPE_INT32",
  int64: "TYPE_INT64",
  float: "TYPE_FLOAT",
  double: "TYPE_DOUBLE",
  bytes: "TYPE_BYTES",
  timestamp: "type.googleapis.com/google.protobuf.Timestamp",
  duration: "type.googleapis.com/google.protobuf.Duration"
}

const holdsLists = ({ kind }: Kind): boolean => kind === "list" || kind === "value"

/** Whether a field may hold a secret or a long text: a wrong value in its place may be one too, and is not shown. */
const secretive = ({ kind }: Kind): boolean => kind === "string" || kind === "bytes"

/** The start of a refused value, for messages. */
const shown = (value: Json): string => {
  if (Array.isArray(value)) return "Starting a list where a single value belongs"
  if (typeof value === "object") return "Starting an object on a scalar field"
  return JSON.stringify(typeof value === "string" ? value.slice(0, 64) : value)
}

/** Merges the values of a field that was given under two of its names, as for a duplicate key. */
const merge = (old: Json | undefined, value: Json): Json => {
  if (Array.isArray(old) && Array.isArray(value)) return [...old, ...value]
  if (old !== undefined && isJsonObject(old) && isJsonObject(value)) {
    const merged = new Map(Object.entries(old))
    for (const [key, each] of Object.entries(value)) merged.set(key, merge(merged.get(key), each))
    return Object.fromEntries(merged)
  }
  return value
}
