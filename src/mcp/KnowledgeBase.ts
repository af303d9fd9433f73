import { Context, Effect, Result, Stream } from "effect"
import type { Answer } from "../domain/Answer.ts"
import { Chosen } from "../domain/Chosen.ts"
import type { CorpusName } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import type { FileChunk } from "../domain/Document.ts"
import { type SecretError, ServiceError, type StateError } from "../domain/Errors.ts"
import { type Facet, type FileQuery, isAmong } from "../domain/Facets.ts"
import { factsOf, type MetadataFilter, parseMetadataFilter, passes } from "../domain/MetadataFilter.ts"
import { type RagFile, RagFileName } from "../domain/RagFile.ts"
import type { Context as Passage, RetrievalRequest } from "../domain/Retrieval.ts"
import type { SparseVector } from "../ports/Embedder.ts"
import { facetsOf, type Files, filesNamed, stillThere } from "../ports/Files.ts"
import { type Page, pages } from "../ports/Paging.ts"
import { countTokens } from "../text/Tokens.ts"

/** How a knowledge base fails. */
export type KnowledgeError = ServiceError | StateError | SecretError

/** What the operator lets every caller see, and how much of it at once. No caller can widen it. */
export interface Limits {
  /** Only what this principal may read. Default: the owner, who reads all. */
  readonly principal?: string
  /** Only files that pass this expression over their metadata (`MetadataFilter.ts`). Default: all. */
  readonly where?: string
  /** Tokens (o200k) of text in one result. Default 4,000. */
  readonly tokens?: number
}

/** A question to be searched or answered, with the limits in it. */
export interface Inquiry extends Pick<RetrievalRequest, "principal" | "topK" | "filter" | "hybrid" | "explain"> {
  readonly question: string
}

/** An answer, and the passages that it was made from. */
export interface Answered {
  readonly answer: Answer
  readonly contexts: ReadonlyArray<Passage>
}

/** What a caller asks for, within what the operator allows. */
export interface Narrowing {
  /** Only files whose metadata pass this too. */
  readonly where?: string
  /** Only what this principal may read. `PERMISSION_DENIED` where the operator has fixed another. */
  readonly as?: string
}

/** What a knowledge base is made of: a corpus with the way to search it and, where there is one, to answer from it. */
export interface KnowledgeBaseParts {
  readonly title: string
  readonly description?: string
  readonly corpus: Effect.Effect<CorpusName, KnowledgeError>
  readonly files: Files["Service"]
  readonly retrieve: (inquiry: Inquiry) => Effect.Effect<ReadonlyArray<Passage>, KnowledgeError>
  readonly answer: (inquiry: Inquiry) => Effect.Effect<Answered, KnowledgeError>
  /** How it stands: what the last run did, what waits, what failed. */
  readonly status: Effect.Effect<Readonly<Record<string, unknown>>, KnowledgeError>
}

/** Passages found for a question, best first. */
export interface Found {
  readonly passages: ReadonlyArray<Passage>
  /** Passages that the budget of tokens had no room for. */
  readonly leftOut: number
}

/** A portion of a document. */
export interface Portion {
  readonly file: RagFile
  readonly text: string
  /** UTF-8 byte of the document's text that `text` begins at. */
  readonly from: number
  /** Where to read on; absent at the end. */
  readonly next?: number
}

/** Documents that stand for all. */
export interface Sample {
  readonly documents: ReadonlyArray<{ readonly file: RagFile; readonly vector: SparseVector }>
  /** How many there are to choose from. */
  readonly of: number
  /** Documents that were chosen, and have no vector here. */
  readonly without: number
}

/** A corpus as an agent may use it: within what its operator allows, in pieces that fit a prompt. */
export class KnowledgeBase extends Context.Service<KnowledgeBase, {
  readonly title: string
  readonly description?: string
  /** What its operator lets every caller see. */
  readonly limits: Limits
  /** `limit`: how many passages, 1 to 50. */
  readonly search: (
    question: string,
    options: Narrowing & Pick<Inquiry, "hybrid" | "explain"> & { readonly limit?: number }
  ) => Effect.Effect<Found, KnowledgeError>
  readonly answer: (question: string, options: Narrowing) => Effect.Effect<Answered, KnowledgeError>
  /**
   * A document, by its path or its full name. `NOT_FOUND` where there is none, or none that may be read: which of them is
   * not told.
   */
  readonly find: (document: string) => Effect.Effect<RagFile, KnowledgeError>
  /** A document as it is kept: `count` of its chunks, from one of them on, or from the one that a byte of its text is in. */
  readonly chunks: (
    document: string,
    from: { readonly ordinal: number } | { readonly byte: number },
    count: number
  ) => Effect.Effect<{ readonly file: RagFile; readonly chunks: ReadonlyArray<FileChunk> }, KnowledgeError>
  /** The text of a document, from a byte of it on; found as by `find`. */
  readonly read: (document: string, from?: number) => Effect.Effect<Portion, KnowledgeError>
  /** Documents whose path begins with `prefix`; `token` is that of the page before. */
  readonly list: (
    options: { readonly prefix?: string; readonly where?: string; readonly token?: string }
  ) => Effect.Effect<Page<RagFile>, KnowledgeError>
  /** How many documents have which values under these keys; under all that people and rules wrote where none are named. */
  readonly facets: (
    options: Narrowing & { readonly keys?: ReadonlyArray<string> }
  ) => Effect.Effect<ReadonlyArray<Facet>, KnowledgeError>
  /**
   * Up to `most` documents with the vectors of their first chunks, spread over all of them; the same ones while the corpus
   * stays as it is, and nearly so after. `UNIMPLEMENTED` where the engine gives no vectors back.
   */
  readonly sample: (most: number) => Effect.Effect<Sample, KnowledgeError>
  readonly status: Effect.Effect<Readonly<Record<string, unknown>>, KnowledgeError>
}>()("sluice/mcp/KnowledgeBase") {}

