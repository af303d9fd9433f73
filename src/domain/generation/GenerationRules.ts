import type { ServiceError } from "../Errors.ts"
import type { CountRequest, GenerationRequest } from "./Generation.ts"
import { generationModel } from "./GenerationModels.ts"
import { configRules } from "./ConfigRules.ts"
import { contentRules, systemRules } from "./ContentRules.ts"
import { safetyRules } from "./SafetyRules.ts"
import { toolRules } from "./ToolRules.ts"
import { violationUnless } from "./ViolationUnless.ts"
import { type Broken, refusalOf } from "../Rule.ts"

export interface GenerationUse {
  /** As the caller names it. */
  readonly model: string
  readonly stream?: boolean
}

/**
 * Every rule of the API that a request breaks, as one error; undefined when it keeps them
 * all. The client asks before a request leaves, and the server when it comes. Fields are spelled as in the request. How
 * large, or how long, something is that only its address is given of, the service alone can see.
 */
export const refusedGeneration = (use: GenerationUse, request: GenerationRequest): ServiceError | undefined =>
  refusalOf([
    ...contentRules(request.contents),
    ...systemRules(request.systemInstruction),
    ...modelRules(use.model, request),
    ...toolRules(request),
    ...safetyRules(request.safetySettings ?? []),
    ...configRules(request.generationConfig ?? {}, use.stream === true),
    ...cachedContentRules(request),
    ...labelRules(request.labels ?? {})
  ])

/** The same for a request to count tokens. */
export const refusedCount = (request: CountRequest): ServiceError | undefined =>
  refusalOf([...contentRules(request.contents), ...systemRules(request.systemInstruction)])

/** What may not work with a model that the documentation does not name: the service alone knows. */
export const generationWarnings = ({ model }: GenerationUse, request: GenerationRequest): ReadonlyArray<string> =>
  generationModel(model) !== undefined ? [] : modelBound(request).map((field) => `${field}: whether ${model} takes it is not known here`)

/** Fields that only some models take. */
const modelBound = ({ generationConfig: config = {}, systemInstruction }: GenerationRequest): ReadonlyArray<string> => [
  ...(systemInstruction === undefined ? [] : ["systemInstruction"]),
  ...(["presencePenalty", "frequencyPenalty", "responseMimeType"] as const)
    .flatMap((name) => (config[name] === undefined || config[name] === "" ? [] : [`generationConfig.${name}`]))
]

const modelRules = (name: string, request: GenerationRequest): ReadonlyArray<Broken> => {
  const model = generationModel(name)
  if (model === undefined) return []
  const images = request.contents.flatMap(({ parts = [] }) => parts)
    .filter(({ inlineData }) => inlineData?.mimeType?.startsWith("image/") === true).length
  return [
    ...modelBound(request).flatMap((field) =>
      violationUnless(
        field === "systemInstruction" ? model.systemInstruction : model.penalties,
        field,
        `is not taken by ${name}`,
        "Use gemini-2.0-flash-001 or gemini-2.0-flash-lite-001."
      )
    ),
    ...violationUnless(
      images <= model.inlineImages,
      "contents",
      `${name} takes at most ${model.inlineImages} images, and these are ${images}`
    )
  ]
}

const cachedContentRules = ({ cachedContent = "" }: GenerationRequest): ReadonlyArray<Broken> =>
  violationUnless(
    cachedContent === "" || /^projects\/[^/]+\/locations\/[^/]+\/cachedContents\/[^/]+$/.test(cachedContent),
    "cachedContent",
    "must be projects/{project}/locations/{location}/cachedContents/{cachedContent}"
  )

const labelCharacters = "at most 63 small letters, digits, underscores and dashes"

/** The platform's rules for labels of anything. */
const labelRules = (labels: Readonly<Record<string, string>>): ReadonlyArray<Broken> => [
  ...violationUnless(Object.keys(labels).length <= 64, "labels", "at most 64 are taken"),
  ...Object.entries(labels).flatMap(([key, value]) => [
    ...violationUnless(
      /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key),
      "labels",
      `a key begins with a letter and has ${labelCharacters}`
    ),
    ...violationUnless(/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value), `labels[${key.slice(0, 63)}]`, `has ${labelCharacters}`)
  ])
]
