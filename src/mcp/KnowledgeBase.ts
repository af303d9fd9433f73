import { Context, Effect, Result, Stream } from "effect"
import type { Answer } from "../domain/Answer.ts"
import { type Asker, principalsOf } from "../domain/Asker.ts"
import { Chosen } from "../domain/Chosen.ts"
import type { CorpusName } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import type { FileChunk } from "../domain/Document.ts"
import { type SecretError, ServiceError, type StateError } from "../domain/Errors.ts"
import { type Facet, type FileQuery, isAmong } from "../domain/Facets.ts"
import { factsOf, type MetadataFilter, parseMetadataFilter, passes } from "../domain/MetadataFilter.ts"
import { type RagFile, RagFileName } from "../domain/RagFile.ts"
import { askerBroken } from "../domain/rag/RagRules.ts"
import { refusalOf } from "../domain/Rule.ts"
import type { Context as Passage, RetrievalRequest } from "../domain/Retrieval.ts"
import type { SparseVector } from "../ports/Embedder.ts"
import { facetsOf, type Files, filesNamed, stillThere } from "../ports/Files.ts"
import { type Page, pages } from "../ports/Paging.ts"
import { countTokens } from "../text/Tokens.ts"

/** Errors of a knowledge base. */
export type KnowledgeError = ServiceError | StateError | SecretError

/** Limits that the operator sets on what callers see, and how much of it at once. No caller can widen them. */
export interface Limits {
  /** Who may read what is seen: a principal or several. Default: the owner, who may read everything. */
  readonly principal?: Asker
  /** Filter expression over metadata that files have to pass (`MetadataFilter.ts`). Default: all files. */
  readonly where?: string
  /** Most tokens (o200k) of text in one result. Default 4,000. */
  readonly tokens?: number
}

/** A question to be searched or answered, with the limits applied. */
export interface Inquiry extends Pick<RetrievalRequest, "principal" | "topK" | "filter" | "hybrid" | "explain"> {
  readonly question: string
}

/** An answer, and the passages that it was made from. */
export interface Answered {
  readonly answer: Answer
  readonly contexts: ReadonlyArray<Passage>
}

/** A caller's own restrictions, within the operator's limits. */
export interface Narrowing {
  /** Filter expression over metadata that files have to pass too. */
  readonly where?: string
  /** Who may read what is seen: a principal or several. `PERMISSION_DENIED` where the operator has set others. */
  readonly as?: Asker
}

/** Parts of a knowledge base: a corpus, and functions that search it and answer from it. */
export interface KnowledgeBaseParts {
  readonly title: string
  readonly description?: string
  readonly corpus: Effect.Effect<CorpusName, KnowledgeError>
  readonly files: Files["Service"]
  readonly retrieve: (inquiry: Inquiry) => Effect.Effect<ReadonlyArray<Passage>, KnowledgeError>
  readonly answer: (inquiry: Inquiry) => Effect.Effect<Answered, KnowledgeError>
  /** State of the corpus: what the last run did, what is waiting, and what failed. */
  readonly status: Effect.Effect<Readonly<Record<string, unknown>>, KnowledgeError>
}

/** Passages found for a question, best first. */
export interface Found {
  readonly passages: ReadonlyArray<Passage>
  /** Number of passages left out because they exceed the limit of tokens. */
  readonly leftOut: number
}

/** A portion of a document. */
export interface Portion {
  readonly file: RagFile
  readonly text: string
  /** Offset of `text` in the document's text, in bytes of UTF-8. */
  readonly from: number
  /** Offset in bytes at which to continue reading; absent at the end. */
  readonly next?: number
}

/** A sample of the documents. */
export interface Sample {
  readonly documents: ReadonlyArray<{ readonly file: RagFile; readonly vector: SparseVector }>
  /** Number of documents that the sample was chosen from. */
  readonly of: number
  /** Number of chosen documents that have no vector in the engine's database. */
  readonly without: number
}

