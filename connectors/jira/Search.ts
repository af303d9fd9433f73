import { Effect, Option, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { factFields, Found } from "./Answers.ts"
import type { Failure, JiraApi } from "./JiraApi.ts"

/** Where a search goes on. */
export interface Position {
  /** Cloud. */
  readonly token?: string
  /** Server: how many were listed, and the ids on the last page. */
  readonly startAt?: number
  readonly recent?: ReadonlyArray<string>
}

export interface FoundPage {
  readonly issues: ReadonlyArray<unknown>
  /** Absent on the last page. */
  readonly next?: Position
}

const pageSize = 100

/** Comments come along for their count. */
const fields = [...factFields, "security", "attachment", "comment"]

/** The issues of a query, page by page. `what` names it in messages. */
export const search = (api: JiraApi, what: string, jql: string, position: Position): Stream.Stream<FoundPage, Failure> =>
  Stream.paginate<Position, FoundPage, Failure>(position, (at) =>
    Effect.flatMap(api.cloud, (cloud) => cloud ? byToken(api, what, jql, at) : byNumber(api, what, jql, at)).pipe(
      Effect.map((page) => [[page], page.next === undefined ? Option.none() : Option.some(page.next)] as const)
    ))

const byToken = Effect.fnUntraced(function*(api: JiraApi, what: string, jql: string, { token }: Position): Effect.fn.Return<FoundPage, Failure> {
  const body = { jql, fields, maxResults: pageSize }
  const page = yield* api.ask(what, "/rest/api/3/search/jql", token === undefined ? body : { ...body, nextPageToken: token }, Found).pipe(
    // Tokens end after some days. What is listed again is known by then.
    Effect.catchIf(
      (error) => token !== undefined && error._tag === "ServiceError" && error.code === "INVALID_ARGUMENT",
      () => api.ask(what, "/rest/api/3/search/jql", body, Found)
    )
  )
  const next = page.nextPageToken ?? ""
  if (next !== "" && next === token) return yield* ServiceError.internal(`${what} goes round in circles`)
  return next === "" || page.isLast === true ? { issues: page.issues } : { issues: page.issues, next: { token: next } }
})

/**
 * Numbered pages slip when an issue before them is deleted. The order never changes otherwise, so a page begins with
 * the last issue of the page before; where it does not, it is asked for again from further back, until it does.
 */
const byNumber = Effect.fnUntraced(function*(api: JiraApi, what: string, jql: string, { recent = [], startAt = 0 }: Position): Effect.fn.Return<FoundPage, Failure> {
  for (let from = Math.max(0, startAt - 1); ; from = Math.max(0, from - recent.length)) {
    const page = yield* api.ask(what, "/rest/api/2/search", { jql, fields, maxResults: pageSize, startAt: from }, Found)
    const ids = page.issues.map(idOf)
    const known = ids.findLastIndex((id) => recent.includes(id))
    if (known === -1 && recent.length > 0) {
      if (from > 0) continue
      return yield* new ServiceError({ code: "ABORTED", message: `${what} changed so much that it must be listed anew` })
    }
    const end = from + ids.length
    const issues = page.issues.slice(known + 1)
    if (ids.length === 0 || end >= (page.total ?? Infinity)) return { issues }
    return { issues, next: { startAt: end, recent: ids } }
  }
})

const idOf = (issue: unknown): string =>
  typeof issue === "object" && issue !== null && "id" in issue ? String(issue.id) : ""
