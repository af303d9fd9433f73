import { Effect, Option, Stream } from "effect"

/** Which page: `size` is 1 to 1000 items, the engine's default when absent; `token` comes from the previous page. */
export interface PageRequest {
  readonly size?: number
  readonly token?: string
}

/** A page of a listing. The last page has no `nextToken`. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextToken?: string
}

/** Streams every item of a paged listing, fetching the next page only when it is needed. */
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
