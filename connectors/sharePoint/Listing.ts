import { Effect, Option, Stream } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { deltaPage, firstDelta } from "./Delta.ts"
import type { Graph } from "./Graph.ts"
import { decodeProgress, encodeProgress, newProgress } from "./Progress.ts"
import { resolvePlace } from "./ResolveSite.ts"
import type { SharePointConfig } from "./SharePointConfig.ts"
import { listPages } from "./SitePages.ts"

/** Everything from the start; the rest, from a checkpoint; what changed, from the cursor of a finished listing. */
export const listing = (graph: Graph, config: SharePointConfig, cursor: string | undefined): Stream.Stream<Listed, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const place = yield* resolvePlace(graph, config)
    const progress = cursor === undefined ? newProgress(firstDelta(place)) : yield* decodeProgress(place, cursor)

    const end = (events: ReadonlyArray<Listed>): ReadonlyArray<Listed> =>
      progress.failed ? events : [...events, { _tag: "complete", cursor: encodeProgress(place, progress, true) }]

    return Stream.paginate<void, Listed, ServiceError>(undefined, () =>
      Effect.gen(function*(): Effect.fn.Return<readonly [ReadonlyArray<Listed>, Option.Option<void>], ServiceError> {
        if (progress.read) return [end(place.pages ? yield* listPages(graph, config, place, progress) : []), Option.none()]
        const events = yield* deltaPage(graph, config, place, progress)
        // Changes are read again from where they began, if any of them could not be taken.
        const resumable = progress.full || !progress.failed
        return [resumable ? [...events, { _tag: "checkpoint", cursor: encodeProgress(place, progress, false) }] : events, Option.some(undefined)]
      }))
  }))
