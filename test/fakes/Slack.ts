import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type Asked, fakeServer, type FakeServer, rangeOf, sendJson } from "./Http.ts"

interface FakeMessage {
  ts: string
  [field: string]: unknown
}

export interface FakeChannel {
  /** Messages before this `ts` are hidden, as by a free plan. */
  shownFrom?: string
  name: string
  private?: boolean
  members?: ReadonlyArray<string>
  messages: Array<FakeMessage>
}

export interface FakeSlack extends FakeServer {
  readonly channels: Map<string, FakeChannel>
  readonly users: Map<string, object>
  /** Groups of people, `usergroups.list`. */
  readonly groups: Array<object>
  /** Files by id, and what `/files-pri/{id}` sends. */
  readonly files: Map<string, { readonly facts: Record<string, unknown>; readonly data: Buffer }>
  /** The one that is taken. */
  token: string
  /** Scopes the token lacks, by method. */
  readonly lacking: Map<string, string>
  /** Cursors given out so far are no longer known. */
  readonly expireCursors: () => void
  /** Adds a file hosted by this server. */
  readonly host: (id: string, name: string, data: string, facts?: Record<string, unknown>) => Record<string, unknown>
}

/** The Web API methods that a reader of channels uses, with cursors, and files behind the token. */
export const fakeSlack = (pageSize = 200): Effect.Effect<FakeSlack, never, Scope.Scope> => {
  const channels: FakeSlack["channels"] = new Map()
  const users: FakeSlack["users"] = new Map()
  const groups: FakeSlack["groups"] = []
  const files: FakeSlack["files"] = new Map()
  const lacking: FakeSlack["lacking"] = new Map()
  const state = { token: "xoxb-fake-token", epoch: 0, origin: "" }

  const fail = (response: ServerResponse, error: string, more: object = {}): void => sendJson(response, 200, { ok: false, error, ...more })

  /** A page of `all` after the cursor, which is the place of its first one. */
  const page = <A>(response: ServerResponse, query: URLSearchParams, name: string, all: ReadonlyArray<A>, more: object = {}): void => {
    const [epoch = "", from = "0"] = Buffer.from(query.get("cursor") ?? "", "base64").toString().split(":")
    if (epoch !== "" && Number(epoch) !== state.epoch) return fail(response, "invalid_cursor")
    const size = Math.min(pageSize, Number(query.get("limit") ?? 100))
    const rest = Number(from) + size
    const isMore = rest < all.length
    sendJson(response, 200, {
      ok: true,
      [name]: all.slice(Number(from), rest),
      has_more: isMore,
      ...more,
      response_metadata: { next_cursor: isMore ? Buffer.from(`${state.epoch}:${rest}`).toString("base64") : "" }
    })
  }

  const within = (query: URLSearchParams) => {
    const [oldest, latest] = [Number(query.get("oldest") ?? 0), Number(query.get("latest") ?? "Infinity")]
    return ({ ts }: FakeMessage): boolean => Number(ts) >= oldest && Number(ts) <= latest
  }

  const answer = ({ headers, url }: Asked, response: ServerResponse): void => {
    const query = url.searchParams
    const allowed = headers.authorization === `Bearer ${state.token}`
    const [, file] = /^\/files-pri\/(\w+)/.exec(url.pathname) ?? []
    if (file !== undefined) {
      if (!allowed) return void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<title>Sign in</title>")
      const { part, status } = rangeOf(headers.range, files.get(file)?.data ?? Buffer.alloc(0))
      return void response.writeHead(status, { "content-type": "application/octet-stream", "content-length": part.length }).end(part)
    }
    const method = url.pathname.replace("/api/", "")
    if (!allowed) return fail(response, "invalid_auth")
    const needed = lacking.get(method)
    if (needed !== undefined) return fail(response, "missing_scope", { needed, provided: "chat:write" })
    if (method === "auth.test") {
      return sendJson(response, 200, {
        ok: true,
        url: "https://acme.slack.com/",
        team: "Acme",
        team_id: "T1",
        user: "sluice",
        user_id: "U0"
      })
    }
    if (method === "users.list") return page(response, query, "members", [...users.values()])
    if (method === "usergroups.list") return sendJson(response, 200, { ok: true, usergroups: groups })
    if (method === "users.info") return fail(response, "user_not_found")
    if (method === "files.info") {
      const found = files.get(query.get("file") ?? "")
      return found === undefined ? fail(response, "file_not_found") : sendJson(response, 200, { ok: true, file: found.facts })
    }
    const id = query.get("channel") ?? ""
    const channel = channels.get(id)
    if (channel === undefined) return fail(response, "channel_not_found")
    const isWithin = within(query)
    switch (method) {
      case "conversations.info":
        return sendJson(response, 200, {
          ok: true,
          channel: { id, name: channel.name, is_channel: true, is_private: channel.private === true }
        })
      case "conversations.members":
        return page(response, query, "members", channel.members ?? [])
      case "conversations.history":
        return page(
          response,
          query,
          "messages",
          channel.messages.filter((message) =>
            isWithin(message) &&
            Number(message.ts) >= Number(channel.shownFrom ?? 0) &&
            (message["thread_ts"] === undefined || message["thread_ts"] === message.ts || message["subtype"] === "thread_broadcast")
          ).reverse(),
          channel.shownFrom === undefined ? {} : { is_limited: true }
        )
      case "conversations.replies": {
        const found = channel.messages.filter((message) => (message["thread_ts"] ?? message.ts) === query.get("ts") && isWithin(message))
        return found.length === 0 ? fail(response, "thread_not_found") : page(response, query, "messages", found)
      }
      default:
        return fail(response, "unknown_method")
    }
  }

  return Effect.map(fakeServer(answer), (server) => {
    state.origin = server.origin
    return {
      ...server,
      channels,
      users,
      groups,
      files,
      lacking,
      get token() {
        return state.token
      },
      set token(token: string) {
        state.token = token
      },
      expireCursors: () => void state.epoch++,
      host: (id, name, data, more = {}) => {
        const facts = {
          id,
          name,
          title: name,
          mimetype: "text/plain",
          mode: "hosted",
          is_external: false,
          size: Buffer.byteLength(data),
          created: 1_790_000_000,
          timestamp: 1_790_000_000,
          permalink: `https://acme.slack.com/files/U1/${id}/${name}`,
          url_private: `${server.origin}/files-pri/${id}`,
          url_private_download: `${server.origin}/files-pri/${id}/download/${name}`,
          ...more
        }
        files.set(id, { facts, data: Buffer.from(data) })
        return facts
      }
    }
  })
}

/** A `ts` of a UTC moment. `n` tells apart what is said at once. */
export const at = (time: string, n = 0): string => `${Date.parse(time) / 1000}.${String(n).padStart(6, "0")}`
