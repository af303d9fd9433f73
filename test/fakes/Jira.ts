import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type Asked, fakeServer, type FakeServer, rangeOf, sendJson } from "./Http.ts"

export interface FakeIssue {
  readonly id: string
  readonly key: string
  fields: Record<string, unknown>
  comments: Array<Record<string, unknown>>
}

export interface FakeJira extends FakeServer {
  /** In order of creation. */
  issues: Array<FakeIssue>
  /** What `attachment/content/{id}` sends. */
  readonly attachments: Map<string, Buffer>
  /** Where attachments are sent to, if not sent from here: Cloud's media service. */
  media: string | undefined
  /** The password that is taken, with `bot@acme.com`. */
  token: string
  /** Answers for administrators, by path. Others get 403. */
  readonly admin: Map<string, unknown>
  /** Names and types of added fields by id, for `expand=names,schema`. */
  readonly custom: Map<string, { readonly name: string; readonly type: string }>
  /** "Now" of the server, for relative times in JQL. */
  now: number
  expireTokens: () => void
  readonly add: (key: string, fields?: Record<string, unknown>, comments?: ReadonlyArray<unknown>) => FakeIssue
}

/** Search, issues, comments and attachments of Cloud (tokens, ADF) or of Server (numbers, wiki markup). */
export const fakeJira = (kind: "Cloud" | "Server", pageSize = 100): Effect.Effect<FakeJira, never, Scope.Scope> => {
  const attachments = new Map<string, Buffer>()
  const admin = new Map<string, unknown>()
  const custom: FakeJira["custom"] = new Map()
  const state = { issues: [] as Array<FakeIssue>, media: undefined as string | undefined, token: "api-token", now: Date.now(), epoch: 0 }

  const refuse = (response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void =>
    sendJson(response, status, { errorMessages: [message], errors: {} }, headers)

  /** Of JQL: `project = "X"`, `labels = x`, `updated >= "-5m"`, joined by AND. */
  const matching = (jql: string): ReadonlyArray<FakeIssue> | undefined => {
    const [condition = "", order] = jql.split("ORDER BY")
    if (order?.trim() !== "created ASC, key ASC") return undefined
    const tests = condition.split(" AND ").map((clause): ((issue: FakeIssue) => boolean) | undefined => {
      const text = clause.trim().replace(/^\((.*)\)$/, "$1").trim()
      const project = /^project = "?(\w+)"?$/.exec(text)?.[1]
      if (project !== undefined) return ({ key }) => key.startsWith(`${project}-`)
      const label = /^labels = (\w+)$/.exec(text)?.[1]
      if (label !== undefined) return ({ fields }) => Array.isArray(fields["labels"]) && fields["labels"].includes(label)
      const minutes = /^updated >= "-(\d+)m"$/.exec(text)?.[1]
      return minutes === undefined
        ? undefined
        : ({ fields }) => Date.parse(String(fields["updated"])) >= state.now - Number(minutes) * 60_000
    })
    return tests.includes(undefined) ? undefined : state.issues.filter((issue) => tests.every((test) => test?.(issue) === true))
  }

  const shown = ({ comments, fields, id, key }: FakeIssue, only: ReadonlyArray<string>): object => ({
    id,
    key,
    fields: Object.fromEntries(
      Object.entries({
        ...fields,
        comment: { comments: comments.slice(0, 20), total: comments.length, maxResults: 20, startAt: 0 }
      }).filter(([name]) => only.includes(name) || (only.includes("*all") && !only.includes(`-${name}`)))
    )
  })

  const search = (
    body: { jql: string; fields: ReadonlyArray<string>; maxResults: number; startAt?: number; nextPageToken?: string },
    response: ServerResponse
  ): void => {
    const found = matching(body.jql)
    if (found === undefined) return refuse(response, 400, `Error in the JQL Query: '${body.jql}' is not understood.`)
    const size = Math.min(pageSize, body.maxResults)
    if (kind === "Server") {
      const startAt = body.startAt ?? 0
      return sendJson(response, 200, {
        startAt,
        maxResults: size,
        total: found.length,
        issues: found.slice(startAt, startAt + size).map((issue) => shown(issue, body.fields))
      })
    }
    const [epoch, last] = body.nextPageToken === undefined ? [state.epoch, 0] : body.nextPageToken.split(".").map(Number)
    if (epoch !== state.epoch) return refuse(response, 400, "Invalid request payload. nextPageToken is invalid.")
    const rest = found.filter(({ id }) => Number(id) > (last ?? 0))
    const page = rest.slice(0, size)
    sendJson(response, 200, {
      issues: page.map((issue) => shown(issue, body.fields)),
      isLast: page.length === rest.length,
      ...(page.length === rest.length ? {} : { nextPageToken: `${state.epoch}.${page.at(-1)?.id}` })
    })
  }

  const answer = ({ body, headers, url }: Asked, response: ServerResponse): void => {
    if (headers.authorization !== `Basic ${Buffer.from(`bot@acme.com:${state.token}`).toString("base64")}`) {
      return void response.writeHead(401, { "content-type": "text/html" }).end("<html>Client must be authenticated</html>")
    }
    const path = url.pathname.replace(/^\/jira/, "")
    if (path === "/rest/api/2/serverInfo") {
      return sendJson(response, 200, { baseUrl: "https://acme.atlassian.net", version: "1001.0.0", deploymentType: kind })
    }
    if (path === "/rest/api/2/myself") return sendJson(response, 200, { accountId: "1", displayName: "Bot" })
    if (path === (kind === "Cloud" ? "/rest/api/3/search/jql" : "/rest/api/2/search")) return search(JSON.parse(body.toString()), response)
    const project = /^\/rest\/api\/2\/project\/(\w+)$/.exec(path)?.[1]
    if (project !== undefined) {
      return state.issues.some(({ key }) => key.startsWith(`${project}-`))
        ? sendJson(response, 200, { id: "10000", key: project, name: "Operations" })
        : refuse(response, 404, `No project could be found with key '${project}'.`)
    }
    const [, content] =
      (kind === "Cloud" ? /^\/rest\/api\/3\/attachment\/content\/(\d+)$/ : /^\/secure\/attachment\/(\d+)\/[^/]+$/).exec(path) ?? []
    if (content !== undefined) {
      const data = attachments.get(content)
      if (data === undefined) return refuse(response, 404, "The attachment does not exist.")
      if (state.media !== undefined) return void response.writeHead(303, { location: `${state.media}/file/${content}?token=signed` }).end()
      const { part, status } = rangeOf(headers.range, data)
      return void response.writeHead(status, { "content-type": "application/octet-stream", "content-length": part.length }).end(part)
    }
    const [, version, key, comments] = /^\/rest\/api\/(\d)\/issue\/([^/]+)(\/comment)?$/.exec(path) ?? []
    if (key !== undefined && version === (kind === "Cloud" ? "3" : "2")) {
      const issue = state.issues.find((each) => each.key === key)
      if (issue === undefined) return refuse(response, 404, "Issue does not exist or you do not have permission to see it.")
      if (comments === undefined) {
        return sendJson(response, 200, {
          ...shown(issue, (url.searchParams.get("fields") ?? "").split(",")),
          ...(url.searchParams.get("expand") === "names,schema"
            ? {
              names: Object.fromEntries([...custom].map(([id, { name }]) => [id, name])),
              schema: Object.fromEntries([...custom].map(([id, { type }]) => [id, { type: "any", custom: type }]))
            }
            : {})
        })
      }
      const startAt = Number(url.searchParams.get("startAt"))
      const page = issue.comments.slice(startAt, startAt + Math.min(pageSize, Number(url.searchParams.get("maxResults"))))
      return sendJson(response, 200, { startAt, maxResults: page.length, total: issue.comments.length, comments: page })
    }
    const secret = admin.get(path)
    return secret === undefined ? refuse(response, 403, "Only administrators may do this.") : sendJson(response, 200, secret)
  }

  return Effect.map(fakeServer(answer), (server): FakeJira =>
    Object.assign(state, {
      ...server,
      attachments,
      admin,
      custom,
      expireTokens: () => void state.epoch++,
      add: (key: string, fields: Record<string, unknown> = {}, comments: ReadonlyArray<unknown> = []) => {
        const id = String(10_000 + state.issues.length)
        const issue: FakeIssue = {
          id,
          key,
          fields: {
            summary: `Summary of ${key}`,
            project: { id: "10000", key: key.replace(/-.*/, ""), name: "Operations" },
            status: { name: "To Do" },
            issuetype: { name: "Task" },
            priority: { name: "Medium" },
            labels: [],
            assignee: null,
            reporter: { accountId: "Ab:1", displayName: "Grace Hopper", emailAddress: "Grace@Acme.com" },
            created: "2026-10-12T09:00:00.000+0200",
            updated: "2026-10-12T10:00:00.000+0200",
            ...fields
          },
          comments: comments.map((body, index) => ({
            id: String(index),
            author: { displayName: "Egon" },
            body,
            created: "2026-10-12T11:00:00.000+0200",
            updated: "2026-10-12T11:00:00.000+0200"
          }))
        }
        state.issues.push(issue)
        return issue
      }
    }))
}
