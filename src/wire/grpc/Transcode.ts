import { Result } from "effect"
import type { Type } from "protobufjs"
import { fromProto3JSON, toProto3JSON } from "proto3-json-serializer"
import { grpcStatusOf } from "../../domain/Codes.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { errorToWire } from "../Errors.ts"
import { isJsonObject, type Json, type JsonObject } from "../Message.ts"
import { build } from "../Path.ts"
import { type Match, type Route, routes } from "../Routes.ts"
import type { RpcMethod } from "./Protos.ts"

/** A gRPC call in terms of REST: its route, resource names, query and body. */
export interface Transcoded {
  readonly found: Match
  readonly query: JsonObject
  readonly body: JsonObject
}

/** Decodes a message into the canonical JSON that the codecs read. */
export const decode = (type: Type, bytes: Uint8Array): Result.Result<JsonObject, ServiceError> =>
  Result.try({
    try: () => {
      const json = toProto3JSON(type.decode(bytes)) as Json // its type of JSON is the same, but mutable
      return isJsonObject(json) ? json : {}
    },
    // The message of the decoder is left out: it is about bytes.
    catch: () => new ServiceError({ code: "INVALID_ARGUMENT", message: `the request is not a ${type.name} message` })
  })

export const encode = (type: Type, message: JsonObject): Uint8Array => {
  const made = fromProto3JSON(type, message as Parameters<typeof fromProto3JSON>[1]) // its type of JSON is the same, but mutable
  return made === null ? new Uint8Array() : type.encode(made).finish()
}

/**
 * Converts a request into a call by the protos' HTTP bindings: the resource names are taken out of the request, one field or
 * all the rest is the body, and what is left is the query.
 */
export const transcode = ({ keys, version }: RpcMethod, request: JsonObject): Result.Result<Transcoded, ServiceError> => {
  let refused = ServiceError.invalid("name", "is not the name of a resource that this method takes")
  for (const key of keys) {
    const route: Route = routes[key]
    const { body, bodyField } = route
    const inner = bodyField === undefined ? undefined : camel(bodyField)
    const inside = inner === undefined ? undefined : request[inner]
    const held = isJsonObject(inside) ? inside : {}
    const names = new Set(route.paths.flatMap(({ params }) => params.map(({ name }) => name)))
    const nameOf = (name: string): string => String(request[name] ?? held[name] ?? "")
    const params = Object.fromEntries([...names].map((name) => [name, nameOf(name)]))
    const path = build(route.paths, params)
    if (Result.isFailure(path)) {
      refused = path.failure
      continue
    }
    const rest = without(request, new Set([...names, ...(inner === undefined ? [] : [inner])]))
    const all = route.raw === true || (body !== undefined && inner === undefined)
    return Result.succeed({
      found: { key, params, upload: false, ...(version === undefined ? { version: "v1beta1", unversioned: true } : { version }) },
      query: all ? {} : rest,
      body: all ? rest : without(held, names)
    })
  }
  return Result.fail(refused)
}

/** An error as `grpc-status-details-bin` carries it; undefined where it has no details beyond code and message. */
export const statusDetails = (
  type: Type,
  error: ServiceError,
  metadata: Readonly<Record<string, string>>
): Uint8Array | undefined => {
  const { error: told } = errorToWire(error, metadata).body as { readonly error: JsonObject } // every error body has this form
  const { details } = told
  return details === undefined ? undefined : encode(type, { code: grpcStatusOf(error.code), message: error.message, details })
}

const without = (json: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)))

const camel = (snake: string): string => snake.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
