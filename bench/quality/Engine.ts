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
  /** A directory that stays for the next time. */
  readonly keep?: string
  /** In place of the default: small chunks make files of several chunks from short documents. */
  readonly chunking?: Chunking
  /** In place of the offline embedder: `URL#MODEL` of a server, or a model's folder. */
  readonly embedding?: string | undefined
}

/**
 * A collection as a user would have it: a file for each document, put into a corpus by a pipeline with default settings.
 * Hits are files, each at its best chunk's place.
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
  // The engine's own ports: a pipeline opens it anew for every question.
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

/** Cross encoders, each opened once. */
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

/** What a document's file is called. Ids may be addresses, so files are numbered, but where the id is a name of a file. */
const fileName = (id: string, place: number): string => /^[\w-]+\.(?:md|rst|txt)$/.test(id) ? id : `${place}.md`

/** Document by name of its file. */
const fileNames = ({ documents }: Collection): ReadonlyMap<string, string> =>
  new Map(documents.map(({ id }, place) => [fileName(id, place), id]))

const writeFiles = (collection: Collection, docs: string): ReadonlyMap<string, string> => {
  mkdirSync(docs, { recursive: true })
  collection.documents.forEach(({ id, text, title }, place) => {
    // What is nothing but a title is a document too, but one without a word is none.
    if (`${title}${text}`.trim() !== "") writeFileSync(join(docs, fileName(id, place)), title === "" ? text : `# ${title}\n\n${text}`)
  })
  return fileNames(collection)
}
