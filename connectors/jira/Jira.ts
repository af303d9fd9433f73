import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { JiraContext } from "./Open.ts"

/**
 * Jira issues: a Markdown document for each (`OPS/OPS-12`), with the fields that administrators added and the comments, except those for a
 * group or role only, and the attached files (`OPS/OPS-12/attachments/{id}-{name}`). The revision of an issue is its time of update and its
 * number of comments. Each page of a listing ends with a checkpoint. A complete listing's cursor lists what was updated since; only a
 * listing without a cursor detects deleted issues, and those that a query no longer matches.
 */
export const jira = (settings: SettingsOf<"jira">, context: JiraContext): Connector =>
  lazyConnector({
    kind: "jira",
    // An issue's time of update reflects neither.
    cursorMisses: ["deletions", "permissions"]
  }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
