import type { ServiceError } from "../Errors.ts"
import type { CountRequest, GenerationRequest } from "./Generation.ts"
import { generationModel } from "./GenerationModels.ts"
import { configRules } from "./ConfigRules.ts"
import { contentRules, systemRules } from "./ContentRules.ts"
import { safetyRules } from "./SafetyRules.ts"
import { toolRules } from "./ToolRules.ts"
import { type Broken, refusalOf, violationUnless } from "../Rule.ts"

export interface GenerationUse {
  /** Model, as the caller names it. */
  readonly model: string
  readonly stream?: boolean
}

/**
 * All rules of the API that a request breaks, as one error; undefined when it is valid. The client checks before it sends
 * a request, and the server when it receives one. Fields are spelled as in the request. Only the service can check the
 * size or length of content given by its address.
 */
export const refusedGeneration = (use: GenerationUse, request: GenerationRequest): ServiceError | undefined =>
  refusalOf([
    ...contentRules(request.contents),
    ...promptRules(request.contents),
    ...systemRules(request.systemInstruction),
    ...modelRules(use.model, request),
    ...toolRules(request),
    ...safetyRules(request.safetySettings ?? []),
    ...configRules(request.generationConfig ?? {}, use.stream === true),
    ...cachedContentRules(request),
    ...labelRules(request.labels ?? {})
  ])

/** The service answers no empty prompt. Turns of the model may be empty, as the last piece of a stream is. */
const promptRules = (contents: GenerationRequest["contents"]): ReadonlyArray<Broken> =>
  contents.flatMap(({ parts = [], role }, i) =>
    violationUnless(
      role === "model" || parts.length === 0 || parts.some(({ text }) => text !== ""),
      `contents[${i}].parts[0].text`,
      "must not be empty"
    )
  )

/** All rules that a request to count tokens breaks, as one error; undefined when it is valid. */
export const refusedCount = (request: CountRequest): ServiceError | undefined =>
  refusalOf([...contentRules(request.contents), ...systemRules(request.systemInstruction)])

/** Warnings about features that may not work with a model the documentation does not name. */
export const generationWarnings = ({ model }: GenerationUse, request: GenerationRequest): ReadonlyArray<string> =>
  generationModel(model) !== undefined ? [] : modelBound(request).map((field) => `${field}: whether ${model} takes it is not known here`)

/** Fields that only some models support. */
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
        "use gemini-2.0-flash-001 or gemini-2.0-flash-lite-001"
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

/** The platform's rules for labels. */
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
