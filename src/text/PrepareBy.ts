import { Effect } from "effect"
import type { Chunking, Cutting } from "../domain/Chunking.ts"
import { type Chunk, joinedRemarks } from "../domain/Document.ts"
import { DocumentError, type ServiceError } from "../domain/Errors.ts"
import { leftOut } from "./chunk/Given.ts"
import type { DocumentPart, Prepared, Raw } from "./Prepared.ts"
import type { TextPool } from "./TextPool.ts"

/** A file, and how it is to be chunked. */
type RawToCut = Omit<Raw, "parts"> & { readonly chunking: Chunking }

/** Parses and chunks a file: with a custom chunker in this process, otherwise with the built-in chunking in the process that parses it. */
export const prepareBy = (
  pool: TextPool["Service"],
  raw: RawToCut,
  cutting: Cutting | undefined
): Effect.Effect<Prepared, DocumentError | ServiceError> => cutting === undefined ? pool.prepare(raw) : cutHere(pool, raw, cutting)

const cutHere = Effect.fnUntraced(function*(
  pool: TextPool["Service"],
  { chunking, ...raw }: RawToCut,
  cutting: Cutting
): Effect.fn.Return<Prepared, DocumentError | ServiceError> {
  const { parts = [], remark, ...prepared } = yield* pool.prepare({ ...raw, parts: true })
  const cut = yield* cutParts(parts, chunking, cutting)
  return { ...prepared, ...cut, remark: joinedRemarks(remark, cut.remark) }
})

/** The chunks that a custom chunker makes of a document, and a remark on text that none of them covers. */
export const cutParts = Effect.fnUntraced(function*(
  parts: ReadonlyArray<DocumentPart>,
  { overlap, size }: Chunking,
  cutting: Cutting
): Effect.fn.Return<Pick<Prepared, "chunks" | "remark" | "tokens">, DocumentError | ServiceError> {
  // Counting tokens loads a vocabulary, which a process without a custom chunker never needs.
  const { placeParts, TokenIndex } = yield* Effect.promise(() => import("./chunk/Chunk.ts"))
  const place = placeParts()
  const chunks: Array<Chunk> = []
  let left = 0
  let all = 0
  for (const part of parts) {
    const { blocks, format, language, text, title } = part.document
    if (text.trim() === "") continue
    const index = new TokenIndex(text)
    const cut = yield* cutting.cut({
      text,
      blocks,
      format,
      title,
      language,
      size,
      overlap,
      tokens: (start, end) => index.count(start, end)
    })
    for (const one of place(part, cut.spans, index)) chunks.push(one)
    left += cut.left
    all += leftOut(text, [])
  }
  if (chunks.length === 0 && all > 0) {
    return yield* new DocumentError({ problem: "empty", message: `chunker ${cutting.kind}: it made no chunk of ${all} characters` })
  }
  return {
    chunks,
    tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    remark: left === 0 ? undefined : `chunker ${cutting.kind}: ${left} of ${all} characters are in no chunk`
  }
})
