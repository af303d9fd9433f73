import type { Chunking } from "./Chunking.ts"
import type { CorpusName } from "./Corpus.ts"
import { ServiceError } from "./Errors.ts"
import type { Parsing } from "./Parsing.ts"
import type { SettingsOf } from "./sources/BuiltInSources.ts"

/** An import source, a one-of of the API. Times are as in RFC 3339. */
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

/** Outcome of one file of an import. */
export interface ImportedFile {
  /** Address it was imported from. */
  readonly uri: string
  readonly status: "imported" | "skipped" | "failed"
  /** Last segment of its name in the corpus. */
  readonly file?: string
  /** Why it failed; for an imported file, what could not be read of it, or was not read as requested. */
  readonly message?: string
}

/** Columns of a table of results, all of them strings. */
export const resultColumns = ["operation_id", "create_time", "file_name", "status", "file_id", "error"] as const

/** A request for an engine to import a source itself, at most one source per request. */
export interface ImportRequest {
  readonly corpus: CorpusName
  readonly source: ImportSource
  readonly chunking: Chunking
  readonly parsing?: Parsing
  /** Embedding requests per minute of this job. Default 1000. */
  readonly maxEmbeddingRequestsPerMinute?: number
  /** Embedding requests per minute of all jobs of the project. */
  readonly globalMaxEmbeddingRequestsPerMinute?: number
  /** Address to write the result of each file to: `gs://…` (NDJSON) or `bq://…`. */
  readonly resultSink?: string
  /** Address to write failures to; deprecated by the service in favour of `resultSink`. */
  readonly failureSink?: string
  /** Whether to rebuild the index of a corpus with `ann` search once the files are in; they are not found until an import does. */
  readonly rebuildAnnIndex?: boolean
  /** The operation named in result rows, where it is not the engine's own. */
  readonly recordedAs?: { readonly operation: string; readonly createTime: string }
}

/**
 * The error of a second import into a corpus, which accepts one at a time. The words are the service's, so that clients
 * find the ids of the running operations in errors of both ({@link runningImports}).
 */
export const otherImports = (corpus: string, operations: ReadonlyArray<string>): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `There are other operations running on the RagCorpus "${corpus}". Operation IDs are: [${operations.join(", ")}].`,
    fix: "wait until they are done, or cancel them"
  })

/** Ids of the running operations because of which an import was refused; undefined where it was refused for another reason. */
export const runningImports = ({ code, message }: ServiceError): ReadonlyArray<string> | undefined =>
  code === "FAILED_PRECONDITION" && /other operations? (?:is |are )?running/i.test(message)
    ? message.match(/Operation IDs? (?:are|is): *\[?([^\]]*)/i)?.[1]?.match(/[\w-]+/g) ?? []
    : undefined
