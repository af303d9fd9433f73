import { Effect, Stream } from "effect"
import type { Connector } from "../../src/ports/Connector.ts"
import type { JiraConfig, JiraContext } from "./JiraConfig.ts"

/**
 * Jira issues: a Markdown document each (`OPS/OPS-12`), comments included, and the files attached
 * (`OPS/OPS-12/attachments/{id}-{name}`). The revision of an issue is its time of update and its count of comments.
 * Each page of a listing ends with a checkpoint. A complete listing's cursor lists what was updated since; deleted
 * issues, and those that a query has ceased to match, only a listing without cursor can tell.
 */
export const jira = (config: JiraConfig, context: JiraContext): Connector => {
  let opening: Promise<Omit<Connector, "kind">> | undefined
  // HTTP loads when it is needed, not when the command line starts.
  const opened = Effect.promise(() => opening ??= import("./Open.ts").then(({ open }) => open(config, context)))
  return {
    kind: "jira",
    // An issue's time of update says nothing of either.
    cursorMisses: ["deletions", "permissions"],
    check: Effect.flatMap(opened, ({ check }) => check),
    list: (cursor) => Stream.unwrap(Effect.map(opened, ({ list }) => list(cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(opened, ({ read }) => read(item, maxBytes)))
  }
}
