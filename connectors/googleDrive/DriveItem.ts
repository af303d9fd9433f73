import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import type { DriveFile } from "./DriveFile.ts"
import { exportFormatOf, isNative, nativeKind } from "./NativeFormats.ts"

/**
 * Moves whenever the content does: the checksum of stored files; the version of Google's own, which also counts what
 * is no content.
 */
export const revisionOf = (file: DriveFile): string => {
  const { headRevisionId, md5Checksum, mimeType, modifiedTime = "", version = "" } = file
  if (isNative(mimeType)) return `${exportFormatOf(mimeType)?.extension ?? ""} ${version} ${modifiedTime}`.trim()
  return md5Checksum !== undefined ? `md5 ${md5Checksum}` : headRevisionId !== undefined ? `head ${headRevisionId}` : `${version} ${modifiedTime}`
}

/** Why a file is not offered; nothing for one that is. Asks before its permissions are looked up. */
export const skipOf = (file: DriveFile, path: string, maxFileSize: number | undefined): Listed | undefined => {
  const size = Number(file.size ?? 0)
  if (isNative(file.mimeType) && exportFormatOf(file.mimeType) === undefined) {
    return { _tag: "skipped", path, reason: "unsupported", detail: `a Google ${nativeKind(file.mimeType)} has no text to export` }
  }
  if (file.capabilities?.canDownload === false) {
    return { _tag: "skipped", path, reason: "special", detail: "downloading it is not allowed to this account" }
  }
  return maxFileSize !== undefined && size > maxFileSize
    ? { _tag: "skipped", path, reason: "limit", detail: `${size} bytes; maxFileSize is ${maxFileSize}` }
    : undefined
}

/** A file as it is offered. */
export const itemOf = (file: DriveFile, path: string, permissions: Permissions): Listed => {
  const format = exportFormatOf(file.mimeType)
  const name = file.name.normalize("NFC")
  const { createdTime, driveId, modifiedTime } = file
  const author = nameOf(file.owners?.[0]) ?? nameOf(file.lastModifyingUser)
  return {
    _tag: "item",
    item: {
      path,
      uri: file.webViewLink ?? `https://drive.google.com/open?id=${file.id}`,
      displayName: format === undefined || name.toLowerCase().endsWith(format.extension) ? name : name + format.extension,
      revision: revisionOf(file),
      ...(file.size === undefined || format !== undefined ? {} : { size: Number(file.size) }),
      mimeType: format?.mimeType ?? file.mimeType,
      metadata: {
        title: name,
        ...(author === undefined ? {} : { author }),
        ...(createdTime === undefined ? {} : { createdTime }),
        ...(modifiedTime === undefined ? {} : { modifiedTime }),
        fileId: file.id,
        ...(driveId === undefined ? {} : { driveId }),
        ...(format === undefined ? {} : { googleType: nativeKind(file.mimeType) })
      },
      permissions
    }
  }
}

const nameOf = (person: { readonly displayName?: string; readonly emailAddress?: string } | undefined): string | undefined =>
  person?.displayName ?? person?.emailAddress
