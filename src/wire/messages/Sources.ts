import { enumeration, list, message, of, oneof, only, string, timestamp } from "../Message.ts"
import { ApiKeyConfig } from "./RagCorpus.ts"

// Sources of files: the same messages occur in import requests and in imported files.

export const GcsSource = message("GcsSource", { uris: list(string) })
export const GcsDestination = message("GcsDestination", { outputUriPrefix: string })
export const BigQuerySource = message("BigQuerySource", { inputUri: string })
export const BigQueryDestination = message("BigQueryDestination", { outputUri: string })
export const DirectUploadSource = message("DirectUploadSource", {})

const GoogleDriveSource = message("GoogleDriveSource", {
  resourceIds: list(of(message("GoogleDriveSource.ResourceId", {
    resourceType: enumeration("GoogleDriveSource.ResourceId.ResourceType", [
      "RESOURCE_TYPE_UNSPECIFIED",
      "RESOURCE_TYPE_FILE",
      "RESOURCE_TYPE_FOLDER"
    ]),
    resourceId: string
  })))
})

const SlackChannel = message("SlackSource.SlackChannels.SlackChannel", {
  channelId: string,
  startTime: timestamp,
  endTime: timestamp
})

const SlackSource = message("SlackSource", {
  channels: list(of(message("SlackSource.SlackChannels", {
    channels: list(of(SlackChannel)),
    apiKeyConfig: of(ApiKeyConfig)
  })))
})

const JiraSource = message("JiraSource", {
  jiraQueries: list(of(message("JiraSource.JiraQueries", {
    projects: list(string),
    customQueries: list(string),
    email: string,
    serverUri: string,
    apiKeyConfig: of(ApiKeyConfig)
  })))
})

export const SharePointSource = message("SharePointSources.SharePointSource", {
  sharepointFolderPath: oneof("folder_source", string),
  sharepointFolderId: oneof("folder_source", string),
  driveName: oneof("drive_source", string),
  driveId: oneof("drive_source", string),
  clientId: string,
  clientSecret: of(ApiKeyConfig),
  tenantId: string,
  sharepointSiteName: string,
  fileId: string
})

export const SharePointSources = message("SharePointSources", { sharePointSources: list(of(SharePointSource)) })

/** Members of the one-ofs `import_source` and `rag_file_source`. */
export const sources = <N extends string>(name: N) => ({
  gcsSource: oneof(name, of(GcsSource)),
  googleDriveSource: oneof(name, of(GoogleDriveSource)),
  slackSource: oneof(name, of(SlackSource)),
  jiraSource: oneof(name, of(JiraSource)),
  sharePointSources: oneof(name, of(SharePointSources))
})

/** Deprecated by the service. It is defined so that requests with it are not refused. */
export const RagFileMetadataConfig = message("RagFileMetadataConfig", {
  gcsMetadataSchemaSource: only("v1beta1", oneof("metadata_schema_source", of(GcsSource))),
  googleDriveMetadataSchemaSource: only("v1beta1", oneof("metadata_schema_source", of(GoogleDriveSource))),
  inlineMetadataSchemaSource: only("v1beta1", oneof("metadata_schema_source", string)),
  gcsMetadataSource: only("v1beta1", oneof("metadata_source", of(GcsSource))),
  googleDriveMetadataSource: only("v1beta1", oneof("metadata_source", of(GoogleDriveSource))),
  inlineMetadataSource: only("v1beta1", oneof("metadata_source", string))
})
