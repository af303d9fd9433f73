import { Effect, Schema, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Caller } from "../../src/net/Call.ts"
import { download } from "../../src/net/Download.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector, SourceItem } from "../../src/ports/Connector.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { hasRevision } from "./DriveItem.ts"
import { defaultEndpoint, graph, type Graph, graphAuth } from "./Graph.ts"
import { listing } from "./Listing.ts"
import { resolvePlace } from "./ResolveSite.ts"
import { readPage } from "./SitePages.ts"

/** Dependencies of the connector. */
export interface SharePointContext {
  /** Resolves the client secret, when a token is first needed. */
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
  /** Default 6,000. SharePoint's limits count costs, not requests: this only evens out bursts, and throttling is obeyed. */
  readonly requestsPerMinute?: number
}

/** The implementation of `sharePoint`, loaded when it is first connected. */
export const open = (config: SettingsOf<"sharePoint">, context: SharePointContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    for (const field of ["site", "tenantId", "clientId"] as const) {
      if (config[field].trim() === "") return yield* ServiceError.invalid(field, "must not be empty")
    }
    const endpoint = config.endpoint ?? defaultEndpoint
    const origin = URL.parse(endpoint)?.origin
    if (origin === undefined) return yield* ServiceError.invalid("endpoint", "is not an address")
    const bare: Caller = {
      http: context.http ?? (yield* processHttp),
      ...(context.retry === undefined ? {} : { retry: context.retry })
    }
    return graph(
      { ...bare, auth: graphAuth(bare, config, context.secrets, origin) },
      bare,
      endpoint,
      config.tenantId.toLowerCase(),
      context.requestsPerMinute
    )
  })))
  return {
    check: Effect.andThen(
      // First, so that a missing secret is reported as such.
      context.secrets.resolve(config.clientSecret),
      Effect.flatMap(prepared, (api) => Effect.asVoid(resolvePlace(api, config)))
    ),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, (api) => listing(api, config, cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(prepared, (api) => reading(api, item, maxBytes)))
  }
}

const Content = Schema.Struct({
  cTag: Schema.optionalKey(Schema.String),
  eTag: Schema.optionalKey(Schema.String),
  "@microsoft.graph.downloadUrl": Schema.optionalKey(Schema.String)
})

/**
 * A file's bytes, or a page as HTML. Files come from a temporary address signed by Graph, on another host, which receives no credentials;
 * the file's version is checked each time an address is requested.
 */
const reading = (graph: Graph, item: SourceItem, maxBytes: number): Stream.Stream<Uint8Array, ServiceError> => {
  const { driveId, itemId, pageId, siteId } = item.metadata ?? {}
  if (siteId !== undefined && pageId !== undefined) {
    return Stream.fromEffect(Effect.flatMap(readPage(graph, item.path, siteId, pageId, item.revision), (html) => {
      const bytes = new TextEncoder().encode(html)
      return bytes.length > maxBytes
        ? Effect.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${item.path} is larger than ${maxBytes} bytes` }))
        : Effect.succeed(bytes)
    }))
  }
  if (driveId === undefined || itemId === undefined) {
    return Stream.fail(ServiceError.notFound(item.path, "it was not listed by this source"))
  }
  const open = Effect.fnUntraced(function*(offset: number) {
    const content = yield* graph.get(
      item.path,
      `/drives/${driveId}/items/${itemId}?$select=id,cTag,eTag,@microsoft.graph.downloadUrl`,
      Content
    )
    if (item.unsettled !== true && !hasRevision(content, item.revision)) {
      return yield* new ServiceError({ code: "ABORTED", message: `${item.path} changed since it was listed` })
    }
    const address = content["@microsoft.graph.downloadUrl"]
    if (address === undefined) {
      return yield* new ServiceError({
        code: "PERMISSION_DENIED",
        message: `${item.path} cannot be downloaded`,
        fix: "check the library's information protection and access policies"
      })
    }
    return yield* graph.bytes(item.path, address, offset)
  })
  return download({ what: item.path, maxBytes, open })
}
