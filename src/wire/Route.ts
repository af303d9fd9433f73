import type { OperationKind } from "../domain/Operation.ts"
import { type AnyMessage, message, type Message } from "./Message.ts"
import { compile, type ParamsOf, type Path } from "./Path.ts"

/** A method of the API: where it is, what goes in and what comes out. */
export interface Route<Param extends string = string, Query = unknown, Body = unknown, Response = unknown> {
  /** The method in the protos. */
  readonly rpc: string
  readonly verb: "GET" | "POST" | "PATCH" | "DELETE"
  readonly paths: ReadonlyArray<Path>
  readonly query: Message<Query>
  /** Absent: the method takes no body. */
  readonly body?: Message<Body>
  /** The request's field that is the body, where the body is not the whole request. Begins every path of a violation. */
  readonly bodyField?: string
  readonly response: Message<Response>
  readonly stream?: true
  /** Bodies in both directions are bytes as they are, in a form that is the model's own. */
  readonly raw?: true
  /** Of a request's body, where it may be larger than others. */
  readonly mostBytes?: number
  /** What the operation that it answers with is about. */
  readonly operation?: { readonly kind: OperationKind; readonly metadata: AnyMessage; readonly response: AnyMessage }
  /** The type of the parameters; never there. */
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
  query: options.query ?? (nothing as Message<Query & object>) // Query is {} when none is given
})

/** A method that passes bytes on. It answers what the model answers, and its message is never there. */
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
