import { Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type Asked, fakeServer, type FakeServer, rangeOf, sendGoogleError, sendJson } from "./Http.ts"

interface Permission {
  readonly id: string
  readonly type: string
  readonly role: string
  readonly emailAddress?: string
  readonly domain?: string
  readonly expirationTime?: string
}

interface Stored {
  readonly id: string
  name: string
  mimeType: string
  parents: Array<string>
  trashed: boolean
  version: number
  content: string
  readonly createdTime: string
  modifiedTime: string
  readonly driveId?: string
  permissions: Array<Permission>
  /** False: Drive tells this account no permissions. */
  readonly canShare: boolean
  readonly shortcutDetails?: { readonly targetId: string; readonly targetMimeType: string }
  readonly capabilities: { readonly canDownload: boolean }
}

export interface FakeDrive extends FakeServer {
  readonly put: (id: string, parent: string | undefined, more?: Partial<Stored>) => void
  readonly folder: (id: string, parent: string | undefined, more?: Partial<Stored>) => void
  readonly shortcut: (id: string, parent: string, target: string) => void
  /** Changes a file, and says so in the feed. */
  readonly edit: (id: string, changes: Partial<Stored>) => void
  /** Deletes for good: the feed says no more than the id. */
  readonly remove: (id: string) => void
  readonly token: { value: string }
  /** Exports larger than this are refused, as those over 10 MB. */
  readonly exportLimit: { bytes: number }
}

const google = "application/vnd.google-apps."

/** A Drive error with the reason where Drive puts it. */
export const sendDriveError = (response: ServerResponse, status: number, reason: string, headers: Record<string, string> = {}): void =>
  sendGoogleError(response, status, `${reason}.`, { errors: [{ message: `${reason}.`, domain: "global", reason }] }, headers)

