import { rawRoute } from "../Route.ts"

const model = "projects/*/locations/*/publishers/*/models/*"

/** 20 images of 5 MB in base64, and a conversation about them. */
const mostBytes = 160 * 1024 * 1024

/**
 * Models of partners, each with bodies of its own. A model named `count-tokens` counts what the one named in the body
 * would read.
 */
export const partnerRoutes = {
  partnerRawPredict: rawRoute("PredictionService.RawPredict", `{endpoint=${model}}:rawPredict`, { mostBytes }),
  partnerStreamRawPredict: rawRoute("PredictionService.StreamRawPredict", `{endpoint=${model}}:streamRawPredict`, { mostBytes })
}
