import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { PageRequest } from "../../ports/Paging.ts"

/** Zero and empty are what a proto says for nothing. */
export const pageOf = (query: { readonly pageSize?: number; readonly pageToken?: string }): PageRequest => ({
  size: query.pageSize === undefined || query.pageSize === 0 ? undefined : query.pageSize,
  token: query.pageToken === undefined || query.pageToken === "" ? undefined : query.pageToken
})

/** The end of a list's answer. */
export const nextPage = (nextToken: string | undefined): { readonly nextPageToken?: string } =>
  nextToken === undefined ? {} : { nextPageToken: nextToken }

/** Refused rather than ignored: whoever asks for an order relies on it. */
export const inOrder = (orderBy = ""): Effect.Effect<void, ServiceError> =>
  orderBy === "" || orderBy === "create_time"
    ? Effect.void
    : Effect.fail(ServiceError.invalid("order_by", "is not offered by this server: lists are in the order in which things were made"))
