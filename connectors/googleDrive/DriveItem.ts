import { Clock, Effect } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import type { DriveApi, DriveFile, DrivePermission } from "./DriveApi.ts"

const native = "application/vnd.google-apps."
const office = "application/vnd.openxmlformats-officedocument."

/** The format that a Google file is exported to. */
interface ExportFormat {
  readonly mimeType: string
  /** Extension with its dot, appended to the file's name, which determines the reader. */
  readonly extension: string
}

/** Export formats by kind of file. Markdown keeps headings, lists, tables and links, and is the smallest format of Docs. */
const formats: Readonly<Record<string, ExportFormat>> = {
  document: { mimeType: "text/markdown", extension: ".md" },
  spreadsheet: { mimeType: `${office}spreadsheetml.sheet`, extension: ".xlsx" },
  presentation: { mimeType: `${office}presentationml.presentation`, extension: ".pptx" },
  drawing: { mimeType: "application/pdf", extension: ".pdf" }
}

/** Export format of a Doc that Drive cannot export to Markdown. It is recognised by its bytes, so the name may stay. */
export const wordFormat = `${office}wordprocessingml.document`

const isNative = (mimeType: string): boolean => mimeType.startsWith(native)

/** The kind of a Google file: `form`, `map`, `document`. */
const nativeKind = (mimeType: string): string => mimeType.slice(native.length)

/** The export format of a Google file; undefined for those without a text form: forms, maps, sites, scripts. */
export const exportFormatOf = (mimeType: string): ExportFormat | undefined => isNative(mimeType) ? formats[nativeKind(mimeType)] : undefined

/**
 * Revision of a file, which changes whenever the content does: the checksum of a stored file; the version of a Google file, which counts
 * other changes too.
 */
export const revisionOf = (file: DriveFile): string => {
  const { headRevisionId, md5Checksum, mimeType, modifiedTime = "", version = "" } = file
  if (isNative(mimeType)) return `${exportFormatOf(mimeType)?.extension ?? ""} ${version} ${modifiedTime}`.trim()
  return md5Checksum !== undefined
    ? `md5 ${md5Checksum}`
    : headRevisionId !== undefined
    ? `head ${headRevisionId}`
    : `${version} ${modifiedTime}`
}

/** The event with which a file is skipped; undefined for one that is offered. Called before its permissions are requested. */
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

/** The event that offers a file. */
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

/**
 * Returns a function that reads who may read files. Shared drives name grants by id only; each grant is requested once, for all files that
 * have it. Where the account may not see the permissions, only the owners are granted access.
 */
export const permissionReader = (api: DriveApi) => {
  const grants = new Map<string, DrivePermission>()

  const grantsOf = Effect.fnUntraced(function*(file: DriveFile): Effect.fn.Return<ReadonlyArray<DrivePermission>, ServiceError> {
    if (file.permissions !== undefined) return file.permissions
    const ids = file.permissionIds ?? []
    const known = ids.flatMap((id) => grants.get(id) ?? [])
    if (known.length === ids.length && ids.length > 0) return known
    const found = yield* api.permissions(file.id).pipe(
      Effect.catchIf(({ code }) => code === "PERMISSION_DENIED" || code === "NOT_FOUND", () => Effect.succeed(known))
    )
    for (const permission of found) if (permission.expirationTime === undefined) grants.set(permission.id, permission)
    return found
  })

  return Effect.fnUntraced(function*(file: DriveFile): Effect.fn.Return<Permissions, ServiceError> {
    const now = yield* Clock.currentTimeMillis
    const valid = (yield* grantsOf(file)).filter(({ deleted, expirationTime, view }) =>
      deleted !== true && view === undefined && !(expirationTime !== undefined && Date.parse(expirationTime) <= now)
    )
    const principals = new Set([
      ...valid.flatMap(principalOf),
      ...(file.owners ?? []).flatMap(({ emailAddress }) => emailAddress === undefined ? [] : [`user:${emailAddress.toLowerCase()}`])
    ])
    return { public: valid.some(({ type }) => type === "anyone"), principals: [...principals].toSorted() }
  })
}

const principalOf = ({ domain, emailAddress, type }: DrivePermission): ReadonlyArray<string> => {
  if ((type === "user" || type === "group") && emailAddress !== undefined) return [`${type}:${emailAddress.toLowerCase()}`]
  return type === "domain" && domain !== undefined ? [`domain:${domain.toLowerCase()}`] : []
}
