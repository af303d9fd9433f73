import type { GenerationConfig, Json } from "./Generation.ts"
import { type Broken, violationUnless } from "../Rule.ts"

const mimeTypes = ["text/plain", "application/json", "text/x.enum"]

export const configRules = (config: GenerationConfig, stream: boolean): ReadonlyArray<Broken> => {
  const at = (name: keyof GenerationConfig) => `generationConfig.${name}`
  const within = (name: "temperature" | "topP" | "candidateCount" | "logprobs", low: number, high: number) => {
    const value = config[name]
    return violationUnless(value === undefined || (value >= low && value <= high), at(name), `must be from ${low} to ${high}`)
  }
  const penalty = (name: "presencePenalty" | "frequencyPenalty") => {
    const value = config[name]
    return violationUnless(value === undefined || (value >= -2 && value < 2), at(name), "must be from -2 to below 2")
  }
  const whole = (name: "candidateCount" | "maxOutputTokens" | "logprobs" | "seed") =>
    violationUnless(config[name] === undefined || Number.isInteger(config[name]), at(name), "must be a whole number")
  const { candidateCount = 1, maxOutputTokens = 1, stopSequences = [] } = config
  return [
    ...within("temperature", 0, 2),
    ...within("topP", 0, 1),
    ...within("candidateCount", 1, 8),
    ...violationUnless(
      !stream || candidateCount <= 1,
      at("candidateCount"),
      "must be 1 of a stream",
      "ask for several candidates without streaming"
    ),
    ...violationUnless(maxOutputTokens >= 1, at("maxOutputTokens"), "must be at least 1"),
    ...violationUnless(stopSequences.length <= 5, at("stopSequences"), "at most 5 are taken"),
    ...stopSequences.flatMap((sequence, i) => violationUnless(sequence !== "", `${at("stopSequences")}[${i}]`, "must not be empty")),
    ...penalty("presencePenalty"),
    ...penalty("frequencyPenalty"),
    ...within("logprobs", 1, 5),
    ...violationUnless(
      config.logprobs === undefined || config.responseLogprobs === true,
      at("logprobs"),
      "needs responseLogprobs",
      "set generationConfig.responseLogprobs"
    ),
    ...(["candidateCount", "maxOutputTokens", "logprobs", "seed"] as const).flatMap(whole),
    ...formRules(config, at)
  ]
}

/** What the answer must look like. */
const formRules = (
  { responseJsonSchema, responseMimeType: mimeType = "", responseSchema }: GenerationConfig,
  at: (name: keyof GenerationConfig) => string
): ReadonlyArray<Broken> => {
  const schema = responseSchema ?? responseJsonSchema
  const field = at(responseSchema === undefined && schema !== undefined ? "responseJsonSchema" : "responseSchema")
  return [
    ...violationUnless(mimeType === "" || mimeTypes.includes(mimeType), at("responseMimeType"), `must be one of ${mimeTypes.join(", ")}`),
    ...violationUnless(
      schema === undefined || mimeType !== "",
      field,
      "needs responseMimeType",
      "set generationConfig.responseMimeType to application/json or text/x.enum"
    ),
    ...violationUnless(
      schema === undefined || mimeType !== "text/plain",
      field,
      "needs a responseMimeType with a form: application/json or text/x.enum"
    ),
    ...violationUnless(
      responseSchema === undefined || responseJsonSchema === undefined,
      at("responseJsonSchema"),
      "goes in the place of responseSchema, not with it"
    ),
    ...violationUnless(isJsonObject(responseJsonSchema), at("responseJsonSchema"), "must be an object"),
    ...violationUnless(
      mimeType !== "text/x.enum" || schema !== undefined,
      field,
      "text/x.enum needs a schema with the values to choose from"
    ),
    ...violationUnless(
      mimeType !== "text/x.enum" || responseSchema === undefined || (responseSchema.enum ?? []).length > 0,
      `${at("responseSchema")}.enum`,
      "text/x.enum needs at least one value"
    )
  ]
}

/** Absent is one. */
export const isJsonObject = (json: Json | undefined): boolean =>
  json === undefined || (typeof json === "object" && json !== null && !Array.isArray(json))
