import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { attachmentItem, documentVersion, issueItem } from "./Issue.ts"
import { factFields, type Failure, Found, Issue, type JiraApi } from "./JiraApi.ts"
import { makeVisibility } from "./Visibility.ts"

/** A JQL string. */
const quote = (text: string): string => `"${text.replace(/([\\"])/g, "\\$1")}"`

/** The order by immutable fields, so that issues that change during the listing do not move. */
const order = "ORDER BY created ASC, key ASC"

/** A condition in the order that listings need, narrowed to issues updated in the last `minutes` minutes. */
export const listingJql = (condition: string, minutes?: number): string => {
  const clauses = [
    ...(condition === "" ? [] : [minutes === undefined ? condition : `(${condition})`]),
    // An absolute time would be interpreted in the account's own time zone.
    ...(minutes === undefined ? [] : [`updated >= "-${minutes}m"`])
  ]
  return `${clauses.join(" AND ")} ${order}`.trim()
}

/** A query without its ORDER BY, words that may also stand in a quoted string. */
export const conditionOf = (jql: string): string => {
  const bare = jql.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs, (quoted) => "_".repeat(quoted.length))
  const at = bare.search(/(?:^|[\s)])order\s+by\s/i)
  return (at === -1 ? jql : jql.slice(0, bare[at] === ")" ? at + 1 : at)).trim()
}

/** Where a search continues. */
interface Position {
  /** The page token of Cloud. */
  readonly token?: string
  /** How many issues Server has listed. */
  readonly startAt?: number
  /** The ids on the last page. */
  readonly recent?: ReadonlyArray<string>
}

interface FoundPage {
  readonly issues: ReadonlyArray<unknown>
  /** Absent on the last page. */
  readonly next?: Position
}

const pageSize = 100

/** The requested fields; comments are included for their number. */
const fields = [...factFields, "security", "attachment", "comment"]

/** The issues of a query, page by page. `what` names it in messages. */
export const search = (api: JiraApi, what: string, jql: string, position: Position): Stream.Stream<FoundPage, Failure> =>
  Stream.paginate<Position, FoundPage, Failure>(
    position,
    (at) =>
      Effect.flatMap(api.cloud, (cloud) => cloud ? byToken(api, what, jql, at, at === position) : byNumber(api, what, jql, at)).pipe(
        Effect.map((page) => [[page], page.next === undefined ? Option.none() : Option.some(page.next)] as const)
      )
  )

/** A page of a search by token. `resumed`: the token is an earlier listing's. */
const byToken = Effect.fnUntraced(
  function*(
    api: JiraApi,
    what: string,
    jql: string,
    { recent = [], token }: Position,
    resumed: boolean
  ): Effect.fn.Return<FoundPage, Failure> {
    const body = { jql, fields, maxResults: pageSize }
    const page = yield* api.ask(what, "/rest/api/3/search/jql", token === undefined ? body : { ...body, nextPageToken: token }, Found).pipe(
      // Tokens expire after some days. Issues that are listed again are known by then.
      Effect.catchIf(
        (error) => token !== undefined && resumed && error._tag === "ServiceError" && error.code === "INVALID_ARGUMENT",
        () => api.ask(what, "/rest/api/3/search/jql", body, Found)
      )
    )
    const next = page.nextPageToken ?? ""
    if (next === "" || page.isLast === true) return { issues: page.issues }
    const ids = page.issues.map(idOf)
    // Jira has answered with one page over and over, each time with another token.
    if (next === token || (!resumed && ids[0] !== undefined && ids[0] === recent[0])) {
      return yield* ServiceError.internal(`${what} goes round in circles`)
    }
    return { issues: page.issues, next: { token: next, recent: ids } }
  }
)

/**
 * A page of a numbered search. Such pages shift when an issue before them is deleted. The order never changes otherwise, so a page must
 * start with the last issue of the previous page; where it does not, it is requested again from further back, until it does.
 */
const byNumber = Effect.fnUntraced(
  function*(api: JiraApi, what: string, jql: string, { recent = [], startAt = 0 }: Position): Effect.fn.Return<FoundPage, Failure> {
    for (let from = Math.max(0, startAt - 1);; from = Math.max(0, from - recent.length)) {
      const page = yield* api.ask(what, "/rest/api/2/search", { jql, fields, maxResults: pageSize, startAt: from }, Found)
      const ids = page.issues.map(idOf)
      const known = ids.findLastIndex((id) => recent.includes(id))
      if (known === -1 && recent.length > 0) {
        if (from > 0) continue
        return yield* new ServiceError({ code: "ABORTED", message: `${what} changed so much that it must be listed again` })
      }
      const end = from + ids.length
      const issues = page.issues.slice(known + 1)
      if (ids.length === 0 || end >= (page.total ?? Infinity)) return { issues }
      return { issues, next: { startAt: end, recent: ids } }
    }
  }
)

const idOf = (issue: unknown): string => typeof issue === "object" && issue !== null && "id" in issue ? String(issue.id) : ""

/** A project or a query. */
interface Place {
  /** Name of the place in messages. */
  readonly name: string
  /** JQL without ORDER BY. */
  readonly condition: string
  /** Key of a project; absent for a query. */
  readonly project?: string
}

export const placesOf = (projects: ReadonlyArray<string>, queries: ReadonlyArray<string>): ReadonlyArray<Place> => [
  ...[...new Set(projects.map((key) => key.toUpperCase()))].map((project) => ({
    name: `project ${project}`,
    condition: `project = ${quote(project)}`,
    project
  })),
  ...[...new Set(queries)].map((query) => ({ name: `query ${query}`, condition: conditionOf(query) }))
]

