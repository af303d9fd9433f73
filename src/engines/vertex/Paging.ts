import { Effect, Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"

export const pageQuery = ({ size, token }: PageRequest): { readonly pageSize?: number; readonly pageToken?: string } => ({
  pageSize: size,
  pageToken: token
})

/** A page of a listing. Fails where its token is that of the page before: the listing would never end. */
export const pageOf = <W, A>(
  asked: PageRequest,
  items: ReadonlyArray<W> | undefined,
  nextToken: string | undefined,
  decode: (wire: W) => Result.Result<A, ServiceError>
): Effect.Effect<Page<A>, ServiceError> =>
  nextToken !== undefined && nextToken !== "" && nextToken === asked.token
    ? Effect.fail(ServiceError.internal("the service answered the same page of a listing twice"))
    : Effect.map(Effect.fromResult(Result.all((items ?? []).map(decode))), (items) => ({
      items,
      nextToken: nextToken === "" ? undefined : nextToken
    }))
