import { Context, type Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import type { ImportCounts, PartialFailure } from "../../domain/Operation.ts"

/** Progress of an import. */
export interface ImportProgress {
  /** Percentage, 0 to 100. */
  readonly progress: number
  readonly counts: ImportCounts
  readonly failures: ReadonlyArray<PartialFailure>
}

/**
 * Fetches the files that an import names, and uploads them. The program that has connectors provides it; without it, `Files.import` is
 * `UNIMPLEMENTED`. `report` is called whenever there is progress.
 */
export class Importer extends Context.Service<Importer, {
  readonly run: (
    request: ImportRequest,
    report: (progress: ImportProgress) => Effect.Effect<void, ServiceError>
  ) => Effect.Effect<ImportProgress, ServiceError>
}>()("sluice/embedded/Importer") {}
