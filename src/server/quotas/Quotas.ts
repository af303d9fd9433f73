import { ServiceError } from "../../domain/Errors.ts"
import type { RouteKey } from "../../wire/Routes.ts"
import { ragRoutes } from "../../wire/routes/Rag.ts"

/** Refusal of a call beyond a quota, as the service sends it; `metadata` goes into its ErrorInfo. */
export interface OverQuota {
  readonly error: ServiceError
  readonly metadata: Readonly<Record<string, string>>
}

interface Bucket {
  readonly metric: string
  readonly limit: string
  readonly atMost: number
  /** Milliseconds. */
  readonly within: number
}

const minute = 60_000
const service = "aiplatform.googleapis.com"

/** Requests for corpora, files and operations: 60 per minute in each region. */
const management: Bucket = {
  metric: "aiplatform.googleapis.com/vertex_rag_data_service_requests",
  limit: "VertexRagDataServiceRequestsPerMinutePerRegion",
  atMost: 60,
  within: minute
}
const retrieval: Bucket = {
  metric: "aiplatform.googleapis.com/vertex_rag_service_retrieve_contexts_requests",
  limit: "VertexRagServiceRetrieveContextsRequestsPerMinutePerRegion",
  atMost: 1_500,
  within: minute
}
const logprobs: Bucket = {
  metric: "aiplatform.googleapis.com/generate_content_logprobs_requests",
  limit: "GenerateContentLogprobsRequestsPerDayPerRegion",
  atMost: 1,
  within: 24 * 60 * minute
}
const imports = {
  metric: "aiplatform.googleapis.com/vertex_rag_concurrent_import_jobs",
  limit: "VertexRagConcurrentImportJobsPerRegion",
  atOnce: 3
}

const retrievals: ReadonlySet<RouteKey> = new Set(["retrieveContexts", "augmentPrompt", "corroborateContent"])
/** Routes that count: those of the RAG services. Other areas have other quotas. */
const counted: ReadonlySet<string> = new Set(Object.keys(ragRoutes))

/**
 * The service's quotas per project and region: 60 management calls and 1,500 retrievals per minute, 3 concurrent imports, 1
 * request for log probabilities per day.
 */
export class Quotas {
  readonly #calls = new Map<string, Array<number>>()

  /** Counts a call, or returns the refusal of a call beyond its quota, which is not counted. */
  take(key: RouteKey, location: string, now: number): OverQuota | undefined {
    return counted.has(key) ? this.#count(retrievals.has(key) ? retrieval : management, location, now) : undefined
  }

  /** Uncounts a call that was counted at `at` and then refused. */
  giveBack(key: RouteKey, location: string, at: number): void {
    if (counted.has(key)) this.#uncount(retrievals.has(key) ? retrieval : management, location, at)
  }

  /** Counts a request for log probabilities, or returns its refusal. */
  takeLogprobs(location: string, now: number): OverQuota | undefined {
    return this.#count(logprobs, location, now)
  }

  giveBackLogprobs(location: string, at: number): void {
    this.#uncount(logprobs, location, at)
  }

  #uncount({ metric }: Bucket, location: string, at: number): void {
    const calls = this.#calls.get(`${location} ${metric}`) ?? []
    const index = calls.lastIndexOf(at)
    if (index !== -1) calls.splice(index, 1)
  }

  #count({ atMost, limit, metric, within }: Bucket, location: string, now: number): OverQuota | undefined {
    const name = `${location} ${metric}`
    const calls = this.#calls.get(name) ?? []
    this.#calls.set(name, calls)
    let gone = 0
    while ((calls[gone] ?? now) <= now - within) gone++
    calls.splice(0, gone)
    const oldest = calls[0]
    if (calls.length >= atMost && oldest !== undefined) return overQuota(metric, limit, atMost, location, oldest + within - now)
    // Clients name locations freely, so their number has to be bounded.
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
      retryAfter
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
