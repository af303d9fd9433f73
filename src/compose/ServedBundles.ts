import { Context, Effect, Layer, type Scope } from "effect"
import { basename } from "node:path"
import type { CorpusName } from "../domain/Corpus.ts"
import { ServiceError, type StateError } from "../domain/Errors.ts"
import { mergedContexts, perCorpus, type RetrievalRequest } from "../domain/Retrieval.ts"
import * as Embedded from "../engines/embedded/Embedded.ts"
import { makeEmbeddingBudget } from "../engines/embedded/LimitedEmbedding.ts"
import { Corpora } from "../ports/Corpora.ts"
import { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import { chunksOf, facetsOf, Files, filesNamed } from "../ports/Files.ts"
import type { Rankers } from "../ports/Ranker.ts"
import { Retrieval } from "../ports/Retrieval.ts"
import type { Secrets } from "../ports/Secrets.ts"
import type { TextPool } from "../text/TextPool.ts"
import { loadBundle } from "./Bundle.ts"
import { embedderOf } from "./Embedded.ts"

/** The ports for corpora and their contents. */
interface CorpusPorts {
  readonly corpora: Corpora["Service"]
  readonly files: Files["Service"]
  readonly metadata: FileMetadataStore["Service"]
  readonly retrieval: Retrieval["Service"]
}

/** The corpus of a served bundle. */
export interface ServedBundle extends CorpusPorts {
  readonly corpus: CorpusName
  readonly displayName: string
}

/** Options for reading the corpora of bundles. */
interface ServedBundleOptions {
  readonly dataDir: string
  /** Bytes of the index of each bundle that are kept in memory. */
  readonly memory: number
  readonly searchThreads: number
}

/** Opens bundles, each with the embedder of its corpus. Two bundles of one corpus are refused. */
export const openBundles = Effect.fnUntraced(function*(
  paths: ReadonlyArray<string>,
  options: ServedBundleOptions
): Effect.fn.Return<ReadonlyArray<ServedBundle>, ServiceError | StateError, Rankers | Secrets | TextPool | Scope.Scope> {
  const opened = new Map<CorpusName, { readonly path: string; readonly served: ServedBundle }>()
  for (const path of paths) {
    const { bundle, pipeline } = yield* loadBundle(path)
    const context = yield* Layer.build(
      Embedded.layer({ ...options, bundle }).pipe(Layer.provide(embedderOf(pipeline, makeEmbeddingBudget(), options.dataDir)))
    )
    const ports = portsOf(context)
    const [corpus] = (yield* ports.corpora.list({ size: 1 })).items
    if (corpus === undefined) return yield* ServiceError.internal(`${path} holds no corpus`)
    const other = opened.get(corpus.name)
    if (other !== undefined) {
      return yield* ServiceError.invalid(
        "--bundle",
        `${other.path} and ${path} are of one corpus, that of pipeline ${pipeline.name}`,
        `serve one of them, or give the pipeline of one another name: ${basename(path)}`
      )
    }
    opened.set(corpus.name, { path, served: { ...ports, corpus: corpus.name, displayName: corpus.displayName } })
  }
  return [...opened.values()].map(({ served }) => served)
})

/** The ports in a context. */
export const portsOf = (context: Context.Context<Corpora | Files | FileMetadataStore | Retrieval>): CorpusPorts => ({
  corpora: Context.get(context, Corpora),
  files: Context.get(context, Files),
  metadata: Context.get(context, FileMetadataStore),
  retrieval: Context.get(context, Retrieval)
})

const noVectors = Effect.fail(new ServiceError({ code: "UNIMPLEMENTED", message: "this engine does not return vectors" }))

/** Combines an engine's own corpora with those of bundles, which come after them in listings. */
export const withBundles = (own: CorpusPorts, bundles: ReadonlyArray<ServedBundle>): CorpusPorts => {
  if (bundles.length === 0) return own
  /** The ports for a corpus, or for anything in it, by name. */
  const of = (name: string): CorpusPorts => bundles.find(({ corpus }) => name === corpus || name.startsWith(`${corpus}/`)) ?? own
  const { corpora, files } = own
  return {
    corpora: {
      ...corpora,
      get: (name) => of(name).corpora.get(name),
      update: (name, patch) => of(name).corpora.update(name, patch),
      delete: (name, options) => of(name).corpora.delete(name, options),
      list: Effect.fnUntraced(function*(request) {
        const after = bundleToken.exec(request.token ?? "")?.[1]
        const page = after === undefined ? yield* corpora.list(request) : { items: [] }
        if (page.nextToken !== undefined && page.nextToken !== "") return page
        const from = Number(after ?? 0)
        const size = request.size === undefined || request.size === 0 ? defaultPage : request.size
        const to = from + Math.max(0, size - page.items.length)
        const more = yield* Effect.forEach(bundles.slice(from, to), (bundle) => bundle.corpora.get(bundle.corpus))
        const items = [...page.items, ...more]
        return to < bundles.length ? { items, nextToken: `bundle:${to}` } : { items }
      })
    },
    files: {
      ...files,
      upload: (request, ledger) => of(request.corpus).files.upload(request, ledger),
      import: (request) => of(request.corpus).files.import(request),
      get: (name) => of(name).files.get(name),
      list: (corpus, page) => of(corpus).files.list(corpus, page),
      // Only runs use this, and no run writes to a bundle.
      held: undefined,
      chunks: (name, page) => of(name).files.chunks(name, page),
      chunksFrom: (name, from, count) => chunksOf(of(name).files, name, from, count),
      named: (corpus, displayName) => filesNamed(of(corpus).files, corpus, displayName),
      facets: (corpus, query) => facetsOf(of(corpus).files, corpus, query),
      sample: (corpus, most, query) => of(corpus).files.sample?.(corpus, most, query) ?? noVectors,
      vectors: (names) => of(names[0] ?? "").files.vectors?.(names) ?? noVectors,
      update: (name, patch) => of(name).files.update(name, patch),
      delete: (name) => of(name).files.delete(name)
    },
    metadata: {
      createSchemas: (corpus, schemas) => of(corpus).metadata.createSchemas(corpus, schemas),
      getSchema: (name) => of(name).metadata.getSchema(name),
      listSchemas: (corpus, page) => of(corpus).metadata.listSchemas(corpus, page),
      deleteSchemas: (corpus, names) => of(corpus).metadata.deleteSchemas(corpus, names),
      create: (file, metadata) => of(file).metadata.create(file, metadata),
      update: (name, metadata) => of(name).metadata.update(name, metadata),
      get: (name) => of(name).metadata.get(name),
      list: (file, page) => of(file).metadata.list(file, page),
      delete: (file, names) => of(file).metadata.delete(file, names)
    },
    retrieval: {
      embedderOf: (file) => of(file).retrieval.embedderOf?.(file) ?? Effect.undefined,
      retrieve: (request) => {
        const places = new Set([request.corpus, ...(request.also ?? []).map(({ corpus }) => corpus)].map(of))
        const [only, ...others] = places
        return only !== undefined && others.length === 0 ? only.retrieval.retrieve(request) : eachOf(of, request)
      }
    }
  }
}

const eachOf = (of: (name: string) => CorpusPorts, request: RetrievalRequest) =>
  Effect.map(
    Effect.forEach(perCorpus(request), (each) => of(each.corpus).retrieval.retrieve(each)),
    (found) => mergedContexts(found, request)
  )

/** Page token of a listing of corpora that continues at a bundle. */
const bundleToken = /^bundle:(\d{1,4})$/
/** Default page size of listings of corpora. */
const defaultPage = 100
