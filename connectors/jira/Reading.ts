import { Effect, Option, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { download } from "../../src/net/Download.ts"
import { type Comment, Comments, factFields, Issue } from "./Answers.ts"
import { attachmentPath, type Place } from "./IssueItem.ts"
import type { Failure, JiraApi } from "./JiraApi.ts"
import { renderIssue } from "./RenderIssue.ts"

const commentsPage = 100

/** What an item's path names, as it is now: the next listing has its new revision. */
export const readPlace = (api: JiraApi, place: Place, maxBytes: number): Stream.Stream<Uint8Array, Failure> =>
  place._tag === "issue" ? Stream.fromEffect(readIssue(api, place.key, maxBytes)) : Stream.unwrap(Effect.gen(function*() {
    const fetch = yield* api.fetch
    const path = attachmentPath(yield* api.cloud, place.id, place.name)
    const what = `the attachment ${place.id} of ${place.key}`
    return download({ what, maxBytes, open: (offset) => fetch(path, what, offset) })
  }))

const readIssue = Effect.fn("jira.readIssue")(function*(api: JiraApi, key: string, maxBytes: number): Effect.fn.Return<Uint8Array, Failure> {
  const path = `/rest/api/${(yield* api.cloud) ? 3 : 2}/issue/${encodeURIComponent(key)}`
  const issue = yield* api.get(key, path, { fields: [...factFields, "description"].join(",") }, Issue)
  const tooLarge = new ServiceError({ code: "OUT_OF_RANGE", message: `${key} is larger than ${maxBytes} bytes` })
  let size = 0
  const comments = yield* commentsOf(api, key, path).pipe(
    Stream.mapEffect((comment) => {
      // ADF is several times its text, so this bounds memory and not yet the document.
      size += JSON.stringify(comment).length
      return size > 20 * maxBytes ? Effect.fail(tooLarge) : Effect.succeed(comment)
    }),
    Stream.runCollect
  )
  const bytes = new TextEncoder().encode(renderIssue(issue, comments))
  return bytes.length > maxBytes ? yield* tooLarge : bytes
})

/** Oldest first. */
const commentsOf = (api: JiraApi, key: string, path: string): Stream.Stream<Comment, Failure> =>
  Stream.paginate<number, Comment, Failure>(0, (startAt) =>
    Effect.map(
      api.get(`comments of ${key}`, `${path}/comment`, { startAt: String(startAt), maxResults: String(commentsPage), orderBy: "created" }, Comments),
      ({ comments, total }) => {
        const next = startAt + comments.length
        return [comments, comments.length > 0 && next < total ? Option.some(next) : Option.none()] as const
      }
    ))
