import { Effect, Stream } from "effect"
import { type DocumentError, ServiceError } from "../domain/Errors.ts"
import type { LlmParsing, Parsing } from "../domain/Parsing.ts"
import type { UploadRequest } from "../domain/RagFile.ts"
import { readPrompt } from "../models/Prompts.ts"
import { RateLimit } from "../net/RateLimit.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Files } from "../ports/Files.ts"
import type { TextPool } from "../text/TextPool.ts"

/** Tokens of one piece of a document that the model is given: a page or several. */
const pieceTokens = 2_048
/** Pieces of one document at the model at once. */
const concurrency = 4
/** Requests a minute of one import, where it does not say. Source: the service's default. */
const defaultRate = 5_000
/** UTF-16 units of an answer, as a multiple of what it was given; more is a model that goes round in circles. */
const longest = 8

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
 * it makes of them is cut and kept.
 */
export const withParsers = (
  files: Files["Service"],
  pool: TextPool["Service"],
  chat: ChatModel["Service"] | undefined
): Files["Service"] => ({
  ...files,
  upload: Effect.fnUntraced(function*({ parsing, ...request }: UploadRequest) {
    if (parsing === undefined || parsing._tag === "default") return yield* files.upload(request)
    const chunking = { ...request.chunking, strategy: "structure" } as const
    if (parsing._tag === "layout") return yield* files.upload({ ...request, chunking })
    const refused = refuseParser(chat !== undefined)(parsing)
    if (refused !== undefined || chat === undefined) return yield* refused ?? Effect.die("a model is there")
    const content = yield* readByModel(request, parsing, pool, chat)
    return yield* files.upload({ ...request, content, mimeType: "text/markdown" })
  })
})

const readByModel = Effect.fnUntraced(function*(
  request: UploadRequest,
  { globalMaxRequestsPerMinute: together, maxRequestsPerMinute = defaultRate, prompt }: LlmParsing,
  pool: TextPool["Service"],
  chat: ChatModel["Service"]
): Effect.fn.Return<Uint8Array, DocumentError | ServiceError> {
  const limits = yield* RateLimit
  const { content, displayName, mimeType, opened, sourceUri } = request
  const { chunks } = yield* pool.prepare({
    content,
    name: sourceUri ?? displayName,
    mimeType,
    opened,
    chunking: { strategy: "structure", size: pieceTokens, overlap: 0 }
  })
  const pieces = yield* Effect.forEach(
    chunks,
    Effect.fnUntraced(function*({ text }) {
      // A corpus takes one import at a time.
      yield* limits.take(`parsing/${request.corpus}`, maxRequestsPerMinute)
      if (together !== undefined) yield* limits.take("parsing", together)
      let room = 1_000 + longest * text.length
      const answer = yield* chat.stream(readPrompt(text, prompt)).pipe(
        Stream.map((event) => (event.type === "text" ? event.text : "")),
        Stream.tap((piece) =>
          (room -= piece.length) < 0
            ? Effect.fail(
              new ServiceError({
                code: "INTERNAL",
                message: `${chat.model} was to write out ${text.length} characters, and wrote ${longest} times as many`
              })
            )
            : Effect.void
        ),
        Stream.mkString
      )
      return unfenced(answer.replace(/<think>[^]*?<\/think>/, ""))
    }),
    { concurrency }
  )
  return new TextEncoder().encode(pieces.join("\n\n"))
})

/** A fence around all of it, which some models put there whatever they are told. */
const unfenced = (text: string): string => /^\s*```(?:markdown|md)?\n([^]*?)\n```\s*$/.exec(text)?.[1] ?? text
