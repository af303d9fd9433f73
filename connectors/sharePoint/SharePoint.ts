import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { SharePointContext } from "./Open.ts"

/**
 * A document library of a SharePoint site. Paths are those of the library (`Policies/Leave.docx`) and, for the site's pages,
 * `pages:/Home.aspx`, a name that no file can have. Revisions are tags of items. A finished listing's cursor lists what changed since; where
 * that cannot be determined (a folder was renamed, the token expired), the cursor is refused with a violation of `cursor`, and a listing
 * without a cursor is needed.
 *
 * An item's readers are requested when it is listed or has changed. No feed of Microsoft Graph reports changes to the members of a whole
 * site or library: a listing from the start includes them.
 */
export const sharePoint = (settings: SettingsOf<"sharePoint">, context: SharePointContext): Connector =>
  lazyConnector({
    kind: "sharePoint",
    // A delta does not include items whose sharing alone changed.
    cursorMisses: ["permissions"]
  }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
