import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import { driveApi } from "./DriveApi.ts"
import { driveAuth } from "./DriveAuth.ts"
import type { GoogleDriveConfig, GoogleDriveContext } from "./GoogleDriveConfig.ts"
import { listing } from "./Listing.ts"
import { reading } from "./Reading.ts"
import { wrongRoot } from "./Walk.ts"

/** The connector behind `googleDrive`, with everything that it loads. */
export const open = (config: GoogleDriveConfig, context: GoogleDriveContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    if (config.folders.length + config.files.length === 0) return yield* ServiceError.invalid("folders", "or files need at least one id")
    const bad = [...config.folders, ...config.files].find((id) => !/^[A-Za-z0-9_-]+$/.test(id))
    if (bad !== undefined) return yield* ServiceError.invalid("folders", `${JSON.stringify(bad)} is not a Google Drive id`, "Take the part after /folders/ or /d/ of the link.")
    return driveApi({
      caller: {
        http: context.http ?? (yield* processHttp),
        auth: context.googleDrive ?? driveAuth(),
        ...(context.retry === undefined ? {} : { retry: context.retry })
      },
      ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
      ...(context.pollMs === undefined ? {} : { pollMs: context.pollMs })
    })
  })))
  return {
    check: Effect.flatMap(prepared, (api) =>
      Effect.forEach([...config.folders, ...config.files], (id) =>
        Effect.flatMap(api.file(id), (file) => {
          const wrong = wrongRoot(file, id, config)
          return wrong === undefined ? Effect.void : Effect.fail(wrong)
        }), { concurrency: 4, discard: true })),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, (api) => listing(api, config, cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(prepared, (api) => reading(api, item, maxBytes)))
  }
}
