import { Effect } from "effect"
import { SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import type { ImportSource } from "../../domain/Import.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import { entriesOf, isOurs } from "./ServiceFiles.ts"
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
 * where we cannot, or are told not to. What is wrong with the others is told together and ends the run, but for what
 * may be over when they are listed: a source that is away for now does not keep the rest.
 *
 * Objects in storage are then handed over one by one, by the address that both sides know them by. What our connectors
 * list of Drive, Slack, Jira and SharePoint we read and upload ourselves, or stage: the service reads those with
 * another account or renders them otherwise, so that it need not see what was listed; its files bear no mark and
 * cannot be renamed; and what is searched is the same text on every engine.
 *
 * A source that we filled before is not given away because a token has ended: the service would import all of it anew,
 * and the next token would bring it back.
 */
export const checkSources = Effect.fn("sync.checkSources")(function*(
  scope: string,
  { sources }: Pick<SyncSpec, "sources">,
  engine: Pick<Engine["Service"], "imports">
): Effect.fn.Return<Sources, ServiceError | SecretError | StateError, Ledger> {
  const listed: Array<SyncSource> = []
  const importOnly: Array<ImportOnly> = []
  const problems: Array<Problem> = []
  yield* Effect.forEach(sources, Effect.fnUntraced(function*({ imports, listing, staging, ...given }) {
    const { connector, id } = given
    if (given.rests === true) return void listed.push({ ...given, ...(staging === undefined || engine.imports === undefined ? {} : { staging }) })
    const fetched = imports !== undefined && engine.imports?.sources.has(imports._tag) === true ? imports : undefined
    if (fetched !== undefined && listing === "service") {
      return void importOnly.push({ id, source: fetched, why: leftOnPurpose })
    }
    const checked = yield* Effect.result(connector.check)
    if (checked._tag === "Failure" && fetched !== undefined && canBeLeft(fetched, listing, checked.failure)) {
      const kept = fetched._tag === "storage" ? undefined : (yield* entriesOf(scope, [id], isOurs)).get(id)
      if (kept === undefined) return void importOnly.push({ id, source: fetched, why: whyLeft(checked.failure) })
    }
    if (checked._tag === "Failure" && !(checked.failure._tag === "ServiceError" && checked.failure.retryable)) {
      return void problems.push({ id, error: checked.failure })
    }
    listed.push({
      ...given,
      ...(fetched?._tag === "storage" ? { imports: fetched } : {}),
      ...(staging === undefined || engine.imports === undefined ? {} : { staging })
    })
  }), { concurrency: 4, discard: true })
  const [first] = problems
  if (first !== undefined) return yield* problems.length === 1 ? named(first) : allOf(problems)
  return { listed, importOnly }
})

/**
 * A source that we may list by now, and that an earlier run began to have imported: that import is followed to its end,
 * so that what it brings is known, and the next run lists.
 *
 * @param begun sources whose imports were not seen to end
 */
export const followFirst = ({ importOnly, listed }: Sources, begun: ReadonlyMap<string, string>, { sources }: Pick<SyncSpec, "sources">): Sources => {
  const followed = sources.flatMap(({ id, imports }) =>
    imports !== undefined && begun.has(id) && listed.some((other) => other.id === id)
      ? [{ id, source: imports, why: "an import that an earlier run began is followed first" }]
      : [])
  return {
    listed: listed.filter(({ id }) => !followed.some((other) => other.id === id)),
    importOnly: [...importOnly, ...followed]
  }
}

/**
 * Whether the engine may list a source in our place. Not because of what waiting or a correction of the pipeline mends.
 */
export const canBeLeft = (source: ImportSource, listing: SyncSource["listing"], error: ServiceError | SecretError): boolean =>
  listing === undefined && (source._tag === "storage"
    ? source.uris.every(isImportable)
    : error._tag === "SecretError" || !(error.retryable || error.code === "INVALID_ARGUMENT"))

export const leftOnPurpose = "the pipeline has the service list it"

/** Of a secret, the message tells where it was looked for, and so how to mend it. */
export const whyLeft = (error: ServiceError | SecretError): string => {
  const fix = error._tag === "SecretError" ? undefined : error.fix?.replace(/\.$/, "")
  return `it cannot be listed from here (${error.message}${fix === undefined ? "" : `; ${fix}`})`
}

interface Problem {
  readonly id: string
  readonly error: ServiceError | SecretError
}

const named = ({ error, id }: Problem): ServiceError | SecretError =>
  error._tag === "ServiceError"
    ? error.with({ message: `sources.${id}: ${error.message}` })
    : new SecretError({ ...error, message: `sources.${id}: ${error.message}` })

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
  `import-only: ${why}; what is gone at the source is not deleted from the corpus`
