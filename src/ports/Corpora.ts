import { Context, type Effect } from "effect"
import type { Corpus, CorpusName, CorpusPatch, CorpusSpec } from "../domain/Corpus.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Page, PageRequest } from "./Paging.ts"

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
}>()("sluice/ports/Corpora") {}
