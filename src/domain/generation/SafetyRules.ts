import { harmBlockMethods, harmBlockThresholds, harmCategories, type SafetySetting } from "./Generation.ts"
import { type Broken, isSet, violationUnless } from "../Rule.ts"

const categories = new Set<string>(harmCategories)
const thresholds = new Set<string>(harmBlockThresholds)
const methods = new Set<string>(harmBlockMethods)

export const safetyRules = (settings: ReadonlyArray<SafetySetting>): ReadonlyArray<Broken> =>
  settings.flatMap(({ category, method, threshold }, i) => [
    ...isSet(category, `safetySettings[${i}].category`),
    ...among(category, categories, `safetySettings[${i}].category`),
    ...isSet(threshold, `safetySettings[${i}].threshold`),
    ...among(threshold, thresholds, `safetySettings[${i}].threshold`),
    ...among(method, methods, `safetySettings[${i}].method`)
  ])

const among = (value: string | undefined, values: ReadonlySet<string>, field: string): ReadonlyArray<Broken> =>
  violationUnless(value === undefined || value === "" || values.has(value), field, `must be one of ${[...values].join(", ")}`)
