import { isDeepStrictEqual } from "node:util"
import { Effect, Option, Result, Stream } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import type { Operation } from "../../domain/Operation.ts"
import { pages } from "../../ports/Paging.ts"
import { importRequestToWire } from "../../wire/rag/Imports.ts"
import type { Operation as WireOperation } from "../../wire/messages/Operations.ts"
import { ImportRagFilesOperationMetadata } from "../../wire/messages/Operations.ts"
import type { ImportRagFilesConfig } from "../../wire/messages/RagFile.ts"
import { operationFromWire } from "../../wire/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import type { Transport } from "./Transport.ts"

/** Clocks are assumed to differ by less. */
const skewMs = 60_000

/** The import that an unanswered request started since then, if it did: one into the same corpus, from the same source. */
export const startedImport = Effect.fnUntraced(function*(
  transport: Transport["Service"],
  request: ImportRequest,
  since: number
): Effect.fn.Return<Operation | undefined, ServiceError> {
  const body = yield* Effect.fromResult(importRequestToWire(request))
  const list = pages(
    (page) =>
      transport.call({ route: routes.listOperations, params: { name: transport.parent }, query: pageQuery(page) }).pipe(
        Effect.flatMap(({ nextPageToken, operations }) => pageOf(page, operations, nextPageToken, Result.succeed<WireOperation>))
      ),
    100
  )
  return yield* list.pipe(
    Stream.filterMap((wire) =>
      Result.filterOrFail(
        operationFromWire(wire),
        (operation) =>
          operation.kind === "importFiles" && operation.target === request.corpus &&
          Date.parse(operation.createTime) >= since - skewMs && isOfSource(wire, body.importRagFilesConfig ?? {}),
        () => undefined
      )
    ),
    Stream.runHead,
    Effect.map(Option.getOrUndefined)
  )
})

/** Whether an import may be from the same source: where the service does not repeat the source, it may be. */
const isOfSource = ({ metadata }: WireOperation, body: ImportRagFilesConfig): boolean => {
  const config = Result.getOrUndefined(ImportRagFilesOperationMetadata.decode(metadata ?? {}))?.importRagFilesConfig
  return config === undefined || isDeepStrictEqual(sourceOf(config), sourceOf(body))
}

const sourceOf = (
  { gcsSource, googleDriveSource, jiraSource, sharePointSources, slackSource }: ImportRagFilesConfig
) => [gcsSource, googleDriveSource, jiraSource, sharePointSources, slackSource]
