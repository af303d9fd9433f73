import { type Connector, type ConnectorContext, lazyConnector, type SettingsOf } from "../../src/ConnectorKit.ts"

/**
 * The files of a git repository at a ref. Paths are those of the repository; the revision of a file is the id of its blob, so a file is
 * read again only when its bytes change, whatever its history. A complete listing's cursor is a commit: the difference of two trees then
 * shows what was added, changed and deleted. The last state of a remote is fetched, without its history, into the data directory. Git LFS
 * pointers, submodules and links are skipped by name.
 */
export const git = (settings: SettingsOf<"git">, context: Partial<ConnectorContext>): Connector =>
  lazyConnector({ kind: "git" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
