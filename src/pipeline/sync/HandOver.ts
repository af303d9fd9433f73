import { Effect } from "effect"
import type { SecretError, ServiceError } from "../../domain/Errors.ts"
import type { ImportSource } from "../../domain/Import.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { SyncSource, SyncSpec } from "./SyncSpec.ts"

/** A source that only the engine lists: nothing is known of its files but what the engine counts. */
export interface ImportOnly {
  readonly id: string
  readonly source: ImportSource
  readonly why: string
}

export interface Sources {
  /** Those that our connectors list. */
  readonly listed: ReadonlyArray<SyncSource>
  readonly importOnly: ReadonlyArray<ImportOnly>
}

/**
 * Checks every source before any work, and tells who lists it. One that the engine can fetch by itself is left to it
 * where we cannot: of the others, a failing check fails the run.
 */
export const checkSources = Effect.fn("sync.checkSources")(function*(
  { sources }: Pick<SyncSpec, "sources">,
  engine: Pick<Engine["Service"], "imports">
): Effect.fn.Return<Sources, ServiceError | SecretError> {
  const listed: Array<SyncSource> = []
  const importOnly: Array<ImportOnly> = []
  yield* Effect.forEach(sources, Effect.fnUntraced(function*(given) {
    const { connector, id, imports } = given
    if (imports === undefined || engine.imports?.sources.has(imports._tag) !== true) {
      yield* connector.check
      const { staging } = given
      return void listed.push({ id, connector, ...(staging === undefined || engine.imports === undefined ? {} : { staging }) })
    }
    // Only objects can be asked for one by one, and have one address on both sides.
    if (imports._tag !== "storage") {
      return void importOnly.push({ id, source: imports, why: "the service lists it by itself" })
    }
    const checked = yield* Effect.result(connector.check)
    if (checked._tag === "Success") return void listed.push(given)
    // What only we can fetch has to be listed by us.
    if (imports.uris.some((uri) => !isImportable(uri))) return yield* checked.failure
    importOnly.push({ id, source: imports, why: `it cannot be listed from here (${checked.failure.message})` })
  }), { concurrency: 4, discard: true })
  return { listed, importOnly }
})

/** Whether the engine fetches an item of this source, so that we do not read it. */
export const isHandedOver = (source: SyncSource | undefined, item: Pick<SourceItem, "uri">): boolean =>
  source?.imports !== undefined && isImportable(item.uri)

const isImportable = (uri: string): boolean => uri.startsWith("gs://")

export const importOnlyNote = ({ why }: ImportOnly): string =>
  `import-only: ${why}; what is gone at the source is not deleted from the corpus, and files imported again count as added`
