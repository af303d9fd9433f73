import { Effect, Option, Stream } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { changesPage } from "./Changes.ts"
import type { DriveApi } from "./DriveApi.ts"
import { permissionReader } from "./DrivePermissions.ts"
import type { GoogleDriveConfig } from "./GoogleDriveConfig.ts"
import { decodeProgress, encodeProgress, newProgress } from "./Progress.ts"
import { walker } from "./Walk.ts"

/** Everything from the start; the rest, from a checkpoint; what changed, from the cursor of a finished listing. */
export const listing = (api: DriveApi, config: GoogleDriveConfig, cursor: string | undefined): Stream.Stream<Listed, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const progress = cursor === undefined ? newProgress() : yield* decodeProgress(config, cursor)
    const walk = walker(api, config, permissionReader(api), progress)
    const unfinished = progress.queue.size > 0 || progress.openLinks.size > 0
    const all = cursor === undefined || unfinished
    const feeds = all ? [] : [...progress.tokens.keys()]
    let started = cursor !== undefined

    const step = Effect.gen(function*() {
      const [feed] = feeds
      if (feed !== undefined) {
        const { events, more } = yield* changesPage(api, walk, progress, feed)
        if (!more) feeds.shift()
        return { events, done: false }
      }
      if (started) {
        const events = yield* walk.next
        return { events: events ?? [], done: events === undefined }
      }
      started = true
      return { events: yield* walk.roots(), done: false }
    })

    return Stream.paginate<void, Listed, ServiceError>(undefined, () =>
      Effect.map(step, ({ done, events }): readonly [ReadonlyArray<Listed>, Option.Option<void>] => {
        if (!done) {
          // Changes are read again from where they began, unless all feeds were read to their end without a failure.
          const resumable = walk.settled && feeds.length === 0 && (all || !progress.failed)
          return [resumable ? [...events, { _tag: "checkpoint", cursor: encodeProgress(config, progress) }] : events, Option.some(undefined)]
        }
        return [progress.failed ? events : [...events, { _tag: "complete", cursor: encodeProgress(config, progress) }], Option.none()]
      }))
  }))
