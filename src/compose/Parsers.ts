import { Effect, Result, Stream } from "effect"
import type { ChatRequest } from "../domain/Chat.ts"
import { type Chunk, joinedRemarks, pageList } from "../domain/Document.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { LlmParsing, Parsing } from "../domain/Parsing.ts"
import type { UploadRequest } from "../domain/RagFile.ts"
import { withoutThoughts } from "../domain/Text.ts"
import { readPagePrompt, readPrompt } from "../models/Prompts.ts"
import { RateLimit } from "../net/RateLimit.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Files } from "../ports/Files.ts"
import type { PagePicture, Prepared } from "../text/Prepared.ts"
import type { TextPool } from "../text/TextPool.ts"

/** Tokens of one piece of a document that the model is given: a page or several. */
const pieceTokens = 2_048
/** Pieces of one document at the model at once; as many of its pages are kept as pictures. */
const concurrency = 4
/** Requests a minute of one import, where it does not say. Source: the service's default. */
const defaultRate = 5_000
/** UTF-16 units of an answer, as a multiple of what it was given; more is a model that goes round in circles. */
const longest = 8
/** UTF-16 units that a picture of a page counts for there, and most of a page's text that goes with it. */
const pictureUnits = 16_000
/** Pages whose pictures a model that took none refuses before it is offered no more of them. */
const mostRefused = 3
/** Times that drawing a document's pages may break off before the rest of it is read by its text. */
const mostBroken = 3

/** Reasons told why pages were not read as they should be. */
const mostReasons = 5

/** The model that reads documents. */
export interface ReadingModel {
  readonly chat: ChatModel["Service"]
  /** It takes images. */
  readonly images: boolean
}

/** Why a document cannot be read as it was asked to. */
export const refuseParser = (hasModel: boolean) => (parsing: Parsing | undefined): ServiceError | undefined =>
  parsing?._tag === "llm" && !hasModel
    ? ServiceError.invalid(
      "rag_file_parsing_config.llm_parser",
      "needs a server started with --upstream: its model reads the documents",
      "start the server with --upstream, or leave llm_parser out"
    )
    : undefined

/**
 * The parsers of a server. `layout` is our own structure parser: whole blocks up to the size asked for, under their
 * headings; the processor that is named is Google's, and nothing is sent to it. `llm`: what our parser reads of a
 * document goes through the upstream's model, a piece of some pages at a time and within the rate asked for, and what
 * it makes of them is cut and kept. A model that takes images is given PDFs page by page, each as a picture with its
 * text, and files that are pictures; a page whose picture it refuses is read by its text, which the remark says.
 */
export const withParsers = (
  files: Files["Service"],
  pool: TextPool["Service"],
  model: ReadingModel | undefined
): Files["Service"] => {
  const sight = model?.images === true ? new Sight() : undefined
  return {
    ...files,
    upload: Effect.fnUntraced(function*({ parsing, ...request }: UploadRequest) {
      if (parsing === undefined || parsing._tag === "default") return yield* files.upload(request)
      const chunking = { ...request.chunking, strategy: "structure" } as const
      if (parsing._tag === "layout") return yield* files.upload({ ...request, chunking })
      const refused = refuseParser(model !== undefined)(parsing)
      if (refused !== undefined || model === undefined) return yield* refused ?? Effect.die("a model is there")
      const { remark, text } = yield* readByModel(request, parsing, { pool, chat: model.chat, sight })
      const stored = yield* files.upload({
        ...request,
        content: new TextEncoder().encode(text),
        mimeType: "text/markdown",
        madeMarkdown: true,
        ...(remark === undefined ? {} : { metadata: { ...request.metadata, remark } })
      })
      return remark === undefined ? stored : { ...stored, remark: joinedRemarks(remark, stored.remark) }
    })
  }
}

/** Whether the model sees, which is known once it has taken a picture or refused several. Of a server, until it ends. */
class Sight {
  #taken = false
  #refused = 0
  /** What it answered when it had refused enough. */
  blind: string | undefined