const usualTokens = 4_000
const mostPassages = 50
/** Documents of a page of a listing, and of one that documents are chosen from. */
const listed = 50
const chosenOf = 500
/** Pages of the corpus that one page of a listing looks at, so that a rare prefix is no walk of everything. */
const mostLookedAt = 40
/** Chunks fetched at once, where a piece of a text is wanted, and where chunks are. */
const chunksRead = 50
const mostChunksRead = 1_000

const notYours = new ServiceError({
  code: "PERMISSION_DENIED",
  message: "whose permissions hold here is fixed by the operator",
  fix: "leave `as` out"
})

/** A knowledge base of a corpus. Fails where the operator's own filter cannot be read. */
export const make = (
  { answer, corpus, description, files, retrieve, status, title }: KnowledgeBaseParts,
  limits: Limits = {}
): Result.Result<KnowledgeBase["Service"], ServiceError> =>
  Result.map(parsed(limits.where, "where"), (allowed) => {
    const { principal, tokens = usualTokens, where } = limits
    /** The caller's filter is read by itself first: joined to the operator's as text alone, it could end that one's parentheses. */
    const narrowed = (asked: string | undefined) =>
      Effect.fromResult(Result.map(parsed(asked, "where"), (filter) => ({
        filter: allowed === undefined || filter === undefined ? allowed ?? filter : { _tag: "all" as const, of: [allowed, filter] },
        metadataFilter: [where, asked].flatMap((part) => part === undefined ? [] : [`(${part})`]).join(" && "),
        passes: (file: RagFile) => isAllowed(file) && (filter === undefined || passes(filter, factsOf(file)))
      })))
    const seen: FileQuery = defined({ principal, where: allowed })
    const isAllowed = (file: RagFile): boolean => isAmong(file, seen)

    const notAnother = (as: string | undefined) =>
      as !== undefined && principal !== undefined && as.toLowerCase() !== principal.toLowerCase() ? notYours : Effect.void

    const inquiry = Effect.fnUntraced(function*(question: string, { as, where }: Narrowing) {
      yield* notAnother(as)
      const { metadataFilter } = yield* narrowed(where)
      return defined({ question, principal: principal ?? as, filter: metadataFilter === "" ? undefined : { metadataFilter } })
    })

    const documentNamed = Effect.fnUntraced(function*(document: string) {
      const parent = yield* corpus
      const missing = ServiceError.notFound(`document "${document}"`, "take a path that `list` or `search` gives")
      if (document.startsWith(`${parent}/ragFiles/`)) {
        const file = yield* files.get(RagFileName.make(document)).pipe(
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.fail(missing))
        )
        return isAllowed(file) ? file : yield* missing
      }
      return (yield* filesNamed(files, parent, document)).find(isAllowed) ?? (yield* missing)
    })

    /** Some of the documents that may be read. */
    const chosenFrom = Effect.fnUntraced(function*(parent: CorpusName, most: number) {
      if (files.sample !== undefined) {
        const { names, of } = yield* files.sample(parent, most, seen)
        return { found: (yield* Effect.forEach(names, (name) => stillThere(files.get(name)))).flat(), of }
      }
      const chosen = new Chosen<RagFile>(most)
      yield* pages((page) => files.list(parent, page), chosenOf).pipe(
        Stream.filter(isAllowed),
        Stream.runForEach((file) => Effect.sync(() => chosen.offer(rankOf(file.name), file)))
      )
      return { found: chosen.items, of: chosen.offered }
    })

    return KnowledgeBase.of({
      title,
      description,
      limits,
      status,
      search: Effect.fnUntraced(function*(question, { explain, hybrid, limit = 8, ...narrowing }) {
        const topK = Math.min(mostPassages, Math.max(1, limit))
        return within(yield* retrieve(defined({ ...yield* inquiry(question, narrowing), topK, hybrid, explain })), tokens)
      }),
      answer: Effect.fnUntraced(function*(question, narrowing) {
        return yield* answer(yield* inquiry(question, narrowing))
      }),
      find: documentNamed,
      chunks: Effect.fnUntraced(function*(document, from, count) {
        const file = yield* documentNamed(document)
        const chunks = yield* pages((page) => files.chunks(file.name, page), mostChunksRead).pipe(
          Stream.dropWhile(({ byteEnd, ordinal }) => "byte" in from ? byteEnd <= from.byte : ordinal < from.ordinal),
          Stream.take(count),
          Stream.runCollect
        )
        return { file, chunks }
      }),
      read: Effect.fnUntraced(function*(document, from = 0) {
        const file = yield* documentNamed(document)
        const chunks = pages((page) => files.chunks(file.name, page), chunksRead).pipe(Stream.filter(({ byteEnd }) => byteEnd > from))
        return { file, from, ...yield* portionOf(chunks, from, tokens) }
      }),
      facets: Effect.fnUntraced(function*({ as, keys, where }) {
        yield* notAnother(as)
        const parent = yield* corpus
        const { filter } = yield* narrowed(where)
        return yield* facetsOf(files, parent, defined({ keys, where: filter, principal: principal ?? as }))
      }),
      sample: Effect.fnUntraced(function*(most) {
        const { vectors } = files
        if (vectors === undefined) {
          return yield* new ServiceError({ code: "UNIMPLEMENTED", message: "this engine does not give vectors back" })
        }
        const { found, of } = yield* chosenFrom(yield* corpus, most)
        const known = yield* vectors(found.map(({ name }) => name))
        const documents = found.flatMap((file, at) => known[at] === undefined ? [] : [{ file, vector: known[at] }])
        return { documents, of, without: found.length - documents.length }
      }),
      list: Effect.fnUntraced(function*({ prefix = "", token, where }) {
        const parent = yield* corpus
        const narrow = yield* narrowed(where)
        const items: Array<RagFile> = []
        let next = token
        for (let looked = 0; looked < mostLookedAt && items.length < listed; looked += 1) {
          const page: Page<RagFile> = yield* files.list(parent, next === undefined ? { size: listed } : { size: listed, token: next })
          items.push(...page.items.filter((file) => file.displayName.startsWith(prefix) && narrow.passes(file)))
          next = page.nextToken === "" ? undefined : page.nextToken
          if (next === undefined) break
        }
        return next === undefined ? { items } : { items, nextToken: next }
      })
    })
  })

