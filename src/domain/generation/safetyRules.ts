import type { SafetySetting } from "./Generation.ts"
import type { Broken } from "../Rule.ts"
import { isSet, unless } from "./unless.ts"

const categories = new Set([
  "HARM_CATEGORY_UNSPECIFIED",
  "HARM_CATEGORY_HATE_SPEECH",
  "HARM_CATEGORY_DANGEROUS_CONTENT",
  "HARM_CATEGORY_HARASSMENT",
  "HARM_CATEGORY_SEXUALLY_EXPLICIT",
  "HARM_CATEGORY_CIVIC_INTEGRITY",
  "HARM_CATEGORY_JAILBREAK"
])
const thresholds = new Set([
  "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
  "BLOCK_LOW_AND_ABOVE",
  "BLOCK_MEDIUM_AND_ABOVE",
  "BLOCK_ONLY_HIGH",
  "BLOCK_NONE",
  "OFF"
])
const methods = new Set(["HARM_BLOCK_METHOD_UNSPECIFIED", "SEVERITY", "PROBABILITY"])

export const safetyRules = (settings: ReadonlyArray<SafetySetting>): ReadonlyArray<Broken> =>
  settings.flatMap(({ category, method, threshold }, i) => [
    ...isSet(category, `safetySettings[${i}].category`),
    ...among(category, categories, `safetySettings[${i}].category`),
    ...isSet(threshold, `safetySettings[${i}].threshold`),
    ...among(threshold, thresholds, `safetySettings[${i}].threshold`),
    ...among(method, methods, `safetySettings[${i}].method`)
  ])

const among = (value: string | undefined, values: ReadonlySet<string>, field: string): ReadonlyArray<Broken> =>
  unless(value === undefined || value === "" || values.has(value), field, `must be one of ${[...values].join(", ")}`)
