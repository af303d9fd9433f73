import type { HttpClient } from "effect/http"
import type { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"

/** Objects in storage, pages by address, files. */
export interface StorageConfig {
  /**
   * `gs://bucket/…`, `s3://bucket/…`, `https://…`, `file:///…`. One object, or with `/` or `*` at the end everything
   * that begins so; an object store's address that names no object is taken as a folder.
   */
  readonly uris: ReadonlyArray<string>
  /** Bytes; larger ones are skipped. */
  readonly maxFileSize?: number
  /** Google Cloud project that pays for reading requester-pays buckets. */
  readonly userProject?: string
  readonly s3?: S3Config
}

export interface S3Config {
  /** Default `AWS_REGION`, `AWS_DEFAULT_REGION`, else `us-east-1`; a bucket that lives elsewhere is followed. */
  readonly region?: string
  /**
   * Of a service that speaks S3, addressed by path. Default `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, else Amazon's.
   */
  readonly endpoint?: string
  /** Send no signature, for public buckets. Default false: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` sign. */
  readonly unsigned?: boolean
  /** Pay for reading requester-pays buckets. Default false. */
  readonly requesterPays?: boolean
}

/** What surrounds the connector. Everything has a default. */
export interface StorageContext {
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  /**
   * The addresses come from someone who must not reach what we can reach: `file://` is refused, and `https://` goes
   * to public addresses only, after redirects too. Default false.
   */
  readonly untrusted?: boolean
  /** Fetches `https://` for `untrusted`. Default: a client of `layer({ publicOnly: {} })`. */
  readonly publicHttp?: HttpClient.HttpClient
  /** Default: Application Default Credentials; none when `STORAGE_EMULATOR_HOST` is set. */
  readonly google?: GoogleAuth["Service"]
  /** Default: the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly retry?: RetryOptions
  /** Never listed as documents. */
  readonly dataDir?: string
}
