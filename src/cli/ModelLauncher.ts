import { Context, type Layer } from "effect"
import type { ServiceError, StateError } from "../domain/Errors.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"

export type ModelPorts = ModelCatalog | Endpoints | Operations

/** Makes the models and endpoints of a pipeline's engine, without the rest of it. Given by the composition root. */
export class ModelLauncher extends Context.Service<ModelLauncher, {
  readonly layer: (pipeline: Definition, dataDir: string) => Layer.Layer<ModelPorts, ServiceError | StateError>
}>()("sluice/cli/ModelLauncher") {}
