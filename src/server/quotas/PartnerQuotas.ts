import { ServiceError } from "../../domain/Errors.ts"
import { partnerModel } from "../../domain/partner/PartnerModels.ts"

interface Asked {
  readonly at: number
  tokens: number
}

const minute = 60_000
/** Most buckets: clients name projects freely, so their number has to be bounded. */
const mostBuckets = 1_000

/** The service's quotas of partner models: requests and tokens per minute, by project, region and model. */
export class PartnerQuotas {
  readonly #charge = new Map<string, Array<Asked>>()

  /**
   * Counts a request and returns a function that takes its number of tokens, or returns the error of a request beyond the
   * quota, which is not counted. Models without a documented quota are unlimited.
   *
   * @param location `projects/{project}/locations/{location}`
   */
  take(model: string, location: string, now: number): ServiceError | ((tokens: number) => void) {
    const limits = partnerModel(model)?.regions[location.split("/")[3] ?? ""]
    if (limits === undefined) return () => undefined
    const key = `${location} ${model}`
    const recent = (this.#charge.get(key) ?? []).filter(({ at }) => at > now - minute)
    const [oldest] = recent
    const tokens = recent.reduce((sum, charge) => sum + charge.tokens, 0)
    if (oldest !== undefined && recent.length >= limits.queriesPerMinute) return exceeded("requests", model, oldest.at + minute - now)
    if (oldest !== undefined && tokens >= limits.tokensPerMinute) return exceeded("tokens", model, oldest.at + minute - now)
    const charge: Asked = { at: now, tokens: 0 }
    if (this.#charge.size >= mostBuckets && !this.#charge.has(key)) this.#charge.delete(this.#charge.keys().next().value ?? key)
    this.#charge.set(key, [...recent, charge])
    return (tokens) => {
      charge.tokens = tokens
    }
  }

  /** Uncounts a request that was counted at `at` and then refused. */
  giveBack(model: string, location: string, at: number): void {
    const recent = this.#charge.get(`${location} ${model}`) ?? []
    const index = recent.findLastIndex((charge) => charge.at === at && charge.tokens === 0)
    if (index !== -1) recent.splice(index, 1)
  }
}

const exceeded = (what: "requests" | "tokens", id: string, retryAfter: number): ServiceError => {
  const metric = `aiplatform.googleapis.com/online_prediction_${what}_per_base_model`
  const [model = id] = id.split("@")
  return new ServiceError({
    code: "RESOURCE_EXHAUSTED",
    message: `Quota exceeded for ${metric} with base model: anthropic-${model}.`,
    reason: "RATE_LIMIT_EXCEEDED",
    retryAfter
  })
}
