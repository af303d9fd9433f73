import { Effect, Schema, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { isConfidential, serverAddress, withoutSlash } from "../../src/domain/HttpAddress.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { Project } from "./Answers.ts"
import { placeOfPath } from "./IssueItem.ts"
import { jiraApi } from "./JiraApi.ts"
import type { JiraConfig, JiraContext } from "./JiraConfig.ts"
import { listingJql } from "./Jql.ts"
import { listing, placesOf } from "./Listing.ts"
import { readPlace } from "./Reading.ts"
import { search } from "./Search.ts"

/** The connector behind `jira`, with everything that it loads. */
export const open = (config: JiraConfig, context: JiraContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    const base = yield* baseOf(config.server)
    const places = placesOf(config.projects ?? [], config.queries ?? [])
    if (places.length === 0) return yield* ServiceError.invalid("projects", "needs at least one project or query")
    const http = context.http ?? (yield* processHttp)
    const caller = { http, ...(context.retry === undefined ? {} : { retry: context.retry }) }
    return { api: yield* jiraApi(caller, context.secrets, { ...config, base }), places }
  })))
  return {
    check: Effect.flatMap(prepared, Effect.fn("jira.check")(function*({ api, places }) {
      yield* api.get(`login at ${api.base}`, "/rest/api/2/myself", {}, Schema.Struct({}))
      yield* Effect.forEach(places, (place) =>
        place.project === undefined
          ? Stream.runDrain(Stream.take(search(api, place.name, listingJql(place.condition), {}), 1))
          : api.get(place.name, `/rest/api/2/project/${encodeURIComponent(place.project)}`, {}, Project), { discard: true })
    })),
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
