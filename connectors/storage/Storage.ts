import { Effect, Stream } from "effect"
import type { Connector } from "../../src/ports/Connector.ts"
import type { StorageConfig, StorageContext } from "./StorageConfig.ts"

/**
 * Objects in Cloud Storage and S3, pages by `https://`, files. Paths are addresses (`gs://acme/hr/leave.md`), so they
 * are the same whatever else is listed, and nothing is listed twice where addresses overlap. Revisions are
 * generations and etags. Failures cost their address or object; without any, the listing is complete. Each page of a
 * listing ends with a checkpoint from which it can be gone on with.
 */
export const storage = (config: StorageConfig, context: StorageContext = {}): Connector => {
  let opening: Promise<Omit<Connector, "kind">> | undefined
  // HTTP and signing load when they are needed, not when the command line starts.
  const opened = Effect.promise(() => opening ??= import("./Open.ts").then(({ open }) => open(config, context)))
  return {
    kind: "storage",
    check: Effect.flatMap(opened, ({ check }) => check),
    list: (cursor) => Stream.unwrap(Effect.map(opened, ({ list }) => list(cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(opened, ({ read }) => read(item, maxBytes)))
  }
}
