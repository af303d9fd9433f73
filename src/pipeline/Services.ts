import { Context, type Effect, type Scope } from "effect"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import type { Ranking } from "../domain/Retrieval.ts"
import type { Connector } from "../ports/Connector.ts"
import type { Corpora } from "../ports/Corpora.ts"
import type { Engine } from "../ports/Engine.ts"
import type { Files } from "../ports/Files.ts"
import type { Generator } from "../ports/Generator.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Operations } from "../ports/Operations.ts"
import type { Ranker } from "../ports/Ranker.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { TextPool } from "../text/TextPool.ts"
import type { SourceSettings } from "./schema/SourceSettings.ts"
import type { GeneratorSettings } from "./schema/StageSettings.ts"

/** Makes connectors of the sources a pipeline declares. */
export class Connectors extends Context.Service<Connectors, {
  readonly make: (source: SourceSettings) => Effect.Effect<Connector, ServiceError | SecretError>
}>()("sluice/pipeline/Connectors") {}

/** Makes the models that a pipeline's stages name. */
export class Models extends Context.Service<Models, {
  readonly generator: (
    settings: GeneratorSettings
  ) => Effect.Effect<Generator["Service"], ServiceError | SecretError, Scope.Scope>
  readonly ranker: (ranking: Ranking) => Effect.Effect<Ranker["Service"], ServiceError | SecretError, Scope.Scope>
}>()("sluice/pipeline/Models") {}

/** Everything a pipeline needs of the engine it runs on. */
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
