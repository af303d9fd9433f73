import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join, resolve, sep } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect, Stream } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { ImportRequest } from "../domain/Import.ts"
import type { Connector, Listed, SourceItem } from "../ports/Connector.ts"

/** Makes the connector of storage addresses: `storage` of `sluice/connectors`. */
export type StorageFactory = (
  config: { readonly uris: ReadonlyArray<string> },
  context: { readonly untrusted?: boolean; readonly dataDir?: string }
) => Connector

export interface BucketOptions {
  readonly storage: StorageFactory
  /** Folders that stand for buckets: `gs://{name}/…` is read there. */
  readonly buckets: ReadonlyMap<string, string>
  /** Whether other addresses are fetched at all: Cloud Storage, S3 and the public web. */
  readonly remote: boolean
  readonly dataDir: string
}

/**
 * The storage that imports asked for over HTTP may read, and where they may write their results. Addresses come from
 * whoever can call the server: files are only read through a bucket that is mapped to their folder, and nothing else
 * is fetched unless it was allowed, then from public addresses only.
 */
export const buckets = ({ buckets, dataDir, remote, storage }: BucketOptions) => {
  const bucketOf = (uri: string): string => /^gs:\/\/([^/]+)/.exec(uri)?.[1] ?? ""

  /** Where a mapped bucket's address leads on this machine; undefined for any other address. */
  const pathOf = (uri: string): string | undefined => {
    const folder = buckets.get(bucketOf(uri))
    if (folder === undefined) return undefined
    const root = resolve(folder)
    const key = uri.replace(/^gs:\/\/[^/]+\/?/, "")
    const path = resolve(root, ...key.split("/").filter((part) => part !== ""))
    // `..` in a key is a name in a bucket, and a way out of a folder.
    if (path !== root && !path.startsWith(root + sep)) return undefined
    return key === "" || key.endsWith("/") ? path + sep : path
  }

  const refused = (field: string, uri: string): ServiceError | undefined => {
    if (pathOf(uri) !== undefined) return undefined
    if (buckets.has(bucketOf(uri))) return ServiceError.invalid(field, `${uri} leads out of its bucket`)
    if (remote && /^(?:gs|s3|https):\/\/[^/]/.test(uri)) return undefined
    return new ServiceError({
      code: "PERMISSION_DENIED",
      message: `${field}: this server does not read ${/^[a-z0-9]+:\/\/[^/?#]*/i.exec(uri)?.[0] ?? "that address"}`,
      violations: [{ field, description: "is not an address this server reads" }],
      fix: "start it with --bucket NAME=FOLDER for a bucket that is a folder, or --allow-remote for real storage"
    })
  }

  const refuse = ({ resultSink, source }: ImportRequest): ServiceError | undefined => {
    if (source._tag !== "storage") {
      return new ServiceError({ code: "UNIMPLEMENTED", message: `importing from ${sourceFields[source._tag]} is not available on this server` })
    }
    for (const uri of source.uris) {
      const error = refused("import_rag_files_config.gcs_source.uris", uri)
      if (error !== undefined) return error
    }
    return resultSink === undefined || pathOf(resultSink) !== undefined ? undefined : new ServiceError({
      code: "UNIMPLEMENTED",
      message: "import_result_gcs_sink: this server writes results only into buckets that are folders",
      fix: "start it with --bucket NAME=FOLDER"
    })
  }

  const connect = (request: ImportRequest): Effect.Effect<Connector, ServiceError> =>
    Effect.suspend(() => {
      const error = refuse(request)
      if (error !== undefined) return error
      const uris = request.source._tag === "storage" ? request.source.uris : []
      const elsewhere = uris.filter((uri) => pathOf(uri) === undefined)
      return Effect.succeed(together([
        ...uris.flatMap((uri) => {
          const path = pathOf(uri)
          return path === undefined ? [] : [inFolder(bucketOf(uri), path)]
        }),
        ...(elsewhere.length === 0 ? [] : [storage({ uris: elsewhere }, { untrusted: true })])
      ]))
    })

  /** Files of a mapped folder, under the names of its bucket. */
  const inFolder = (bucket: string, path: string): Connector => {
    const root = decodeURI(pathToFileURL(resolve(buckets.get(bucket) ?? "")).href).normalize("NFC")
    const named = (file: string): string => `gs://${bucket}${file.slice(root.length)}`
    const connector = storage({ uris: [pathToFileURL(path).href] }, { dataDir })
    const files = new Map<string, SourceItem>()
    return {
      ...connector,
      list: () =>
        connector.list().pipe(Stream.map((listed): Listed => {
          if (listed._tag !== "item") return "path" in listed ? { ...listed, path: named(listed.path) } : listed
          const uri = named(listed.item.path)
          files.set(uri, listed.item)
          return { ...listed, item: { ...listed.item, path: uri, uri } }
        })),
      read: (item, maxBytes) => {
        const file = files.get(item.uri)
        return file === undefined ? Stream.fail(ServiceError.notFound(item.uri)) : connector.read(file, maxBytes)
      }
    }
  }

  const write = (uri: string, content: Uint8Array): Effect.Effect<void, ServiceError> =>
    Effect.tryPromise({
      try: async () => {
        const path = pathOf(uri) ?? ""
        const file = path.endsWith(sep) ? join(path, "import_results.ndjson") : path
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, content, { flag: "wx" })
      },
      catch: (cause) => new ServiceError({ code: "ALREADY_EXISTS", message: `the result could not be written to ${uri}`, cause })
    })

  return { refuse, connect, write }
}

const sourceFields = {
  googleDrive: "google_drive_source",
  slack: "slack_source",
  jira: "jira_source",
  sharePoint: "share_point_sources"
} as const

/** Several connectors as one: complete when all are. */
const together = (connectors: ReadonlyArray<Connector>): Connector => {
  const owners = new Map<string, Connector>()
  return {
    kind: "storage",
    check: Effect.forEach(connectors, ({ check }) => check, { discard: true }),
    list: () =>
      Stream.fromIterable(connectors).pipe(Stream.flatMap((connector) =>
        connector.list().pipe(
          Stream.tap((listed) => Effect.sync(() => void (listed._tag === "item" && owners.set(listed.item.uri, connector))))
        )
      )),
    read: (item, maxBytes) =>
      owners.get(item.uri)?.read(item, maxBytes) ?? Stream.fail(ServiceError.notFound(item.uri))
  }
}
