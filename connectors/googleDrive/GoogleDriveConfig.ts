import type { HttpClient } from "effect/http"
import type { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"

/** Files and folders of Google Drive, by id. At least one. */
export interface GoogleDriveConfig {
  /** Taken with everything in them. The id of a shared drive is the id of its top folder. */
  readonly folders: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  /** Bytes; larger files are skipped. What Docs come to is known only when they are read. */
  readonly maxFileSize?: number
  /** Default `https://www.googleapis.com`. */
  readonly endpoint?: string
}

/** What surrounds the connector. Everything has a default. */
export interface GoogleDriveContext {
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  /**
   * Its tokens need the scope `drive.readonly`, which those of Google Cloud do not have of themselves. Default:
   * Application Default Credentials with that scope.
   */
  readonly googleDrive?: GoogleAuth["Service"]
  readonly retry?: RetryOptions
  /** Milliseconds between two looks at an export that takes long. Default 2,000. */
  readonly pollMs?: number
}