  took(): void {
    this.#taken = true
  }

  /** Whether this was the refusal after which it is offered no more. */
  refused(why: string): boolean {
    if (this.#taken || this.blind !== undefined || ++this.#refused < mostRefused) return false
    this.blind = why
    return true
  }
}

interface Reading {
  readonly pool: TextPool["Service"]
  readonly chat: ChatModel["Service"]
  /** Absent: the model is given text alone. */
  readonly sight: Sight | undefined
}

interface ReadText {
  readonly text: string
  /** What of the document was not read, or by its text alone. */
  readonly remark: string | undefined
}

/** Puts a prompt to the model in its turn, of an answer of so many UTF-16 units at most. */
type Ask = (prompt: ChatRequest, room: number) => Effect.Effect<string, ServiceError>

const readByModel = Effect.fnUntraced(function*(
  request: UploadRequest,
  { globalMaxRequestsPerMinute: together, maxRequestsPerMinute = defaultRate, prompt }: LlmParsing,
  { chat, pool, sight }: Reading
): Effect.fn.Return<ReadText, DocumentError | ServiceError> {
  const limits = yield* RateLimit
  const ask: Ask = Effect.fnUntraced(function*(asked, room) {
    // A corpus takes one import at a time.
    yield* limits.take(`parsing/${request.corpus}`, maxRequestsPerMinute)
    if (together !== undefined) yield* limits.take("parsing", together)
    let left = room
    const answer = yield* chat.stream(asked).pipe(
      Stream.map((event) => (event.type === "text" ? event.text : "")),
      Stream.tap((piece) =>
        (left -= piece.length) < 0
          ? Effect.fail(
            new ServiceError({ code: "INTERNAL", message: `${chat.model} was to write ${room} characters at most, and wrote more` })
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
      // What cannot be drawn was read all the same.
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

/** Whether a file that has no text for us may have some for a model that sees it. */
const needsEyes = (error: DocumentError | ServiceError): boolean =>
  error._tag === "DocumentError" && (error.problem === "pictures" || error.problem === "charset" || error.problem === "empty")

/** A page to be read: its text in pieces, and a picture of it or why there is none. */
interface Page extends PagePicture {
  readonly texts: ReadonlyArray<string>
}

interface Pages {
  readonly count: number
  /** So many of them as are read at once. */
  readonly batches: Stream.Stream<ReadonlyArray<Page>, ServiceError>
}

/** A document's pages, drawn as they are asked for; undefined of one of a format whose pages are not drawn. */
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
    // One page may be what breaks it.
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

/** What stands on each page, in pieces. */
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
  /** Why there is no text but in pictures. */
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
      yield* Effect.logWarning(`${model} took none of ${mostRefused} pictures of pages: until this server ends it is given text alone`)
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
      message: `${model} was to read a picture of each page, and read none: ${missed.why}`
    })
  }
  const remark = joinedRemarks(
    missedPages(unread, count, "not read at all"),
    missedPages(byText, count, "read by the model from their text alone, without a picture")
  )
  return { text: texts.filter((text) => text.trim() !== "").join("\n\n"), remark }
})

/** Whether an answer says that the model does not take the request as it is. Some servers without eyes answer 404 or 500. */
const isRefusal = ({ code, status = 0 }: ServiceError): boolean =>
  code === "INVALID_ARGUMENT" || code === "UNIMPLEMENTED" || code === "NOT_FOUND" || code === "INTERNAL" || code === "UNKNOWN" ||
  status === 413 || status === 415 || status === 422

/** How many pages, which, and why: `2 of 9 pages not read at all: 3 (blank); 5 (it cannot be drawn)`. */
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

/** A fence around all of it, which some models put there whatever they are told. */
const unfenced = (text: string): string => /^\s*```(?:markdown|md)?\n([^]*?)\n```\s*$/.exec(text)?.[1] ?? text
