import { Effect, Layer, Stream } from "effect"
import { type Corpus, CorpusName } from "../../src/domain/Corpus.ts"
import { type DocumentError, ServiceError } from "../../src/domain/Errors.ts"
import type { ImportedFile, ImportRequest } from "../../src/domain/Import.ts"
import { type Operation, OperationName, type PartialFailure } from "../../src/domain/Operation.ts"
import { type RagFile, RagFileName, type UploadRequest } from "../../src/domain/RagFile.ts"
import { makeEmbeddingBudget, overBudget } from "../../src/engines/embedded/LimitedEmbedding.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Engine } from "../../src/ports/Engine.ts"
import { Files } from "../../src/ports/Files.ts"
import type { ObjectStore } from "../../src/ports/ObjectStore.ts"
import type { Page, PageRequest } from "../../src/ports/Paging.ts"

/**
 * A target that keeps its files in memory and counts calls: tests of syncs check calls, which real engines do not expose. It
 * outlives the runs against it, as a remote service would.
 */
export class MemoryEngine {
  readonly corpora = new Map<string, Corpus>()
  readonly files = new Map<string, { readonly file: RagFile; readonly text: string }>()
  readonly calls = { uploads: 0, updates: 0, deletes: 0 }
  /** Number of objects that were staged. */
  puts = 0
  /** Error of every removal of staged objects, if set. */
  refuseRemoval: ServiceError | undefined
  /** Returns the error of an upload by its text, if it is to fail. */
  refuse: (request: UploadRequest, text: string) => ServiceError | DocumentError | undefined = () => undefined
  /** Returns the error of a file's deletion, if it is to fail. */
  refuseDelete: (name: RagFileName) => ServiceError | undefined = () => undefined
  /** Runs after an upload was stored, before its caller gets the response. */
  afterStore: Effect.Effect<void, ServiceError> = Effect.void
  /** Texts that the engine can import, by address. Undefined: it does not support imports. */
  objects: Record<string, string> | undefined
  /** Returns the error of an import, if it is to fail. */
  refuseImport: (request: ImportRequest) => ServiceError | undefined = () => undefined
  /** Returns the failure of a file in an import, or `silently` where it is left out without a failure. */
  refuseObject: (uri: string) => PartialFailure | "silently" | undefined = () => undefined
  /** Runs when an import was started, before its caller gets the response, and at each look at an import. */
  onImport: Effect.Effect<void> = Effect.void
  onLook: Effect.Effect<void> = Effect.void
  /** Runs before files are listed. */
  onList: Effect.Effect<void> = Effect.void
  readonly imports: Array<ImportRequest> = []
  /** Results of imports by the address that they were written to. */
  readonly results = new Map<string, ReadonlyArray<ImportedFile>>()
  readonly operations = new Map<string, Operation>()
  pageSize = 2
  signature = "1"
  remoteEmbedding = false
  readonly budget = makeEmbeddingBudget()
  #next = 1

  /** Texts that a reader would find, by path within the source. */
  get content(): Record<string, string> {
    return Object.fromEntries([...this.files.values()].map(({ file, text }) => [file.displayName, text]).toSorted())
  }

