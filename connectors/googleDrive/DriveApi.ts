import { Clock, Duration, Effect, Predicate, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce } from "../../src/net/Call.ts"
import { type GoogleAuth, make } from "../../src/net/GoogleAuth.ts"
import { authErrorOf, loginFix } from "../../src/net/GoogleErrors.ts"
import { bodyText, errorOfBody, retryAfterOf } from "../../src/net/HttpErrors.ts"
import { retry } from "../../src/net/Retry.ts"
import { makeAccount } from "../Account.ts"

const key = Schema.optionalKey
const Person = Schema.Struct({ displayName: key(Schema.String), emailAddress: key(Schema.String) })

/** A permission, `drive#permission`. */
export const DrivePermission = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  emailAddress: key(Schema.String),
  domain: key(Schema.String),
  deleted: key(Schema.Boolean),
  /** `published`: applies to the published view only. */
  view: key(Schema.String),
  expirationTime: key(Schema.String)
})
export type DrivePermission = typeof DrivePermission.Type

/** The requested fields of a file, `drive#file`. */
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
  /** Present only for accounts that may share the file, and never in shared drives. */
  permissions: key(Schema.Array(DrivePermission)),
  permissionIds: key(Schema.Array(Schema.String)),
  shortcutDetails: key(Schema.Struct({ targetId: key(Schema.String), targetMimeType: key(Schema.String) })),
  capabilities: key(Schema.Struct({ canDownload: key(Schema.Boolean) }))
})
export type DriveFile = typeof DriveFile.Type

const permissionFields = "id,type,emailAddress,domain,deleted,view,expirationTime"

const fileFields =
  "id,name,mimeType,parents,trashed,version,headRevisionId,md5Checksum,size,createdTime,modifiedTime,webViewLink,driveId," +
  `owners(displayName,emailAddress),lastModifyingUser(displayName,emailAddress),permissions(${permissionFields}),permissionIds,` +
  "shortcutDetails(targetId,targetMimeType),capabilities(canDownload)"

