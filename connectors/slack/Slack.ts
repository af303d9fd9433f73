import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { SlackContext } from "./Open.ts"

/**
 * Slack channels: a document per thread (`C1/threads/{ts}`), one per channel and UTC day of the other messages
 * (`C1/2026-10-12`), and the files attached (`C1/files/{id}-{name}`). Slack has no feed of changes, so a listing
 * always reads the whole range, newest first, threads included: revisions are digests of what was said, and see
 * every edit and deletion. Each page ends with a checkpoint at a day's border. A channel's failure is its own.
 *
 * What public channels hold is public; what private ones hold is for their members.
 */
export const slack = (settings: SettingsOf<"slack">, context: SlackContext): Connector =>
  lazyConnector({ kind: "slack" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
