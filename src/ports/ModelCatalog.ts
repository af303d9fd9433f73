import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { CatalogModel, CatalogQuery, DeployRequest } from "../domain/models/ModelCatalog.ts"
import type { Operation } from "../domain/Operation.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** Deployable models of the catalog and of a model hub. */
export class ModelCatalog extends Context.Service<ModelCatalog, {
  readonly list: (query: CatalogQuery, page: PageRequest) => Effect.Effect<Page<CatalogModel>, ServiceError>
  /** Returns a model with its deployment configurations: `publishers/{publisher}/models/{model}`; with `@{version}`, that version. */
  readonly get: (name: string) => Effect.Effect<CatalogModel, ServiceError>
  /** Deploys a model on a new endpoint and returns the operation; follow it through `Operations`. */
  readonly deploy: (request: DeployRequest) => Effect.Effect<Operation, ServiceError>
  /** Whether this project has accepted the model's licence. */
  readonly eulaAccepted: (publisherModel: string) => Effect.Effect<boolean, ServiceError>
  readonly acceptEula: (publisherModel: string) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/ModelCatalog") {}
