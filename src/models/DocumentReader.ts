import { Effect, Result, Stream } from "effect"
import type { ChatRequest } from "../domain/Chat.ts"
import { type Chunk, joinedRemarks, pageList } from "../domain/Document.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { LlmParsing } from "../domain/Parsing.ts"
import type { UploadRequest } from "../domain/RagFile.ts"
import { withoutThoughts } from "../domain/Text.ts"
import { RateLimit } from "../net/RateLimit.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { PagePicture, Prepared } from "../text/Prepared.ts"
import type { TextPool } from "../text/TextPool.ts"
import { readPagePrompt, readPrompt } from "./Prompts.ts"

/** Tokens of a piece of a document that the model gets at a time: one page or several. */
const pieceTokens = 2_048
/** Pieces of one document sent to the model concurrently; as many of its pages are kept as pictures. */
const concurrency = 4
/** Requests per minute of one import, unless it says otherwise. Source: the service's default. */
const defaultRate = 5_000
/** Longest answer, as a multiple of its input, in UTF-16 units; a longer one is a model in a loop. */
const longest = 8
/** UTF-16 units that a page's picture counts for there, and most of a page's text that is sent with it. */
const pictureUnits = 16_000
/** Number of pictures that a model refuses, having accepted none, before it is sent no more of them. */
const mostRefused = 3
/** How often drawing a document's pages may break off before the rest of it is read by its text. */
const mostBroken = 3

/** Most reasons listed why pages were not read as requested. */
const mostReasons = 5

/** Whether the model accepts pictures, which is known once it has accepted one or refused several. Lives as long as the server. */
export class Sight {
  #taken = false
  #refused = 0
  /** The model's answer when it had refused enough pictures. */
  blind: string | undefined

  took(): void {
    this.#taken = true
  }

