import type { Chunking } from "./Chunking.ts"
import type { CorpusName } from "./Corpus.ts"
import { ServiceError } from "./Errors.ts"
import type { Parsing } from "./Parsing.ts"
import type { SettingsOf } from "./sources/BuiltInSources.ts"

/** One import source, the API's one-of. Times are RFC 3339. */
export type ImportSource =
  | { readonly _tag: "storage"; readonly uris: ReadonlyArray<string> }
  | {
    readonly _tag: "googleDrive"
    readonly resources: ReadonlyArray<{ readonly kind: "file" | "folder"; readonly id: string }>
  }
  | { readonly _tag: "slack"; readonly workspaces: ReadonlyArray<SlackWorkspace> }
  | { readonly _tag: "jira"; readonly accounts: ReadonlyArray<JiraAccount> }
  | { readonly _tag: "sharePoint"; readonly libraries: ReadonlyArray<SharePointLibrary> }

/** Channels that one token reads. */
export interface SlackWorkspace extends Pick<SettingsOf<"slack">, "channels" | "token"> {}

/** Issues that one account of one server reads. */
export interface JiraAccount extends Pick<SettingsOf<"jira">, "server" | "email" | "projects" | "queries" | "token"> {}

/** A document library, or a folder of it. */
export interface SharePointLibrary
  extends Pick<SettingsOf<"sharePoint">, "site" | "drive" | "folder" | "clientId" | "tenantId" | "clientSecret">
{}

/** What became of one file of an import. */
export interface ImportedFile {
  /** Where it was imported from. */
  readonly uri: string
  readonly status: "imported" | "skipped" | "failed"
  /** Last segment of its name in the corpus. */
  readonly file?: string
  /** Why it failed; of an imported one, what of it could not be read, or not as it was asked to. */
  readonly message?: string
}

/** The columns of a table of results, all of them strings. */
export const resultColumns = ["operation_id", "create_time", "file_name", "status", "file_id", "error"] as const

/** What an engine is asked to import by itself, at most one source per request. */
export interface ImportRequest {
  readonly corpus: CorpusName
  readonly source: ImportSource
  readonly chunking: Chunking
  readonly parsing?: Parsing
  /** Per job; default 1000. */
  readonly maxEmbeddingRequestsPerMinute?: number
  /** Of all jobs of the project together. */
  readonly globalMaxEmbeddingRequestsPerMinute?: number
  /** Where the per-file result is written: `gs://…` (NDJSON) or `bq://…`. */
  readonly resultSink?: string
  /** The same for failures only; deprecated by the service in favour of `resultSink`. */
  readonly failureSink?: string
  /** Builds the index of a corpus with `ann` search anew once the files are in; without it they are not found until one does. */
  readonly rebuildAnnIndex?: boolean
  /** The operation that result rows name, where it is not the engine's own. */
  readonly recordedAs?: { readonly operation: string; readonly createTime: string }
}

/**
 * A corpus takes one import at a time. The words are the service's, so that a client reads the ids of the operations
 * that run from either ({@link runningImports}).
 */
export const otherImports = (corpus: string, operations: ReadonlyArray<string>): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `There are other operations running on the RagCorpus "${corpus}". Operation IDs are: [${operations.join(", ")}].`,
    fix: "wait until they are done, or cancel them"
  })

/** Ids of the operations for which an import was refused; undefined where it was refused for something else. */
export const runningImports = ({ code, message }: ServiceError): ReadonlyArray<string> | undefined =>
  code === "FAILED_PRECONDITION" && /other operations? (?:is |are )?running/i.test(message)
    ? message.match(/Operation IDs? (?:are|is): *\[?([^\]]*)/i)?.[1]?.match(/[\w-]+/g) ?? []
    : undefined
