import { Effect, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { createHash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { download } from "../../src/net/Download.ts"
import type { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector, SourceItem } from "../../src/ports/Connector.ts"
import { driveApi, type DriveApi, driveAuth, shareFix } from "./DriveApi.ts"
import { exportFormatOf, revisionOf, wordFormat } from "./DriveItem.ts"
import { listing } from "./Listing.ts"
import { wrongRoot } from "./Walk.ts"

/** Dependencies of the connector. Everything has a default. */
export interface GoogleDriveContext {
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  /**
   * Credentials whose tokens have the scope `drive.readonly`, which those of Google Cloud lack by default. Default: Application Default
   * Credentials with that scope.
   */
  readonly googleDrive?: GoogleAuth["Service"]
  readonly retry?: RetryOptions
  /** Milliseconds between two polls of a long-running export. Default 2,000. */
  readonly pollMs?: number
}

/** The implementation of `googleDrive`, loaded when it is first connected. */
export const open = (config: SettingsOf<"googleDrive">, context: GoogleDriveContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    if (config.folders.length + config.files.length === 0) return yield* ServiceError.invalid("folders", "or files need at least one id")
    const bad = [...config.folders, ...config.files].find((id) => !/^[A-Za-z0-9_-]+$/.test(id))
    if (bad !== undefined) {
      return yield* ServiceError.invalid(
        "folders",
        `${JSON.stringify(bad)} is not a Google Drive id`,
        "take the part after /folders/ or /d/ of the link"
      )
    }
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
    check: Effect.flatMap(
      prepared,
      (api) =>
        Effect.forEach([...config.folders, ...config.files], (id) =>
          Effect.flatMap(api.file(id), (file) => {
            const wrong = wrongRoot(file, id, config)
            return wrong === undefined ? Effect.void : Effect.fail(wrong)
          }), { concurrency: 4, discard: true })
    ),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, (api) => listing(api, config, cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(prepared, (api) => reading(api, item, maxBytes)))
  }
}

/** A file's bytes, or a Google file's export. */
const reading = (api: DriveApi, item: SourceItem, maxBytes: number): Stream.Stream<Uint8Array, ServiceError> => {
  const id = item.metadata?.["fileId"]
  if (id === undefined) return Stream.fail(ServiceError.notFound(item.path, "it was not listed by this source"))
  const bytes = item.metadata?.["googleType"] === undefined ? stored(api, item, id, maxBytes) : exported(api, item, id, maxBytes)
  return Stream.mapError(bytes, (error) => error.code === "NOT_FOUND" ? ServiceError.notFound(item.path, shareFix) : error)
}

/**
 * A stored file's bytes, checked against the listed checksum at the end, so that neither an edit in between nor a resumed download mixes
 * versions.
 */
const stored = (api: DriveApi, item: SourceItem, id: string, maxBytes: number) => {
  const bytes = download({ what: item.path, maxBytes, open: (offset) => api.media(id, offset) })
  const md5 = /^md5 ([0-9a-f]{32})$/.exec(item.revision)?.[1]
  if (md5 === undefined) return Stream.concat(Stream.fromEffectDrain(unchanged(api, item, id)), bytes)
  return Stream.suspend(() => {
    const hash = createHash("md5")
    return bytes.pipe(
      Stream.map((piece) => {
        hash.update(piece)
        return piece
      }),
      Stream.concat(Stream.fromEffectDrain(Effect.suspend(() => hash.digest("hex") === md5 ? Effect.void : Effect.fail(changed(item)))))
    )
  })
}

const exported = (api: DriveApi, item: SourceItem, id: string, maxBytes: number) =>
  Stream.concat(
    Stream.fromEffectDrain(unchanged(api, item, id)),
    download({
      what: item.path,
      maxBytes,
      // Each export is generated again, so an interrupted one cannot be resumed.
      open: (offset) => offset > 0 ? Effect.fail(brokeOff(item)) : exportOf(api, item, id)
    })
  )

const exportOf = (api: DriveApi, item: SourceItem, id: string) => {
  const mimeType = item.mimeType ?? ""
  return api.export(id, mimeType).pipe(
    Effect.catchIf(({ reason }) => reason === "exportSizeLimitExceeded", () => api.exportLarge(id, mimeType)),
    Effect.catchIf(
      ({ code }) => code === "INVALID_ARGUMENT" && mimeType === "text/markdown",
      () =>
        api.export(id, wordFormat).pipe(
          Effect.catchIf(({ reason }) => reason === "exportSizeLimitExceeded", () => api.exportLarge(id, wordFormat))
        )
    )
  )
}

const unchanged = (api: DriveApi, item: SourceItem, id: string): Effect.Effect<void, ServiceError> =>
  Effect.flatMap(api.file(id), (file) => {
    if (file.trashed === true) return Effect.fail(ServiceError.notFound(item.path))
    const native = exportFormatOf(file.mimeType) !== undefined
    return native === (item.metadata?.["googleType"] !== undefined) && revisionOf(file) === item.revision
      ? Effect.void
      : Effect.fail(changed(item))
  })

const changed = (item: SourceItem): ServiceError =>
  new ServiceError({ code: "ABORTED", message: `${item.path} changed since it was listed` })

const brokeOff = (item: SourceItem): ServiceError =>
  new ServiceError({ code: "UNAVAILABLE", message: `the export of ${item.path} broke off` })
