import { Effect, Stream } from "effect"
import type { Connector } from "../../src/ports/Connector.ts"
import type { SlackConfig, SlackContext } from "./SlackConfig.ts"

/**
 * Slack channels: a document per thread (`C1/threads/{ts}`), one per channel and UTC day of the other messages
 * (`C1/2026-10-12`), and the files attached (`C1/files/{id}-{name}`). Slack has no feed of changes, so a listing
 * always reads the whole range, newest first, threads included: revisions are digests of what was said, and see
 * every edit and deletion. Each page ends with a checkpoint at a day's border. A channel's failure is its own.
 *
 * What public channels hold is public; what private ones hold is for their members.
 */
export const slack = (config: SlackConfig, context: SlackContext): Connector => {
  let opening: Promise<Omit<Connector, "kind">> | undefined
  // HTTP loads when it is needed, not when the command line starts.
  const opened = Effect.promise(() => opening ??= import("./Open.ts").then(({ open }) => open(config, context)))
  return {
    kind: "slack",
    check: Effect.flatMap(opened, ({ check }) => check),
    list: (cursor) => Stream.unwrap(Effect.map(opened, ({ list }) => list(cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(opened, ({ read }) => read(item, maxBytes)))
  }
}
