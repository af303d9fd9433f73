import { existsSync } from "node:fs"
import { sep } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect, Stream } from "effect"
import { renamed } from "../domain/ChatRefusal.ts"
import { parseTable } from "../domain/batch/BatchPrediction.ts"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { ImportRequest, ImportSource } from "../domain/Import.ts"
import { type BucketPath, bucketPath } from "../engines/embedded/stores/BucketPath.ts"
import * as FolderObjectStore from "../engines/embedded/stores/FolderObjectStore.ts"
import type { Connector, Listed, SourceItem } from "../ports/Connector.ts"
import type { ObjectStore, PutOptions } from "../ports/ObjectStore.ts"
import type { TableStore } from "../ports/TableStore.ts"
import { mappedOr } from "./RemoteStores.ts"
import { appendResults, resultsIn, type ResultRow } from "../server/import/ResultTables.ts"
import { together, type VendorOptions, type VendorSource, vendors } from "../server/import/Vendors.ts"

/** Makes the connector of storage addresses: `storage` of `sluice/connectors`. */
export type StorageFactory = (
  config: { readonly uris: ReadonlyArray<string> },
  context: { readonly untrusted?: boolean; readonly dataDir?: string }
) => Connector

export interface BucketOptions {
  readonly storage: StorageFactory
  /** Folders that stand in for buckets: `gs://{name}/…` is read there. */
  readonly buckets: ReadonlyMap<string, string>
  /** Cloud Storage, where other addresses may be fetched: there, from S3 and the public web. Default: they may not. */
  readonly beyond?: ObjectStore["Service"] | undefined
  readonly dataDir: string
  /** Tables that stand in for BigQuery's, to which results may be written. */
  readonly tables?: TableStore["Service"]
}

/**
 * The storage that imports requested over HTTP may read, and where they may write results. The addresses come from
 * callers of the server: local files are only read through a bucket that is mapped to their folder, and nothing else is
 * fetched unless allowed, and then from public addresses only.
 */
export const buckets = ({ beyond, buckets, dataDir, storage, tables }: BucketOptions) => {
  const mapped = { buckets, closed: dataDir }

  const refused = (field: string, uri: string): ServiceError | undefined => {
    const found = bucketPath(mapped, uri)
    if (found instanceof ServiceError) return renamed(found, () => field)
    if (found !== undefined || (beyond !== undefined && /^(?:gs|s3|https):\/\/[^/]/.test(uri))) return undefined
    return new ServiceError({
      code: "PERMISSION_DENIED",
      message: `${field}: this server does not read ${/^[a-z0-9]+:\/\/[^/?#]*/i.exec(uri)?.[0] ?? "that address"}`,
      violations: [{ field, description: "is not an address this server reads" }],
      fix: "start it with --bucket NAME=FOLDER for a bucket that is a folder, or --allow-remote for real storage"
    })
  }

  const refuse = (uris: ReadonlyArray<string>): ServiceError | undefined => {
    for (const uri of uris) {
      const error = refused("import_rag_files_config.gcs_source.uris", uri)
      if (error !== undefined) return error
    }
    return undefined
  }

  const refuseSink = (sink: "import_result" | "partial_failure", uri: string | undefined): ServiceError | undefined => {
    if (uri === undefined) return undefined
    const field = `import_rag_files_config.${sink}_${uri.startsWith("bq://") ? "bigquery" : "gcs"}_sink`
    if (uri.startsWith("bq://")) {
      if (tables !== undefined && parseTable(uri) !== undefined) return undefined
      return tables === undefined
        ? new ServiceError({
          code: "UNIMPLEMENTED",
          message: `${field}: this server has no tables`,
          violations: [{ field, description: "is not a place this server writes to" }],
          fix: "start it with --tables FILE, whose tables stand in for BigQuery's, or --allow-remote for BigQuery"
        })
        : ServiceError.invalid(`${field}.output_uri`, "must name a table, bq://<project>.<dataset>.<table>")
    }
    const found = bucketPath(mapped, uri)
    if (found instanceof ServiceError) return renamed(found, () => field)
    if (found === undefined) {
      return beyond !== undefined && uri.startsWith("gs://") ? undefined : new ServiceError({
        code: "UNIMPLEMENTED",
        message: `${field}: this server does not write there`,
        violations: [{ field, description: "is not a place this server writes to" }],
        fix: "start it with --bucket NAME=FOLDER for a bucket that is a folder, or --allow-remote for Cloud Storage"
      })
    }
    return found.key !== "" && !found.key.endsWith("/") && existsSync(found.path)
      ? ServiceError.invalid(field, `${uri} is there already`, "name an object that is not there")
      : undefined
  }

  const connect = (uris: ReadonlyArray<string>): Connector => {
    const elsewhere = uris.filter((uri) => bucketPath(mapped, uri) === undefined)
    return together([
      ...uris.flatMap((uri) => {
        const found = bucketPath(mapped, uri)
        return found === undefined || found instanceof ServiceError ? [] : [inFolder(found)]
      }),
      ...(elsewhere.length === 0 ? [] : [storage({ uris: elsewhere }, { untrusted: true })])
    ])
  }

  /** A connector of the files in a mapped folder, under their bucket's names. */
  const inFolder = ({ bucket, key, path }: BucketPath): Connector => {
    const folder = key === "" || key.endsWith("/")
    const address = pathToFileURL(folder ? path + sep : path)
    const base = `file://${address.pathname.split("/").map(decodeURIComponent).join("/").normalize("NFC")}`
    const asked = `gs://${bucket}/${key}`.normalize("NFC")
    const named = (file: string): string => asked + file.slice(base.length)
    const connector = storage({ uris: [address.href] }, { dataDir })
    const files = new Map<string, SourceItem>()
    /** The caller knows the bucket, and must not see the path of its folder. */
    const asAsked = (error: ServiceError): ServiceError => {
      const told = (text: string): string => text.replaceAll(base, asked).replaceAll(path + sep, asked).replaceAll(path, asked)
      const { code, fix, message, reason, retryAfter, violations } = error
      return new ServiceError(defined({
        code,
        message: told(message),
        fix,
        reason,
        retryAfter,
        violations: violations?.map(({ description, field }) => ({ field, description: told(description) }))
      }))
    }
    return {
      ...connector,
      check: Effect.mapError(connector.check, (error) => error._tag === "ServiceError" ? asAsked(error) : error),
      list: () =>
        connector.list().pipe(
          Stream.mapError((error) => error._tag === "ServiceError" ? asAsked(error) : error),
          Stream.map((listed): Listed => {
            if (listed._tag === "failed") return { ...listed, path: named(listed.path), error: asAsked(listed.error) }
            if (listed._tag !== "item") return "path" in listed ? { ...listed, path: named(listed.path) } : listed
            const uri = named(listed.item.path)
            files.set(uri, listed.item)
            return { ...listed, item: { ...listed.item, path: uri, uri } }
          })
        ),
      read: (item, maxBytes) =>
        Stream.suspend(() => {
          const file = files.get(item.uri)
          // Checked again: a link may have replaced a folder since it was listed.
          const now = bucketPath(mapped, item.uri)
          return now instanceof ServiceError
            ? Stream.fail(now)
            : file === undefined
            ? Stream.fail(ServiceError.notFound(item.uri))
            : connector.read(file, maxBytes).pipe(Stream.mapError((error) => error._tag === "ServiceError" ? asAsked(error) : error))
        })
    }
  }

  const objects = beyond === undefined ? FolderObjectStore.make(mapped) : mappedOr(mapped, beyond)

  /** Writes an object that must not exist yet. */
  const write = (uri: string, content: Uint8Array): Effect.Effect<void, ServiceError> => Effect.asVoid(objects.put(uri, content, asResult))

  const append = (uri: string, rows: ReadonlyArray<ResultRow>): Effect.Effect<void, ServiceError> =>
    tables === undefined ? Effect.void : appendResults(tables, uri, rows)

  const checkSink = (uri: string | undefined): Effect.Effect<void, ServiceError> =>
    uri === undefined || tables === undefined || !uri.startsWith("bq://") ? Effect.void : Effect.asVoid(resultsIn(tables, uri))

  return { refuse, refuseSink, checkSink, connect, write, append }
}

