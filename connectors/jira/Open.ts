import { Effect, Option, Schema, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { isConfidential, serverAddress, withoutSlash } from "../../src/domain/HttpAddress.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { download } from "../../src/net/Download.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { attachmentPath, type Place, placeOfPath, renderIssue } from "./Issue.ts"
import { type Comment, Comments, type Failure, jiraApi, type JiraApi, Project, WholeIssue } from "./JiraApi.ts"
import { listing, listingJql, placesOf, search } from "./Listing.ts"

/** Dependencies of the connector. */
export interface JiraContext {
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
}

/** The implementation of `jira`, loaded when it is first connected. */
export const open = (config: SettingsOf<"jira">, context: JiraContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    const base = yield* baseOf(config.server)
    const places = placesOf(config.projects, config.queries)
    if (places.length === 0) return yield* ServiceError.invalid("projects", "needs at least one project or query")
    const http = context.http ?? (yield* processHttp)
    const caller = { http, ...(context.retry === undefined ? {} : { retry: context.retry }) }
    return { api: yield* jiraApi(caller, context.secrets, { ...config, base }), places }
  })))
  return {
    check: Effect.flatMap(
      prepared,
      Effect.fn("jira.check")(function*({ api, places }) {
        yield* api.get(`login at ${api.base}`, "/rest/api/2/myself", {}, Schema.Struct({}))
        yield* Effect.forEach(places, (place) =>
          place.project === undefined
            ? Stream.runDrain(Stream.take(search(api, place.name, listingJql(place.condition), {}), 1))
            : api.get(place.name, `/rest/api/2/project/${encodeURIComponent(place.project)}`, {}, Project), { discard: true })
      })
    ),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, ({ api, places }) => listing(api, places, cursor))),
    read: (item, maxBytes) =>
      Stream.unwrap(Effect.map(prepared, ({ api }) => {
        const place = placeOfPath(item.path)
        return place === undefined ? Stream.fail(ServiceError.notFound(item.path)) : readPlace(api, place, maxBytes)
      }))
  }
}

/** The server's address without a `/` at the end. */
const baseOf = (server: string): Effect.Effect<string, ServiceError> => {
  const url = serverAddress(server)
  if (url === undefined) return Effect.fail(ServiceError.invalid("server", "must be the server's host name or https:// address"))
  return isConfidential(url)
    ? Effect.succeed(withoutSlash(url))
    : Effect.fail(ServiceError.invalid("server", "must be an https:// address, as the token is sent to it"))
}

const commentsPage = 100

/** The content of an item in its current state; the next listing will have its new revision. */
const readPlace = (api: JiraApi, place: Place, maxBytes: number): Stream.Stream<Uint8Array, Failure> =>
  place._tag === "issue" ? Stream.fromEffect(readIssue(api, place.key, maxBytes)) : Stream.unwrap(Effect.gen(function*() {
    const fetch = yield* api.fetch
    const path = attachmentPath(yield* api.cloud, place.id, place.name)
    const what = `the attachment ${place.id} of ${place.key}`
    return download({ what, maxBytes, open: (offset) => fetch(path, what, offset) })
  }))

const readIssue = Effect.fn("jira.readIssue")(
  function*(api: JiraApi, key: string, maxBytes: number): Effect.fn.Return<Uint8Array, Failure> {
    const path = `/rest/api/${(yield* api.cloud) ? 3 : 2}/issue/${encodeURIComponent(key)}`
    const issue = yield* api.get(key, path, { fields: "*all,-comment,-attachment,-worklog", expand: "names,schema" }, WholeIssue)
    const tooLarge = new ServiceError({ code: "OUT_OF_RANGE", message: `${key} is larger than ${maxBytes} bytes` })
    let size = 0
    const comments = yield* commentsOf(api, key, path).pipe(
      Stream.mapEffect((comment) => {
        // ADF is several times the size of its text, so this bounds memory, not yet the document.
        size += JSON.stringify(comment).length
        return size > 20 * maxBytes ? Effect.fail(tooLarge) : Effect.succeed(comment)
      }),
      Stream.runCollect
    )
    const bytes = new TextEncoder().encode(renderIssue(issue, comments))
    return bytes.length > maxBytes ? yield* tooLarge : bytes
  }
)

/** The comments of an issue, oldest first. */
const commentsOf = (api: JiraApi, key: string, path: string): Stream.Stream<Comment, Failure> =>
  Stream.paginate<number, Comment, Failure>(0, (startAt) =>
    Effect.map(
      api.get(
        `comments of ${key}`,
        `${path}/comment`,
        { startAt: String(startAt), maxResults: String(commentsPage), orderBy: "created" },
        Comments
      ),
      ({ comments, total }) => {
        const next = startAt + comments.length
        return [comments, comments.length > 0 && next < total ? Option.some(next) : Option.none()] as const
      }
    ))
