import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { StorageContext } from "./Open.ts"

/**
 * Objects in Cloud Storage and S3, pages by `https://`, and files. Paths are addresses (`gs://acme/hr/leave.md`), so they do not depend on
 * what else is listed, and nothing is listed twice where addresses overlap. Revisions are generations and etags. A failure affects only its
 * address or object; without any, the listing is complete. Each page of a listing ends with a checkpoint from which it can be resumed.
 */
export const storage = (settings: SettingsOf<"storage">, context: StorageContext = {}): Connector =>
  lazyConnector({ kind: "storage" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
