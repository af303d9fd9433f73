import { Effect, Layer, Option, type Scope } from "effect"
import { Chosen } from "../../domain/Chosen.ts"
import { isEmpty } from "../../domain/Defined.ts"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import { FacetCounts, type FacetQuery, isAmong } from "../../domain/Facets.ts"
import { unfit } from "../../domain/MetadataRules.ts"
import { corpusOf, type RagFile, type RagFileName, type UploadRequest, type UploadResult } from "../../domain/RagFile.ts"
import { Embedder } from "../../ports/Embedder.ts"
import { EmbeddingBudget } from "../../ports/EmbeddingBudget.ts"
import { Files, type LedgerOfUpload, stillThere } from "../../ports/Files.ts"
import { tellingName } from "../../text/parse/Formats.ts"
import type { Prepared } from "../../text/Prepared.ts"
import { prepareBy } from "../../text/PrepareBy.ts"
import { TextPool } from "../../text/TextPool.ts"
import { isElsewhere } from "../../domain/Corpus.ts"
import { otherEmbedder } from "./CorpusRules.ts"
import { CorpusVectors } from "./elsewhere/CorpusVectors.ts"
import { Importer } from "./Importer.ts"
import { overBudget, sum } from "./LimitedEmbedding.ts"
import type { Names } from "./Names.ts"
import { OperationRunner } from "./OperationRunner.ts"
import type { NewChunk } from "./store/ChunkPage.ts"
import type { Commands, NewFile } from "./store/Commands.ts"
import { EmbeddingQueue } from "./store/EmbeddingQueue.ts"
import { factsAfter, type StoredFacts } from "./store/FileFacts.ts"
import { textHash } from "./store/Hash.ts"
import { Reader, spreadOf } from "./store/Reader.ts"
import { type CorpusRow, fileOfRow, heldFileOf, newFileOf } from "./store/Rows.ts"
import { sparseVectorOf } from "./store/Vector.ts"
import { Writer } from "./store/Writer.ts"
import { newId, now } from "../../domain/Stamps.ts"
import { traced } from "../../domain/Traced.ts"

/** Files whose facts are read before the event loop gets a turn. */
const readAtOnce = 2_000

/** Attempts to commit a file, since another process may delete a vector between the check for it and the commit. */
const attempts = 5

