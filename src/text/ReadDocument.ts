import { Effect, Result } from "effect"
import { defined } from "../domain/Defined.ts"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Chunking, defaultChunking } from "../domain/Chunking.ts"
import { type BlockKind, type Chunk, type ParsedDocument, type Remark, remarkOf } from "../domain/Document.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { Properties } from "../domain/Properties.ts"
import { isArchiveName, mayHoldFiles } from "./containers/Kinds.ts"
import { defaultLimits, type Limits, type Opened, type Part } from "./Prepared.ts"

/** A file to parse and chunk, and how. */
export interface ReadDocumentRequest {
  readonly content: Uint8Array
  /** File name or path. Its extension is a hint; the bytes decide. */
  readonly name: string
  readonly mimeType?: string
  /** Reads a file attached to the given one or packed inside it, named by its path there: `attachments/report.pdf`. */
  readonly part?: string
  /** How the text is chunked. Default: as in a pipeline. */
  readonly chunking?: Chunking
  /** Limits that differ from the defaults. `timeMs` and `memory` have no effect here, since nothing may end the calling process. */
  readonly limits?: Partial<Limits>
}

/** A stretch of a document's text. */
export interface ReadBlock {
  readonly kind: BlockKind
  /** Level of a heading, 1 to 6; absent for other blocks. */
  readonly level?: number
  /** Page, slide or sheet, 1-based. */
  readonly page?: number
  /** Start in the document's text, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What was read of a file: its text, its blocks, its chunks, and what was left out. */
export interface ReadDocument {
  readonly name: string
  /** A key of the format table: `pdf`, `docx`, `markdown`, …; `archive` for a file that is nothing but the files in it. */
  readonly format: string
  readonly title?: string
  readonly author?: string
  readonly language?: string
  readonly pages?: number
  /** Further properties of the document, by the names that a pipeline's `metadata` uses; absent where it has none. */
  readonly properties?: Properties
  readonly text: string
  readonly blocks: ReadonlyArray<ReadBlock>
  readonly chunks: ReadonlyArray<Chunk>
  /** Tokens of all chunks; overlaps are counted each time they are embedded. */
  readonly tokens: number
  /** What was left out or is uncertain. */
  readonly remarks: ReadonlyArray<Remark>
  /** The remarks as one sentence, as reports have it; absent where all of the file was read. */
  readonly remark?: string
  /** Attachments of mail, or files in an archive: documents of their own, each to be read as `part`. */
  readonly parts?: ReadonlyArray<Pick<Part, "path" | "size" | "refused">>
}

/**
 * Reads a file as an import would, in the calling process, and returns everything known of it.
 *
 * @example
 * ```ts
 * const { chunks, remark } = yield* parse({ content: yield* fs.readFile("report.pdf"), name: "report.pdf" })
 * ```
 */
export const parse = Effect.fn("parse")(function*(
  request: ReadDocumentRequest
): Effect.fn.Return<ReadDocument, DocumentError | ServiceError> {
  const limits = { ...defaultLimits, ...defined(request.limits ?? {}) }
  return yield* Effect.flatMap(
    Effect.promise(() => readNow(request, limits).then(Result.succeed, refused)),
    Effect.fromResult
  )
})

/** What a reader threw, as a typed error about the file. */
const refused = async (thrown: unknown): Promise<Result.Result<never, DocumentError | ServiceError>> => {
  if (thrown instanceof ServiceError) return Result.fail(thrown)
  const { isInstallation, refusalOf } = await import("./pool/Refusal.ts")
  return Result.fail(
    isInstallation(thrown)
      ? new ServiceError({
        code: "FAILED_PRECONDITION",
        message: thrown.message,
        fix: "install the package again; `sluice doctor` names what is missing"
      })
      : new DocumentError(refusalOf(thrown))
  )
}

const readNow = async (request: ReadDocumentRequest, limits: Limits): Promise<ReadDocument> => {
  const { content, mimeType, name, part } = request
  if (!mayHoldFiles(name, mimeType, true)) return readOne(request, limits)
  const into = await mkdtemp(join(tmpdir(), "sluice-"))
  try {
    const opened = await opening(
      import("./containers/Open.ts").then(({ open }) => open({ content, name, into, archives: true, mimeType }, limits)),
      name
    )
    if (part === undefined) return await readOpened(request, opened, limits)
    const found = opened.parts.find(({ path, refused }) => path === part && refused === undefined)
    if (found === undefined) {
      throw new ServiceError({
        code: "NOT_FOUND",
        message: `there is no ${part} in ${name}`,
        fix: `name one of: ${opened.parts.slice(0, 10).map(({ path }) => path).join(", ") || "nothing, since it contains no files"}`
      })
    }
    return await readNow({ ...request, content: await readFile(join(into, found.hash)), name: part, part: undefined }, limits)
  } finally {
    await rm(into, { recursive: true, force: true })
  }
}

/** The files in a container. Mail that cannot be opened counts as a plain document here: its reader will say what is wrong. */
const opening = (opened: Promise<Opened>, name: string): Promise<Opened> =>
  opened.catch((error): Opened => {
    if (isArchiveName(name)) throw error
    return { kind: "document", parts: [] }
  })

const readOpened = async (request: ReadDocumentRequest, { kind, parts }: Opened, limits: Limits): Promise<ReadDocument> => {
  const document = kind === "archive"
    ? { name: request.name, format: "archive", text: "", blocks: [], chunks: [], tokens: 0, remarks: [] }
    : await readOne(request, limits, kind === "mail")
  return parts.length === 0 ? document : { ...document, parts: parts.map(({ path, refused, size }) => ({ path, size, refused })) }
}

const readOne = async (
  { chunking = defaultChunking, content, mimeType, name }: ReadDocumentRequest,
  limits: Limits,
  opened = false
): Promise<ReadDocument> => {
  // Readers are loaded when a file first needs them.
  const [{ betweenParts, parseParts }, { chunkParts }] = await Promise.all([import("./parse/Parts.ts"), import("./chunk/Chunk.ts")])
  const cut = chunkParts(chunking)
  const texts: Array<string> = []
  const blocks: Array<ReadBlock> = []
  const chunks: Array<Chunk> = []
  const remarks = new Map<string, Remark>()
  let first: ParsedDocument | undefined
  for await (const part of parseParts({ bytes: content, name, limits, opened, mimeType, properties: true })) {
    const { document, start } = part
    first ??= document
    texts.push(document.text)
    for (const block of document.blocks) {
      blocks.push({
        ...block,
        start: block.start + start,
        end: block.end + start,
        text: document.text.slice(block.start, block.end)
      })
    }
    for (const one of cut(part)) chunks.push(one)
    for (const remark of document.remarks ?? []) remarks.set(JSON.stringify(remark), remark)
  }
  const { author, format = "", language, pages, properties = {}, title } = first ?? {}
  const told = [...remarks.values()]
  const remark = remarkOf({ pages, remarks: told })
  return {
    name,
    format,
    ...defined({ title, author, language, pages }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    text: texts.join(betweenParts),
    blocks,
    chunks,
    tokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
    remarks: told,
    ...(remark === undefined ? {} : { remark })
  }
}
