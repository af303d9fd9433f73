import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type Asked, fakeServer, type FakeServer, rangeOf, sendJson } from "./Http.ts"

interface Item {
  readonly id: string
  name: string
  parent: string | undefined
  readonly folder: boolean
  content: string
  version: number
  deleted: boolean
  permissions: ReadonlyArray<object>
  readonly more: object
}

interface Page {
  readonly id: string
  readonly name: string
  readonly title: string
  version: number
  readonly webparts: ReadonlyArray<object>
  readonly versionId?: string
  /** Folder of the page in its library, with a `/` at the end. */
  readonly folder?: string
  /** Name of the site's group that may read it. */
  readonly readers?: string
}

export interface FakeGraph extends FakeServer {
  /** Where downloads are signed to: another origin. */
  readonly files: FakeServer
  readonly file: (id: string, parent: string, name: string, more?: Partial<Item>) => void
  readonly folder: (id: string, parent: string, name: string) => void
  /** Changes an item, and says so in the delta. */
  readonly edit: (id: string, changes: Partial<Item>) => void
  /** Changes it without a word, as what happens after a page was made. */
  readonly item: (id: string) => Item
  readonly pages: Array<Page>
  /** Statuses of single answers in batches, by path. */
  readonly denials: Map<string, number>
  /** Deltas given out so far end. */
  readonly expire: () => void
  /** Tokens given out so far are refused. */
  readonly revoke: () => void
  readonly tokens: { issued: number; secret: string; seconds: number }
}

const siteId = "acme.sharepoint.com,6d32f5d3-3a2f-4f7e-9c56-0d8f7e3b1a01,8b0f1c52-93a4-4f0e-b0b4-7f2a2f0c9e02"
const base = "/v1.0"

export const sendGraphError = (
  response: ServerResponse,
  status: number,
  code: string,
  message = code,
  headers: Record<string, string> = {}
): void => sendJson(response, status, { error: { code, message, innerError: { "request-id": "0", date: "2026-06-01T00:00:00" } } }, headers)

