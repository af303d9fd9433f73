import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { BrokenInstallation, ReadFailure } from "./ReadFailure.ts"

export interface Recognised {
  readonly text: string
  /** 0 to 1. */
  readonly confidence: number
}

/** The parts of tesseract.js, an optional package, that are used here. */
interface Engine {
  /** Its thread, which must not keep an otherwise idle program alive. */
  readonly worker?: { readonly ref?: () => void; readonly unref?: () => void }
  readonly recognize: (picture: Uint8Array) => Promise<{ readonly data: { readonly text: string; readonly confidence: number } }>
}
type CreateWorker = (languages: ReadonlyArray<string>, mode: number, options: object) => Promise<Engine>

/** The neural recogniser; the older one needs other data. */
const neural = 1

let engine: { readonly languages: string; readonly started: Promise<Engine> } | undefined

/**
 * Recognises the text in a picture (PNG, JPEG, BMP, WebP, TIFF) with tesseract.js and language data from npm packages. Nothing is
 * downloaded. Fails as a broken installation where one of the packages is missing.
 *
 * @param languages names as in the packages `@tesseract.js-data`: `eng`, `deu`
 */
export const recognise = async (picture: Uint8Array, languages: ReadonlyArray<string>): Promise<Recognised> => {
  const key = languages.join("+")
  if (engine?.languages !== key) engine = { languages: key, started: start(languages) }
  const running = await engine.started
  running.worker?.ref?.()
  try {
    const { data } = await running.recognize(Buffer.from(picture))
    return { text: data.text.trim(), confidence: data.confidence / 100 }
  } catch {
    throw new ReadFailure("corrupt", "the picture is damaged")
  } finally {
    running.worker?.unref?.()
  }
}

const start = async (languages: ReadonlyArray<string>): Promise<Engine> => {
  // Imported through a variable, so that the bundle does not include it: most installations do without it.
  const name = "tesseract.js"
  const { resolve } = createRequire(import.meta.url)
  let createWorker: CreateWorker | undefined
  let folders: ReadonlyArray<string>
  try {
    const loaded: { readonly createWorker?: CreateWorker; readonly default?: { readonly createWorker?: CreateWorker } } = await import(name)
    createWorker = loaded.createWorker ?? loaded.default?.createWorker
    folders = languages.map((language) => join(dirname(resolve(`@tesseract.js-data/${language}/package.json`)), "4.0.0_best_int"))
  } catch {
    throw new BrokenInstallation(
      `text recognition needs packages that are not installed: npm i tesseract.js ${
        languages.map((language) => `@tesseract.js-data/${language}`).join(" ")
      }`
    )
  }
  const [folder, ...others] = folders
  if (createWorker === undefined || folder === undefined) {
    throw new BrokenInstallation("text recognition cannot be loaded: another version of tesseract.js is installed")
  }
  if (others.length > 0) throw new BrokenInstallation("text recognition reads one language at a time: name one")
  return createWorker(languages, neural, { langPath: folder, gzip: true, cacheMethod: "none", errorHandler: () => {} })
}
