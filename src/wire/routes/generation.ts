import { GenerateContentRequest, GenerateContentResponse } from "../messages/GenerateContent.ts"
import { route } from "../Route.ts"

const models = [
  "{model=projects/*/locations/*/publishers/*/models/*}",
  "{model=projects/*/locations/*/endpoints/*}",
  "{model=publishers/*/models/*}",
  "{model=endpoints/*}"
] as const

export const generationRoutes = {
  generateContent: route("PredictionService.GenerateContent", "POST", models.map((model) => `${model}:generateContent` as const), {
    body: GenerateContentRequest,
    response: GenerateContentResponse
  }),
  streamGenerateContent: route(
    "PredictionService.StreamGenerateContent",
    "POST",
    models.map((model) => `${model}:streamGenerateContent` as const),
    { body: GenerateContentRequest, response: GenerateContentResponse, stream: true }
  )
}
