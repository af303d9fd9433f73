import { Effect, Schema, Semaphore } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { vectorJson } from "../../Chunks.ts"
import { awaited } from "../../Rest.ts"
import type { View } from "./View.ts"

/** Most neighbours of one query. */
const mostHits = 1_000
/** Looks at whether a sync is done, which takes minutes. */
const looks = 400

const Started = Schema.Struct({ featureViewSync: Schema.String })
const Sync = Schema.Struct({
  runTime: Schema.optionalKey(Schema.Struct({ endTime: Schema.optionalKey(Schema.String) })),
  finalStatus: Schema.optionalKey(Schema.Struct({ code: Schema.optionalKey(Schema.Int), message: Schema.optionalKey(Schema.String) }))
})
const Found = Schema.Struct({
  nearestNeighbors: Schema.optionalKey(Schema.Struct({
    neighbors: Schema.optionalKey(Schema.Array(Schema.Struct({
      entityId: Schema.String,
      distance: Schema.optionalKey(Schema.Finite)
    })))
  }))
})
/** Searches the view, and brings changed rows into it. */
export const searchOf = ({ call, corpus, decoded, dimensions, firstMs, place, set, view }: View) => {
  /** Syncs run one at a time. Writers that wait while a sync runs share the next one. */
  const syncing = Semaphore.makeUnsafe(1)
  let asked = 0
  let served = 0
  const synced = Effect.gen(function*() {
    if ((yield* set).continuous) return
    const own = ++asked
    yield* syncing.withPermit(Effect.gen(function*() {
      if (served >= own) return
      const upTo = asked
      // A sync that another process or the view's schedule started may have read the rows before they were written.
      const begun = yield* awaited(
        call("filling the view", `/${view}:sync`, { method: "POST", body: {} }).pipe(
          Effect.flatMap(({ json }) => decoded(Started, json)),
          Effect.catchIf(
            ({ code, message }) =>
              code === "ALREADY_EXISTS" || code === "ABORTED" || (code === "FAILED_PRECONDITION" && /sync/i.test(message)),
            () => Effect.succeed(undefined)
          )
        ),
        { late: `${place} is being filled by others all the time`, looks, firstMs }
      )
      const { code = 0, message } = yield* awaited(
        Effect.map(
          Effect.flatMap(call("filling the view", `/${begun.featureViewSync}`), ({ json }) => decoded(Sync, json)),
          ({ finalStatus = {}, runTime }) => runTime?.endTime === undefined ? undefined : finalStatus
        ),
        { late: `${place} was not filled in time`, looks, firstMs }
      )
      if (code !== 0) return yield* new ServiceError({ code: "INTERNAL", message: `${place} was not filled: ${message ?? `code ${code}`}` })
      served = upTo
    }))
  })

  const neighbors = Effect.fnUntraced(function*(doing: string, vector: string, count: number, files?: ReadonlyArray<string>) {
    const { find } = yield* set
    const filters = [
      { name: "corpus_id", allowTokens: [corpus] },
      ...(files === undefined ? [] : [{ name: "file_id", allowTokens: files }])
    ]
    const { json } = yield* find(doing, `/${view}:searchNearestEntities`, {
      method: "POST",
      body: `{"query":{"embedding":{"value":${vector}},"neighborCount":${Math.min(mostHits, count)},"stringFilters":${
        JSON.stringify(filters)
      }}}`
    })
    return (yield* decoded(Found, json)).nearestNeighbors?.neighbors ?? []
  })
  const settled = (
    vector: string,
    files: ReadonlyArray<string> | undefined,
    holds: (found: ReadonlyArray<{ readonly entityId: string }>) => boolean
  ) =>
    awaited(
      Effect.map(neighbors("looking for what was written", vector, 100, files), (found) => holds(found) ? true : undefined),
      { late: `${place} does not show what was written`, looks, firstMs }
    )
  // A vector that is about equally near to every chunk.
  const anywhere = vectorJson(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)))

  return { synced, neighbors, settled, anywhere }
}
