import protobuf from "protobufjs"
import { type AnyMessage, type ApiVersion, type Field, fullName, type Kind } from "../../../src/wire/Message.ts"
import { snake } from "../../../src/wire/tolerant/Normalize.ts"
import { lookup } from "./Load.ts"

/** Not protos: what stands in the body of an HTTP error. */
const made = /^google\.rpc\.HttpError/

/** Where the tables of messages differ from the protos, from these messages down. */
export const compareTables = (roots: ReadonlyArray<AnyMessage>, version: ApiVersion): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const seen = new Set<AnyMessage>()
  const visit = (message: AnyMessage, complete: boolean): void => {
    if (seen.has(message)) return
    seen.add(message)
    const name = fullName(message, version)
    if (!made.test(name)) {
      const type = lookup(name)
      if (type instanceof protobuf.Type) problems.push(...compareMessage(message, type, version, complete).map((p) => `${name}.${p}`))
      // What only the other version has, such as one more type of an Any.
      else if (!(lookup(fullName(message, version === "v1" ? "v1beta1" : "v1")) instanceof protobuf.Type)) {
        problems.push(`${name}: no such message`)
      }
    }
    for (const field of Object.values(message.fields)) {
      if (field.only === undefined || field.only === version) inner(field.kind).forEach((each) => visit(each, true))
    }
  }
  for (const root of roots) visit(root, false)
  return problems
}

const inner = (kind: Kind): ReadonlyArray<AnyMessage> =>
  kind.kind === "message"
    ? [kind.message()]
    : kind.kind === "any"
    ? kind.types()
    : kind.kind === "list" || kind.kind === "map"
    ? inner(kind.of)
    : []

/** Requests and the like leave out what the path has; their parts must be whole. */
const compareMessage = (message: AnyMessage, type: protobuf.Type, version: ApiVersion, complete: boolean): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const here = Object.entries(message.fields).filter(([, field]) => field.only === undefined || field.only === version)
  for (const [key, field] of here) {
    const real = type.fields[key]
    if (real === undefined) problems.push(`${key}: not in ${version}`)
    else problems.push(...compareField(field, real).map((problem) => `${key}: ${problem}`))
  }
  for (const [key, field] of Object.entries(message.fields)) {
    if (field.only !== undefined && field.only !== version && type.fields[key] !== undefined) problems.push(`${key}: in ${version} too`)
  }
  const keys = new Set(here.map(([key]) => key))
  for (const { name } of complete ? type.fieldsArray : []) if (!keys.has(name)) problems.push(`${name}: missing in the table`)
  return problems
}

const compareField = (field: Field, real: protobuf.Field): ReadonlyArray<string> => {
  real.resolve()
  const problems: Array<string> = []
  const kind = field.kind.kind === "list" || field.kind.kind === "map" ? field.kind.of : field.kind
  if ((field.kind.kind === "list") !== (real.repeated && !real.map)) problems.push("list or not")
  if ((field.kind.kind === "map") !== real.map) problems.push("map or not")
  const type = typeOf(real)
  if (kind.kind !== type) problems.push(`is ${type}, not ${kind.kind}`)
  if (kind.kind === "message" && !real.resolvedType?.fullName.endsWith(`.${kind.message().name.replace(/^.*\{v\}\./, "")}`)) {
    problems.push(`is ${real.resolvedType?.fullName ?? ""}, not ${kind.message().name}`)
  }
  if (kind.kind === "enum" && real.resolvedType instanceof protobuf.Enum) {
    if (!real.resolvedType.fullName.endsWith(`.${kind.name}`)) problems.push(`is ${real.resolvedType.fullName}, not ${kind.name}`)
    // A version of the API may lack newer values; it has no others.
    for (const [name, number] of Object.entries(real.resolvedType.values)) {
      if (kind.numbers[name] !== number) problems.push(`${name} is ${number}`)
    }
  }
  const member = real.partOf
  const synthetic = member?.name.startsWith("_") === true
  const oneof = member === null || member === undefined || synthetic ? undefined : snake(member.name)
  if (field.oneof !== oneof) problems.push(`belongs to ${oneof ?? "no one-of"}`)
  const scalar = real.resolvedType instanceof protobuf.Type ? undefined : real
  if (scalar !== undefined && oneof === undefined && (field.presence === true) !== synthetic) problems.push("optional or not")
  if ((real.options?.["deprecated"] === true) && field.deprecated !== true && real.parent?.name !== "RagManagedDbConfig") {
    problems.push("deprecated")
  }
  return problems
}

const wellKnown: Readonly<Record<string, Kind["kind"]>> = {
  ".google.protobuf.Timestamp": "timestamp",
  ".google.protobuf.Duration": "duration",
  ".google.protobuf.Struct": "struct",
  ".google.protobuf.Value": "value",
  ".google.protobuf.ListValue": "value",
  ".google.protobuf.Any": "any",
  // In JSON one string: its paths, with commas between.
  ".google.protobuf.FieldMask": "string"
}

const typeOf = (real: protobuf.Field): string => {
  const { resolvedType } = real
  if (resolvedType instanceof protobuf.Enum) return "enum"
  return resolvedType === null ? real.type : wellKnown[resolvedType.fullName] ?? "message"
}
