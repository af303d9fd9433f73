import { Schema } from "effect"

const key = Schema.optionalKey
const Person = Schema.Struct({ displayName: key(Schema.String), emailAddress: key(Schema.String) })

/** A permission, `drive#permission`. */
export const DrivePermission = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  emailAddress: key(Schema.String),
  domain: key(Schema.String),
  deleted: key(Schema.Boolean),
  /** `published`: to the published view only. */
  view: key(Schema.String),
  expirationTime: key(Schema.String)
})
export type DrivePermission = typeof DrivePermission.Type

/** What is asked of a file, `drive#file`. */
export const DriveFile = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  mimeType: Schema.String,
  parents: key(Schema.Array(Schema.String)),
  trashed: key(Schema.Boolean),
  version: key(Schema.String),
  headRevisionId: key(Schema.String),
  md5Checksum: key(Schema.String),
  size: key(Schema.String),
  createdTime: key(Schema.String),
  modifiedTime: key(Schema.String),
  webViewLink: key(Schema.String),
  driveId: key(Schema.String),
  owners: key(Schema.Array(Person)),
  lastModifyingUser: key(Person),
  /** Only for who may share the file, and never in shared drives. */
  permissions: key(Schema.Array(DrivePermission)),
  permissionIds: key(Schema.Array(Schema.String)),
  shortcutDetails: key(Schema.Struct({ targetId: key(Schema.String), targetMimeType: key(Schema.String) })),
  capabilities: key(Schema.Struct({ canDownload: key(Schema.Boolean) }))
})
export type DriveFile = typeof DriveFile.Type

export const permissionFields = "id,type,emailAddress,domain,deleted,view,expirationTime"

export const fileFields =
  "id,name,mimeType,parents,trashed,version,headRevisionId,md5Checksum,size,createdTime,modifiedTime,webViewLink,driveId," +
  `owners(displayName,emailAddress),lastModifyingUser(displayName,emailAddress),permissions(${permissionFields}),permissionIds,` +
  "shortcutDetails(targetId,targetMimeType),capabilities(canDownload)"

export const FilePage = Schema.Struct({
  files: key(Schema.Array(Schema.Unknown)),
  nextPageToken: key(Schema.String),
  incompleteSearch: key(Schema.Boolean)
})

export const Change = Schema.Struct({
  /** `file` or `drive`. */
  changeType: key(Schema.String),
  removed: key(Schema.Boolean),
  fileId: key(Schema.String),
  driveId: key(Schema.String),
  file: key(DriveFile)
})
export type Change = typeof Change.Type

export const ChangePage = Schema.Struct({
  changes: key(Schema.Array(Schema.Unknown)),
  nextPageToken: key(Schema.String),
  newStartPageToken: key(Schema.String)
})

export const PermissionPage = Schema.Struct({
  permissions: key(Schema.Array(DrivePermission)),
  nextPageToken: key(Schema.String)
})

/** A long-running export; `done` is absent or null until it is. */
export const DownloadOperation = Schema.Struct({
  name: key(Schema.String),
  done: key(Schema.NullOr(Schema.Boolean)),
  error: key(Schema.Struct({ message: key(Schema.String) })),
  response: key(Schema.Struct({ downloadUri: key(Schema.String) }))
})
export type DownloadOperation = typeof DownloadOperation.Type

export const folderType = "application/vnd.google-apps.folder"
export const shortcutType = "application/vnd.google-apps.shortcut"