/** The Files port over the store: parse, cut, embed what is new, commit. */
export const embeddedFiles = (
  names: Names
): Layer.Layer<Files, never, Reader | Writer | EmbeddingQueue | OperationRunner | Embedder | TextPool | CorpusVectors> =>
  Layer.effect(
    Files,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const embedder = yield* Embedder
      const embeddings = yield* EmbeddingQueue
      const textPool = yield* TextPool
      const corpusVectors = yield* CorpusVectors
      const operations = yield* OperationRunner
      const importer = yield* Effect.serviceOption(Importer)
      const budget = Option.getOrUndefined(yield* Effect.serviceOption(EmbeddingBudget))
      // The writer closes after this, and merges first: the parsers' memory is freed before it needs its own.
      yield* Effect.addFinalizer(() => textPool.rest)

      const get = Effect.fn("Files.get")(function*(name: RagFileName): Effect.fn.Return<RagFile, ServiceError> {
        const { corpus, file } = yield* names.fileIds(name)
        const { id } = yield* reader.corpus(corpus)
        const row = yield* reader.find("files", file, id)
        return row === undefined ? yield* ServiceError.notFound(`file ${name}`) : fileOfRow(row, corpus, names)
      })

      /** Calls `take` with the facts of every file of a corpus. */
      const eachOf = Effect.fnUntraced(function*({ id }: CorpusRow, query: FacetQuery, take: (file: StoredFacts) => void) {
        let after = 0
        for (;;) {
          const found = yield* reader.read((db) => factsAfter(db, { corpus: id, after, most: readAtOnce, query }))
          for (const facts of found) take(facts)
          const last = found.at(-1)
          if (last === undefined || found.length < readAtOnce) return
          after = last.id
          yield* Effect.yieldNow
        }
      })

      /** Commits a file whose vectors the writer makes. */
      const storeHashed = Effect.fnUntraced(
        function*(corpus: CorpusRow, file: NewFile, more: MoreOfFile): Effect.fn.Return<Stored, ServiceError> {
          const at = yield* now
          const put = yield* writer.send("putFile", { corpus: corpus.name, file, ...more, vectors: "hashed", at })
          if ("missing" in put) return yield* ServiceError.internal("the writer asked for vectors that it makes itself")
          const sent = put.made.map((place) => file.chunks[place]!.tokens)
          budget?.settle([], sent)
          return { at, embedded: sent.length, embeddedTokens: sum(sent) }
        }
      )

      /** Embeds the texts that have no vector yet, and commits the file. */
      const storeEmbedded = Effect.fnUntraced(function*(
        corpus: CorpusRow,
        file: NewFile,
        more: MoreOfFile
      ): Effect.fn.Return<Stored, ServiceError, Scope.Scope> {
        const embedded = new Set<string>()
        const texts = new Map(file.chunks.map(({ hash, text }) => [hash, text]))
        const tokens = new Map(file.chunks.map((chunk) => [chunk.hash, chunk.tokens]))
        const tokensOf = (hash: string): number => tokens.get(hash) ?? 0
        const version = isElsewhere(corpus.vectorDb) ? yield* corpusVectors.begin(corpus, file) : undefined
        let missing: ReadonlyArray<string> = yield* reader.withoutVector(embedder.id, [...texts.keys()])
        for (let attempt = 0; attempt < attempts; attempt++) {
          const wanted = missing.slice(0, budget?.reserve(missing.map(tokensOf)))
          const { sent, vectors } = yield* embeddings.embed(wanted.map((hash) => ({ hash, text: texts.get(hash) ?? "" })))
          for (const hash of sent) embedded.add(hash)
          budget?.settle(wanted.map(tokensOf), [...sent].map(tokensOf))
          const at = yield* now
          if (wanted.length < missing.length) {
            // Vectors that were made are kept, so that the next run continues from there.
            if (vectors.length > 0) yield* writer.send("putVectors", { embedder: embedder.id, vectors, at })
            return yield* overBudget("embedded tokens")
          }
          const elsewhere = version === undefined ? {} : { elsewhere: yield* version.put(vectors) }
          const put = yield* writer.send("putFile", { corpus: corpus.name, file, ...more, ...elsewhere, vectors, at })
          if ("made" in put) return { at, embedded: embedded.size, embeddedTokens: sum([...embedded].map(tokensOf)) }
          missing = put.missing
        }
        return yield* new ServiceError({ code: "ABORTED", message: "vectors kept disappearing while the file was committed" })
      })

      /** Does the work that a change has left in a corpus's own database. */
      const tidied = ({ name, vectorDb }: CorpusRow) => isElsewhere(vectorDb) ? corpusVectors.tidy(name) : Effect.void

      const upload = Effect.fnUntraced(function*(
        request: UploadRequest,
        ledger?: LedgerOfUpload
      ): Effect.fn.Return<UploadResult, ServiceError | DocumentError> {
        const corpusId = yield* names.corpusId(request.corpus)
        const corpus = yield* reader.corpus(corpusId)
        yield* refuse(otherEmbedder(corpus.embedder, embedder.id))
        yield* refuse(badUpload(request))
        const replaces = request.replaces === undefined ? undefined : (yield* names.fileIds(request.replaces)).file
        const prepared = yield* prepareBy(textPool, {
          content: request.content,
          name: nameHint(request),
          chunking: request.chunking,
          opened: request.opened,
          properties: request.describing?.properties,
          mimeType: request.mimeType
        }, request.cutting)
        if (prepared.chunks.length === 0) {
          return yield* new DocumentError({ problem: "empty", message: "there is no text in it" })
        }
        const described = request.describing?.describe(prepared.properties ?? {})
        if (described?.fails === true) return yield* unfit(described)
        const file = newFile(request, prepared)
        const more = {
          replaces,
          described,
          ledger: ledger === undefined ? undefined : { scope: ledger.scope, change: ledger.change(names.file(corpusId, file.name)) }
        }
        const { at, embedded, embeddedTokens } =
          yield* embedder.hashed === true && !isElsewhere(corpus.vectorDb) && budget?.isLimited() !== true
            ? storeHashed(corpus, file, more)
            : Effect.scoped(storeEmbedded(corpus, file, more))
        if (replaces !== undefined) yield* tidied(corpus)
        return {
          file: newFileOf(file, at, corpusId, names),
          embedded,
          embeddedTokens,
          remark: prepared.remark,
          described
        }
      }, traced("Files.upload"))

      return Files.of({
        upload,
        unembedded: Effect.fnUntraced(function*(texts) {
          const hashes = texts.map(textHash)
          const missing = new Set(yield* reader.withoutVector(embedder.id, hashes))
          return hashes.flatMap((hash, at) => missing.has(hash) ? [at] : [])
        }),
        import: Effect.fn("Files.import")(function*(request) {
          if (Option.isNone(importer)) {
            return yield* new ServiceError({
              code: "UNIMPLEMENTED",
              message: `importing from ${request.source._tag} by itself is not available on the embedded engine`,
              fix: "name it as a source of a pipeline: sluice then fetches the files"
            })
          }
          yield* reader.corpus(yield* names.corpusId(request.corpus))
          return yield* operations.start("importFiles", request.corpus, (report) => importer.value.run(request, report))
        }),
        get,
        list: Effect.fn("Files.list")(function*(name, request) {
          const corpus = yield* names.corpusId(name)
          const page = yield* reader.page("files", request, (yield* reader.corpus(corpus)).id)
          return { ...page, items: page.items.map((row) => fileOfRow(row, corpus, names)) }
        }),
        held: Effect.fn("Files.held")(function*(name, request) {
          const corpus = yield* names.corpusId(name)
          const page = yield* reader.held((yield* reader.corpus(corpus)).id, request)
          return { ...page, items: page.items.map((row) => heldFileOf(row, corpus, names)) }
        }),
        named: Effect.fn("Files.named")(function*(name, displayName) {
          const corpus = yield* names.corpusId(name)
          const found: Array<string> = []
          yield* eachOf(yield* reader.corpus(corpus), { keys: [] }, (file) => {
            if (file.displayName === displayName) found.push(file.name)
          })
          return (yield* Effect.forEach(found, (file) => stillThere(get(names.file(corpus, file))))).flat()
        }),
        chunks: Effect.fn("Files.chunks")(function*(name, request) {
          const { corpus, file } = yield* names.fileIds(name)
          const found = yield* reader.chunks((yield* reader.corpus(corpus)).id, file, request)
          return found ?? (yield* ServiceError.notFound(`file ${name}`))
        }),
        chunksFrom: Effect.fn("Files.chunksFrom")(function*(name, from, count) {
          const { corpus, file } = yield* names.fileIds(name)
          const found = yield* reader.chunksFrom((yield* reader.corpus(corpus)).id, file, from, count)
          return found ?? (yield* ServiceError.notFound(`file ${name}`))
        }),
        facets: Effect.fn("Files.facets")(function*(corpus, query) {
          const counts = new FacetCounts(query)
          yield* eachOf(yield* reader.corpus(yield* names.corpusId(corpus)), query, (facts) => counts.add(facts))
          return counts.facets
        }),
        sample: Effect.fn("Files.sample")(function*(corpus, most, query) {
          const id = yield* names.corpusId(corpus)
          const row = yield* reader.corpus(id)
          const named = (files: ReadonlyArray<string>) => files.map((file) => names.file(id, file))
          if (isEmpty(query)) return { names: named(yield* reader.sample(row, most)), of: row.files }
          const chosen = new Chosen<string>(most)
          const isChosen = isAmong(query)
          yield* eachOf(row, { ...query, keys: [] }, (file) => {
            if (isChosen(file)) chosen.offer(spreadOf(file.id), file.name)
          })
          return { names: named(chosen.items), of: chosen.offered }
        }),
        vectors: Effect.fn("Files.vectors")(function*(wanted) {
          const ids = yield* Effect.forEach(wanted, (name) => names.fileIds(name))
          const [first] = ids
          if (first === undefined) return []
          const packed = yield* reader.firstVectors(yield* reader.corpus(first.corpus), ids.map(({ file }) => file))
          return packed.map((each) => each === undefined ? undefined : sparseVectorOf(each))
        }),
        update: Effect.fn("Files.update")(function*(name, patch) {
          const { corpus, file } = yield* names.fileIds(name)
          const row = yield* reader.corpus(corpus)
          yield* writer.send("updateFile", { corpus: row.name, name: file, patch, at: yield* now })
          yield* tidied(row)
          return yield* get(name)
        }),
        delete: Effect.fn("Files.delete")(function*(name) {
          const { corpus, file } = yield* names.fileIds(name)
          const row = yield* reader.corpus(corpus)
          yield* writer.send("deleteFile", { corpus: row.name, name: file, at: yield* now })
          yield* tidied(row)
        })
      })
    })
  )

