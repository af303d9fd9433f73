import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { ApiVersion, JsonObject } from "./Message.ts"
import { build, parse } from "./Path.ts"
import { nothing, type Route } from "./Route.ts"
import { batchRoutes } from "./routes/Batch.ts"
import { generationRoutes } from "./routes/Generation.ts"
import { modelRoutes } from "./routes/Models.ts"
import { operationRoutes } from "./routes/Operations.ts"
import { partnerRoutes } from "./routes/Partner.ts"
import { ragRoutes } from "./routes/Rag.ts"
import { missingIn, write, type WriteOptions } from "./Write.ts"

export type { Route } from "./Route.ts"

/**
 * The table of every method, shared by the client and the server.
 *
 * Client: `path(routes.importRagFiles, "v1beta1", { parent: corpus })`, `encodeQuery`, `encodeRequest`, then
 * `decodeResponse`; a failure's body goes through `errorFromWire` (`Errors.ts`).
 * Server: `match("POST", rawPath)` gives the route's key, the version and the resource names of the path;
 * `tolerant/Request.ts` reads query and body; `encodeResponse` writes the response, `errorToWire` the error.
 * Each of the folders beside this file converts the domain values of one area into messages and back. Nothing here throws;
 * functions that can fail return a `Result` with a `ServiceError`.
 *
 * It is a plain table rather than an `HttpApi`, which does not support the API's verbs (`ragFiles:import`), parameters of
 * several segments, five bindings of one method, bodies that are read leniently or stay raw, and omitted zero values.
 */
export const routes = {
  ...ragRoutes,
  ...generationRoutes,
  ...partnerRoutes,
  ...modelRoutes,
  ...batchRoutes,
  ...operationRoutes
}

export type Routes = typeof routes
export type RouteKey = keyof Routes

export type Params<R> = R extends Route<infer P, infer _Q, infer _B, infer _R> ? { readonly [K in P]: string } : never

/** The path of a call, starting with `/`. Fails where a resource name does not have the form that the method takes. */
export const path = <P extends string>(
  route: Route<P, unknown, unknown, unknown>,
  version: ApiVersion,
  params: { readonly [K in P]: string },
  prefix: "" | "upload" = ""
): Result.Result<string, ServiceError> =>
  Result.map(build(route.paths, params), (rest) => `${prefix === "" ? "" : "/upload"}/${version}/${rest}`)

export interface Match {
  readonly key: RouteKey
  readonly version: ApiVersion
  /** Resource names in the path, by parameter: `parent`, `name` or `model`. */
  readonly params: Readonly<Record<string, string>>
  readonly upload: boolean
  /** True where the call names no version, so that `version` is a guess: over gRPC, operations have an unversioned service. */
  readonly unversioned?: true
}

/** Start of a path: `[upload/][v1|v1beta1]/rest`. Listing operations is also bound to `/ui/…`, without a version. */
const prefix = /^\/(?:(upload)\/)?(?:(v1|v1beta1)\/|ui\/(?:(v1|v1beta1)\/)?)/

const table = Object.entries(routes) as ReadonlyArray<[RouteKey, Route]> // the keys are those of the table

/** The method of a raw path without its query; undefined where no method matches. */
export const match = (verb: string, rawPath: string): Match | undefined => {
  const start = prefix.exec(rawPath)
  if (start === null) return undefined
  // Google's agentplatform client writes `locations/us-central1/:retrieveContexts`, as it puts every path behind its location's.
  const rest = rawPath.slice(start[0].length).replace("/:", ":")
  for (const [key, route] of table) {
    if (route.verb !== verb) continue
    for (const path of route.paths) {
      const params = parse(path, rest)
      if (params !== undefined) {
        const version = start[2] ?? start[3]
        return { key, params, version: version === "v1" ? "v1" : "v1beta1", upload: start[1] !== undefined }
      }
    }
  }
  return undefined
}

/** The query of a call, starting with `?`; an empty string where no parameter is set. */
export const encodeQuery = <Q>(
  route: Route<string, Q, unknown, unknown>,
  query: Q & object,
  more: Readonly<Record<string, string>> = {}
): string => {
  const values = Object.entries({ ...write(route.query, query, { version: "v1beta1" }), ...more })
  const text = values.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`).join("&")
  return text === "" ? "" : `?${text}`
}

/** The body of a call. Fails where it has a field that the API version lacks. */
export const encodeRequest = <B>(
  route: Route<string, never, B, unknown> | Route<string, unknown, B, unknown>,
  version: ApiVersion,
  body: B & object
): Result.Result<JsonObject, ServiceError> => {
  const message = route.body ?? nothing
  const missing = missingIn(message, body, version)
  return missing === undefined
    ? Result.succeed(write(message, body, { version }))
    : Result.fail(ServiceError.invalid(missing, `does not exist in ${version} of the API`, "use v1beta1"))
}

/** The body of a response, as the service writes it. */
export const encodeResponse = <R>(route: Route<string, unknown, unknown, R>, response: R & object, options: WriteOptions): JsonObject =>
  write(route.response, response, options)

/** Decodes a response. Unknown fields are ignored, unknown enum values kept. */
export const decodeResponse = <R>(route: Route<string, unknown, unknown, R>, json: unknown): Result.Result<R, ServiceError> =>
  Result.mapError(route.response.decode(json), (issues) =>
    ServiceError.internal(
      `the service's answer to ${route.rpc} could not be read: ${issues.map((i) => `${i.path}: ${i.message}`).join("; ")}`
    ))
