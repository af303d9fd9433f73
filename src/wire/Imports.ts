import { Result } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { ImportRequest, ImportSource } from "../domain/Import.ts"
import { chunkingFromWire, chunkingToWire, parsingFromWire, parsingToWire } from "./Chunkings.ts"
import type { ImportRagFilesConfig, ImportRagFilesRequest } from "./messages/RagFile.ts"
import { count, defined, required, text } from "./optional.ts"
import { apiKey, secretVersion } from "./secrets.ts"

const field = "import_rag_files_config"

/** The body of `importRagFiles`. */
export const importRequestToWire = (request: ImportRequest): Result.Result<ImportRagFilesRequest, ServiceError> =>
  Result.gen(function*() {
    return {
      importRagFilesConfig: defined({
        ...sourceToWire(request.source),
        ragFileTransformationConfig: yield* chunkingToWire(request.chunking),
        ragFileParsingConfig: parsingToWire(request.parsing),
        maxEmbeddingRequestsPerMin: request.maxEmbeddingRequestsPerMinute,
        ...(request.resultSink === undefined ? {} : yield* sinkToWire(request.resultSink))
      })
    }
  })

/** Several groups of one source are one request only when they share their credentials. */
export const importRequestFromWire = (
  corpus: CorpusName,
  wire: ImportRagFilesRequest
): Result.Result<ImportRequest, ServiceError> =>
  Result.gen(function*() {
    const config = yield* required(wire.importRagFilesConfig, field)
    return defined({
      corpus,
      source: yield* sourceFromWire(config),
      chunking: yield* chunkingFromWire(config, field),
      parsing: yield* parsingFromWire(config.ragFileParsingConfig, field),
      maxEmbeddingRequestsPerMinute: count(config.maxEmbeddingRequestsPerMin),
      resultSink: text(config.importResultGcsSink?.outputUriPrefix) ??
        text(config.importResultBigquerySink?.outputUri) ??
        text(config.partialFailureGcsSink?.outputUriPrefix) ??
        text(config.partialFailureBigquerySink?.outputUri)
    })
  })

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
          channels: [{
            channels: source.channels.map(({ end, id, start }) => defined({ channelId: id, startTime: start, endTime: end })),
            apiKeyConfig: apiKey(source.token)
          }]
        }
      }
    case "jira":
      return {
        jiraSource: {
          jiraQueries: [{
            projects: source.projects,
            customQueries: source.queries,
            email: source.email,
            serverUri: source.server,
            apiKeyConfig: apiKey(source.token)
          }]
        }
      }
    case "sharePoint":
      return {
        sharePointSources: {
          sharePointSources: [{
            sharepointSiteName: source.site,
            ...("name" in source.drive ? { driveName: source.drive.name } : { driveId: source.drive.id }),
            ...(source.folder === undefined
              ? {}
              : "path" in source.folder
              ? { sharepointFolderPath: source.folder.path }
              : { sharepointFolderId: source.folder.id }),
            clientId: source.clientId,
            tenantId: source.tenantId,
            clientSecret: apiKey(source.clientSecret)
          }]
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
      const kind = resourceType === "RESOURCE_TYPE_FILE" ? "file" as const : resourceType === "RESOURCE_TYPE_FOLDER" ? "folder" as const : undefined
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
    const groups = yield* some(source.channels, at)
    const tokens = new Set(groups.map((group) => group.apiKeyConfig?.apiKeySecretVersion))
    if (tokens.size > 1) return yield* Result.fail(oneOnly(at, "with one api_key_config"))
    const channels = []
    for (const [i, group] of groups.entries()) {
      for (const [j, channel] of (yield* some(group.channels, `${at}[${i}].channels`)).entries()) {
        channels.push(defined({
          id: yield* required(channel.channelId, `${at}[${i}].channels[${j}].channel_id`),
          start: text(channel.startTime),
          end: text(channel.endTime)
        }))
      }
    }
    return {
      _tag: "slack" as const,
      channels,
      token: yield* secretVersion([...tokens][0], `${at}[0].api_key_config.api_key_secret_version`)
    }
  })

const jiraFromWire = (source: Source<"jiraSource">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.jira_source.jira_queries`
    const query = yield* single(source.jiraQueries, at)
    const { customQueries: queries = [], projects = [] } = query
    if (projects.length + queries.length === 0) {
      return yield* Result.fail(ServiceError.invalid(`${at}[0]`, "projects or custom_queries must be set"))
    }
    return {
      _tag: "jira" as const,
      server: yield* required(query.serverUri, `${at}[0].server_uri`),
      email: yield* required(query.email, `${at}[0].email`),
      projects,
      queries,
      token: yield* secretVersion(query.apiKeyConfig?.apiKeySecretVersion, `${at}[0].api_key_config.api_key_secret_version`)
    }
  })

const sharePointFromWire = (source: Source<"sharePointSources">): Result.Result<ImportSource, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.share_point_sources.share_point_sources`
    const given = yield* single(source.sharePointSources, at)
    const { driveId, driveName, sharepointFolderId, sharepointFolderPath } = given
    return defined({
      _tag: "sharePoint" as const,
      site: yield* required(given.sharepointSiteName, `${at}[0].sharepoint_site_name`),
      drive: text(driveId) === undefined
        ? { name: yield* required(driveName, `${at}[0].drive_name`) }
        : { id: driveId ?? "" },
      folder: text(sharepointFolderPath) !== undefined
        ? { path: sharepointFolderPath ?? "" }
        : text(sharepointFolderId) !== undefined
        ? { id: sharepointFolderId ?? "" }
        : undefined,
      clientId: yield* required(given.clientId, `${at}[0].client_id`),
      tenantId: yield* required(given.tenantId, `${at}[0].tenant_id`),
      clientSecret: yield* secretVersion(given.clientSecret?.apiKeySecretVersion, `${at}[0].client_secret.api_key_secret_version`)
    })
  })

const some = <A>(items: ReadonlyArray<A> | undefined, at: string): Result.Result<ReadonlyArray<A>, ServiceError> =>
  required(items?.length === 0 ? undefined : items, at)

const single = <A>(items: ReadonlyArray<A> | undefined, at: string): Result.Result<A, ServiceError> =>
  Result.flatMap(some(items, at), ([first, ...more]) =>
    first === undefined || more.length > 0 ? Result.fail(oneOnly(at, "")) : Result.succeed(first))

const oneOnly = (at: string, what: string): ServiceError =>
  ServiceError.invalid(at, `one element ${what}`.trimEnd() + " is taken in one import", "import the others by requests of their own")
