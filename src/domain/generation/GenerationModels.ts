/** What the documentation says of the models it names. */
export interface GenerationModel {
  readonly systemInstruction: boolean
  /** Presence and frequency penalties, and `responseMimeType`. */
  readonly penalties: boolean
  /** Images within a request. */
  readonly inlineImages: number
}

/** `gemini-2.0-flash`, `gemini-2.0-flash-lite`, bare (which is the newest version) or `-001`. */
const flash = /^gemini-2\.0-flash(?:-lite)?(?:-001)?$/
/** Models of the tables that other methods serve: they take neither. */
const others = /^(?:claude-|llama-3\.1-)/

/** Absent for a model that the documentation does not name, about which nothing is known here. */
export const generationModel = (name: string): GenerationModel | undefined => {
  const id = name.slice(name.lastIndexOf("/") + 1)
  if (flash.test(id)) return { systemInstruction: true, penalties: true, inlineImages: 3_000 }
  return others.test(id) ? { systemInstruction: false, penalties: false, inlineImages: 0 } : undefined
}
