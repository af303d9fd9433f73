import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import type { RagFile } from "../../domain/RagFile.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Files } from "../../ports/Files.ts"
import { ragFileToWire } from "../../wire/rag/Files.ts"
import { importRequestFromWire } from "../../wire/rag/Imports.ts"
import type * as Wire from "../../wire/messages/RagFile.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { importMarker, uploadMarker } from "../import/ImportMarker.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { nextPage, pageOf } from "./Paging.ts"

type Methods = Pick<Handlers, "importRagFiles" | "listRagFiles" | "getRagFile" | "deleteRagFile">

/** A file under the client's names, without the marker that an import or an upload left in its description. */
export const answeredFile = (file: RagFile, names: ClientNames): Wire.RagFile => {
  const { marker, ...rest } = names.renamed(file)
  return ragFileToWire(marker === undefined || ownMarkers.has(marker.source) ? rest : { ...rest, marker })
}

const ownMarkers: ReadonlySet<string> = new Set([importMarker, uploadMarker])

/** @param refuseImport returns why an import is refused before anything is fetched */
export const fileHandlers = (
  refuseImport: (request: ImportRequest) => ServiceError | undefined,
  defaultEmbedding: string
): Effect.Effect<Methods, never, Corpora | Files | LongRunning> =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const files = yield* Files
    const operations = yield* LongRunning

    return {
      importRagFiles: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const request = yield* take(importRequestFromWire(names.corpus(params.parent), body))
        yield* corpora.get(request.corpus)
        const refused = refuseImport(request)
        if (refused !== undefined) return yield* refused
        const entry = yield* operations.startImport(request, slowBy)
        return answered(entry, version, names, defaultEmbedding)
      }),
      listRagFiles: ({ names, params, query }) =>
        files.list(names.corpus(params.parent), pageOf(query)).pipe(Effect.map(({ items, nextToken }) => ({
          ragFiles: items.map((file) => answeredFile(file, names)),
          ...nextPage(nextToken)
        }))),
      getRagFile: ({ names, params }) => Effect.map(files.get(names.file(params.name)), (file) => answeredFile(file, names)),
      deleteRagFile: Effect.fnUntraced(function*({ names, params, slowBy, version }) {
        const file = names.file(params.name)
        yield* files.delete(file)
        const entry = yield* operations.finished("deleteFile", file, { slowBy })
        return answered(entry, version, names, defaultEmbedding)
      })
    }
  })
