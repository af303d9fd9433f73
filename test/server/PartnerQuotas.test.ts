import { describe, expect, it } from "vitest"
import { ServiceError } from "../../src/domain/Errors.ts"
import { PartnerQuotas } from "../../src/server/quotas/PartnerQuotas.ts"

const opus = "claude-3-opus@20240229"
const here = "projects/p1/locations/us-east5"

describe("PartnerQuotas", () => {
  it("lets through as many requests in any minute as the model has in its region", () => {
    const quotas = new PartnerQuotas()
    const take = (now: number, model = opus, location = here) => quotas.take(model, location, now)
    for (let i = 0; i < 20; i++) expect(take(i * 100)).toBeTypeOf("function")
    expect(take(2_000)).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      retryAfter: 58_000,
      message: expect.stringContaining("online_prediction_requests_per_base_model")
    })
    expect(take(2_000, opus, "projects/p2/locations/us-east5")).toBeTypeOf("function")
    expect(take(2_000, "claude-3-haiku@20240307")).toBeTypeOf("function")
    expect(take(60_000)).toBeTypeOf("function")
    expect(take(60_001)).toBeInstanceOf(ServiceError)
  })

  it("counts the tokens that answers came to", () => {
    const quotas = new PartnerQuotas()
    const spent = quotas.take(opus, here, 0)
    if (spent instanceof ServiceError) throw spent
    spent(104_999)
    expect(quotas.take(opus, here, 1_000)).toBeTypeOf("function")
    spent(105_000)
    expect(quotas.take(opus, here, 2_000)).toMatchObject({
      retryAfter: 58_000,
      message: expect.stringContaining("online_prediction_tokens_per_base_model")
    })
    expect(quotas.take(opus, here, 60_000)).toBeTypeOf("function")
  })

  it("has none of models that are not known", () => {
    const quotas = new PartnerQuotas()
    for (let i = 0; i < 500; i++) expect(quotas.take("claude-later@20290101", here, 0)).toBeTypeOf("function")
  })
})