/** Microsoft Graph and its sign-in in memory: one site, its default library `lib`, another one `other`. */
export const fakeGraph = (pageSize = 200): Effect.Effect<FakeGraph, never, Scope.Scope> =>
  Effect.gen(function*() {
    const items = new Map<string, Item>()
    const log: Array<string> = []
    const pages: Array<Page> = []
    const denials = new Map<string, number>()
    const tokens = { issued: 0, secret: "s3cret", seconds: 3600 }
    let valid = 1
    let epoch = 0
    let origin = ""

    const add = (id: string, parent: string | undefined, name: string, more: Partial<Item> = {}): void => {
      const permissions = [{ id: "p1", roles: ["read"], grantedToV2: { user: { id: "u1", email: "Ann@acme.com", displayName: "Ann" } } }]
      items.set(id, {
        id,
        name,
        parent,
        folder: false,
        content: `text of ${id}`,
        version: 1,
        deleted: false,
        permissions,
        more: {},
        ...more
      })
      log.push(id)
    }
    add("root", undefined, "root", { folder: true })

    const files = yield* fakeServer(({ headers, url }, response) => {
      const { part, status } = rangeOf(headers.range, Buffer.from(items.get(url.pathname.slice(1))?.content ?? ""))
      response.writeHead(status, { "content-length": part.length }).end(part)
    })

    const resource = (item: Item): object => {
      const { content, deleted, folder, id, name, parent, version } = item
      if (deleted) return { id, deleted: { state: "deleted" } }
      return {
        id,
        name,
        eTag: `"{${id}},${version}"`,
        cTag: `"c:{${id}},${version}"`,
        webUrl: `https://acme.sharepoint.com/Shared%20Documents/${name}`,
        createdDateTime: "2026-05-01T10:00:00Z",
        lastModifiedDateTime: "2026-06-01T10:00:00Z",
        createdBy: { user: { displayName: "Ann", email: "ann@acme.com" } },
        ...(parent === undefined ? { root: {} } : { parentReference: { id: parent, driveId: "lib" } }),
        ...(folder ? { folder: { childCount: 1 } } : { size: Buffer.byteLength(content), file: { mimeType: "text/plain" } }),
        ...item.more
      }
    }

    const delta = (query: URLSearchParams, response: ServerResponse): void => {
      const token = query.get("token") ?? ""
      const [of, kind, from, since] = token === ""
        ? [epoch, "full", 0, log.length]
        : JSON.parse(token) as [number, string, number, number]
      if (of !== epoch) {
        return sendGraphError(response, 410, "resyncRequired", "Resync required.", { location: `${origin}${base}/drives/lib/root/delta` })
      }
      // What changes while everything is listed comes once more.
      const ids = kind === "full" ? [...items.keys(), ...log.slice(since)] : log
      const page = ids.slice(from, from + pageSize)
      // The chain of folders above each change comes along, as in SharePoint.
      const shown = new Set(kind === "full" ? page : page.flatMap((id) => [...above(id), id]))
      const link = (token: ReadonlyArray<unknown>) =>
        `${origin}${base}/drives/lib/root/delta?token=${encodeURIComponent(JSON.stringify(token))}`
      sendJson(response, 200, {
        // A delta omits the content tag of a SharePoint library's items.
        value: [...shown].flatMap((id) => items.get(id) ?? []).map((each) => ({ ...resource(each), cTag: undefined })),
        ...(from + pageSize < ids.length
          ? { "@odata.nextLink": link([epoch, kind, from + pageSize, since]) }
          : { "@odata.deltaLink": link([epoch, "changes", log.length, 0]) })
      })
    }
    const above = (id: string): ReadonlyArray<string> => {
      const parent = items.get(id)?.parent
      return parent === undefined ? [] : [...above(parent), parent]
    }

    const signIn = (asked: Asked, response: ServerResponse): void => {
      const form = new URLSearchParams(asked.body.toString())
      if (form.get("client_secret") !== tokens.secret) {
        return sendJson(response, 401, {
          error: "invalid_client",
          error_description: `AADSTS7000215: Invalid client secret provided: ${form.get("client_secret")} Trace ID: 1 Correlation ID: 2`,
          error_codes: [7000215]
        })
      }
      tokens.issued++
      sendJson(response, 200, { token_type: "Bearer", expires_in: tokens.seconds, access_token: `token-${++valid}` })
    }

    const pageResource = ({ folder = "", id, name, title, version, versionId = "1.0" }: Page) => ({
      "@odata.type": "#microsoft.graph.sitePage",
      id,
      name,
      title,
      eTag: `"{${id}},${version}"`,
      webUrl: `https://acme.sharepoint.com/SitePages/${encodeURI(folder)}${name}`,
      lastModifiedDateTime: "2026-06-01T10:00:00Z",
      publishingState: { level: "published", versionId }
    })

    /** Permissions by path, the one thing asked for in batches. */
    const permissionsAt = (path: string): ReadonlyArray<object> | undefined => {
      const pagePath = /^\/drives\/pagelib\/root:\/(.+):\/permissions$/.exec(path)?.[1]
      if (pagePath !== undefined) {
        const page = pages.find(({ folder = "", name }) => folder + name === pagePath)
        return page && [{ grantedToV2: { siteGroup: { id: "5", displayName: page.readers ?? "Handbook Visitors" } } }]
      }
      const found = items.get(/^\/drives\/lib\/items\/([^/]+)\/permissions$/.exec(path)?.[1] ?? "")
      return found?.deleted === false ? found.permissions : undefined
    }

    const batch = (asked: Asked, response: ServerResponse): void => {
      const { requests } = JSON.parse(asked.body.toString()) as { requests: ReadonlyArray<{ id: string; url: string }> }
      // Answers come in any order.
      sendJson(response, 200, {
        responses: requests.toReversed().map(({ id, url }) => {
          const denied = denials.get(url)
          const value = permissionsAt(decodeURIComponent(url))
          return denied !== undefined ?
            { id, status: denied, headers: {}, body: { error: { code: "any" } } }
            : value === undefined ?
            { id, status: 404, body: { error: { code: "itemNotFound" } } }
            : { id, status: 200, body: { value } }
        })
      })
    }

    const answer = (asked: Asked, response: ServerResponse): void => {
      const { pathname, searchParams } = asked.url
      if (pathname.endsWith("/oauth2/v2.0/token")) return signIn(asked, response)
      if (asked.headers.authorization !== `Bearer token-${valid}`) return sendGraphError(response, 401, "InvalidAuthenticationToken")
      const path = decodeURIComponent(pathname.slice(base.length))
      const site = { id: siteId, name: "Handbook", displayName: "The Handbook", webUrl: "https://acme.sharepoint.com/sites/Handbook" }
      if (path === "/$batch") return batch(asked, response)
      if (path.endsWith("/permissions")) {
        const value = permissionsAt(path)
        return value === undefined ? sendGraphError(response, 404, "itemNotFound") : sendJson(response, 200, { value })
      }
      const single = /^\/drives\/lib\/items\/([^/]+)$/.exec(path)?.[1]
      const page = pages.find(({ id }) => path === `/sites/${siteId}/pages/${id}/microsoft.graph.sitePage`)
      if (path === "/sites") {
        return sendJson(response, 200, {
          value: searchParams.get("search") === "Nothing" ? [] : [site, { id: "x", name: "Handbook-old", displayName: "Old" }]
        })
      }
      if (path === `/sites/${siteId}` || path === "/sites/acme.sharepoint.com:/sites/Handbook") return sendJson(response, 200, site)
      if (path === `/sites/${siteId}/drive`) return sendJson(response, 200, { id: "lib" })
      if (path === `/sites/${siteId}/drives`) {
        return sendJson(response, 200, {
          value: [{ id: "lib", name: "Documents" }, { id: "other", name: "Other" }]
        })
      }
      if (path === `/sites/${siteId}/lists`) return sendJson(response, 200, { value: [{ id: "l1", name: "SitePages" }] })
      if (path === `/sites/${siteId}/lists/l1/drive`) return sendJson(response, 200, { id: "pagelib" })
      if (path === `/sites/${siteId}/pages/microsoft.graph.sitePage`) return sendJson(response, 200, { value: pages.map(pageResource) })
      if (page !== undefined) {
        return sendJson(response, 200, {
          ...pageResource(page),
          canvasLayout: { horizontalSections: [{ columns: [{ webparts: page.webparts }] }], verticalSection: null }
        })
      }
      if (path === "/drives/lib") return sendJson(response, 200, { id: "lib", name: "Documents" })
      if (path === "/drives/lib/root/delta") return delta(searchParams, response)
      const byPath = /^\/drives\/lib\/root:\/(.+)$/.exec(path)?.[1]
      const found = items.get(single ?? "") ??
        [...items.values()].find(({ id, name }) => byPath === [...above(id).slice(1).map((each) => items.get(each)?.name), name].join("/"))
      if (found === undefined || found.deleted) return sendGraphError(response, 404, "itemNotFound", "The resource could not be found.")
      sendJson(response, 200, {
        ...resource(found),
        ...(found.folder ? {} : { "@microsoft.graph.downloadUrl": `${files.origin}/${found.id}?tempauth=signed` })
      })
    }

    const server = yield* fakeServer(answer)
    origin = server.origin
    const item = (id: string): Item => {
      const found = items.get(id)
      if (found === undefined) throw new Error(`no item ${id}`)
      return found
    }
    return {
      ...server,
      files,
      file: add,
      folder: (id, parent, name) => add(id, parent, name, { folder: true }),
      edit: (id, changes) => {
        Object.assign(item(id), changes).version++
        log.push(id)
      },
      item,
      pages,
      denials,
      expire: () => void epoch++,
      revoke: () => void valid++,
      tokens
    }
  })
