import { type Connector, type ConnectorContext, lazyConnector, type SettingsOf } from "../../src/ConnectorKit.ts"

/**
 * The pages of a web site, found by its sitemaps or by following links under an address, as robots.txt and the pages
 * themselves allow. A page is its main content as Markdown; documents that are linked (PDF, Word, text) are taken as they
 * are. The revision is the ETag, else the time of modification, else a hash of the content; from a complete listing's
 * cursor pages are asked for only if they changed.
 */
export const web = (settings: SettingsOf<"web">, context: Partial<ConnectorContext>): Connector =>
  lazyConnector({ kind: "web" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
