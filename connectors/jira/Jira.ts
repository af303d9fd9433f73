import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { JiraContext } from "./Open.ts"

/**
 * Jira issues: a Markdown document each (`OPS/OPS-12`), comments included, and the files attached
 * (`OPS/OPS-12/attachments/{id}-{name}`). The revision of an issue is its time of update and its count of comments.
 * Each page of a listing ends with a checkpoint. A complete listing's cursor lists what was updated since; deleted
 * issues, and those that a query has ceased to match, only a listing without cursor can tell.
 */
export const jira = (settings: SettingsOf<"jira">, context: JiraContext): Connector =>
  lazyConnector({
    kind: "jira",
    // An issue's time of update says nothing of either.
    cursorMisses: ["deletions", "permissions"]
  }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
