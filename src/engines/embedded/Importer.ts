import { Context, type Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import type { ImportCounts, PartialFailure } from "../../domain/Operation.ts"

/** How far an import is. */
export interface ImportProgress {
  /** 0..100 */
  readonly progress: number
  readonly counts: ImportCounts
  readonly failures: ReadonlyArray<PartialFailure>
}

/**
 * Fetches what an import names and uploads it: given to the engine by whoever has connectors. `report` is called as
 * often as there is news. Without one, `Files.import` is `UNIMPLEMENTED`.
 */
export class Importer extends Context.Service<Importer, {
  readonly run: (
    request: ImportRequest,
    report: (progress: ImportProgress) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<ImportProgress, ServiceError>
}>()("sluice/embedded/Importer") {}
