import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { PageRequest } from "../../ports/Paging.ts"

/** The page that a query requests. Zero and empty values count as absent, as in protos. */
export const pageOf = (query: { readonly pageSize?: number; readonly pageToken?: string }): PageRequest => ({
  size: query.pageSize === undefined || query.pageSize === 0 ? undefined : query.pageSize,
  token: query.pageToken === undefined || query.pageToken === "" ? undefined : query.pageToken
})

/** The field of the next page's token, absent on the last page. */
export const nextPage = (nextToken: string | undefined): { readonly nextPageToken?: string } =>
  nextToken === undefined ? {} : { nextPageToken: nextToken }

/** Fails where an order is requested that lists do not have. It is not ignored, because the caller relies on it. */
export const inOrder = (orderBy = ""): Effect.Effect<void, ServiceError> =>
  orderBy === "" || orderBy === "create_time"
    ? Effect.void
    : Effect.fail(ServiceError.invalid("order_by", "is not offered by this server: lists are in the order in which things were made"))
