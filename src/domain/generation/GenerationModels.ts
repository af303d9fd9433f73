import { lastSegment } from "../ResourceNames.ts"

/** What the documentation states about the models it names. */
export interface GenerationModel {
  readonly systemInstruction: boolean
  /** Whether it supports presence and frequency penalties, and `responseMimeType`. */
  readonly penalties: boolean
  /** Most inline images of a request. */
  readonly inlineImages: number
}

/** Names `gemini-2.0-flash` and `gemini-2.0-flash-lite`, bare (the newest version) or with `-001`. */
const flash = /^gemini-2\.0-flash(?:-lite)?(?:-001)?$/
/** Models of the tables that other methods serve: they support neither. */
const others = /^(?:claude-|llama-3\.1-)/

/** Facts about a model; undefined for a model that the documentation does not name. */
export const generationModel = (name: string): GenerationModel | undefined => {
  const id = lastSegment(name)
  if (flash.test(id)) return { systemInstruction: true, penalties: true, inlineImages: 3_000 }
  return others.test(id) ? { systemInstruction: false, penalties: false, inlineImages: 0 } : undefined
}
