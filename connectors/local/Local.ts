import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"

/**
 * A local folder. Paths are relative, `/`-separated and NFC; the revision is size, modification time and change time. Listings have no
 * cursor: walking is cheap, and either complete or an error.
 */
export const local = (settings: SettingsOf<"local">, context: { readonly dataDir?: string } = {}): Connector =>
  lazyConnector({ kind: "local", hints: true, settles: true }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