/** The Drive API, version 3, in memory, as far as documented behaviour goes. */
export const fakeDrive = (pageSize = 1000): Effect.Effect<FakeDrive, never, Scope.Scope> => {
  const files = new Map<string, Stored>()
  const log: Array<{ readonly id: string; readonly driveId?: string }> = []
  const token = { value: "good" }
  const exportLimit = { bytes: 1000 }
  const operations = new Map<string, { polls: number; readonly content: string }>()
  let clock = 0

  const time = (): string => new Date(Date.UTC(2026, 5, 1) + ++clock * 1000).toISOString()
  const put: FakeDrive["put"] = (id, parent, more = {}) => {
    const now = time()
    const driveId = more.driveId ?? (parent === undefined ? undefined : files.get(parent)?.driveId)
    files.set(id, {
      id,
      name: id,
      mimeType: "text/plain",
      parents: parent === undefined ? [] : [parent],
      trashed: false,
      version: 1,
      content: `text of ${id}`,
      createdTime: now,
      modifiedTime: now,
      permissions: [{ id: "p-ann", type: "user", role: "owner", emailAddress: "Ann@Acme.com" }],
      canShare: true,
      capabilities: { canDownload: true },
      ...(driveId === undefined ? {} : { driveId }),
      ...more
    })
    say(id)
  }
  const say = (id: string): void => {
    const driveId = files.get(id)?.driveId
    log.push({ id, ...(driveId === undefined ? {} : { driveId }) })
  }

  const resource = (file: Stored) => {
    const { canShare, content, permissions, version, ...facts } = file
    const native = file.mimeType.startsWith(google)
    return {
      kind: "drive#file",
      ...facts,
      version: String(version),
      webViewLink: `https://drive.google.com/file/d/${file.id}/view`,
      ...(native ? {} : {
        size: String(Buffer.byteLength(content)),
        md5Checksum: createHash("md5").update(content).digest("hex"),
        headRevisionId: `${file.id}-${version}`
      }),
      ...(file.driveId === undefined ? { owners: [{ kind: "drive#user", displayName: "Ann", emailAddress: "Ann@Acme.com" }] } : {}),
      ...(file.driveId === undefined && canShare ? { permissions } : {}),
      ...(canShare ? { permissionIds: permissions.map(({ id }) => id) } : {})
    }
  }

  const trashedAbove = (file: Stored): boolean =>
    file.trashed || file.parents.some((id) => {
      const parent = files.get(id)
      return parent !== undefined && trashedAbove(parent)
    })

  const list = (query: URLSearchParams, response: ServerResponse): void => {
    const parents = [...(query.get("q") ?? "").matchAll(/'([^']+)' in parents/g)].map(([, id = ""]) => id)
    if (parents.some((id) => !files.has(id))) return sendDriveError(response, 404, "notFound")
    const found = [...files.values()].filter((file) =>
      !trashedAbove(file) && file.parents.some((id) => parents.includes(id)) &&
      (query.get("corpora") === "user" || file.driveId === query.get("driveId"))
    )
    const start = Number(query.get("pageToken") ?? 0)
    const page = found.slice(start, start + pageSize)
    sendJson(response, 200, {
      kind: "drive#fileList",
      incompleteSearch: false,
      files: page.map(resource),
      ...(start + pageSize < found.length ? { nextPageToken: String(start + pageSize) } : {})
    })
  }

  const changes = (query: URLSearchParams, response: ServerResponse): void => {
    const start = Number(query.get("pageToken"))
    const driveId = query.get("driveId")
    const end = Math.min(start + pageSize, log.length)
    const ids = log.slice(start, end).flatMap((entry) => driveId === null || entry.driveId === driveId ? [entry.id] : [])
    sendJson(response, 200, {
      kind: "drive#changeList",
      changes: [...new Set(ids)].map((id) => {
        const file = files.get(id)
        return {
          kind: "drive#change",
          changeType: "file",
          fileId: id,
          removed: file === undefined,
          ...(file === undefined ? {} : { file: resource(file) })
        }
      }),
      ...(end < log.length ? { nextPageToken: String(end) } : { newStartPageToken: String(end) })
    })
  }

  const send = (content: string, asked: Asked, response: ServerResponse): void => {
    const { part, status } = rangeOf(asked.headers.range, Buffer.from(content))
    response.writeHead(status, { "content-length": part.length }).end(part)
  }

  const ofFile = (file: Stored, verb: string | undefined, asked: Asked, response: ServerResponse): void => {
    const mimeType = asked.url.searchParams.get("mimeType")
    const exported = `${mimeType}: ${file.content}`
    if (verb === "permissions") {
      return file.canShare
        ? sendJson(response, 200, { permissions: file.permissions })
        : sendDriveError(response, 403, "insufficientFilePermissions")
    }
    if (verb === "export") {
      return exported.length > exportLimit.bytes
        ? sendDriveError(response, 403, "exportSizeLimitExceeded")
        : send(exported, asked, response)
    }
    if (verb === "download") {
      const name = `op-${operations.size}`
      operations.set(name, { polls: 0, content: exported })
      return sendJson(response, 200, { name: `operations/${name}`, done: null })
    }
    if (asked.url.searchParams.get("alt") === "media") return send(file.content, asked, response)
    sendJson(response, 200, resource(file))
  }

  let origin = ""
  const answer = (asked: Asked, response: ServerResponse): void => {
    const { pathname, searchParams } = asked.url
    if (asked.headers.authorization !== `Bearer ${token.value}`) {
      return sendGoogleError(response, 401, "Invalid Credentials", { status: "UNAUTHENTICATED" })
    }
    const [, collection, rawId = "", verb] = /^\/drive\/v3\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? []
    if (pathname.startsWith("/bytes/")) return send(operations.get(pathname.slice(7))?.content ?? "", asked, response)
    if (collection === "changes") {
      return rawId === "startPageToken" ? sendJson(response, 200, { startPageToken: String(log.length) }) : changes(searchParams, response)
    }
    if (collection === "operations") {
      const operation = operations.get(rawId)
      if (operation === undefined) return sendDriveError(response, 404, "notFound")
      const done = ++operation.polls > 1
      return sendJson(response, 200, {
        name: `operations/${rawId}`,
        done,
        ...(done ? { response: { downloadUri: `${origin}/bytes/${rawId}` } } : {})
      })
    }
    if (collection !== "files") return sendDriveError(response, 404, "notFound")
    if (rawId === "") return list(searchParams, response)
    const file = files.get(decodeURIComponent(rawId))
    if (file === undefined) return sendDriveError(response, 404, "notFound")
    ofFile(file, verb, asked, response)
  }

  return Effect.map(fakeServer(answer), (server) => {
    origin = server.origin
    return {
      ...server,
      put,
      folder: (id, parent, more) => put(id, parent, { mimeType: `${google}folder`, ...more }),
      shortcut: (id, parent, target) =>
        put(id, parent, {
          mimeType: `${google}shortcut`,
          shortcutDetails: { targetId: target, targetMimeType: files.get(target)?.mimeType ?? "" }
        }),
      edit: (id, changed) => {
        const file = files.get(id)
        if (file === undefined) return
        Object.assign(file, { modifiedTime: time() }, changed)
        file.version++
        say(id)
      },
      remove: (id) => {
        say(id)
        files.delete(id)
      },
      token,
      exportLimit
    }
  })
}
