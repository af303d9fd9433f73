import { Clock, Effect } from "effect"

/** Texts of one embedding request, as the hosted service sends them. */
const textsPerRequest = 250
const minute = 60_000

/**
 * Keeps an import within its limit of embedding requests per minute: after each file, `spend` waits until the last minute has
 * room for the requests of the file.
 */
export const embeddingRate = (perMinute: number) => {
  /** Times of the requests of the last minute, oldest first. */
  const spent: Array<number> = []
  return {
    spend: Effect.fnUntraced(function*(texts: number): Effect.fn.Return<void> {
      for (let left = Math.ceil(texts / textsPerRequest); left > 0; left--) {
        const now = yield* Clock.currentTimeMillis
        while (spent[0] !== undefined && spent[0] <= now - minute) spent.shift()
        const oldest = spent[spent.length - perMinute]
        const at = oldest === undefined ? now : oldest + minute
        spent.push(at)
        yield* Effect.sleep(at - now)
      }
    })
  }
}
