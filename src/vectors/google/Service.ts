import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { GoogleAuth } from "../../net/GoogleAuth.ts"
import { unfit } from "../Chunks.ts"
import { decoder, type RestStoreOptions } from "../Rest.ts"

/** What every store at Google needs. */
export interface GoogleStoreOptions extends RestStoreOptions {
  /** In place of the service's own addresses, regional and public. */
  readonly endpoint?: string | undefined
  readonly auth: GoogleAuth["Service"]
}

/** Reads what a service answers; `field` of the pipeline file names it, `place` calls it by its name. */
export const decoderOf = (field: string, place: string) =>
  decoder(() => unfit(field, `${place} answers otherwise than its API says`, "use a Sluice that knows the API it has by now"))

/** Each wait is half as long again as the one before, up to this. */
const longestMs = 5_000

export interface AwaitedOptions {
  /** What is told when the looks are over. */
  readonly late: string
  /** Looks, at most: 40 take some 3 minutes, 400 some 33. Default 40. */
  readonly looks?: number
  /** Milliseconds between the first two. Default 100. */
  readonly firstMs?: number | undefined
}

/** Looks until there is what is looked for: services take changes at once, and finish or show them some time later. */
export const awaited = Effect.fnUntraced(
  function*<A>(
    look: Effect.Effect<A | undefined, ServiceError>,
    { firstMs = 100, late, looks = 40 }: AwaitedOptions
  ): Effect.fn.Return<A, ServiceError> {
    for (let at = 0; at < looks; at++) {
      const found = yield* look
      if (found !== undefined) return found
      yield* Effect.sleep(Math.min(longestMs, firstMs * 1.5 ** at))
    }
    return yield* new ServiceError({ code: "DEADLINE_EXCEEDED", message: late })
  }
)
