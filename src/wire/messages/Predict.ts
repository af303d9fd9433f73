import { list, map, message, string, value } from "../Message.ts"

export const PredictRequest = message("PredictRequest", { instances: list(value), parameters: value, labels: map(string) })

export const PredictResponse = message("PredictResponse", {
  predictions: list(value),
  deployedModelId: string,
  model: string,
  modelVersionId: string,
  modelDisplayName: string,
  metadata: value
})
