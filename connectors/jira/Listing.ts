import { Clock, Effect, Result, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { Issue } from "./Answers.ts"
import { attachmentItem, issueItem } from "./IssueItem.ts"
import type { Failure, JiraApi } from "./JiraApi.ts"
import { conditionOf, listingJql, quote } from "./Jql.ts"
import { type FoundPage, search } from "./Search.ts"
import { makeVisibility } from "./Visibility.ts"

/** A project or a query. */
export interface Place {
  /** As messages call it. */
  readonly name: string
  /** JQL without ORDER BY. */
  readonly condition: string
  /** Its key, for a project. */
  readonly project?: string
}

export const placesOf = (projects: ReadonlyArray<string>, queries: ReadonlyArray<string>): ReadonlyArray<Place> => [
  ...[...new Set(projects.map((key) => key.toUpperCase()))].map((project) => ({ name: `project ${project}`, condition: `project = ${quote(project)}`, project })),
  ...[...new Set(queries)].map((query) => ({ name: `query ${query}`, condition: conditionOf(query) }))
]

/** Listed again, in case clocks and the index of Jira's search lag. */
const overlapMinutes = 5

/** How far a listing has come; `since` alone: a listing that was completed, from which on changes are listed. */
const Cursor = Schema.Struct({
  of: Schema.String,
  /** When the listing began; the next one's `since`. Milliseconds, as are all times here. */
  began: Schema.Finite,
  /** Only what was updated since. Absent: everything. */
  since: Schema.optionalKey(Schema.Finite),
  at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  position: Schema.optionalKey(Schema.Struct({
    token: Schema.optionalKey(Schema.String),
    startAt: Schema.optionalKey(Schema.Int),
    recent: Schema.optionalKey(Schema.Array(Schema.String))
  })),
  /** Something could not be listed, so the listing will not be complete. */
  failed: Schema.Boolean
})
type Cursor = typeof Cursor.Type

const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([Cursor, Schema.Struct({ of: Schema.String, since: Schema.Finite })])))
const decodeIssue = Schema.decodeUnknownResult(Issue)

/** Issues of every place in turn, each issue once. */
export const listing = (api: JiraApi, places: ReadonlyArray<Place>, cursor: string | undefined): Stream.Stream<Listed, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const of = hash("sha256", JSON.stringify([api.base, places])).slice(0, 16)
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
      const to: Cursor = { of, began, at, failed, ...(since === undefined ? {} : { since }), ...(position === undefined ? {} : { position }) }
      return { _tag: "checkpoint", cursor: JSON.stringify(to) }
    }
    const isRepeat = repeats(places)

    const eventsOf = Effect.fnUntraced(function*(place: Place, raw: unknown): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
      const decoded = decodeIssue(raw)
      if (Result.isFailure(decoded)) {
        const key = keyOf(raw)
        return [yield* failure(key, new ServiceError({ code: "DATA_LOSS", message: `${key} came in a shape that no issue has` }))]
      }
      const issue = decoded.success
      if (isRepeat(place, issue)) return []
      const permissions = yield* visibility.of(issue)
      return [
        { _tag: "item", item: issueItem(api.base, issue, permissions) },
        ...(issue.fields.attachment ?? []).map((file): Listed => ({ _tag: "item", item: attachmentItem(api.base, cloud, issue, file, permissions) }))
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
      Stream.concat(Stream.suspend(() =>
        failed ? Stream.empty : Stream.succeed<Listed>({ _tag: "complete", cursor: JSON.stringify({ of, since: start.began }) })))
    )
  }))

const startOf = Effect.fnUntraced(function*(cursor: string | undefined, of: string, now: number): Effect.fn.Return<Cursor, ServiceError> {
  const fresh: Cursor = { of, began: now, at: 0, failed: false }
  if (cursor === undefined) return fresh
  const decoded = yield* decodeCursor(cursor).pipe(
    Effect.filterOrFail((decoded) => decoded.of === of),
    Effect.mapError(() => ServiceError.invalid("cursor", "is not one of these projects' and queries' listing", "List from the start."))
  )
  return "at" in decoded ? decoded : { ...fresh, since: decoded.since }
})

/** Whether an issue of a query was listed by a project or another query. Ids are kept only where queries may overlap. */
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
