import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { LedgerEntry } from "../../ports/Ledger.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { markerSource } from "./SyncSpec.ts"

/** Files under way at once in the store. */
const concurrency = 16

/** Characters of a name, its end rather than its beginning: object names have up to 1,024 bytes. */
const longestName = 128

/**
 * Where a file is staged: `{prefix}/{path hash}/{content hash}/{name}`. The name is what the service calls the file, and
 * tells it the format. The same content is the same object, so that
 * nothing is sent twice, and another content another one, so that an import sees that it has changed. The hash is of
 * the pipeline, its source and the place of its corpus too: no other pipeline waits for an object that this one removes.
 */
export const stagedUri = (
  prefix: string,
  { parent, pipeline }: { readonly pipeline: string; readonly parent: string },
  { fingerprint, path, source }: Pick<LedgerEntry, "fingerprint" | "path" | "source">,
  displayName: string
): string => {
  const owner = Fingerprint.pathHash([parent, markerSource(pipeline, source), path].join("\n"))
  const name = displayName.slice(displayName.lastIndexOf("/") + 1).replace(/[\r\n]/g, " ")
  return [prefix.replace(/\/+$/, ""), owner, Fingerprint.parse(fingerprint).content, Array.from(name).slice(-longestName).join("")].join("/")
}

/** Puts the content where the engine fetches it. */
export const stage = (
  objects: ObjectStore["Service"],
  uri: string,
  content: Uint8Array,
  contentType: string | undefined
): Effect.Effect<void, ServiceError> =>
  objects.put(uri, content, { when: "absent", contentType }).pipe(
    Effect.catchIf(({ code }) => code === "ALREADY_EXISTS", () => Effect.void),
    Effect.asVoid
  )

/**
 * Removes what the engine has fetched. That it cannot be removed costs nothing but its room: the first reason why is
 * answered, with how many are left.
 */
export const unstage = (
  objects: ObjectStore["Service"],
  uris: ReadonlyArray<string>
): Effect.Effect<{ readonly left: number; readonly why: string } | undefined> =>
  Effect.partition(uris, (uri) => objects.delete(uri), { concurrency }).pipe(
    Effect.map(([, [first, ...others]]) => first === undefined ? undefined : { left: others.length + 1, why: first.message })
  )