/** A corpus for agents: within the operator's limits, in pieces that fit a prompt. */
export class KnowledgeBase extends Context.Service<KnowledgeBase, {
  readonly title: string
  readonly description?: string
  /** The operator's limits. */
  readonly limits: Limits
  /** Searches the passages. `limit` is their number, from 1 to 50. */
  readonly search: (
    question: string,
    options: Narrowing & Pick<Inquiry, "hybrid" | "explain"> & { readonly limit?: number }
  ) => Effect.Effect<Found, KnowledgeError>
  /** Answers a question from the corpus. */
  readonly answer: (question: string, options: Narrowing) => Effect.Effect<Answered, KnowledgeError>
  /**
   * A document, by its path or its full name. `NOT_FOUND` where it does not exist or may not be read; the error does not
   * distinguish the two.
   */
  readonly find: (document: string) => Effect.Effect<RagFile, KnowledgeError>
  /** A document with `count` of its chunks, starting with the one of an ordinal, or the one that contains a byte of the text. */
  readonly chunks: (
    document: string,
    from: { readonly ordinal: number } | { readonly byte: number },
    count: number
  ) => Effect.Effect<{ readonly file: RagFile; readonly chunks: ReadonlyArray<FileChunk> }, KnowledgeError>
  /** The text of a document from a byte on. The document is found as by `find`. */
  readonly read: (document: string, from?: number) => Effect.Effect<Portion, KnowledgeError>
  /** Lists documents whose path starts with `prefix`. `token` is the page token of the page before. */
  readonly list: (
    options: { readonly prefix?: string; readonly where?: string; readonly token?: string }
  ) => Effect.Effect<Page<RagFile>, KnowledgeError>
  /** Counts documents by their values under some metadata keys. Without `keys`, under all keys that people and rules wrote. */
  readonly facets: (
    options: Narrowing & { readonly keys?: ReadonlyArray<string> }
  ) => Effect.Effect<ReadonlyArray<Facet>, KnowledgeError>
  /**
   * A sample of up to `most` documents with the vectors of their first chunks. It is the same while the corpus does not change,
   * and nearly the same after small changes. `UNIMPLEMENTED` where the engine returns no vectors.
   */
  readonly sample: (most: number) => Effect.Effect<Sample, KnowledgeError>
  /** State of the corpus: what the last run did, what is waiting, and what failed. */
  readonly status: Effect.Effect<Readonly<Record<string, unknown>>, KnowledgeError>
}>()("sluice/mcp/KnowledgeBase") {}

const usualTokens = 4_000
const mostPassages = 50
/** Documents per page of a list. */
const listed = 50
/** Documents per page when a sample is chosen. */
const chosenOf = 500
/** Most pages of the corpus that are scanned for one page of a list, so that a rare prefix does not scan the whole corpus. */
const mostLookedAt = 40
/** Chunks per fetch when text is read. */
const chunksRead = 50
/** Most chunks per fetch when chunks are read. */
const mostChunksRead = 1_000

const notYours = new ServiceError({
  code: "PERMISSION_DENIED",
  message: "the operator has set whose permissions apply here",
  fix: "leave `as` out"
})

/** Makes a knowledge base of a corpus. Fails where the operator's filter cannot be parsed, or a principal is no text or an empty one of several. */
export const make = (
  { answer, corpus, description, files, retrieve, status, title }: KnowledgeBaseParts,
  limits: Limits = {}
): Result.Result<KnowledgeBase["Service"], ServiceError> => {
  const refused = refusalOf(askerBroken("principal", limits.principal))
  return refused !== undefined ? Result.fail(refused) : Result.map(parsed(limits.where, "where"), (allowed) => {
    const { principal, tokens = usualTokens, where } = limits
    /** The caller's filter joined to the operator's. It is parsed alone first: as mere text it could close the operator's parentheses. */
    const narrowed = (asked: string | undefined) =>
      Effect.fromResult(Result.map(parsed(asked, "where"), (filter) => ({
        filter: allowed === undefined || filter === undefined ? allowed ?? filter : { _tag: "all" as const, of: [allowed, filter] },
        metadataFilter: [where, asked].flatMap((part) => part === undefined ? [] : [`(${part})`]).join(" && "),
        passes: (file: RagFile) => isAllowed(file) && (filter === undefined || passes(filter, factsOf(file)))
      })))
    const seen: FileQuery = defined({ principal, where: allowed })
    const isAllowed: (file: RagFile) => boolean = isAmong(seen)

    const notAnother = (as: Asker | undefined) =>
      as !== undefined && principal !== undefined && keyOf(as) !== keyOf(principal) ? notYours : Effect.void

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

    /** A sample of the readable documents. */
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
}

/** FNV-1a hash of a name with further mixing, so that names that differ only in the last digit are far apart. */
const rankOf = (name: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

const keyOf = (asker: Asker): string => JSON.stringify(principalsOf(asker))

const parsed = (expression: string | undefined, field: string): Result.Result<MetadataFilter | undefined, ServiceError> =>
  expression === undefined ? Result.succeed(undefined) : parseMetadataFilter(expression, field)

/** As many of the passages as fit. The first is always included, cut where it does not fit alone. */
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

/** The start of a text, of about `tokens` tokens. */
const cut = (text: string, tokens: number): string => {
  const share = tokens / countTokens(text)
  return `${text.slice(0, Math.floor(text.length * share)).toWellFormed()}…`
}

/** The text of chunks from a byte on. Overlaps of chunks are included once. */
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
      // Only white space lies between two chunks.
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
