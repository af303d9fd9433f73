import { Effect } from "effect"
import { joinedRemarks } from "../domain/Document.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { Parsing } from "../domain/Parsing.ts"
import type { UploadRequest } from "../domain/RagFile.ts"
import { readByModel, Sight } from "../models/DocumentReader.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Files } from "../ports/Files.ts"
import type { TextPool } from "../text/TextPool.ts"

/** The model that reads documents. */
export interface ReadingModel {
  readonly chat: ChatModel["Service"]
  /** Whether it accepts images. */
  readonly images: boolean
}

/** The error of a request for a parser that the server does not have. */
export const refuseParser = (hasModel: boolean) => (parsing: Parsing | undefined): ServiceError | undefined =>
  parsing?._tag === "llm" && !hasModel
    ? ServiceError.invalid(
      "rag_file_parsing_config.llm_parser",
      "needs a server started with --upstream: its model reads the documents",
      "start the server with --upstream, or leave llm_parser out"
    )
    : undefined

/**
 * Adds the parsers of a server to uploads. `layout` is Sluice's own structure parser: whole blocks up to the requested
 * size, under their headings; the named processor is Google's, and nothing is sent to it. `llm` sends what the parser
 * reads of a document through the upstream's model, a piece of some pages at a time and within the requested rate; the
 * result is cut and stored. A model that accepts images gets PDFs page by page, each as a picture with its text, and
 * files that are pictures; a page whose picture it refuses is read by its text, and a remark says so.
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
