import { type Connector, type ConnectorContext, lazyConnector, type SettingsOf } from "../../src/ConnectorKit.ts"

/**
 * The files of a git repository at a ref. Paths are those of the repository; the revision of a file is the id of its
 * blob, so that a file is read again only when its bytes are others, whatever its history. A complete listing's cursor is
 * a commit: from there on the difference of two trees tells what came, changed and went. Of a remote the last state is
 * fetched, without its history, into the data directory. Pointers of Git LFS, submodules and links are skipped by name.
 */
export const git = (settings: SettingsOf<"git">, context: Partial<ConnectorContext>): Connector =>
  lazyConnector({ kind: "git" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
