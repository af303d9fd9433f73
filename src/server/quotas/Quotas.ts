import { ServiceError } from "../../domain/Errors.ts"
import type { RouteKey } from "../../wire/Routes.ts"

/** A call beyond a quota, as the service refuses it; `metadata` is that of its ErrorInfo. */
export interface OverQuota {
  readonly error: ServiceError
  readonly metadata: Readonly<Record<string, string>>
}

interface Bucket {
  readonly metric: string
  readonly limit: string
  readonly perMinute: number
}

const minute = 60_000
const service = "aiplatform.googleapis.com"

/** Wire section 5. */
const management: Bucket = {
  metric: "aiplatform.googleapis.com/vertex_rag_data_service_requests",
  limit: "VertexRagDataServiceRequestsPerMinutePerRegion",
  perMinute: 60
}
const retrieval: Bucket = {
  metric: "aiplatform.googleapis.com/vertex_rag_service_retrieve_contexts_requests",
  limit: "VertexRagServiceRetrieveContextsRequestsPerMinutePerRegion",
  perMinute: 1_500
}
const imports = {
  metric: "aiplatform.googleapis.com/vertex_rag_concurrent_import_jobs",
  limit: "VertexRagConcurrentImportJobsPerRegion",
  atOnce: 3
}

const retrievals: ReadonlySet<RouteKey> = new Set(["retrieveContexts", "augmentPrompt", "corroborateContent"])
/** Not counted by the RAG services. */
const free: ReadonlySet<RouteKey> = new Set([
  "generateContent",
  "streamGenerateContent",
  "getOperation",
  "listOperations",
  "cancelOperation",
  "waitOperation",
  "deleteOperation",
  "listLocations",
  "getLocation"
])

/** The service's quotas, per project and region: 60 management calls and 1,500 retrievals in any minute, 3 imports. */
export class Quotas {
  readonly #calls = new Map<string, Array<number>>()

  /** Counts a call, or says why it is one too many. Refused calls are not counted. */
  take(key: RouteKey, location: string, now: number): OverQuota | undefined {
    if (free.has(key)) return undefined
    const bucket = retrievals.has(key) ? retrieval : management
    const name = `${location} ${bucket.metric}`
    const calls = this.#calls.get(name) ?? []
    this.#calls.set(name, calls)
    let gone = 0
    while ((calls[gone] ?? now) <= now - minute) gone++
    calls.splice(0, gone)
    const oldest = calls[0]
    if (calls.length >= bucket.perMinute && oldest !== undefined) {
      return overQuota(bucket.metric, bucket.limit, bucket.perMinute, location, oldest + minute - now)
    }
    // Locations are named by the client: their number is bounded here.
    if (this.#calls.size > mostLocations) this.#calls.delete(this.#calls.keys().next().value ?? name)
    calls.push(now)
    return undefined
  }

  /** @param running imports under way */
  takeImport(running: number, location: string): OverQuota | undefined {
    return running < imports.atOnce ? undefined : overQuota(imports.metric, imports.limit, imports.atOnce, location, undefined)
  }
}

const mostLocations = 1_000

const overQuota = (metric: string, limit: string, value: number, location: string, retryAfter: number | undefined): OverQuota => {
  const [, project = "", , region = ""] = location.split("/")
  const consumer = `projects/${project}`
  return {
    error: new ServiceError({
      code: "RESOURCE_EXHAUSTED",
      message: `Quota exceeded for quota metric '${metric}' and limit '${limit}' of service '${service}' for consumer '${consumer}'.`,
      reason: "RATE_LIMIT_EXCEEDED",
      ...(retryAfter === undefined ? {} : { retryAfter })
    }),
    metadata: {
      service,
      consumer,
      quota_metric: metric,
      quota_limit: limit,
      quota_limit_value: String(value),
      quota_location: region
    }
  }
}
