import { Result } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest, ImportSource, JiraAccount, SharePointLibrary, SlackWorkspace } from "../../domain/Import.ts"
import { endTimeRule } from "../../domain/rag/Forms.ts"
import { importBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { chunkingFromWire, chunkingToWire, parsingField, parsingFromWire, parsingToWire } from "./Chunkings.ts"
import type { ImportRagFilesConfig, ImportRagFilesRequest } from "../messages/RagFile.ts"
import { count, defined, required, text, unserved } from "../Optional.ts"
import { apiKey, secretVersion } from "../Secrets.ts"

const field = "import_rag_files_config"

/** The body of `importRagFiles`. The sink for failures alone is deprecated, and not sent. */
export const importRequestToWire = (request: ImportRequest): Result.Result<ImportRagFilesRequest, ServiceError> =>
  Result.gen(function*() {
    return {
      importRagFilesConfig: defined({
        ...sourceToWire(request.source),
        ragFileTransformationConfig: yield* chunkingToWire(request.chunking),
        ragFileParsingConfig: parsingToWire(request.parsing),
        maxEmbeddingRequestsPerMin: request.maxEmbeddingRequestsPerMinute,
        globalMaxEmbeddingRequestsPerMin: request.globalMaxEmbeddingRequestsPerMinute,
        rebuildAnnIndex: request.rebuildAnnIndex,
        ...(request.resultSink === undefined ? {} : yield* sinkToWire(request.resultSink))
      })
    }
  })

export const importRequestFromWire = (
  corpus: CorpusName,
  wire: ImportRagFilesRequest
): Result.Result<ImportRequest, ServiceError> =>
  Result.gen(function*() {
    const config = yield* required(wire.importRagFilesConfig, field)
    yield* unserved(
      config.ragFileMetadataConfig,
      `${field}.rag_file_metadata_config`,
      "write it with ragFiles/*/ragMetadata once the files are there"
    )
    const request: ImportRequest = defined({
      corpus,
      source: yield* sourceFromWire(config),
      chunking: yield* chunkingFromWire(config, field),
      parsing: yield* parsingFromWire(config.ragFileParsingConfig, field),
      maxEmbeddingRequestsPerMinute: count(config.maxEmbeddingRequestsPerMin),
      globalMaxEmbeddingRequestsPerMinute: count(config.globalMaxEmbeddingRequestsPerMin),
      resultSink: sinkOf(config),
      failureSink: text(config.partialFailureGcsSink?.outputUriPrefix) ?? text(config.partialFailureBigquerySink?.outputUri),
      rebuildAnnIndex: config.rebuildAnnIndex === true ? true : undefined
    })
    const refused = refusalOf(importBroken(request).map((broken) => ({ ...broken, field: `${field}.${importField(broken.field)}` })))
    return refused === undefined ? request : yield* Result.fail(refused)
  })

/** The API's names of an import's fields, the longest first. */
const importFields: ReadonlyArray<readonly [domain: RegExp, wire: string]> = [
  [/^source\.uris/, "gcs_source.uris"],
  [/^source\.resources(\[\d+\])\.id$/, "google_drive_source.resource_ids$1.resource_id"],
  [/^source\.resources/, "google_drive_source.resource_ids"],
  [/^source\.workspaces(\[\d+\])\.token$/, "slack_source.channels$1.api_key_config.api_key_secret_version"],
  [/^source\.workspaces(\[\d+\])\.channels(\[\d+\])\.id$/, "slack_source.channels$1.channels$2.channel_id"],
  [/^source\.workspaces(\[\d+\])\.channels(\[\d+\])\.(start|end)$/, "slack_source.channels$1.channels$2.$3_time"],
  [/^source\.workspaces/, "slack_source.channels"],
  [/^source\.accounts(\[\d+\])\.token$/, "jira_source.jira_queries$1.api_key_config.api_key_secret_version"],
  [/^source\.accounts(\[\d+\])\.server$/, "jira_source.jira_queries$1.server_uri"],
  [/^source\.accounts/, "jira_source.jira_queries"],
  [/^source\.libraries(\[\d+\])\.clientSecret$/, "share_point_sources.share_point_sources$1.client_secret.api_key_secret_version"],
  [/^source\.libraries(\[\d+\])\.site$/, "share_point_sources.share_point_sources$1.sharepoint_site_name"],
  [/^source\.libraries/, "share_point_sources.share_point_sources"],
  [/^chunking\.size$/, "rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking.chunk_size"],
  [/^chunking\.overlap$/, "rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking.chunk_overlap"],
  [/^maxEmbeddingRequestsPerMinute$/, "max_embedding_requests_per_min"],
  [/^globalMaxEmbeddingRequestsPerMinute$/, "global_max_embedding_requests_per_min"],
  [/^resultSink$/, "import_result_gcs_sink.output_uri_prefix"]
]

const importField = (name: string): string => {
  const found = importFields.find(([domain]) => domain.test(name))
  const written = found === undefined ? parsingField(name) : name.replace(found[0], found[1])
  return written.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The request of an import, as its operation's metadata shows it. */
export const importConfigToWire = (request: ImportRequest): ImportRagFilesConfig | undefined => {
  const { failureSink } = request
  const config = Result.getOrUndefined(importRequestToWire(request))?.importRagFilesConfig
  if (config === undefined || failureSink === undefined) return config
  return failureSink.startsWith("bq://")
    ? { ...config, partialFailureBigquerySink: { outputUri: failureSink } }
    : { ...config, partialFailureGcsSink: { outputUriPrefix: failureSink } }
}

/** Address that the result of each file is written to; undefined where there is none. */
export const sinkOf = ({ importResultBigquerySink, importResultGcsSink }: ImportRagFilesConfig): string | undefined =>
  text(importResultGcsSink?.outputUriPrefix) ?? text(importResultBigquerySink?.outputUri)

const sinkToWire = (uri: string): Result.Result<ImportRagFilesConfig, ServiceError> => {
  if (uri.startsWith("gs://")) return Result.succeed({ importResultGcsSink: { outputUriPrefix: uri } })
  if (uri.startsWith("bq://")) return Result.succeed({ importResultBigquerySink: { outputUri: uri } })
  return Result.fail(ServiceError.invalid("import.resultSink", "must begin with gs:// or bq://"))
}

const sourceToWire = (source: ImportSource): ImportRagFilesConfig => {
  switch (source._tag) {
    case "storage":
      return { gcsSource: { uris: source.uris } }
    case "googleDrive":
      return {
        googleDriveSource: {
          resourceIds: source.resources.map(({ id, kind }) => ({
            resourceType: kind === "file" ? "RESOURCE_TYPE_FILE" : "RESOURCE_TYPE_FOLDER",
            resourceId: id
          }))
        }
      }
    case "slack":
      return {
        slackSource: {
          channels: source.workspaces.map(({ channels, token }) => ({
            channels: channels.map(({ end, id, start }) => defined({ channelId: id, startTime: start, endTime: end })),
            apiKeyConfig: apiKey(token)
          }))
        }
      }
    case "jira":
      return {
        jiraSource: {
          jiraQueries: source.accounts.map(({ email, projects, queries, server, token }) => ({
            projects,
            customQueries: queries,
            email,
            serverUri: server,
            apiKeyConfig: apiKey(token)
          }))
        }
      }
    case "sharePoint":
      return {
        sharePointSources: {
          sharePointSources: source.libraries.map(({ clientId, clientSecret, drive, folder, site, tenantId }) => ({
            sharepointSiteName: site,
            ...("name" in drive ? { driveName: drive.name } : { driveId: drive.id }),
            ...(folder === undefined ? {} : "path" in folder ? { sharepointFolderPath: folder.path } : { sharepointFolderId: folder.id }),
            clientId,
            tenantId,
            clientSecret: apiKey(clientSecret)
          }))
        }
      }
  }
}

const sourceFromWire = (config: ImportRagFilesConfig): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const { gcsSource, googleDriveSource, jiraSource, sharePointSources, slackSource } = config
    if (gcsSource !== undefined) {
      return { _tag: "storage" as const, uris: yield* some(gcsSource.uris, `${field}.gcs_source.uris`) }
    }
    if (googleDriveSource !== undefined) return yield* driveFromWire(googleDriveSource)
    if (slackSource !== undefined) return yield* slackFromWire(slackSource)
    if (jiraSource !== undefined) return yield* jiraFromWire(jiraSource)
    if (sharePointSources !== undefined) return yield* sharePointFromWire(sharePointSources)
    return yield* Result.fail(ServiceError.invalid(field, "One of the import sources must be set."))
  })

