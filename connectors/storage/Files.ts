import { Clock, Effect } from "effect"
import { statSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { readFile } from "../local/Open.ts"
import { asServiceError, revisionOf, walk } from "../local/Walk.ts"
import { type Address, fileText } from "./Address.ts"
import type { Backend, Page } from "./Listing.ts"

/** Milliseconds during which a new file may change again within the clock's resolution. */
const unsettledMs = 2_000

/** Files on this machine, read like those of the `local` source, by address. Folders are taken whole. */
export const fileBackend = (maxFileSize: number | undefined, dataDir: string | undefined): Backend => {
  const under = Effect.fnUntraced(function*(address: Address): Effect.fn.Return<Page, ServiceError> {
    const path = pathOf(address)
    const config = {
      path,
      include: [],
      exclude: [],
      hidden: true,
      followLinks: false,
      ...(maxFileSize === undefined ? {} : { maxFileSize })
    }
    const now = yield* Clock.currentTimeMillis
    const folders = walk(config, { now, dataDir })
    const next: Effect.Effect<Page, ServiceError> = Effect.try({
      try: () => folders.next(),
      catch: (cause) => asServiceError(cause, address.text)
    }).pipe(Effect.map((folder): Page => folder.done === true ? { events: [] } : { events: folder.value.map(placed(path)), next }))
    return yield* next
  })

  return {
    check: (address) => Effect.asVoid(statOf(pathOf(address))),
    one: Effect.fnUntraced(function*(address) {
      const path = pathOf(address)
      const stats = yield* statOf(path)
      if (stats.isDirectory()) return undefined
      const text = fileText(path)
      if (!stats.isFile()) return { _tag: "skipped", path: text, reason: "special", detail: "neither a file nor a folder" }
      const size = Number(stats.size)
      if (maxFileSize !== undefined && size > maxFileSize) {
        return { _tag: "skipped", path: text, reason: "limit", detail: `${size} bytes; maxFileSize is ${maxFileSize}` }
      }
      const changed = Number(stats.mtimeMs > stats.ctimeMs ? stats.mtimeMs : stats.ctimeMs)
      const young = (yield* Clock.currentTimeMillis) - changed < unsettledMs
      return {
        _tag: "item",
        item: {
          path: text,
          uri: pathToFileURL(path).href,
          displayName: basename(path).normalize("NFC"),
          revision: revisionOf(stats),
          size,
          metadata: { modifiedTime: new Date(Number(stats.mtimeMs)).toISOString() },
          ...(young ? { unsettled: true } : {})
        }
      }
    }),
    page: under,
    // Files are read by the item's own address.
    read: (item, maxBytes) => readFile(item, maxBytes, false)
  }
}

const statOf = (path: string) => Effect.try({ try: () => statSync(path, { bigint: true }), catch: (cause) => asServiceError(cause, path) })

const pathOf = (address: Address): string => address.scheme === "file" ? address.path : ""

/** A path below a folder, as an address. */
const placed = (folder: string) => {
  const base = fileText(join(folder, "/"))
  return (event: Listed): Listed =>
    event._tag === "item"
      ? { ...event, item: { ...event.item, path: base + event.item.path } }
      : "path" in event
      ? { ...event, path: base + event.path }
      : event
}
