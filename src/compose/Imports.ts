import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { ImportRequest, ImportSource } from "../domain/Import.ts"
import type { Connector } from "../ports/Connector.ts"
import { type BucketOptions, buckets } from "./Buckets.ts"
import { type VendorOptions, type VendorSource, vendors } from "./Vendors.ts"

export interface ImportOptions {
  readonly buckets: BucketOptions
  /** Absent where nothing is fetched from elsewhere. */
  readonly vendors?: VendorOptions
}

/** What imports asked for over HTTP may read, and where they may write their results: see {@link buckets} and {@link vendors}. */
export const imports = (options: ImportOptions) => {
  const storage = buckets(options.buckets)
  const elsewhere = options.vendors === undefined ? notHere : vendors(options.vendors)

  const connectorOf = (source: ImportSource): Connector | ServiceError =>
    source._tag === "storage" ? storage.refuse(source.uris) ?? storage.connect(source.uris) : elsewhere(source)

  return {
    refuse: ({ failureSink, resultSink, source }: ImportRequest): ServiceError | undefined => {
      const connector = connectorOf(source)
      return connector instanceof ServiceError ? connector : storage.refuseSink("import_result_gcs_sink", resultSink) ??
        storage.refuseSink("partial_failure_gcs_sink", failureSink)
    },
    // Asked again when it runs: another server, started otherwise, may go on with an import.
    connect: ({ source }: ImportRequest): Effect.Effect<Connector, ServiceError> =>
      Effect.suspend(() => {
        const connector = connectorOf(source)
        return connector instanceof ServiceError ? connector : Effect.succeed(connector)
      }),
    write: storage.write
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
