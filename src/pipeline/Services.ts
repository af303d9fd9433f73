import { Context, Effect, type Scope } from "effect"
import type { Cutting } from "../domain/Chunking.ts"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import type { Ranking, RetrievalRequest } from "../domain/Retrieval.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Connector } from "../ports/Connector.ts"
import type { Corpora } from "../ports/Corpora.ts"
import type { Drafter } from "../ports/Drafter.ts"
import type { Engine } from "../ports/Engine.ts"
import type { Files } from "../ports/Files.ts"
import type { Generator } from "../ports/Generator.ts"
import type { Judge } from "../ports/Judge.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Operations } from "../ports/Operations.ts"
import type { QueryRewriter } from "../ports/QueryRewriter.ts"
import type { Ranker } from "../ports/Ranker.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { TextPool } from "../text/TextPool.ts"
import type { OwnChunker, OwnParser } from "./definition/ParserSettings.ts"
import type { SourceSettings } from "./definition/SourceSettings.ts"
import type { GeneratorSettings } from "./definition/StageSettings.ts"
import type { FileParser } from "./sync/Parsers.ts"

/** Makes the connectors of a pipeline's sources. */
export class Connectors extends Context.Service<Connectors, {
  readonly make: (source: SourceSettings) => Effect.Effect<Connector, ServiceError | SecretError>
}>()("sluice/pipeline/Connectors") {}

/** Makes the custom parsers of a pipeline. Default: makes none. */
export const Parsers = Context.Reference<{
  readonly make: (parser: OwnParser) => Effect.Effect<FileParser, ServiceError | SecretError>
}>("sluice/pipeline/Parsers", { defaultValue: () => ({ make: ({ kind }) => Effect.die(`no parsers here, such as ${kind}`) }) })

/** Makes the custom chunker of a pipeline. Default: makes none. */
export const Chunkers = Context.Reference<{
  readonly make: (chunker: OwnChunker) => Effect.Effect<Cutting, ServiceError | SecretError>
}>("sluice/pipeline/Chunkers", { defaultValue: () => ({ make: ({ kind }) => Effect.die(`no chunkers here, such as ${kind}`) }) })

/** Makes the models that a pipeline's stages name. */
export class Models extends Context.Service<Models, {
  /** Makes the chat model itself. */
  readonly chat: (
    settings: GeneratorSettings
  ) => Effect.Effect<ChatModel["Service"], ServiceError | SecretError, Scope.Scope>
  /** Makes a generator of the model, which answers from contexts and nothing else. */
  readonly generator: (
    settings: GeneratorSettings
  ) => Effect.Effect<Generator["Service"], ServiceError | SecretError, Scope.Scope>
  /** Makes a generator of any chat model, which answers from contexts and nothing else. */
  readonly grounded: (chat: ChatModel["Service"]) => Effect.Effect<Generator["Service"]>
  /** Makes a generator of a hosted model that searches a corpus itself, with its own queries. */
  readonly searching: (
    model: string,
    selection: Omit<RetrievalRequest, "query">
  ) => Effect.Effect<Generator["Service"], ServiceError | SecretError, Scope.Scope>
  /** Makes a rewriter of questions of a conversation, which uses the model where there is one. */
  readonly rewriter: (
    settings: GeneratorSettings
  ) => Effect.Effect<QueryRewriter["Service"], ServiceError | SecretError, Scope.Scope>
  /** Makes a judge, which compares answers to tests with what is expected of them. */
  readonly judge: (
    settings: GeneratorSettings
  ) => Effect.Effect<Judge["Service"], ServiceError | SecretError, Scope.Scope>
  /** Makes a drafter, which drafts tests from passages. */
  readonly drafter: (
    settings: GeneratorSettings
  ) => Effect.Effect<Drafter["Service"], ServiceError | SecretError, Scope.Scope>
  readonly ranker: (ranking: Ranking) => Effect.Effect<Ranker["Service"], ServiceError | SecretError, Scope.Scope>
}>()("sluice/pipeline/Models") {}

/** Services that a pipeline needs of the engine it runs on. */
export type Services =
  | Engine
  | Corpora
  | Files
  | Retrieval
  | Operations
  | Ledger
  | TextPool
  | Connectors
  | Models
