import { Result } from "effect"
import { type FieldViolation, ServiceError } from "../../domain/Errors.ts"
import type { AnyMessage, ApiVersion, Json, JsonObject, Message } from "../Message.ts"
import { Empty } from "../messages/Rpc.ts"
import type { Route } from "../Routes.ts"
import { invalidPayload, readJson } from "./LenientJson.ts"
import { normalize, snake } from "./Normalize.ts"
import { readScalar } from "./Scalars.ts"

export interface ReadOptions {
  readonly version: ApiVersion
  /** Whether fields of the other API version are refused. Default false. */
  readonly strict?: boolean
}

/**
 * Decodes the body of a call from its bytes, or from JSON where another protocol decoded it already. An empty body, or the `""`
 * that some clients send, is an empty message.
 */
export const readBody = <B>(
  route: Route<string, unknown, B, unknown>,
  body: Uint8Array | string | JsonObject,
  options: ReadOptions
): Result.Result<B, ServiceError> =>
  readMessage(route.body ?? (Empty as Message<B>), body, { ...options, ...(route.bodyField === undefined ? {} : { at: route.bodyField }) }) // without a body, B is never

/** Decodes a message from its bytes, such as the metadata part of an upload. */
export const readMessage = <A>(
  message: Message<A>,
  body: Uint8Array | string | JsonObject,
  options: ReadOptions & { readonly at?: string }
): Result.Result<A, ServiceError> =>
  Result.gen(function*() {
    const json = yield* jsonOf(body)
    const canonical = yield* normalize(message, json === "" ? {} : json, options)
    return yield* Result.mapError(message.decode(canonical), (issues) =>
      invalidPayload(issues.map((i) => `${i.path}: ${i.message}`).join("; ")))
  })

const jsonOf = (body: Uint8Array | string | JsonObject): Result.Result<Json, ServiceError> =>
  Result.gen(function*() {
    if (typeof body === "object" && !(body instanceof Uint8Array)) return body
    const text = typeof body === "string" ? body : yield* decodeUtf8(body)
    return text.trim() === "" ? {} : yield* readJson(text)
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decodeUtf8 = (bytes: Uint8Array): Result.Result<string, ServiceError> =>
  Result.try({ try: () => utf8.decode(bytes), catch: () => invalidPayload("The body is not UTF-8.") })

/** Format of the response, which the query parameters of every method can set. */
export interface AnswerForm {
  /** Whether enums are numbers: `$alt=json;enum-encoding=int`. */
  readonly enumNumbers: boolean
  /** Whether a stream is sent as server-sent events: `alt=sse`. */
  readonly sse: boolean
}

/** Query parameters of every method, which are not fields of its request. */
const systemParameters = new Set([
  "alt",
  "access_token",
  "callback",
  "fields",
  "key",
  "oauth_token",
  "prettyPrint",
  "quotaUser",
  "upload_id",
  "upload_protocol",
  "uploadType",
  "userProject"
])

/** Decodes the raw query of a call, without its `?`. */
export const readQuery = <Q>(
  route: Route<string, Q, unknown, unknown>,
  raw: string
): Result.Result<{ readonly query: Q; readonly form: AnswerForm }, ServiceError> => {
  const values: Record<string, Json> = {}
  const violations: Array<FieldViolation> = []
  let alt = ""
  for (const [given, content] of new URLSearchParams(raw)) {
    // Row 6: a filter without `filter=` before it.
    const [name, value] = content === "" && /^\w+\((?:true|false)\)/.test(given) ? ["filter", given] : [given, content]
    const plain = name.replace(/^\$\.?/, "")
    if (plain !== name || systemParameters.has(name)) {
      if (plain === "alt") alt = value
      continue
    }
    const key = keyOf(route.query, name)
    const read = key === undefined ? undefined : readScalar(route.query.fields[key]!.kind, value)
    if (key === undefined) violations.push(unbound(name.slice(0, 100)))
    else if (read === undefined) violations.push(unreadable(snake(key)))
    else values[key] = read
  }
  const [first] = violations
  return first === undefined
    ? Result.map(
      Result.mapError(route.query.decode(values), () => invalidPayload("The query could not be read.")),
      (query) => ({ query, form: { enumNumbers: /(?:^|;)enum-encoding=int(?:;|$)/.test(alt), sse: alt === "sse" } })
    )
    : Result.fail(new ServiceError({ code: "INVALID_ARGUMENT", message: first.description, violations }))
}

const keyOf = ({ fields }: AnyMessage, name: string): string | undefined =>
  Object.keys(fields).find((key) => key === name || snake(key) === name)

const unbound = (name: string): FieldViolation => ({
  field: name,
  description: `Invalid JSON payload received. Unknown name ${
    JSON.stringify(name)
  }: Cannot bind query parameter. Field '${name}' could not be found in request message.`
})

const unreadable = (field: string): FieldViolation => ({ field, description: `Invalid value at '${field}'.` })
