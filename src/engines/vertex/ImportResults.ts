import { Effect, Stream } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportedFile } from "../../domain/Import.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import { importResultsFromText } from "../../wire/rag/ImportResults.ts"

/** Most bytes of an import's results: a row for each of 10,000 files, with room for long names and messages. */
const mostBytes = 128 * 1024 * 1024

/** The outcome of each file of an import, from where the service wrote them; undefined where that is a table. */
export const importResults = (
  objects: ObjectStore["Service"],
  sink: string
): Effect.Effect<ReadonlyArray<ImportedFile> | undefined, ServiceError> =>
  sink.startsWith("gs://")
    ? objects.get(sink, mostBytes).pipe(Stream.decodeText(), Stream.mkString, Effect.map(importResultsFromText))
    : Effect.undefined