/** FNV-1a, stirred: names that differ in their last digit are far apart. */
const rankOf = (name: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

const parsed = (expression: string | undefined, field: string): Result.Result<MetadataFilter | undefined, ServiceError> =>
  expression === undefined ? Result.succeed(undefined) : parseMetadataFilter(expression, field)

/** As many of the passages as fit; the first is always among them, cut where it does not fit by itself. */
const within = (passages: ReadonlyArray<Passage>, tokens: number): Found => {
  const fitting: Array<Passage> = []
  let room = tokens
  for (const passage of passages) {
    const size = countTokens(passage.text)
    if (size > room && fitting.length > 0) break
    fitting.push(size > room ? { ...passage, text: cut(passage.text, room) } : passage)
    room -= size
  }
  return { passages: fitting, leftOut: passages.length - fitting.length }
}

/** The beginning of a text that has about so many tokens. */
const cut = (text: string, tokens: number): string => {
  const share = tokens / countTokens(text)
  return `${text.slice(0, Math.floor(text.length * share)).toWellFormed()}…`
}

/** Chunks from a byte on, put together again: what two of them share is there once. */
const portionOf = Effect.fnUntraced(function*(chunks: Stream.Stream<FileChunk, ServiceError>, from: number, tokens: number) {
  const parts: Array<string> = []
  let room = tokens
  let end = from
  let next: number | undefined
  yield* Stream.runForEachWhile(chunks, (chunk) =>
    Effect.sync(() => {
      const bytes = Buffer.from(chunk.text)
      const text = bytes.subarray(Math.max(0, Math.min(bytes.length, end - chunk.byteStart))).toString()
      const size = countTokens(text)
      if (size > room && parts.length > 0) {
        next = Math.max(end, chunk.byteStart)
        return false
      }
      // What lies between two chunks is white space.
      if (chunk.byteStart > end && parts.length > 0) parts.push("\n\n")
      if (size > room) {
        const shown = cut(text, room).slice(0, -1)
        parts.push(shown)
        next = Math.max(end, chunk.byteStart) + Buffer.byteLength(shown)
        return false
      }
      parts.push(text)
      room -= size
      end = chunk.byteEnd
      return true
    }))
  return next === undefined ? { text: parts.join("") } : { text: parts.join(""), next }
})
