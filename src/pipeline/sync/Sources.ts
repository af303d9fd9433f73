import { Effect } from "effect"
import { type SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import type { ImportSource } from "../../domain/Import.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import { Engine } from "../../ports/Engine.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import { cannotDescribe } from "./Describing.ts"
import { type SourceFailure, sourcesUnreadable } from "./Failures.ts"
import { guarded } from "./Guarded.ts"
import { entriesOf, isOurs } from "./ServiceFiles.ts"
import type { Session, SyncSource, SyncSpec } from "./Session.ts"

/** A source that only the engine lists: only the engine's counts are known of its files. */
export interface ImportOnly {
  readonly id: string
  readonly source: ImportSource
  readonly why: string
}

export interface Sources {
  /** Sources that connectors list from here. */
  readonly listed: ReadonlyArray<SyncSource>
  readonly importOnly: ReadonlyArray<ImportOnly>
}

/**
 * Checks every source before any work, and decides which side lists it. A source that the engine can fetch itself is left
 * to it where it cannot be listed from here, or the pipeline says so. Errors of the others are reported together and end
 * the run, except transient ones: an unavailable source does not hold up the rest.
 *
 * Objects in storage are imported one by one, by the address that both sides know. Files that connectors list of Drive,
 * Slack, Jira and SharePoint are read and uploaded from here, or staged: the service reads those with another account or
 * renders them differently, so it may not see what was listed; its files have no marker and cannot be renamed; and this
 * way the same text is searched on every engine.
 *
 * A source filled from here before is not handed over because a token has expired: the service would import all of it
 * again, and the next token would reverse that.
 */
export const checkSources = Effect.fn("sync.checkSources")(function*(
  scope: string,
  { metadata, parsers = [], sources }: Pick<SyncSpec, "metadata" | "parsers" | "sources">
): Effect.fn.Return<Sources, ServiceError | SecretError | StateError, Engine | Ledger> {
  const engine = yield* Engine
  const listed: Array<SyncSource> = []
  const importOnly: Array<ImportOnly> = []
  const failures: Array<SourceFailure> = []
  yield* Effect.forEach(
    sources,
    Effect.fnUntraced(function*(given) {
      const source = { ...given, connector: guarded(given.connector) }
      const { connector, id, listing, rests } = source
      const staging = engine.imports === undefined ? undefined : source.staging
      const fetched = source.imports !== undefined && engine.imports?.sources.has(source.imports._tag) === true ? source.imports : undefined
      if (rests === true) return void listed.push({ ...source, staging, imports: undefined })
      if (fetched !== undefined && listing === "service") return void importOnly.push({ id, source: fetched, why: leftOnPurpose })
      const error = yield* Effect.match(connector.check, { onFailure: (error) => error, onSuccess: () => undefined })
      if (error !== undefined && fetched !== undefined && canBeLeft(fetched, listing, error)) {
        const isFilled = fetched._tag !== "storage" && (yield* entriesOf(scope, [id], isOurs)).has(id)
        if (!isFilled) return void importOnly.push({ id, source: fetched, why: whyLeft(error) })
      }
      if (error !== undefined && (error._tag === "SecretError" || !error.retryable)) return void failures.push({ id, error })
      listed.push({ ...source, staging, imports: fetched?._tag === "storage" ? fetched : undefined })
    }),
    { concurrency: 4, discard: true }
  )
  const refused = [
    ...listed.filter(({ imports, staging }) => staging !== undefined || (imports?._tag === "storage" && imports.uris.some(isImportable)))
      .map(({ id }) => ({ id, listed: true })),
    ...importOnly.map(({ id }) => ({ id, listed: false }))
  ]
  for (const source of refused) {
    const error = cannotDescribe({ metadata }, source.listed)
    if (error !== undefined) failures.push({ id: source.id, error })
  }
  if (parsers.length > 0) failures.push(...importOnly.map(({ id, why }) => ({ id, error: cannotParse(why) })))
  const [first, ...others] = failures
  if (first !== undefined) return yield* sourcesUnreadable([first, ...others])
  return { listed, importOnly }
})

/** Error: custom parsers cannot be applied to a source. */
const cannotParse = (why: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `the service lists and fetches its files by itself (${why}), so that the parsers of the pipeline see none of them`,
    fix: "give this machine the credentials to list it, and leave `listing: service` out; or leave the source or parsers out"
  })

/**
 * Keeps sources with the engine for this run where an import by an earlier run is still running, although they can be
 * listed from here by now: that import is followed to its end, so that its files are known, and the next run lists.
 *
 * @param running operations of running imports, by source
 */
export const followRunning = (
  { importOnly, listed }: Sources,
  running: ReadonlyMap<string, string>,
  { sources }: Pick<SyncSpec, "sources">
): Sources => {
  const followed = sources.flatMap(({ id, imports }) =>
    imports !== undefined && running.has(id) && listed.some((other) => other.id === id)
      ? [{ id, source: imports, why: "an import that an earlier run began is followed first" }]
      : []
  )
  return {
    listed: listed.filter(({ id }) => !followed.some((other) => other.id === id)),
    importOnly: [...importOnly, ...followed]
  }
}

/** Whether the engine may list a source instead. Not where waiting, or a correction of the pipeline, solves the problem. */
export const canBeLeft = (source: ImportSource, listing: SyncSource["listing"], error: ServiceError | SecretError): boolean =>
  listing === undefined && (source._tag === "storage"
    ? source.uris.every(isImportable)
    : error._tag === "SecretError" || !(error.retryable || error.code === "INVALID_ARGUMENT"))

export const leftOnPurpose = "the pipeline has the service list it"

/** The message of a missing secret names the places searched, and so says how to fix it. */
export const whyLeft = (error: ServiceError | SecretError): string => {
  const fix = error._tag === "SecretError" ? undefined : error.fix?.replace(/\.$/, "")
  return `it cannot be listed from here (${error.message}${fix === undefined ? "" : `; ${fix}`})`
}

/**
 * Whether the engine fetches an item of this source, so that it is not read here. The engine does not fetch files that a
 * custom parser reads.
 */
export const isHandedOver = (
  source: SyncSource | undefined,
  item: SourceItem,
  { parserOf }: Pick<Session["Service"], "parserOf">
): boolean => source?.imports !== undefined && isImportable(item.uri) && parserOf(item) === undefined

const isImportable = (uri: string): boolean => uri.startsWith("gs://")

export const importOnlyNote = ({ why }: ImportOnly): string =>
  `import-only: ${why}; what is gone at the source is not deleted from the corpus`
