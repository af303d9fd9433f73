import { rawRoute } from "../Route.ts"

const model = "projects/*/locations/*/publishers/*/models/*"

/** Most bytes of a body: 20 images of 5 MB in base64, and a conversation about them. */
const mostBytes = 160 * 1024 * 1024

/**
 * Routes of partners' models, whose bodies have the model's own format. The model `count-tokens` counts the tokens that the
 * model named in the body would read.
 */
export const partnerRoutes = {
  partnerRawPredict: rawRoute("PredictionService.RawPredict", `{endpoint=${model}}:rawPredict`, { mostBytes }),
  partnerStreamRawPredict: rawRoute("PredictionService.StreamRawPredict", `{endpoint=${model}}:streamRawPredict`, { mostBytes })
}
