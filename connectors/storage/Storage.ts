import type { HttpClient } from "effect/http"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector } from "../../src/ports/Connector.ts"

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

/**
 * Objects in Cloud Storage and S3, pages by `https://`, files. Paths are addresses (`gs://acme/hr/leave.md`), so they
 * are the same whatever else is listed, and nothing is listed twice where addresses overlap. Revisions are
 * generations and etags. Failures cost their address or object; without any, the listing is complete. Each page of a
 * listing ends with a checkpoint from which it can be gone on with.
 */
export const storage = (settings: SettingsOf<"storage">, context: StorageContext = {}): Connector =>
  lazyConnector({ kind: "storage" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
