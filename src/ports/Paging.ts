import { Effect, Option, Stream } from "effect"

/** `size` 1..1000, the engine's default when absent; `token` from the page before. */
export interface PageRequest {
  readonly size?: number
  readonly token?: string
}

/** A page of a listing. Without `nextToken` it is the last. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextToken?: string
}

/** Every item of a paged listing, fetching the next page only when it is wanted. */
export const pages = <A, E, R>(
  fetch: (page: PageRequest) => Effect.Effect<Page<A>, E, R>,
  size?: number
): Stream.Stream<A, E, R> =>
  Stream.paginate(first(size), (page) =>
    fetch(page).pipe(
      Effect.map(({ items, nextToken }) =>
        [
          items,
          nextToken === undefined || nextToken === "" ? Option.none<PageRequest>() : Option.some({ ...page, token: nextToken })
        ] as const
      )
    ))

const first = (size: number | undefined): PageRequest => (size === undefined ? {} : { size })