type Source<K extends keyof ImportRagFilesConfig> = NonNullable<ImportRagFilesConfig[K]>

const driveFromWire = (source: Source<"googleDriveSource">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.google_drive_source.resource_ids`
    const given = yield* some(source.resourceIds, at)
    const resources = []
    for (const [i, { resourceId, resourceType }] of given.entries()) {
      const kind = resourceType === "RESOURCE_TYPE_FILE"
        ? "file" as const
        : resourceType === "RESOURCE_TYPE_FOLDER"
        ? "folder" as const
        : undefined
      resources.push({
        kind: yield* required(kind, `${at}[${i}].resource_type`),
        id: yield* required(resourceId, `${at}[${i}].resource_id`)
      })
    }
    return { _tag: "googleDrive" as const, resources }
  })

const slackFromWire = (source: Source<"slackSource">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.slack_source.channels`
    const workspaces: Array<SlackWorkspace> = []
    for (const [i, group] of (yield* some(source.channels, at)).entries()) {
      const channels = []
      for (const [j, { channelId, endTime, startTime }] of (yield* some(group.channels, `${at}[${i}].channels`)).entries()) {
        const start = text(startTime)
        const end = text(endTime)
        if (start !== undefined && end !== undefined && !(Date.parse(start) < Date.parse(end))) {
          return yield* Result.fail(ServiceError.invalid(`${at}[${i}].channels[${j}].end_time`, endTimeRule.rule))
        }
        channels.push(defined({ id: yield* required(channelId, `${at}[${i}].channels[${j}].channel_id`), start, end }))
      }
      const token = yield* secretVersion(group.apiKeyConfig?.apiKeySecretVersion, `${at}[${i}].api_key_config.api_key_secret_version`)
      workspaces.push({ channels, token })
    }
    return { _tag: "slack" as const, workspaces }
  })