const FilePage = Schema.Struct({
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

const ChangePage = Schema.Struct({
  changes: key(Schema.Array(Schema.Unknown)),
  nextPageToken: key(Schema.String),
  newStartPageToken: key(Schema.String)
})

const PermissionPage = Schema.Struct({
  permissions: key(Schema.Array(DrivePermission)),
  nextPageToken: key(Schema.String)
})

/** A long-running export; `done` is absent or null until it is finished. */
const DownloadOperation = Schema.Struct({
  name: key(Schema.String),
  done: key(Schema.NullOr(Schema.Boolean)),
  error: key(Schema.Struct({ message: key(Schema.String) })),
  response: key(Schema.Struct({ downloadUri: key(Schema.String) }))
})
type DownloadOperation = typeof DownloadOperation.Type

export const folderType = "application/vnd.google-apps.folder"
export const shortcutType = "application/vnd.google-apps.shortcut"

/** Reasons of rate limits that waiting clears (Drive's "Resolve errors" guide); daily quotas are not among them. */
const rates = new Set(["userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded"])
const scopes = new Set(["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"])

const scopeFix =
  "run `gcloud auth application-default login --scopes=https://www.googleapis.com/auth/drive.readonly,https://www.googleapis.com/auth/cloud-platform`"

/** Fixes of refusals that sharing the file with the account would not end, by Drive's reason. */
const fixes: ReadonlyMap<string, string> = new Map([
  ...[...scopes].map((reason) => [reason, scopeFix] as const),
  ...["accessNotConfigured", "SERVICE_DISABLED"].map((reason) =>
    [reason, "run `gcloud services enable drive.googleapis.com` for the project that asks"] as const
  ),
  ["appNotAuthorizedToFile", "the credentials reach only files opened with their app (drive.file): use ones with drive.readonly"],
  ["cannotDownloadAbusiveFile", "Google considers the file malware or spam; it is not read"],
  ["cannotDownloadFile", "its owner does not let readers download it: ask for that, or take it out of the source"],
  ["downloadQuotaExceeded", "it was downloaded too often lately: run again in a day"],
  ["domainPolicy", "ask an administrator of the domain to let apps use Drive"]
])

/** The fix for a file that this account cannot see. */
export const shareFix = "share it with the account that Sluice runs as, or take it out of the source"

/** The error of a refusal by Drive, with Drive's own reason as its `reason`. */
const driveError = Effect.fnUntraced(function*(what: string, response: HttpClientResponse.HttpClientResponse) {
  const body = yield* bodyText(response)
  const retryAfter = retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
  const plain = errorOfBody(what, { status: response.status, body, ...(retryAfter === undefined ? {} : { retryAfter }) })
  return explain(what, plain, reasonOf(body) ?? plain.reason)
})

const explain = (what: string, error: ServiceError, reason: string | undefined): ServiceError => {
  const known = error.with({ reason })
  const as = (facts: Parameters<ServiceError["with"]>[0]): ServiceError => known.with(facts)
  if (reason !== undefined && rates.has(reason)) {
    return as({ code: "RESOURCE_EXHAUSTED", fix: "Drive's rate limit was reached; Sluice waited and tried again" })
  }
  if (reason === "dailyLimitExceeded") {
    return as({ code: "FAILED_PRECONDITION", fix: "the day's quota of the Drive API is used up: raise it, or come back tomorrow" })
  }
  const fix = fixes.get(reason ?? "")
  if (fix !== undefined) return as({ fix })
  switch (error.code) {
    case "NOT_FOUND":
      return as({ message: `${what} was not found, or is not shared with this account`, fix: shareFix })
    case "PERMISSION_DENIED":
      return as({ fix: shareFix })
    case "UNAUTHENTICATED":
      return as({ fix: loginFix })
    default:
      return known
  }
}

/** `error.errors[0].reason`, Drive's traditional place for the reason. */
const reasonOf = (body: string): string | undefined => {
  try {
    const json: unknown = JSON.parse(body)
    const error = Predicate.hasProperty(json, "error") ? json.error : undefined
    const errors = Predicate.hasProperty(error, "errors") ? error.errors : undefined
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined
    return Predicate.hasProperty(first, "reason") && typeof first.reason === "string" && /^\w{1,60}$/.test(first.reason)
      ? first.reason
      : undefined
  } catch {
    return undefined
  }
}

const scope = "https://www.googleapis.com/auth/drive.readonly"

/** Application Default Credentials with read access to Drive, located when the first token is needed. */
export const driveAuth = (): GoogleAuth["Service"] => {
  let found: GoogleAuth["Service"] | undefined
  const auth = Effect.suspend(() =>
    found !== undefined ? Effect.succeed(found) : Effect.map(
      Effect.tryPromise({ try: applicationDefault, catch: authErrorOf }),
      (client) => found ??= make({ client })
    )
  )
  return {
    token: Effect.flatMap(auth, ({ token }) => token),
    reject: (token) => Effect.ignore(Effect.flatMap(auth, ({ reject }) => reject(token))),
    quotaProject: Effect.flatMap(auth, ({ quotaProject }) => quotaProject),
    project: Effect.flatMap(auth, ({ project }) => project)
  }
}

const applicationDefault = async () => {
  const { GoogleAuth: Library } = await import("google-auth-library")
  return new Library({ scopes: [scope] }).getClient()
}

type Body = Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>

/** The part of the Drive API, version 3, that is used. Everything includes shared drives. */
export interface DriveApi {
  readonly file: (id: string) => Effect.Effect<DriveFile, ServiceError>
  /** The contents of folders that are all in one shared drive, or all in none; oldest first, without the trash. */
  readonly children: (
    folders: ReadonlyArray<string>,
    driveId: string | undefined,
    token?: string
  ) => Effect.Effect<typeof FilePage.Type, ServiceError>
  readonly permissions: (id: string) => Effect.Effect<ReadonlyArray<DrivePermission>, ServiceError>
  /** Token from which on changes of the account, or of one shared drive, are listed. */
  readonly startToken: (driveId: string | undefined) => Effect.Effect<string, ServiceError>
  readonly changes: (token: string, driveId: string | undefined) => Effect.Effect<typeof ChangePage.Type, ServiceError>
  readonly media: (id: string, offset: number) => Body
  readonly export: (id: string, mimeType: string) => Body
  /** Exports files that {@link DriveApi.export} refuses as too large, by a long-running operation; waits for it. */
  readonly exportLarge: (id: string, mimeType: string) => Body
}

interface DriveApiOptions {
  readonly caller: Caller
  readonly endpoint?: string
  readonly pollMs?: number
}

/** Requests per minute. Drive allows 12,000 for one user; half leaves room for the user's own work. */
const requestsPerMinute = 6000
/** Minutes after which an export is abandoned; the next run requests it again. */
const maxExportMinutes = 10

export const driveApi = ({ caller, endpoint = "https://www.googleapis.com", pollMs = 2000 }: DriveApiOptions): DriveApi => {
  const base = `${endpoint.replace(/\/+$/, "")}/drive/v3`
  const { call, json } = makeAccount({ caller, account: `${base} ${accountOf(caller)}`, requestsPerMinute, errorOf: driveError })
  const url = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
    const params = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`])
    return `${base}/${path}?${params.join("&")}`
  }
  const get = (path: string, query: Readonly<Record<string, string | undefined>>, headers: Readonly<Record<string, string>> = {}) =>
    HttpClientRequest.get(url(path, query), { headers })
  const ofFile = (id: string): string => `files/${encodeURIComponent(id)}`
  const fromDrive = (driveId: string | undefined) => ({ supportsAllDrives: "true", includeItemsFromAllDrives: "true", driveId })

  const permissions = (id: string, token?: string): Effect.Effect<ReadonlyArray<DrivePermission>, ServiceError> =>
    json(
      `permissions of Drive file ${id}`,
      get(`${ofFile(id)}/permissions`, {
        supportsAllDrives: "true",
        pageSize: "100",
        pageToken: token,
        fields: `nextPageToken,permissions(${permissionFields})`
      }),
      PermissionPage
    ).pipe(Effect.flatMap(({ nextPageToken, permissions: found = [] }) =>
      nextPageToken === undefined || nextPageToken === token
        ? Effect.succeed(found)
        : Effect.map(permissions(id, nextPageToken), (rest) => [...found, ...rest])
    ))

  const finished = (id: string, operation: DownloadOperation): Effect.Effect<string, ServiceError> => {
    const { done, error, name, response } = operation
    if (error !== undefined) {
      return Effect.fail(
        new ServiceError({
          code: "FAILED_PRECONDITION",
          message: `the export of Drive file ${id} failed: ${(error.message ?? "no details").slice(0, 200)}`
        })
      )
    }
    if (done === true && response?.downloadUri !== undefined) return Effect.succeed(response.downloadUri)
    if (done === true || name === undefined) {
      return Effect.fail(ServiceError.internal(`the export of Drive file ${id} ended without an address`))
    }
    return json(
      `the export of Drive file ${id}`,
      get(`operations/${encodeURIComponent(name.replace(/^operations\//, ""))}`, {}),
      DownloadOperation
    ).pipe(
      Effect.delay(Duration.millis(pollMs)),
      Effect.flatMap((next) => finished(id, next))
    )
  }

  /** Downloads an export. The address comes from Drive; credentials are sent to it only if they would be sent there anyway. */
  const fetchExport = (id: string, address: string): Body => {
    const what = `the export of Drive file ${id}`
    const to = URL.parse(address)
    if (to?.origin === new URL(base).origin) return call(what, HttpClientRequest.get(to))
    if (to === null || to.protocol !== "https:" && new URL(base).protocol === "https:") {
      return Effect.fail(ServiceError.internal(`${what} is at an address that is not fetched`))
    }
    const bare: Caller = { http: caller.http, ...(caller.timeoutMs === undefined ? {} : { timeoutMs: caller.timeoutMs }) }
    return callOnce(bare, what, HttpClientRequest.get(to)).pipe(retry(caller.retry))
  }

  return {
    file: (id) => json(`Drive file ${id}`, get(ofFile(id), { supportsAllDrives: "true", fields: fileFields }), DriveFile),
    children: (folders, driveId, token) =>
      json(
        folders.length === 1 ? `the listing of Drive folder ${folders[0]}` : `the listing of ${folders.length} Drive folders`,
        get("files", {
          q: `(${folders.map((id) => `'${id}' in parents`).join(" or ")}) and trashed = false`,
          corpora: driveId === undefined ? "user" : "drive",
          ...fromDrive(driveId),
          orderBy: "createdTime",
          pageSize: "1000",
          pageToken: token,
          fields: `nextPageToken,incompleteSearch,files(${fileFields})`
        }),
        FilePage
      ),
    permissions,
    startToken: (driveId) =>
      json(
        "changes of Drive",
        get("changes/startPageToken", { supportsAllDrives: "true", driveId }),
        Schema.Struct({ startPageToken: Schema.String })
      )
        .pipe(Effect.map(({ startPageToken }) => startPageToken)),
    changes: (token, driveId) =>
      json(
        "changes of Drive",
        get("changes", {
          pageToken: token,
          ...fromDrive(driveId),
          includeRemoved: "true",
          pageSize: "1000",
          fields: `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,driveId,file(${fileFields}))`
        }),
        ChangePage
      ),
    media: (id, offset) =>
      call(
        `Drive file ${id}`,
        get(ofFile(id), { alt: "media", supportsAllDrives: "true" }, {
          "accept-encoding": "gzip",
          ...(offset === 0 ? {} : { range: `bytes=${offset}-` })
        })
      ),
    export: (id, mimeType) => call(`Drive file ${id}`, get(`${ofFile(id)}/export`, { mimeType })),
    exportLarge: (id, mimeType) =>
      json(`the export of Drive file ${id}`, HttpClientRequest.post(url(`${ofFile(id)}/download`, { mimeType })), DownloadOperation).pipe(
        Effect.flatMap((operation) => finished(id, operation)),
        Effect.timeoutOrElse({
          duration: Duration.minutes(maxExportMinutes),
          orElse: () =>
            Effect.fail(
              new ServiceError({
                code: "DEADLINE_EXCEEDED",
                message: `the export of Drive file ${id} took more than ${maxExportMinutes} minutes`
              })
            )
        }),
        Effect.flatMap((address) => fetchExport(id, address))
      )
  }
}

/** Ids of callers by their credentials: callers with the same credentials share one rate limit. */
const accounts = new WeakMap<object, number>()
let lastAccount = 0
const accountOf = ({ auth }: Caller): string => {
  if (auth === undefined) return "anonymous"
  const account = accounts.get(auth) ?? ++lastAccount
  accounts.set(auth, account)
  return String(account)
}
