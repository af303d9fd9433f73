import { Effect, Ref, Stream } from "effect"
import { defined } from "../../domain/Defined.ts"
import { asServiceError, type DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { ImportedFile, ImportRequest } from "../../domain/Import.ts"
import type { ImportCounts, PartialFailure } from "../../domain/Operation.ts"
import type { Permissions, RagFile } from "../../domain/RagFile.ts"
import type { Connector, Listed, SourceItem } from "../../ports/Connector.ts"
import type { Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { importResultRows, importResultsToText, sinkObject } from "../../wire/rag/ImportResults.ts"
import { embeddingRate } from "./EmbeddingRate.ts"
import { mostFiles } from "./ImportLimits.ts"
import { hash, importMarker, markerOf, settingsHash, stateOf } from "./ImportMarker.ts"

/** The services and limits that an import uses. */
export interface ImportTools {
  readonly files: Files["Service"]
  /** Makes the connector of the request's source, or fails where the source is refused. */
  readonly connect: (request: ImportRequest) => Effect.Effect<Connector, ServiceError>
  /** Writes an object, `gs://…`, which must not exist yet. */
  readonly write: (uri: string, content: Uint8Array) => Effect.Effect<void, ServiceError>
  /** Adds rows to a table, `bq://…`, which is made where it is missing. */
  readonly append: (uri: string, rows: ReadonlyArray<Readonly<Record<string, string>>>) => Effect.Effect<void, ServiceError>
  /** Whether the model that reads documents gets images of their pages. Default false. */
  readonly seesPages?: boolean
  /** Most bytes of a file, by its name. */
  readonly fileBytes: (name: string) => number
}

interface ImportProgress {
  readonly progress: number
  readonly counts: ImportCounts
  readonly failures: ReadonlyArray<PartialFailure>
}

/** Files read, parsed and stored concurrently. */
const concurrency = 8
/** Default of an import's embedding requests per minute. */
const defaultRate = 1_000
/** Most failures reported in detail; all are counted. */
const mostFailures = 1_000

/**
 * Imports the files that a source lists into a corpus. A file that was imported before with the same revision or content and
 * the same settings is skipped; a changed file replaces its older version. A file that cannot be imported, or a part of a
 * source that cannot be listed, counts as a failure, and the import goes on.
 */
export const importFiles = (tools: ImportTools) =>
  Effect.fn("Import.run")(function*(
    request: ImportRequest,
    report: (progress: ImportProgress) => Effect.Effect<void, ServiceError>
  ): Effect.fn.Return<ImportProgress, ServiceError> {
    const connector = yield* tools.connect(request)
    const known = yield* importedBefore(tools.files, request)
    const listed = yield* list(connector)
    const rate = embeddingRate(request.maxEmbeddingRequestsPerMinute ?? defaultRate)
    const { globalMaxEmbeddingRequestsPerMinute: together } = request
    const shared = together === undefined ? undefined : sharedRate(together)
    const settings = settingsHash(request.chunking, request.parsing, tools.seesPages)
    const total = Math.max(1, listed.items.length + listed.failures.length)
    const state = yield* Ref.make<{ readonly progress: ImportProgress; readonly rows: ReadonlyArray<ImportedFile> }>({
      progress: { progress: 0, counts: { imported: 0, failed: 0, skipped: 0 }, failures: [] },
      rows: []
    })

    const note = Effect.fnUntraced(function*(row: ImportedFile, failure?: PartialFailure) {
      const next = yield* Ref.updateAndGet(state, ({ progress: { counts, failures }, rows }) => {
        const counted = {
          imported: counts.imported + (row.status === "imported" ? 1 : 0),
          failed: counts.failed + (row.status === "failed" ? 1 : 0),
          skipped: counts.skipped + (row.status === "skipped" ? 1 : 0)
        }
        const seen = counted.imported + counted.failed + counted.skipped
        return {
          progress: {
            progress: Math.min(99, Math.floor((100 * seen) / total)),
            counts: counted,
            failures: failure === undefined || failures.length >= mostFailures ? failures : [...failures, failure]
          },
          rows: request.resultSink === undefined && request.failureSink === undefined ? rows : [...rows, row]
        }
      })
      yield* report(next.progress)
    })

    const importOne = Effect.fnUntraced(function*(item: SourceItem): Effect.fn.Return<ImportedFile, ServiceError | DocumentError> {
      const before = known.get(item.uri)
      const was = before?.marker === undefined ? undefined : stateOf(before.marker)
      const revision = hash(item.revision)
      const sameSettings = was?.settings === settings
      const facts = {
        metadata: item.metadata,
        permissions: item.permissions
      }
      if (before !== undefined && sameSettings && was.revision === revision && item.unsettled !== true) {
        // The readers of a file can change without its content.
        if (!sameReaders(before.permissions, item.permissions)) yield* tools.files.update(before.name, facts)
        return skipped(item, before)
      }
      const content = yield* bytes(connector, item, tools.fileBytes(item.displayName))
      const marker = markerOf(item.uri, { content: hash(content), revision, settings })
      if (before !== undefined && sameSettings && was.content === hash(content)) {
        yield* tools.files.update(before.name, { marker, ...facts })
        return skipped(item, before)
      }
      const { embedded = 0, file, remark } = yield* tools.files.upload({
        corpus: request.corpus,
        displayName: item.displayName,
        sourceUri: item.uri,
        content,
        chunking: request.chunking,
        parsing: request.parsing,
        marker,
        ...facts,
        ...(item.mimeType === undefined ? {} : { mimeType: item.mimeType }),
        ...(before === undefined ? {} : { replaces: before.name })
      })
      yield* rate.spend(embedded)
      if (shared !== undefined) yield* shared.spend(embedded)
      return defined({ uri: item.uri, status: "imported" as const, file: idOf(file), message: remark })
    })

    for (const failure of listed.failures) {
      yield* note({ uri: failure.path, status: "failed", message: failure.message }, { code: failure.code, message: failure.message })
    }
    yield* Effect.forEach(
      listed.items,
      (item) =>
        importOne(item).pipe(
          Effect.matchEffect({
            onSuccess: (row) => note(row),
            onFailure: (error) => {
              const message = `${error.message} processing ${item.uri}`
              const code = error._tag === "DocumentError" ? "INVALID_ARGUMENT" : error.code
              return note({ uri: item.uri, status: "failed", message }, { code, message })
            }
          })
        ),
      { concurrency, discard: true }
    )
    const { progress, rows } = yield* Ref.get(state)
    yield* writeResults(tools, request, rows, new Map([...known.values()].map((file) => [idOf(file), file])))
    return { ...progress, progress: 100 }
  })

/** Rates shared by all imports with the same limit, by the limit. */
const sharedRates = new Map<number, ReturnType<typeof embeddingRate>>()

const sharedRate = (perMinute: number): ReturnType<typeof embeddingRate> => {
  const rate = sharedRates.get(perMinute) ?? embeddingRate(perMinute)
  sharedRates.set(perMinute, rate)
  return rate
}

/** The corpus's imported files, by their source URI. */
const importedBefore = (files: Files["Service"], { corpus }: ImportRequest) =>
  pages((page) => files.list(corpus, page), 1_000).pipe(
    Stream.filter(({ marker }) => marker?.source === importMarker),
    Stream.runFold(() => new Map<string, RagFile>(), (known, file) => known.set(file.sourceUri, file))
  )

interface ListFailure extends PartialFailure {
  readonly path: string
}

/** The files of a source, each once even if several addresses lead to it, and the failures of listing it. */
const list = (connector: Connector): Effect.Effect<
  { readonly items: ReadonlyArray<SourceItem>; readonly failures: ReadonlyArray<ListFailure> },
  ServiceError
> =>
  connector.list().pipe(
    Stream.catch((error) => Stream.succeed<Listed>({ _tag: "failed", path: "", error: asServiceError(error) })),
    Stream.runFoldEffect(
      () => ({ items: new Map<string, SourceItem>(), failures: new Map<string, ListFailure>() }),
      Effect.fnUntraced(function*(found, listed) {
        if (listed._tag === "item") found.items.set(listed.item.uri, listed.item)
        if (listed._tag === "failed") {
          const { code, message } = listed.error
          found.failures.set(listed.path, { path: listed.path, code, message })
        }
        if (listed._tag === "skipped" && listed.reason !== "ignored") {
          const message = `${listed.detail} processing ${listed.path}`
          found.failures.set(listed.path, { path: listed.path, code: "INVALID_ARGUMENT", message })
        }
        return found.items.size + found.failures.size <= mostFiles ? found : yield* tooMany
      })
    ),
    Effect.map(({ failures, items }) => ({ items: [...items.values()], failures: [...failures.values()] }))
  )

const tooMany = new ServiceError({
  code: "INVALID_ARGUMENT",
  message: `the import lists more than ${mostFiles} files, which is what one import takes`,
  fix: "import in parts"
})

const bytes = (connector: Connector, item: SourceItem, limit: number): Effect.Effect<Uint8Array, ServiceError> =>
  (item.size ?? 0) > limit
    ? Effect.fail(new ServiceError({ code: "INVALID_ARGUMENT", message: `File is larger than ${limit} bytes.` }))
    : connector.read(item, limit).pipe(
      Stream.runCollect,
      Effect.map((parts) => new Uint8Array(Buffer.concat(parts))),
      Effect.mapError(asServiceError)
    )

const sameReaders = (a: Permissions | undefined, b: Permissions | undefined): boolean =>
  a?.public === b?.public && a?.principals.toSorted().join("\n") === b?.principals.toSorted().join("\n")

const skipped = (item: SourceItem, file: RagFile): ImportedFile => ({ uri: item.uri, status: "skipped", file: idOf(file) })

const idOf = ({ name }: RagFile): string => name.slice(name.lastIndexOf("/") + 1)

/** Writes the outcome of each file where the request wants it. A file that this import stored before a restart counts as imported. */
const writeResults = Effect.fnUntraced(function*(
  { append, write }: Pick<ImportTools, "append" | "write">,
  { failureSink, recordedAs = { operation: "", createTime: "" }, resultSink }: ImportRequest,
  rows: ReadonlyArray<ImportedFile>,
  before: ReadonlyMap<string, RagFile>
) {
  const sinceItBegan = ({ file, status }: ImportedFile): boolean =>
    status === "skipped" && recordedAs.createTime !== "" && (before.get(file ?? "")?.createTime ?? "") >= recordedAs.createTime
  const ended = rows.map((row): ImportedFile => (sinceItBegan(row) ? { ...row, status: "imported" } : row))
  const put = (uri: string, files: ReadonlyArray<ImportedFile>) =>
    uri.startsWith("bq://")
      ? append(uri, importResultRows(files, recordedAs))
      : write(uri, new TextEncoder().encode(importResultsToText(files, recordedAs)))
  if (resultSink !== undefined) yield* put(sinkObject(resultSink, "import_results"), ended)
  if (failureSink !== undefined) yield* put(sinkObject(failureSink, "partial_failures"), ended.filter(({ status }) => status === "failed"))
})