/** Further facts that are written in the same transaction as a file. */
type MoreOfFile = Pick<Commands["putFile"]["in"], "described" | "ledger" | "replaces">

interface Stored {
  /** Microseconds since the epoch. */
  readonly at: number
  /** Number of texts that were sent to the embedder. */
  readonly embedded: number
  readonly embeddedTokens: number
}

const refuse = (error: ServiceError | undefined): Effect.Effect<void, ServiceError> =>
  error === undefined ? Effect.void : Effect.fail(error)

const badUpload = (request: UploadRequest): ServiceError | undefined => {
  if (request.displayName === "") return ServiceError.invalid("displayName", "must not be empty")
  if (request.replaces !== undefined && corpusOf(request.replaces) !== request.corpus) {
    return ServiceError.invalid("replaces", "must be a file of the same corpus")
  }
  const parsing = request.parsing?._tag ?? "default"
  return parsing === "default" ? undefined : new ServiceError({
    code: "UNIMPLEMENTED",
    message: `the ${parsing} parser runs in Google's service itself, not on the embedded engine`,
    fix: "leave parsing at its default on the embedded engine"
  })
}

/** The name whose extension shows the format: a display name may be a title without one. */
const nameHint = ({ displayName, madeMarkdown, mimeType, name, sourceUri }: UploadRequest): string => {
  if (madeMarkdown === true) return "made.md"
  const told = name ?? tellingName(sourceUri === undefined ? [displayName] : [displayName, sourceUri], mimeType)
  return told ?? (sourceUri !== undefined && !/\.[A-Za-z0-9]{1,8}$/.test(displayName) ? sourceUri : displayName)
}

const newFile = (request: UploadRequest, prepared: Prepared): NewFile => {
  const { displayName, description, marker, permissions, sourceUri } = request
  const { author, language, pages, remark, title, tokens } = prepared
  const metadata = remark === undefined ? request.metadata : { ...request.metadata, remark }
  return {
    name: newId(),
    displayName,
    sourceUri: sourceUri ?? displayName,
    sizeBytes: request.content.byteLength,
    tokens,
    chunks: prepared.chunks.map(({ ordinal, start, end, ...chunk }): NewChunk => ({ ...chunk, hash: textHash(chunk.text) })),
    description,
    marker,
    metadata,
    permissions,
    pages,
    language,
    title,
    author
  }
}