  /** Records a refusal. Returns whether it was the one after which the model is sent no more pictures. */
  refused(why: string): boolean {
    if (this.#taken || this.blind !== undefined || ++this.#refused < mostRefused) return false
    this.blind = why
    return true
  }
}

export interface Reading {
  readonly pool: TextPool["Service"]
  readonly chat: ChatModel["Service"]
  /** Absent: the model is only sent text. */
  readonly sight: Sight | undefined
}

export interface ReadText {
  readonly text: string
  /** What was not read of the document, or only by its text. */
  readonly remark: string | undefined
}

/** Sends a prompt to the model within the rate limits, for an answer of at most this many UTF-16 units. */
type Ask = (prompt: ChatRequest, room: number) => Effect.Effect<string, ServiceError>

/** Has the model read a document: sends it what the parsers read, a piece at a time, and returns what it makes of them. */
export const readByModel = Effect.fnUntraced(function*(
  request: UploadRequest,
  { globalMaxRequestsPerMinute: together, maxRequestsPerMinute = defaultRate, prompt }: LlmParsing,
  { chat, pool, sight }: Reading
): Effect.fn.Return<ReadText, DocumentError | ServiceError> {
  const limits = yield* RateLimit
  const ask: Ask = Effect.fnUntraced(function*(asked, room) {
    // A corpus accepts one import at a time.
    yield* limits.take(`parsing/${request.corpus}`, maxRequestsPerMinute)
    if (together !== undefined) yield* limits.take("parsing", together)
    let left = room
    const answer = yield* chat.stream(asked).pipe(
      Stream.map((event) => (event.type === "text" ? event.text : "")),
      Stream.tap((piece) =>
        (left -= piece.length) < 0
          ? Effect.fail(
            new ServiceError({ code: "INTERNAL", message: `${chat.model} was allowed ${room} characters, and wrote more` })
          )
          : Effect.void
      ),
      Stream.mkString
    )
    return unfenced(withoutThoughts(answer))
  })
  const readText = (text: string) => ask(readPrompt(text, prompt), roomFor(text.length))
  const { content, displayName, mimeType, opened, sourceUri } = request
  const file = { content, name: sourceUri ?? displayName, mimeType }
  const read = yield* Effect.result(
    pool.prepare({ ...file, opened, chunking: { strategy: "structure", size: pieceTokens, overlap: 0 } })
  )
  let undrawn: string | undefined
  if (sight !== undefined && (Result.isSuccess(read) || needsEyes(read.failure))) {
    const pages = yield* picturedPages(file, Result.isSuccess(read) ? read.success : undefined, pool).pipe(
      // A document that cannot be drawn has been read all the same.
      Effect.catchTag("DocumentError", (error) => Result.isSuccess(read) ? Effect.succeed(error.message) : Effect.fail(error))
    )
    if (typeof pages === "string") undrawn = `read by the model from its text alone: ${pages}`
    else if (pages !== undefined) {
      return yield* readPages(pages, {
        ask,
        prompt,
        readText,
        sight,
        model: chat.model,
        failure: Result.isFailure(read) ? read.failure : undefined
      })
    }
  }
  const { chunks, remark } = yield* Effect.fromResult(read)
  const pieces = yield* Effect.forEach(chunks, ({ text }) => readText(text), { concurrency })
  return { text: pieces.join("\n\n"), remark: joinedRemarks(undrawn, remark) }
})

const roomFor = (units: number): number => 1_000 + longest * units

/** Whether a file without readable text may have some for a model that sees it. */
const needsEyes = (error: DocumentError | ServiceError): boolean =>
  error._tag === "DocumentError" && (error.problem === "pictures" || error.problem === "charset" || error.problem === "empty")

/** A page to be read: its text in pieces, and a picture of it, or why there is none. */
interface Page extends PagePicture {
  readonly texts: ReadonlyArray<string>
}

interface Pages {
  readonly count: number
  /** Pages in groups that are read concurrently. */
  readonly batches: Stream.Stream<ReadonlyArray<Page>, ServiceError>
}

/** A document's pages, drawn when needed; undefined for a format whose pages are not drawn. */
const picturedPages = Effect.fnUntraced(function*(
  file: { readonly content: Uint8Array; readonly name: string; readonly mimeType: string | undefined },
  prepared: Prepared | undefined,
  pool: TextPool["Service"]
): Effect.fn.Return<Pages | undefined, DocumentError | ServiceError> {
  const draw = (from: number, most: number) => pool.picture({ ...file, from, most })
  const { pages: count } = yield* draw(1, 0)
  if (count === 0) return undefined
  const texts = textsOfPages(prepared?.chunks ?? [])
  let broken = 0
  const batch = Effect.fnUntraced(function*(from: number): Effect.fn.Return<ReadonlyArray<PagePicture>, ServiceError> {
    const pages = Array.from({ length: Math.min(concurrency, count - from + 1) }, (_, at) => from + at)
    const drawn = (from: number, most: number) =>
      broken >= mostBroken
        ? Effect.succeed({ error: "drawing broke off too often" })
        : draw(from, most).pipe(
          Effect.map(({ pictures }) => ({ pictures })),
          Effect.catchTag("DocumentError", ({ message }) => Effect.succeed({ error: message }))
        )
    const all = yield* drawn(from, pages.length)
    if ("pictures" in all) return all.pictures
    // A single page may be the cause.
    return (yield* Effect.forEach(
      pages,
      Effect.fnUntraced(function*(page) {
        const one = yield* drawn(page, 1)
        if ("pictures" in one) return one.pictures
        broken++
        return [{ page, why: one.error }]
      })
    )).flat()
  })
  return {
    count,
    batches: Stream.range(0, Math.ceil(count / concurrency) - 1).pipe(
      Stream.mapEffect((at) => batch(1 + at * concurrency)),
      Stream.map((pictures) => pictures.map((picture) => ({ ...picture, texts: texts.get(picture.page) ?? [] })))
    )
  }
})

/** The text of each page, in pieces. */
const textsOfPages = (chunks: ReadonlyArray<Chunk>): ReadonlyMap<number, ReadonlyArray<string>> => {
  const pages = new Map<number, Array<string>>()
  for (const { firstPage = 1, pageBreaks = [], text } of chunks) {
    const ends = [...pageBreaks, text.length]
    for (const [at, end] of ends.entries()) {
      const piece = text.slice(ends[at - 1] ?? 0, end).trim()
      if (piece === "") continue
      const page = firstPage + at
      pages.set(page, [...pages.get(page) ?? [], piece])
    }
  }
  return pages
}

interface PageReading {
  readonly ask: Ask
  readonly readText: (text: string) => Effect.Effect<string, ServiceError>
  readonly prompt: string | undefined
  readonly sight: Sight
  readonly model: string
  /** Why there is only text in pictures. */
  readonly failure: DocumentError | ServiceError | undefined
}

interface Missed {
  readonly page: number
  readonly why: string
}

const readPages = Effect.fnUntraced(function*(
  { batches, count }: Pages,
  { ask, failure, model, prompt, readText, sight }: PageReading
): Effect.fn.Return<ReadText, DocumentError | ServiceError> {
  const byText: Array<Missed> = []
  const unread: Array<Missed> = []

  const look = Effect.fnUntraced(function*({ image, texts, why }: Page) {
    const text = texts.join("\n\n")
    if (image === undefined) return Result.fail(why ?? "there is no picture of it")
    if (text.length > pictureUnits) return Result.fail(`it has more than ${pictureUnits} characters`)
    if (sight.blind !== undefined) return Result.fail(sight.blind)
    const picture = { mimeType: image.mimeType, data: Buffer.from(image.data).toString("base64") }
    const answer = yield* Effect.result(ask(readPagePrompt(picture, text, prompt), roomFor(Math.max(text.length, pictureUnits))))
    if (Result.isSuccess(answer)) {
      sight.took()
      return Result.succeed(answer.success)
    }
    const { message } = answer.failure
    if (!isRefusal(answer.failure)) return yield* answer.failure
    if (sight.refused(message)) {
      yield* Effect.logWarning(`${model} accepted none of ${mostRefused} pictures of pages: until this server ends it is only sent text`)
    }
    return Result.fail(message)
  })

  const readPage = Effect.fnUntraced(function*(page: Page): Effect.fn.Return<string, ServiceError> {
    const seen = yield* look(page)
    if (Result.isSuccess(seen)) return seen.success
    if (page.texts.length === 0) {
      unread.push({ page: page.page, why: seen.failure })
      return ""
    }
    const pieces = yield* Effect.forEach(page.texts, readText)
    byText.push({ page: page.page, why: seen.failure })
    return pieces.join("\n\n")
  })

  const texts = (yield* batches.pipe(
    Stream.mapEffect((pages) => Effect.forEach(pages, readPage, { concurrency })),
    Stream.runCollect
  )).flat()
  const [missed] = unread
  if (missed !== undefined && unread.length === count) {
    return yield* new DocumentError({
      problem: failure?._tag === "DocumentError" ? failure.problem : "pictures",
      message: `${model} could not read a picture of any page: ${missed.why}`
    })
  }
  const remark = joinedRemarks(
    missedPages(unread, count, "not read at all"),
    missedPages(byText, count, "read by the model from their text alone, without a picture")
  )
  return { text: texts.filter((text) => text.trim() !== "").join("\n\n"), remark }
})

/** Whether an error means that the model does not accept the request as it is. Some servers without vision answer 404 or 500. */
const isRefusal = ({ code, status = 0 }: ServiceError): boolean =>
  code === "INVALID_ARGUMENT" || code === "UNIMPLEMENTED" || code === "NOT_FOUND" || code === "INTERNAL" || code === "UNKNOWN" ||
  status === 413 || status === 415 || status === 422

/** Describes the number of pages, which ones, and why: `2 of 9 pages not read at all: 3 (blank); 5 (it cannot be drawn)`. */
const missedPages = (missed: ReadonlyArray<Missed>, count: number, how: string): string | undefined => {
  if (missed.length === 0) return undefined
  const byReason = new Map<string, Array<number>>()
  for (const { page, why } of missed.toSorted((one, other) => one.page - other.page)) {
    byReason.set(why, [...byReason.get(why) ?? [], page])
  }
  const groups = [...byReason].map(([why, pages]) => `${pageList(pages)} (${why})`)
  const shown = groups.slice(0, mostReasons).join("; ")
  return `${missed.length} of ${count} pages ${how}: ${shown}${groups.length > mostReasons ? "; and others" : ""}`
}

/** Removes a code fence around the whole text, which some models add in spite of their instructions. */
const unfenced = (text: string): string => /^\s*```(?:markdown|md)?\n([^]*?)\n```\s*$/.exec(text)?.[1] ?? text
