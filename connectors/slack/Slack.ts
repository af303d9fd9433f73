import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { SlackContext } from "./Open.ts"

/**
 * Slack channels: a document for each thread (`C1/threads/{ts}`), one for each channel and UTC day with the other messages
 * (`C1/2026-10-12`), and the attached files (`C1/files/{id}-{name}`). Slack has no feed of changes, so a listing always reads the whole
 * range, newest first, threads included: revisions are digests of the messages, and change with every edit and deletion. Each page ends
 * with a checkpoint at the end of a day. A channel's failure affects only that channel.
 *
 * The content of public channels is public; that of private channels is for their members.
 */
export const slack = (settings: SettingsOf<"slack">, context: SlackContext): Connector =>
  lazyConnector({ kind: "slack" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
