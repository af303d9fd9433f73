import type { OperationKind } from "../domain/Operation.ts"
import { type AnyMessage, message, type Message } from "./Message.ts"
import { compile, type ParamsOf, type Path } from "./Path.ts"

/** A method of the API: its paths, its request and its response. */
export interface Route<Param extends string = string, Query = unknown, Body = unknown, Response = unknown> {
  /** Name of the method in the protos. */
  readonly rpc: string
  readonly verb: "GET" | "POST" | "PATCH" | "DELETE"
  readonly paths: ReadonlyArray<Path>
  readonly query: Message<Query>
  /** Message of the body. Absent: the method has no body. */
  readonly body?: Message<Body>
  /** Field of the request that is the body, where the body is not the whole request. It is the first part of paths in violations. */
  readonly bodyField?: string
  readonly response: Message<Response>
  readonly stream?: true
  /** Whether bodies in both directions are passed on as bytes, in the model's own format. */
  readonly raw?: true
  /** Most bytes of a request's body, where it may be larger than the default. */
  readonly mostBytes?: number
  /** Kind and types of the operation that the method returns. */
  readonly operation?: { readonly kind: OperationKind; readonly metadata: AnyMessage; readonly response: AnyMessage }
  /** Carries the type of the parameters; it has no value. */
  readonly params?: { readonly [K in Param]: string }
}

export const nothing = message("google.protobuf.Empty", {})

interface RouteOptions<Query, Body, Response> {
  readonly query?: Message<Query>
  readonly body?: Message<Body>
  readonly bodyField?: string
  readonly response: Message<Response>
  readonly stream?: true
  readonly mostBytes?: number
  readonly operation?: NonNullable<Route["operation"]>
}

export const route = <T extends string, Query = {}, Body = never, Response = never>(
  rpc: string,
  verb: Route["verb"],
  templates: T | ReadonlyArray<T>,
  options: RouteOptions<Query, Body, Response>
): Route<ParamsOf<T>, Query, Body, Response> => ({
  rpc,
  verb,
  paths: (typeof templates === "string" ? [templates] : templates).map(compile),
  ...options,
  query: options.query ?? (nothing as Message<Query & object>) // Query is {} where none is given
})

/** Defines a method that passes bytes on. Its response is the model's, so its message has no value. */
export const rawRoute = <T extends string>(
  rpc: string,
  templates: T | ReadonlyArray<T>,
  options: Pick<Route, "mostBytes"> = {}
): Route<ParamsOf<T>, {}, never, never> & { readonly raw: true } => ({
  ...route<T>(rpc, "POST", templates, { response: nothing as Message<never> }),
  ...options,
  raw: true
})

export const location = "projects/*/locations/*"
