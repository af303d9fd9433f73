import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { SharePointContext } from "./Open.ts"

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