  get layer(): Layer.Layer<Corpora | Files | Engine> {
    return Layer.mergeAll(
      Layer.succeed(Corpora, this.#corpora),
      Layer.succeed(Files, this.#files),
      Layer.sync(Engine, () =>
        Engine.of({
          name: "embedded",
          parent: "memory",
          target: "memory",
          signature: this.signature,
          maxFileBytes: 1_000_000,
          remoteEmbedding: this.remoteEmbedding,
          budget: this.budget,
          concurrency: 8,
          ...(this.objects === undefined ? {} : {
            imports: {
              sources: new Set(["storage", "googleDrive"] as const),
              objects: this.#store,
              results: (sink: string) => Effect.succeed(this.results.get(sink)),
              operations: {
                list: (page: PageRequest) => Effect.sync(() => paged([...this.operations.values()], page, this.pageSize)),
                wait: (name: OperationName) =>
                  Effect.andThen(this.onLook, Effect.suspend(() => this.#found(this.operations.get(name), name)))
              }
            }
          })
        }))
    )
  }

  readonly #corpora: Corpora["Service"] = {
    create: (spec) =>
      Effect.sync(() => {
        const corpus: Corpus = {
          ...spec,
          name: CorpusName.make(`corpora/${this.#next++}`),
          state: "ACTIVE",
          createTime: "2026-01-01T00:00:00Z",
          updateTime: "2026-01-01T00:00:00Z"
        }
        this.corpora.set(corpus.name, corpus)
        return corpus
      }),
    get: (name) => this.#found(this.corpora.get(name), name),
    list: (page) => Effect.succeed(paged([...this.corpora.values()], page, this.pageSize)),
    update: (name, patch) =>
      Effect.map(this.#found(this.corpora.get(name), name), (corpus) => {
        const updated = { ...corpus, ...patch }
        this.corpora.set(name, updated)
        return updated
      }),
    delete: (name) =>
      Effect.sync(() => {
        this.corpora.delete(name)
        for (const file of this.files.keys()) if (file.startsWith(`${name}/`)) this.files.delete(file)
      })
  }

  readonly #files: Files["Service"] = {
    upload: (request) =>
      Effect.suspend((): Effect.Effect<{ file: RagFile; embedded: number; embeddedTokens: number }, ServiceError | DocumentError> => {
        this.calls.uploads += 1
        const text = new TextDecoder().decode(request.content)
        const refusal = this.refuse(request, text)
        if (refusal !== undefined) return Effect.fail(refusal)
        if (this.budget.reserve([text.length]) === 0) return Effect.fail(overBudget("embedded tokens"))
        this.budget.settle([text.length], [text.length])
        const file: RagFile = {
          name: RagFileName.make(`${request.corpus}/ragFiles/${this.#next++}`),
          displayName: request.displayName,
          sourceUri: request.sourceUri ?? request.displayName,
          sizeBytes: request.content.length,
          state: "ACTIVE",
          chunks: 1,
          createTime: "2026-01-01T00:00:00Z",
          updateTime: "2026-01-01T00:00:00Z",
          ...(request.marker === undefined ? {} : { marker: request.marker }),
          ...(request.permissions === undefined ? {} : { permissions: request.permissions })
        }
        this.files.set(file.name, { file, text })
        if (request.replaces !== undefined) this.files.delete(request.replaces)
        return Effect.as(this.afterStore, { file, embedded: 1, embeddedTokens: text.length })
      }),
    import: (request) =>
      Effect.suspend(() => {
        this.imports.push(request)
        const refusal = this.refuseImport(request)
        return refusal === undefined ? Effect.andThen(this.onImport, Effect.sync(() => this.#import(request))) : Effect.fail(refusal)
      }),
    get: (name) => Effect.map(this.#found(this.files.get(name), name), ({ file }) => file),
    list: (corpus, page) =>
      Effect.andThen(
        Effect.suspend(() => this.onList),
        Effect.sync(() =>
          paged([...this.files.values()].map(({ file }) => file).filter((f) => f.name.startsWith(`${corpus}/`)), page, this.pageSize)
        )
      ),
    chunks: (name) =>
      Effect.map(this.#found(this.files.get(name), name), ({ text }) => ({
        items: [{ ordinal: 0, text, headings: [], byteStart: 0, byteEnd: Buffer.byteLength(text), tokens: text.length }]
      })),
    update: (name, patch) =>
      Effect.map(this.#found(this.files.get(name), name), ({ file, text }) => {
        this.calls.updates += 1
        const { metadata, permissions, ...others } = { ...file, ...patch }
        const updated: RagFile = { ...others, ...(metadata == null ? {} : { metadata }), ...(permissions == null ? {} : { permissions }) }
        this.files.set(name, { file: updated, text })
        return updated
      }),
    delete: (name) =>
      Effect.flatMap(this.#found(this.files.get(name), name), () => {
        this.calls.deletes += 1
        const refusal = this.refuseDelete(name)
        if (refusal !== undefined) return Effect.fail(refusal)
        this.files.delete(name)
        return Effect.void
      })
  }

