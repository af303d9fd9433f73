import { Context, type Effect } from "effect"
import type { Corpus, CorpusName, CorpusPatch, CorpusSpec } from "../domain/Corpus.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { RagFile } from "../domain/RagFile.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** A corpus found in a vector database, of which the engine's own records know nothing. */
export interface LostCorpus {
  readonly corpus: CorpusName
  /** Where it was found, in words for people. */
  readonly place: string
  /** Files stored there completely. */
  readonly files: ReadonlyArray<Pick<RagFile, "name" | "marker" | "sizeBytes">>
  /**
   * Takes the files into the engine's records without embedding anything, and deletes chunks there that belong to no
   * complete file. Run again after an interruption, it continues.
   */
  readonly takeIn: Effect.Effect<void, ServiceError>
}

/**
 * Corpora of the project and region the engine is bound to. Writes return once the service has completed them.
 *
 * `update` enforces the platform's rules: the kind of database never changes, its fields can be set once, the embedding
 * model is immutable; a broken rule is `INVALID_ARGUMENT` with the field.
 */
export class Corpora extends Context.Service<Corpora, {
  readonly create: (spec: CorpusSpec) => Effect.Effect<Corpus, ServiceError>
  readonly get: (name: CorpusName) => Effect.Effect<Corpus, ServiceError>
  readonly list: (page: PageRequest) => Effect.Effect<Page<Corpus>, ServiceError>
  readonly update: (name: CorpusName, patch: CorpusPatch) => Effect.Effect<Corpus, ServiceError>
  /** Deletes a corpus. Without `force`, one that still has files is `FAILED_PRECONDITION`. */
  readonly delete: (name: CorpusName, options?: { readonly force?: boolean }) => Effect.Effect<void, ServiceError>
  /**
   * Searches the vector database that the spec names for a corpus with this display name which the engine does not know,
   * as after the loss of its data; undefined where there is nothing. Writes nothing. Absent: the engine has no such
   * search.
   */
  readonly lost?: (spec: CorpusSpec) => Effect.Effect<LostCorpus | undefined, ServiceError>
}>()("sluice/ports/Corpora") {}
