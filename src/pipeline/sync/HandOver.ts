import { Effect } from "effect"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
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
 * where we cannot. What is wrong with the others is told together and ends the run, but for what may be over when they
 * are listed: a source that is away for now does not keep the rest.
 */
export const checkSources = Effect.fn("sync.checkSources")(function*(
  { sources }: Pick<SyncSpec, "sources">,
  engine: Pick<Engine["Service"], "imports">
): Effect.fn.Return<Sources, ServiceError | SecretError> {
  const listed: Array<SyncSource> = []
  const importOnly: Array<ImportOnly> = []
  const problems: Array<Problem> = []
  yield* Effect.forEach(sources, Effect.fnUntraced(function*({ imports, staging, ...given }) {
    const { connector, id } = given
    const fetched = imports !== undefined && engine.imports?.sources.has(imports._tag) === true ? imports : undefined
    // Only objects can be asked for one by one, and have one address on both sides.
    if (fetched !== undefined && fetched._tag !== "storage") {
      return void importOnly.push({ id, source: fetched, why: "the service lists it by itself" })
    }
    const checked = yield* Effect.result(connector.check)
    if (checked._tag === "Failure" && fetched !== undefined && fetched.uris.every(isImportable)) {
      return void importOnly.push({ id, source: fetched, why: `it cannot be listed from here (${checked.failure.message})` })
    }
    if (checked._tag === "Failure" && !(checked.failure._tag === "ServiceError" && checked.failure.retryable)) {
      return void problems.push({ id, error: checked.failure })
    }
    listed.push({
      ...given,
      ...(fetched === undefined ? {} : { imports: fetched }),
      ...(staging === undefined || engine.imports === undefined ? {} : { staging })
    })
  }), { concurrency: 4, discard: true })
  const [first] = problems
  if (first !== undefined) return yield* problems.length === 1 ? first.error : allOf(problems)
  return { listed, importOnly }
})

interface Problem {
  readonly id: string
  readonly error: ServiceError | SecretError
}

const allOf = (problems: ReadonlyArray<Problem>): ServiceError => {
  const codes = new Set(problems.map(({ error }) => error._tag === "SecretError" ? "UNAUTHENTICATED" : error.code))
  const [code = "FAILED_PRECONDITION", ...others] = codes
  const inOrder = problems.toSorted((a, b) => a.id < b.id ? -1 : 1)
  return new ServiceError({
    code: others.length === 0 ? code : "FAILED_PRECONDITION",
    message: [
      `${problems.length} sources cannot be read:`,
      ...inOrder.map(({ error: { fix, message }, id }) => `  ${id}: ${message}${fix === undefined ? "" : ` (${fix})`}`)
    ].join("\n"),
    violations: inOrder.map(({ error, id }) => ({ field: `sources.${id}`, description: error.message }))
  })
}

/** Whether the engine fetches an item of this source, so that we do not read it. */
export const isHandedOver = (source: SyncSource | undefined, item: Pick<SourceItem, "uri">): boolean =>
  source?.imports !== undefined && isImportable(item.uri)

const isImportable = (uri: string): boolean => uri.startsWith("gs://")

export const importOnlyNote = ({ why }: ImportOnly): string =>
  `import-only: ${why}; what is gone at the source is not deleted from the corpus, and files imported again count as added`
