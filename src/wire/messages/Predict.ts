import { list, map, message, type Of, string, value } from "../Message.ts"

export const PredictRequest = message("PredictRequest", { instances: list(value), parameters: value, labels: map(string) })
export type PredictRequest = Of<typeof PredictRequest>

export const PredictResponse = message("PredictResponse", {
  predictions: list(value),
  deployedModelId: string,
  model: string,
  modelVersionId: string,
  modelDisplayName: string,
  metadata: value
})
