import type { HttpClient } from "effect/http"
import type { SharePointLibrary } from "../../src/domain/Import.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"

/** A document library of a SharePoint site, or a folder of it, read as an app of its own (client credentials). */
export interface SharePointConfig extends SharePointLibrary {
  /** Bytes; larger files are skipped. */
  readonly maxFileSize?: number
  /** Microsoft Graph. Default `https://graph.microsoft.com/v1.0`; national clouds have their own. */
  readonly endpoint?: string
  /** Where tokens come from. Default `https://login.microsoftonline.com`. */
  readonly loginEndpoint?: string
}

/** What surrounds the connector. */
export interface SharePointContext {
  /** Resolves the client secret, when a token is first needed. */
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
  /** Default 6,000. SharePoint counts costs, not requests: this only evens out bursts, and throttling is obeyed. */
  readonly requestsPerMinute?: number
}
