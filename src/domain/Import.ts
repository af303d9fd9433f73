import type { Chunking } from "./Chunking.ts"
import type { CorpusName } from "./Corpus.ts"
import type { Parsing } from "./RagFile.ts"
import type { SecretVersion } from "./Secret.ts"

/** One import source, the API's one-of (platform-api section 2.8). Times are RFC 3339. */
export type ImportSource =
  | { readonly _tag: "storage"; readonly uris: ReadonlyArray<string> }
  | {
    readonly _tag: "googleDrive"
    readonly resources: ReadonlyArray<{ readonly kind: "file" | "folder"; readonly id: string }>
  }
  | {
    readonly _tag: "slack"
    readonly channels: ReadonlyArray<{ readonly id: string; readonly start?: string; readonly end?: string }>
    readonly token: SecretVersion
  }
  | {
    readonly _tag: "jira"
    readonly server: string
    readonly email: string
    readonly projects: ReadonlyArray<string>
    readonly queries: ReadonlyArray<string>
    readonly token: SecretVersion
  }
  | {
    readonly _tag: "sharePoint"
    readonly site: string
    readonly drive: { readonly name: string } | { readonly id: string }
    readonly folder?: { readonly path: string } | { readonly id: string }
    readonly clientId: string
    readonly tenantId: string
    readonly clientSecret: SecretVersion
  }

/** What an engine is asked to import by itself, at most one source per request. */
export interface ImportRequest {
  readonly corpus: CorpusName
  readonly source: ImportSource
  readonly chunking: Chunking
  readonly parsing?: Parsing
  /** Per job; default 1000. */
  readonly maxEmbeddingRequestsPerMinute?: number
  /** Where the per-file result is written: `gs://…` (NDJSON) or `bq://…`. */
  readonly resultSink?: string
}
