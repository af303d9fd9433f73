import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import { download } from "../../src/net/Download.ts"
import type { SourceItem } from "../../src/ports/Connector.ts"
import type { DriveApi } from "./DriveApi.ts"
import { revisionOf } from "./DriveItem.ts"
import { shareFix } from "./DriveErrors.ts"
import { exportFormatOf, wordFormat } from "./NativeFormats.ts"

/** A file's bytes, or what a Google file exports to. */
export const reading = (api: DriveApi, item: SourceItem, maxBytes: number): Stream.Stream<Uint8Array, ServiceError> => {
  const id = item.metadata?.["fileId"]
  if (id === undefined) return Stream.fail(ServiceError.invalid("item", `${item.path} was not listed by this source`))
  const bytes = item.metadata?.["googleType"] === undefined ? stored(api, item, id, maxBytes) : exported(api, item, id, maxBytes)
  return Stream.mapError(bytes, (error) =>
    error.code === "NOT_FOUND" ? ServiceError.notFound(item.path, shareFix) : error)
}

/** Checked against the listed checksum at the end, so neither an edit meanwhile nor a resumed download mixes versions. */
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
      // Exports are made anew each time, so one that broke off cannot be gone on with.
      open: (offset) => offset > 0 ? Effect.fail(brokeOff(item)) : exportOf(api, item, id)
    })
  )

const exportOf = (api: DriveApi, item: SourceItem, id: string) => {
  const mimeType = item.mimeType ?? ""
  return api.export(id, mimeType).pipe(
    Effect.catchIf(({ reason }) => reason === "exportSizeLimitExceeded", () => api.exportLarge(id, mimeType)),
    Effect.catchIf(
      ({ code }) => code === "INVALID_ARGUMENT" && mimeType === "text/markdown",
      () => api.export(id, wordFormat).pipe(
        Effect.catchIf(({ reason }) => reason === "exportSizeLimitExceeded", () => api.exportLarge(id, wordFormat))
      )
    )
  )
}

const unchanged = (api: DriveApi, item: SourceItem, id: string): Effect.Effect<void, ServiceError> =>
  Effect.flatMap(api.file(id), (file) => {
    if (file.trashed === true) return Effect.fail(ServiceError.notFound(item.path))
    const native = exportFormatOf(file.mimeType) !== undefined
    return native === (item.metadata?.["googleType"] !== undefined) && revisionOf(file) === item.revision ? Effect.void : Effect.fail(changed(item))
  })

const changed = (item: SourceItem): ServiceError =>
  new ServiceError({ code: "ABORTED", message: `${item.path} changed since it was listed` })

const brokeOff = (item: SourceItem): ServiceError =>
  new ServiceError({ code: "UNAVAILABLE", message: `the export of ${item.path} broke off` })
