import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { LedgerEntry } from "../../ports/Ledger.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import * as Fingerprint from "./Fingerprint.ts"

/**
 * Where a file is staged: `{prefix}/{path hash}/{content hash}/{name}`. The same content is the same object, so that
 * nothing is sent twice, and another content another one, so that an import sees that it has changed.
 */
export const stagedUri = (prefix: string, { fingerprint, path }: Pick<LedgerEntry, "fingerprint" | "path">): string =>
  [prefix.replace(/\/+$/, ""), Fingerprint.pathHash(path), Fingerprint.parse(fingerprint).content, path.slice(path.lastIndexOf("/") + 1)].join("/")

/** Puts the content where the engine fetches it. */
export const stage = (
  objects: ObjectStore["Service"],
  uri: string,
  content: Uint8Array,
  contentType: string | undefined
): Effect.Effect<void, ServiceError> =>
  objects.put(uri, content, { when: "absent", ...(contentType === undefined ? {} : { contentType }) }).pipe(
    Effect.catchIf(({ code }) => code === "ALREADY_EXISTS", () => Effect.void),
    Effect.asVoid
  )
