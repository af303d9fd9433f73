import { Duration, Effect, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce } from "../../src/net/Call.ts"
import { retry } from "../../src/net/Retry.ts"
import { makeAccount } from "../account/MakeAccount.ts"
import { ChangePage, DownloadOperation, DriveFile, type DrivePermission, fileFields, FilePage, permissionFields, PermissionPage } from "./DriveFile.ts"
import { driveError } from "./DriveErrors.ts"

type Body = Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>

/** The Drive API, version 3, as far as it is read. Everything reaches shared drives too. */
export interface DriveApi {
  readonly file: (id: string) => Effect.Effect<DriveFile, ServiceError>
  /** What lies in folders that are all of one shared drive, or all of none; oldest first, trash left out. */
  readonly children: (
    folders: ReadonlyArray<string>,
    driveId: string | undefined,
    token?: string
  ) => Effect.Effect<typeof FilePage.Type, ServiceError>
  readonly permissions: (id: string) => Effect.Effect<ReadonlyArray<DrivePermission>, ServiceError>
  /** From here on, changes of the account, or of one shared drive. */
  readonly startToken: (driveId: string | undefined) => Effect.Effect<string, ServiceError>
  readonly changes: (token: string, driveId: string | undefined) => Effect.Effect<typeof ChangePage.Type, ServiceError>
  readonly media: (id: string, offset: number) => Body
  readonly export: (id: string, mimeType: string) => Body
  /** {@link DriveApi.export} for what it refuses as too large: a long-running operation, waited for. */
  readonly exportLarge: (id: string, mimeType: string) => Body
}

export interface DriveApiOptions {
  readonly caller: Caller
  readonly endpoint?: string
  readonly pollMs?: number
}

/** Drive allows 12,000 a minute for one user; half leaves room for the user's own work. */
const requestsPerMinute = 6000
/** An export that takes longer is given up; the next run asks again. */
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
      get(`${ofFile(id)}/permissions`, { supportsAllDrives: "true", pageSize: "100", pageToken: token, fields: `nextPageToken,permissions(${permissionFields})` }),
      PermissionPage
    ).pipe(Effect.flatMap(({ nextPageToken, permissions: found = [] }) =>
      nextPageToken === undefined || nextPageToken === token
        ? Effect.succeed(found)
        : Effect.map(permissions(id, nextPageToken), (rest) => [...found, ...rest])
    ))

  const finished = (id: string, operation: DownloadOperation): Effect.Effect<string, ServiceError> => {
    const { done, error, name, response } = operation
    if (error !== undefined) {
      return Effect.fail(new ServiceError({ code: "FAILED_PRECONDITION", message: `the export of Drive file ${id} failed: ${(error.message ?? "no details").slice(0, 200)}` }))
    }
    if (done === true && response?.downloadUri !== undefined) return Effect.succeed(response.downloadUri)
    if (done === true || name === undefined) return Effect.fail(ServiceError.internal(`the export of Drive file ${id} ended without an address`))
    return json(`the export of Drive file ${id}`, get(`operations/${encodeURIComponent(name.replace(/^operations\//, ""))}`, {}), DownloadOperation).pipe(
      Effect.delay(Duration.millis(pollMs)),
      Effect.flatMap((next) => finished(id, next))
    )
  }

  /** The address is Drive's; credentials go to it only where they would go anyway. */
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
      json("changes of Drive", get("changes/startPageToken", { supportsAllDrives: "true", driveId }), Schema.Struct({ startPageToken: Schema.String }))
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
      call(`Drive file ${id}`, get(ofFile(id), { alt: "media", supportsAllDrives: "true" }, {
        "accept-encoding": "gzip",
        ...(offset === 0 ? {} : { range: `bytes=${offset}-` })
      })),
    export: (id, mimeType) => call(`Drive file ${id}`, get(`${ofFile(id)}/export`, { mimeType })),
    exportLarge: (id, mimeType) =>
      json(`the export of Drive file ${id}`, HttpClientRequest.post(url(`${ofFile(id)}/download`, { mimeType })), DownloadOperation).pipe(
        Effect.flatMap((operation) => finished(id, operation)),
        Effect.timeoutOrElse({
          duration: Duration.minutes(maxExportMinutes),
          orElse: () => Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `the export of Drive file ${id} took more than ${maxExportMinutes} minutes` }))
        }),
        Effect.flatMap((address) => fetchExport(id, address))
      )
  }
}

/** Callers of one set of credentials share their limits. */
const accounts = new WeakMap<object, number>()
let lastAccount = 0
const accountOf = ({ auth }: Caller): string => {
  if (auth === undefined) return "anonymous"
  const account = accounts.get(auth) ?? ++lastAccount
  accounts.set(auth, account)
  return String(account)
}
