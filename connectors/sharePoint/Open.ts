import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Caller } from "../../src/net/Call.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import { defaultEndpoint, graph } from "./Graph.ts"
import { graphAuth } from "./GraphAuth.ts"
import { listing } from "./Listing.ts"
import { reading } from "./Reading.ts"
import { resolvePlace } from "./ResolveSite.ts"
import type { SharePointConfig, SharePointContext } from "./SharePointConfig.ts"

/** The connector behind `sharePoint`, with everything that it loads. */
export const open = (config: SharePointConfig, context: SharePointContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    for (const field of ["site", "tenantId", "clientId"] as const) {
      if (config[field].trim() === "") return yield* ServiceError.invalid(field, "must not be empty")
    }
    const endpoint = config.endpoint ?? defaultEndpoint
    const origin = URL.parse(endpoint)?.origin
    if (origin === undefined) return yield* ServiceError.invalid("endpoint", "is no address")
    const bare: Caller = {
      http: context.http ?? (yield* processHttp),
      ...(context.retry === undefined ? {} : { retry: context.retry })
    }
    return graph({ ...bare, auth: graphAuth(bare, config, context, origin) }, bare, endpoint, config.tenantId.toLowerCase(), context.requestsPerMinute)
  })))
  return {
    check: Effect.andThen(
      // First, so that a secret that is not there is told as such.
      context.secrets.resolve(config.clientSecret),
      Effect.flatMap(prepared, (api) => Effect.asVoid(resolvePlace(api, config)))
    ),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, (api) => listing(api, config, cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(prepared, (api) => reading(api, item, maxBytes)))
  }
}
