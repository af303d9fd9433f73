import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { brotliDecompressSync } from "node:zlib"
import type { INamespace } from "protobufjs"
import protobuf from "protobufjs/light.js"
import { type ApiVersion, fullName } from "../Message.ts"
import { BadRequest, ErrorInfo, Help, RetryInfo, Status } from "../messages/Rpc.ts"
import { type Route, type RouteKey, routes } from "../Routes.ts"

/**
 * Versions of the API. Field numbers and types, which JSON does not need, come from the protos themselves: the build extracts
 * from `@google-cloud/aiplatform` what the table of routes uses, so that nothing is written twice.
 */
const versions: ReadonlyArray<ApiVersion> = ["v1", "v1beta1"]

const table = Object.entries(routes) as ReadonlyArray<[RouteKey, Route]> // the keys are those of the table

/** A method of the protos, and the routes that implement it: several where they differ only by the kind of resource. */
export interface RpcMethod {
  /** Path of the method: `/google.cloud.aiplatform.v1.VertexRagService/RetrieveContexts`. */
  readonly path: string
  /** Version of the API; undefined for unversioned services, those of operations and locations. */
  readonly version: ApiVersion | undefined
  readonly keys: ReadonlyArray<RouteKey>
  readonly request: protobuf.Type
  readonly response: protobuf.Type
  /** Whether the response is a stream of messages. */
  readonly stream: boolean
}

/** Unversioned services, by their name in the routes. */
const shared: Readonly<Record<string, string>> = {
  Operations: "google.longrunning.Operations",
  Locations: "google.cloud.location.Locations"
}

/** Methods that the protos define in a second service too. */
const twins: Readonly<Record<string, string>> = { "PredictionService.CountTokens": "LlmUtilityService.CountTokens" }

interface Place {
  readonly service: string
  readonly method: string
  readonly version: ApiVersion | undefined
}

const placesOf = (rpc: string): ReadonlyArray<Place> =>
  [rpc, twins[rpc] ?? []].flat().flatMap((each): ReadonlyArray<Place> => {
    const [service = "", method = ""] = each.split(".")
    const common = shared[service]
    return common === undefined
      ? versions.map((version) => ({ service: `google.cloud.aiplatform.${version}.${service}`, method, version }))
      : [{ service: common, method, version: undefined }]
  })

/** Every method of the protos that a route implements, by its path. */
export const methodsOf = (root: protobuf.Root): ReadonlyMap<string, RpcMethod> => {
  const found = new Map<string, RpcMethod>()
  for (const rpc of new Set(table.map(([, route]) => route.rpc))) {
    const keys = table.filter(([, route]) => route.rpc === rpc).map(([key]) => key)
    for (const { method, service, version } of placesOf(rpc)) {
      const inside = root.lookup(service, protobuf.Service)
      // A version of the API may lack the method.
      if (!(inside instanceof protobuf.Service) || inside.methods[method] === undefined) continue
      const { requestType, responseStream, responseType } = inside.methods[method]
      const path = `/${service}/${method}`
      const [request, response] = [inside.lookupType(requestType), inside.lookupType(responseType)]
      found.set(path, { path, version, keys, request, response, stream: responseStream === true })
    }
  }
  return found
}

/** Types that occur only in `Any` values: those of operations and of errors. */
const inAny = (): ReadonlyArray<string> => [
  ...table.flatMap(([, { operation }]) =>
    operation === undefined ? [] : [operation.metadata, operation.response].flatMap((type) => versions.map((v) => fullName(type, v)))
  ),
  ...[Status, BadRequest, ErrorInfo, RetryInfo, Help].map((type) => fullName(type, "v1"))
]

/** The part of the protos that the routes need, without anything else. */
export const pruned = (all: INamespace): INamespace => {
  const root = protobuf.Root.fromJSON(all)
  root.resolveAll()
  const needed = new Set<protobuf.ReflectionObject>()
  const need = (type: protobuf.ReflectionObject | null): void => {
    if (type === null || needed.has(type)) return
    needed.add(type)
    if (type instanceof protobuf.Type) { for (const field of type.fieldsArray) need(field.resolvedType) }
  }
  const methods = methodsOf(root)
  for (const { request, response } of methods.values()) {
    need(request)
    need(response)
  }
  for (const name of inAny()) need(root.lookup(name))
  const small = (space: protobuf.NamespaceBase): INamespace => {
    const nested = space.nestedArray.flatMap((inner) => {
      const json = smallest(inner)
      return json === undefined ? [] : [[inner.name, json]]
    })
    return nested.length === 0 ? {} : { nested: Object.fromEntries(nested) }
  }
  const smallest = (object: protobuf.ReflectionObject): object | undefined => {
    if (object instanceof protobuf.Enum) return needed.has(object) ? { values: object.values } : undefined
    if (object instanceof protobuf.Service) {
      const spoken = object.methodsArray.filter(({ name }) => methods.has(`/${object.fullName.slice(1)}/${name}`))
      return spoken.length === 0 ? undefined : {
        methods: Object.fromEntries(spoken.map(({ name, requestType, responseStream, responseType }) => [
          name,
          { requestType, responseType, ...(responseStream === true ? { responseStream } : {}) }
        ]))
      }
    }
    if (!(object instanceof protobuf.Namespace)) return undefined
    const inside = small(object)
    if (!(object instanceof protobuf.Type && needed.has(object))) return inside.nested === undefined ? undefined : inside
    const { fields, oneofs } = object.toJSON()
    return {
      ...(oneofs === undefined ? {} : { oneofs }),
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, { options, ...field }]) => [
          name,
          options?.["proto3_optional"] === true ? { ...field, options: { proto3_optional: true } } : field
        ])
      ),
      ...inside
    }
  }
  return small(root)
}

/** The protos of the packages: `protos.json`, google.rpc's details, and the locations of google-gax. */
export const ofPackages = (protosJson: string): INamespace => {
  const gax = path.resolve(createRequire(protosJson).resolve("google-gax"), "../../../build/protos")
  const all: INamespace = JSON.parse(readFileSync(protosJson, "utf8"))
  for (const name of ["status.json", "locations.json"]) merge(all, JSON.parse(readFileSync(path.join(gax, name), "utf8")))
  return all
}

/** Adds to a namespace what it lacks. Existing definitions stay. */
const merge = (into: INamespace, more: INamespace): void => {
  for (const [name, inner] of Object.entries(more.nested ?? {})) {
    const nested = into.nested ??= {}
    const there = nested[name]
    if (there === undefined) nested[name] = inner
    else if (!("fields" in there || "values" in there || "methods" in there)) merge(there as INamespace, inner as INamespace) // not a type
  }
}

/** Loads the protos of a file: the one that the build made or, when run from source, `protos.json` of the package. */
export const loadProtos = (file: string): protobuf.Root => {
  const json: INamespace = file.endsWith(".br")
    ? JSON.parse(brotliDecompressSync(readFileSync(file)).toString("utf8"))
    : pruned(ofPackages(file))
  const root = protobuf.Root.fromJSON(json)
  root.resolveAll()
  return root
}
