import { Cache, Effect, Layer, ManagedRuntime, Scope } from "effect"
import { NodeServices } from "@effect/platform-node"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { local } from "../../connectors/index.ts"
import type { Chunking } from "../../src/domain/Chunking.ts"
import type { RetrievalRequest } from "../../src/domain/Retrieval.ts"
import * as Engine from "../../src/engines/embedded/Embedded.ts"
import { Embedded, Pipeline } from "../../src/index.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import * as LexicalRanker from "../../src/models/LexicalRanker.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Rankers } from "../../src/ports/Ranker.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import { embedderOf, folderOf, rankerOf } from "../lib/Models.ts"
import type { Collection } from "./Collection.ts"
import type { Hit } from "./Evaluate.ts"

export type Search = (
  query: string,
  how: Pick<RetrievalRequest, "hybrid" | "correctSpelling" | "topK" | "rank" | "explain">
) => Promise<ReadonlyArray<Hit>>

export interface EngineOptions {
  /** Directory that is kept for further runs. Absent: a temporary one. */
  readonly keep?: string
  /** Chunking that replaces the default: small chunks make several chunks even of short documents. */
  readonly chunking?: Chunking
  /** Model that replaces the offline embedder: `URL#MODEL` of a server, or a model's folder. */
  readonly embedding?: string | undefined
}

/**
 * Runs a measurement on a collection as a user would have it: one file per document, stored in a corpus by a pipeline with
 * default settings. Hits are files, each ranked by its best chunk.
 */
export const withEngine = async <A>(
  collection: Collection,
  { chunking, embedding, keep }: EngineOptions,
  use: (search: Search) => Promise<A>
): Promise<A> => {
  const folder = keep === undefined ? mkdtempSync(join(tmpdir(), "sluice-quality-")) : join(keep, collection.name)
  const docs = join(folder, "docs")
  const ids = existsSync(docs) ? fileNames(collection) : writeFiles(collection, docs)
  const pipeline = Pipeline.make("quality", {
    corpus: { displayName: "Quality" },
    sources: { docs: local({ path: docs }) },
    ...(chunking === undefined ? {} : { chunking })
  })
  const dataDir = join(
    folder,
    embedding === undefined ? "data" : `data ${folderOf(embedding)}`
  )
  const embedder = embedding === undefined ? HashEmbedder : await embedderOf(embedding)
  const { ended, reasons = [], totals, why } = await Effect.runPromise(
    pipeline.run.pipe(Effect.provide(Layer.merge(Embedded.layer({ dataDir, embedder }), NodeServices.layer)))
  )
  if (ended !== "done" || totals.failed + totals.skipped > 0) {
    const said = reasons.map(({ count, message = "", outcome, path, reason }) => `${count} ${outcome}, ${reason}: ${path}: ${message}`)
    throw new Error([`${totals.failed} files failed, ${totals.skipped} were skipped; the run was ${ended}`, why ?? "", ...said].join("\n"))
  }
  // Uses the engine's ports: a pipeline would open the engine again for every question.
  const runtime = ManagedRuntime.make(
    Engine.layer({ dataDir }).pipe(Layer.provide(Layer.mergeAll(embedder, rankers, TextPool.layerInline())))
  )
  try {
    const [corpus] = (await runtime.runPromise(Effect.flatMap(Corpora, (corpora) => corpora.list({})))).items
    if (corpus === undefined) throw new Error(`${dataDir} holds no corpus`)
    return await use((query, how) =>
      runtime.runPromise(Effect.gen(function*() {
        const retrieval = yield* Retrieval
        const contexts = yield* retrieval.retrieve({ corpus: corpus.name, query, ...how })
        const hits = new Map<string, Hit>()
        for (const { explanation, score, sourceDisplayName } of contexts) {
          const id = ids.get(sourceDisplayName) ?? sourceDisplayName
          if (!hits.has(id)) hits.set(id, { id, score, ...(explanation === undefined ? {} : { terms: explanation.terms }) })
        }
        return [...hits.values()]
      }))
    )
  } finally {
    await runtime.dispose()
    if (keep === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Rerankers, each opened once. */
const rankers = Layer.effect(
  Rankers,
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const opened = yield* Cache.make({
      capacity: 8,
      lookup: (model: string) => Scope.provide(rankerOf(model), scope)
    })
    return Rankers.of({
      of: (ranking) => ranking._tag === "crossEncoder" ? Cache.get(opened, ranking.model) : Effect.succeed(LexicalRanker.make())
    })
  })
)

/** Name of a document's file. Ids may be addresses, so files are numbered, except where the id is a file name. */
const fileName = (id: string, place: number): string => /^[\w-]+\.(?:md|rst|txt)$/.test(id) ? id : `${place}.md`

/** Ids of documents by the name of their file. */
const fileNames = ({ documents }: Collection): ReadonlyMap<string, string> =>
  new Map(documents.map(({ id }, place) => [fileName(id, place), id]))

const writeFiles = (collection: Collection, docs: string): ReadonlyMap<string, string> => {
  mkdirSync(docs, { recursive: true })
  collection.documents.forEach(({ id, text, title }, place) => {
    // A document may be a title alone, but a document without any word is left out.
    if (`${title}${text}`.trim() !== "") writeFileSync(join(docs, fileName(id, place)), title === "" ? text : `# ${title}\n\n${text}`)
  })
  return fileNames(collection)
}
