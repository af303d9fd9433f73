import { Option, Predicate, Result, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Of } from "../Message.ts"
import { PredictResponse } from "../messages/Predict.ts"

/** Response header of `:rawPredict` that names the deployed model. */
export const deployedModelHeader = "x-vertex-ai-deployed-model-id"

/** Most characters of a model's error in a message. */
const mostTold = 1_000

/** Decodes the response of a model's server to instances. It has to have the form `{"predictions": […]}`. */
export const predictionFromModel = (status: number, text: string): Result.Result<Of<typeof PredictResponse>, ServiceError> => {
  if (status < 200 || status >= 300) {
    const code = status >= 400 && status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE"
    return Result.fail(new ServiceError({ code, message: `the model answered ${status}: ${text.slice(0, mostTold)}` }))
  }
  const json = Option.getOrUndefined(decodeJson(text))
  const answer = Predicate.isObject(json) && "predictions" in json && Array.isArray(json.predictions)
    ? Result.getOrUndefined(PredictResponse.decode(json))
    : undefined
  return answer === undefined
    ? Result.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: "the model does not answer with predictions",
        fix: "use rawPredict, which passes on any response"
      })
    )
    : Result.succeed({ predictions: answer.predictions, metadata: answer.metadata })
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
