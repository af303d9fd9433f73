import { Schema } from "effect"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Listed } from "../../src/ports/Connector.ts"

const key = Schema.optionalKey
const Person = Schema.Struct({ displayName: key(Schema.String), email: key(Schema.String) })
export const Identities = Schema.Struct({ user: key(Person) })
const Facet = key(Schema.Struct({}))

/** What is asked of an item of a library. */
export const DriveItem = Schema.Struct({
  id: Schema.String,
  name: key(Schema.String),
  size: key(Schema.Finite),
  file: key(Schema.Struct({ mimeType: key(Schema.String) })),
  folder: Facet,
  /** A OneNote notebook. */
  package: Facet,
  root: Facet,
  deleted: Facet,
  malware: Facet,
  remoteItem: Facet,
  parentReference: key(Schema.Struct({ id: key(Schema.String) })),
  eTag: key(Schema.String),
  cTag: key(Schema.String),
  webUrl: key(Schema.String),
  createdDateTime: key(Schema.String),
  lastModifiedDateTime: key(Schema.String),
  createdBy: key(Identities),
  lastModifiedBy: key(Identities)
})
export type DriveItem = typeof DriveItem.Type

export const itemFields =
  "id,name,size,file,folder,package,root,deleted,malware,remoteItem,parentReference,eTag,cTag,webUrl,createdDateTime,lastModifiedDateTime,createdBy,lastModifiedBy"

/** The content tag, which the content moves and the name does not; else the tag of all. */
export const revisionOf = ({ cTag, eTag }: { readonly cTag?: string; readonly eTag?: string }): string => cTag ?? eTag ?? "unknown"

/** Why an item is not offered; nothing for one that is. */
export const skipOf = (item: DriveItem, path: string, maxFileSize: number | undefined): Listed | undefined => {
  if (item.remoteItem !== undefined) return { _tag: "skipped", path, reason: "link", detail: "it lies in another library" }
  if (item.package !== undefined || item.file === undefined) return { _tag: "skipped", path, reason: "unsupported", detail: "notebooks and packages are not read" }
  if (item.malware !== undefined) return { _tag: "skipped", path, reason: "special", detail: "SharePoint found malware in it" }
  return maxFileSize !== undefined && item.size !== undefined && item.size > maxFileSize
    ? { _tag: "skipped", path, reason: "limit", detail: `${item.size} bytes; maxFileSize is ${maxFileSize}` }
    : undefined
}

/** A file as it is offered. */
export const offered = (item: DriveItem, path: string, driveId: string, permissions: Permissions): Listed => {
  const name = item.name ?? path
  const mimeType = item.file?.mimeType
  const revision = revisionOf(item)
  return {
    _tag: "item",
    item: {
      path,
      uri: item.webUrl ?? `https://graph.microsoft.com/v1.0/drives/${driveId}/items/${item.id}`,
      displayName: name,
      revision,
      ...(revision === "unknown" ? { unsettled: true } : {}),
      ...(item.size === undefined ? {} : { size: item.size }),
      ...(mimeType === undefined ? {} : { mimeType }),
      metadata: { title: name, ...factsOf(item), driveId, itemId: item.id },
      permissions
    }
  }
}

/** Who and when, of files and pages. */
export const factsOf = ({ createdBy, createdDateTime, lastModifiedBy, lastModifiedDateTime }: Pick<DriveItem, "createdBy" | "createdDateTime" | "lastModifiedBy" | "lastModifiedDateTime">): Record<string, string> => {
  const author = createdBy?.user?.displayName ?? createdBy?.user?.email ?? lastModifiedBy?.user?.displayName
  return {
    ...(author === undefined ? {} : { author }),
    ...(createdDateTime === undefined ? {} : { createdTime: createdDateTime }),
    ...(lastModifiedDateTime === undefined ? {} : { modifiedTime: lastModifiedDateTime })
  }
}
