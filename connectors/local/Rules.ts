import ignore, { type Ignore } from "ignore"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import picomatch from "picomatch"
import { defaultIgnoreFile, type LocalConfig } from "./LocalConfig.ts"

/** Ignore files in force in a folder, outermost first, each with the folder it stands in. */
export type IgnoreFiles = ReadonlyArray<{ readonly folder: string; readonly rules: Ignore }>

/** Which files of a folder the configuration takes. Paths are relative to the root, `/`-separated. */
export interface Rules {
  /** Why a file or folder is left out, or undefined. */
  readonly reject: (path: string, name: string, folder: boolean, ignores: IgnoreFiles) => string | undefined
  /** The ignore files in force inside `folder` (`""` is the root), given those outside it. */
  readonly enter: (folder: string, outer: IgnoreFiles) => IgnoreFiles
}

export const makeRules = (config: LocalConfig): Rules => {
  const ignoreFile = config.ignoreFile ?? defaultIgnoreFile
  const included = config.include === undefined || config.include.length === 0
    ? undefined
    : picomatch([...config.include], { dot: true })
  const excluded = picomatch([...(config.exclude ?? [])], { dot: true })
  // `drafts/**` leaves nothing of `drafts`, so there is no use in entering it.
  const excludedFolder = picomatch((config.exclude ?? []).map((glob) => glob.replace(/\/\*\*(?:\/\*)?$/, "")), { dot: true })

  return {
    reject: (path, name, folder, ignores) => {
      if (config.hidden !== true && name.startsWith(".")) return "hidden"
      if (excluded(path) || (folder && excludedFolder(path))) return "exclude"
      for (const { folder: at, rules } of ignores) {
        const relative = at === "" ? path : path.slice(at.length + 1)
        const verdict = rules.test(folder ? `${relative}/` : relative)
        if (verdict.ignored) return join(at, ignoreFile)
      }
      if (!folder && included !== undefined && !included(path)) return "include"
      return undefined
    },
    enter: (folder, outer) => {
      const text = readIfThere(join(config.path, folder, ignoreFile))
      return text === undefined ? outer : [...outer, { folder, rules: ignore().add(text) }]
    }
  }
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