const asResult: PutOptions = { when: "absent", contentType: "application/x-ndjson" }

export interface ImportOptions {
  readonly buckets: BucketOptions
  /** Absent where nothing is fetched from vendors. */
  readonly vendors?: VendorOptions
}

/** The sources that imports requested over HTTP may read, and where they may write results: see {@link buckets} and {@link vendors}. */
export const imports = (options: ImportOptions) => {
  const storage = buckets(options.buckets)
  const elsewhere = options.vendors === undefined ? notHere : vendors(options.vendors)

  const connectorOf = (source: ImportSource): Connector | ServiceError =>
    source._tag === "storage" ? storage.refuse(source.uris) ?? storage.connect(source.uris) : elsewhere(source)

  return {
    refuse: ({ failureSink, resultSink, source }: ImportRequest): ServiceError | undefined => {
      const connector = connectorOf(source)
      return connector instanceof ServiceError ? connector : storage.refuseSink("import_result", resultSink) ??
        storage.refuseSink("partial_failure", failureSink)
    },
    // Checked again when it runs: another server, started with other options, may continue an import.
    connect: ({ failureSink, resultSink, source }: ImportRequest): Effect.Effect<Connector, ServiceError> =>
      Effect.suspend(() => {
        const connector = connectorOf(source)
        if (connector instanceof ServiceError) return connector
        return Effect.as(Effect.forEach([resultSink, failureSink], storage.checkSink, { discard: true }), connector)
      }),
    write: storage.write,
    append: storage.append
  }
}

const notHere = ({ _tag }: VendorSource): ServiceError => {
  const field = `import_rag_files_config.${fields[_tag]}`
  return new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${field}: this server fetches nothing from elsewhere; start it with --allow-remote`,
    violations: [{ field, description: "is not a source this server reads" }],
    fix: "start it with --allow-remote"
  })
}

const fields = {
  googleDrive: "google_drive_source",
  slack: "slack_source",
  jira: "jira_source",
  sharePoint: "share_point_sources"
} as const