const jiraFromWire = (source: Source<"jiraSource">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const accounts: Array<JiraAccount> = []
    for (const [i, query] of (yield* some(source.jiraQueries, `${field}.jira_source.jira_queries`)).entries()) {
      const at = `${field}.jira_source.jira_queries[${i}]`
      const { customQueries: queries = [], projects = [] } = query
      if (projects.length + queries.length === 0) {
        return yield* Result.fail(ServiceError.invalid(at, "projects or custom_queries must be set"))
      }
      accounts.push({
        server: yield* required(query.serverUri, `${at}.server_uri`),
        email: yield* required(query.email, `${at}.email`),
        projects,
        queries,
        token: yield* secretVersion(query.apiKeyConfig?.apiKeySecretVersion, `${at}.api_key_config.api_key_secret_version`)
      })
    }
    return { _tag: "jira" as const, accounts }
  })

const sharePointFromWire = (source: Source<"sharePointSources">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const libraries: Array<SharePointLibrary> = []
    for (const [i, given] of (yield* some(source.sharePointSources, `${field}.share_point_sources.share_point_sources`)).entries()) {
      const at = `${field}.share_point_sources.share_point_sources[${i}]`
      const driveId = text(given.driveId)
      const folderPath = text(given.sharepointFolderPath)
      const folderId = text(given.sharepointFolderId)
      libraries.push(defined({
        site: yield* required(given.sharepointSiteName, `${at}.sharepoint_site_name`),
        drive: driveId === undefined ? { name: yield* required(given.driveName, `${at}.drive_name`) } : { id: driveId },
        folder: folderPath !== undefined ? { path: folderPath } : folderId !== undefined ? { id: folderId } : undefined,
        clientId: yield* required(given.clientId, `${at}.client_id`),
        tenantId: yield* required(given.tenantId, `${at}.tenant_id`),
        clientSecret: yield* secretVersion(given.clientSecret?.apiKeySecretVersion, `${at}.client_secret.api_key_secret_version`)
      }))
    }
    return { _tag: "sharePoint" as const, libraries }
  })

const some = <A>(items: ReadonlyArray<A> | undefined, at: string): Result.Result<ReadonlyArray<A>, ServiceError> =>
  required(items?.length === 0 ? undefined : items, at)