  /** Stages objects for imports. Nothing else is called. */
  readonly #store: ObjectStore["Service"] = {
    get: () => Stream.die("not asked for"),
    list: () => Stream.die("not asked for"),
    head: () => Effect.die("not asked for"),
    delete: (uri) =>
      Effect.suspend(() => {
        if (this.refuseRemoval !== undefined) return Effect.fail(this.refuseRemoval)
        const { [uri]: _, ...others } = this.objects ?? {}
        this.objects = others
        return Effect.void
      }),
    put: (uri, body, { when } = {}) =>
      Effect.suspend(() => {
        if (when === "absent" && this.objects?.[uri] !== undefined) {
          return Effect.fail(new ServiceError({ code: "ALREADY_EXISTS", message: uri }))
        }
        this.puts += 1
        this.objects = { ...this.objects, [uri]: body instanceof Uint8Array ? new TextDecoder().decode(body) : "" }
        return Effect.succeed({ uri, revision: "1", size: 0 })
      })
  }

  /** Imports new and changed files under new names. Imported files have no marker. */
  #import({ corpus, resultSink, source }: ImportRequest): Operation {
    const rows: Array<ImportedFile> = []
    const counts = { imported: 0, skipped: 0, failed: 0 }
    const partialFailures: Array<PartialFailure> = []
    const uris = source._tag === "storage" ? source.uris : Object.keys(this.objects ?? {})
    for (const uri of uris) {
      const text = this.objects?.[uri]
      const refusal = this.refuseObject(uri)
      const held = [...this.files.values()].find(({ file }) => file.sourceUri === uri)
      if (text === undefined || refusal !== undefined) {
        counts.failed += 1
        rows.push({ uri, status: "failed", message: "could not be read" })
        if (typeof refusal === "object") partialFailures.push(refusal)
      } else if (held?.text === text) {
        counts.skipped += 1
        rows.push({ uri, status: "skipped" })
      } else {
        counts.imported += 1
        rows.push({ uri, status: "imported" })
        if (held !== undefined) this.files.delete(held.file.name)
        const name = RagFileName.make(`${corpus}/ragFiles/${this.#next++}`)
        const displayName = uri.slice(uri.lastIndexOf("/") + 1)
        const time = "2026-01-01T00:00:00Z"
        this.files.set(name, { text, file: { name, displayName, sourceUri: uri, state: "ACTIVE", createTime: time, updateTime: time } })
      }
    }
    if (resultSink !== undefined) this.results.set(resultSink, rows)
    const operation: Operation = {
      name: OperationName.make(`${corpus}/operations/${this.#next++}`),
      kind: "importFiles",
      target: corpus,
      done: true,
      progress: 100,
      counts,
      partialFailures,
      createTime: "2026-01-01T00:00:00Z",
      updateTime: "2026-01-01T00:00:00Z"
    }
    this.operations.set(operation.name, operation)
    return { ...operation, done: false, progress: 0 }
  }

  #found<A>(value: A | undefined, what: string): Effect.Effect<A, ServiceError> {
    return value === undefined ? Effect.fail(ServiceError.notFound(what)) : Effect.succeed(value)
  }
}

/** A page of at most two items, so that every reader of a list has to read several pages. */
const paged = <A>(all: ReadonlyArray<A>, { token }: PageRequest, size: number): Page<A> => {
  const from = Number(token ?? 0)
  return {
    items: all.slice(from, from + size),
    ...(from + size < all.length ? { nextToken: String(from + size) } : {})
  }
}