/** Minutes before the last listing's start that are listed again, in case clocks or Jira's search index lag. */
const overlapMinutes = 5

/** How far a listing has come; with only `since`, a completed listing, after which changes are listed. */
const Cursor = Schema.Struct({
  of: Schema.String,
  /** When the listing started, which becomes the next one's `since`. Times here are in milliseconds. */
  began: Schema.Finite,
  /** Only issues updated since then are listed. Absent: all issues. */
  since: Schema.optionalKey(Schema.Finite),
  at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  position: Schema.optionalKey(Schema.Struct({
    token: Schema.optionalKey(Schema.String),
    startAt: Schema.optionalKey(Schema.Int),
    recent: Schema.optionalKey(Schema.Array(Schema.String))
  })),
  /** Whether something could not be listed, so that the listing will not be complete. */
  failed: Schema.Boolean
})
type Cursor = typeof Cursor.Type

const decodeCursor = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Cursor, Schema.Struct({ of: Schema.String, since: Schema.Finite })]))
)
const decodeIssue = Schema.decodeUnknownResult(Issue)

/** The issues of every place in turn, each issue once. */
export const listing = (api: JiraApi, places: ReadonlyArray<Place>, cursor: string | undefined): Stream.Stream<Listed, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const of = hash("sha256", JSON.stringify([api.base, places, documentVersion])).slice(0, 16)
    const now = yield* Clock.currentTimeMillis
    const start = yield* startOf(cursor, of, now)
    const cloud = yield* api.cloud
    const visibility = makeVisibility(api)
    const minutes = start.since === undefined ? undefined : Math.ceil(Math.max(0, now - start.since) / 60_000) + overlapMinutes
    let failed = start.failed

    const failure = (path: string, error: Failure): Effect.Effect<Listed, Failure> => {
      if (error._tag === "SecretError" || error.code === "UNAUTHENTICATED") return Effect.fail(error)
      failed = true
      return Effect.succeed({ _tag: "failed", path, error })
    }
    const checkpoint = (at: number, position?: FoundPage["next"]): Listed => {
      const { began, since } = start
      const to: Cursor = {
        of,
        began,
        at,
        failed,
        ...(since === undefined ? {} : { since }),
        ...(position === undefined ? {} : { position })
      }
      return { _tag: "checkpoint", cursor: JSON.stringify(to) }
    }
    const isRepeat = repeats(places)

    const eventsOf = Effect.fnUntraced(function*(place: Place, raw: unknown): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
      const decoded = decodeIssue(raw)
      if (Result.isFailure(decoded)) {
        const key = keyOf(raw)
        return [yield* failure(key, new ServiceError({ code: "DATA_LOSS", message: `Jira returned ${key} in an unknown form` }))]
      }
      const issue = decoded.success
      if (isRepeat(place, issue)) return []
      const permissions = yield* visibility.of(issue)
      return [
        { _tag: "item", item: issueItem(api.base, issue, permissions) },
        ...(issue.fields.attachment ?? []).map((file): Listed => ({
          _tag: "item",
          item: attachmentItem(api.base, cloud, issue, file, permissions)
        }))
      ]
    })

    return Stream.fromIterable(places.entries()).pipe(
      Stream.drop(start.at),
      Stream.flatMap(([at, place]) =>
        search(api, place.name, listingJql(place.condition, minutes), at === start.at ? start.position ?? {} : {}).pipe(
          Stream.mapEffect(Effect.fnUntraced(function*({ issues, next }): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
            const events = yield* Effect.forEach(issues, (issue) => eventsOf(place, issue))
            return [...events.flat(), checkpoint(next === undefined ? at + 1 : at, next)]
          })),
          Stream.catch((error) => Stream.fromEffect(Effect.map(failure(place.name, error), (event) => [event, checkpoint(at + 1)])))
        )
      ),
      Stream.flatMap(Stream.fromIterable),
      Stream.concat(
        Stream.suspend(() =>
          failed ? Stream.empty : Stream.succeed<Listed>({ _tag: "complete", cursor: JSON.stringify({ of, since: start.began }) })
        )
      )
    )
  }))

const startOf = Effect.fnUntraced(function*(cursor: string | undefined, of: string, now: number): Effect.fn.Return<Cursor, ServiceError> {
  const fresh: Cursor = { of, began: now, at: 0, failed: false }
  if (cursor === undefined) return fresh
  const decoded = yield* decodeCursor(cursor).pipe(
    Effect.filterOrFail((decoded) => decoded.of === of),
    Effect.mapError(() => ServiceError.invalid("cursor", "is not from a listing of these projects and queries", "list from the start"))
  )
  return "at" in decoded ? decoded : { ...fresh, since: decoded.since }
})

/**
 * A function that returns whether an issue of a query was already listed by a project or another query. Ids are kept only where queries may
 * overlap.
 */
const repeats = (places: ReadonlyArray<Place>) => {
  const projects = new Set(places.flatMap(({ project }) => project ?? []))
  const seen = new Set<string>()
  const overlap = places.length - projects.size > 1
  return ({ project }: Place, issue: Issue): boolean => {
    if (project !== undefined) return false
    if (projects.has(issue.fields.project.key.toUpperCase()) || seen.has(issue.id)) return true
    if (overlap) seen.add(issue.id)
    return false
  }
}

const keyOf = (raw: unknown): string =>
  typeof raw === "object" && raw !== null && "key" in raw && typeof raw.key === "string" ? raw.key.slice(0, 100) : "an issue"
