import { Effect, Result } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../ports/Paging.ts"

export const pageQuery = ({ size, token }: PageRequest): { readonly pageSize?: number; readonly pageToken?: string } => ({
  pageSize: size,
  pageToken: token
})

export const pageOf = <W, A>(
  items: ReadonlyArray<W> | undefined,
  nextToken: string | undefined,
  decode: (wire: W) => Result.Result<A, ServiceError>
): Effect.Effect<Page<A>, ServiceError> =>
  Effect.map(Effect.fromResult(Result.all((items ?? []).map(decode))), (items) => ({
    items,
    nextToken: nextToken === undefined || nextToken === "" ? undefined : nextToken
  }))
