import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { callJson } from "../../net/Call.ts"
import { Secrets } from "../../ports/Secrets.ts"
import { baseUrlOf, type Connection, resolveKey } from "./Connection.ts"

const Models = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** Most names listed where there are several models. */
const mostNames = 5

/** The model of a service that lists just one. Fails where it lists several, since the service does not state which is meant. */
export const onlyModel = Effect.fnUntraced(function*({ apiKey, baseUrl, headers = {}, retry }: Omit<Connection, "model">) {
  const base = yield* baseUrlOf(baseUrl)
  const key = yield* resolveKey(apiKey, yield* Secrets)
  const request = HttpClientRequest.get(`${base.href.replace(/\/+$/, "")}/models`).pipe(
    HttpClientRequest.setHeaders({ accept: "application/json", ...headers }),
    key === undefined ? (self) => self : HttpClientRequest.bearerToken(key)
  )
  const caller = { http: yield* HttpClient.HttpClient, retry }
  const { data } = yield* callJson(caller, `models of ${base.host}`, request, Models)
  const [first] = data
  if (first !== undefined && data.length === 1) return first.id
  const names = [...data.slice(0, mostNames).map(({ id }) => id), ...(data.length > mostNames ? ["…"] : [])].join(", ")
  return yield* new ServiceError({
    code: "FAILED_PRECONDITION",
    message: data.length === 0 ? `${base.host} lists no model` : `${base.host} has ${data.length} models (${names})`,
    fix: "name one: --upstream-model"
  })
})
