import { type Connector, type ConnectorContext, lazyConnector, type SettingsOf } from "../../src/ConnectorKit.ts"

/**
 * The pages of a web site, found through its sitemaps or by following links under an address, as robots.txt and the pages themselves allow.
 * A page is its main content as Markdown; linked documents (PDF, Word, text) are taken as they are. The revision is the ETag, otherwise the
 * modification time, otherwise a hash of the content. From a complete listing's cursor, pages are downloaded only if they changed.
 */
export const web = (settings: SettingsOf<"web">, context: Partial<ConnectorContext>): Connector =>
  lazyConnector({ kind: "web" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
