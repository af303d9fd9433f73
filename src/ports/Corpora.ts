import { Context, type Effect } from "effect"
import type { Corpus, CorpusName, CorpusPatch, CorpusSpec } from "../domain/Corpus.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { RagFile } from "../domain/RagFile.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** What the database of a corpus's vectors has of it, and the engine's own records do not. */
export interface LostCorpus {
  readonly corpus: CorpusName
  /** For people: where it was found. */
  readonly place: string
  /** Files that are whole there. */
  readonly files: ReadonlyArray<Pick<RagFile, "name" | "marker" | "sizeBytes">>
  /** Takes them in, embedding nothing, and deletes there what is of no whole file. Begun again it goes on. */
  readonly takeIn: Effect.Effect<void, ServiceError>
}

/**
 * Corpora of the project and region an engine is bound to. Writes return when the service has done them.
 *
 * `update` keeps the rules of the platform: the database kind never changes, its fields are set once,
 * the embedding model is immutable; a broken rule is `INVALID_ARGUMENT` with the field.
 */
export class Corpora extends Context.Service<Corpora, {
  readonly create: (spec: CorpusSpec) => Effect.Effect<Corpus, ServiceError>
  readonly get: (name: CorpusName) => Effect.Effect<Corpus, ServiceError>
  readonly list: (page: PageRequest) => Effect.Effect<Page<Corpus>, ServiceError>
  readonly update: (name: CorpusName, patch: CorpusPatch) => Effect.Effect<Corpus, ServiceError>
  /** Without `force`, a corpus that still has files is `FAILED_PRECONDITION`. */
  readonly delete: (name: CorpusName, options?: { readonly force?: boolean }) => Effect.Effect<void, ServiceError>
  /**
   * What the database that a corpus names for its vectors has of one with that display name, and the engine does not know
   * of, as after its data was lost; undefined where it has nothing. Writes nothing. Absent: the engine's own affair.
   */
  readonly lost?: (spec: CorpusSpec) => Effect.Effect<LostCorpus | undefined, ServiceError>
}>()("sluice/ports/Corpora") {}
