import type { HttpClient } from "effect/http"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"

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

/**
 * A document library of a SharePoint site. Paths are those of the library (`Policies/Leave.docx`) and, for the site's
 * pages, `pages:/Home.aspx`, which no file can be called. Revisions are content tags. A finished listing's cursor
 * tells what changed since; where that cannot be told (a folder was renamed, the token ended) the cursor is refused
 * with a violation of `cursor`, and a listing without one is due.
 *
 * Who may read an item is asked when it is listed or has changed. Changes to a whole site's or library's members are
 * in no feed of Microsoft Graph: a listing from the start has them.
 */
export const sharePoint = (settings: SettingsOf<"sharePoint">, context: SharePointContext): Connector =>
  lazyConnector({
    kind: "sharePoint",
    // A delta does not name what was only shared anew.
    cursorMisses: ["permissions"]
  }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
