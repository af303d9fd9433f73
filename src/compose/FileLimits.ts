import type { Definition } from "../pipeline/definition/Definition.ts"
import { defaultLimits, type Limits } from "../text/Prepared.ts"

/** The bounds of one file that a pipeline sets; the others are the defaults. */
export const fileLimits = ({ import: { limits = {}, textRecognition } }: Pick<Definition, "import">): Partial<Limits> => ({
  // A scanned page takes seconds.
  ...(textRecognition === undefined ? {} : { recognise: [textRecognition], timeMs: 10 * defaultLimits.timeMs }),
  ...(limits.maxBytes === undefined ? {} : { bytes: limits.maxBytes }),
  ...(limits.maxPages === undefined ? {} : { pages: limits.maxPages }),
  ...(limits.maxCharacters === undefined ? {} : { characters: limits.maxCharacters }),
  ...(limits.maxSeconds === undefined ? {} : { timeMs: limits.maxSeconds * 1_000 }),
  ...(limits.maxParts === undefined ? {} : { parts: limits.maxParts }),
  ...(limits.maxUnpackedBytes === undefined ? {} : { unpackedBytes: limits.maxUnpackedBytes }),
  ...(limits.memory === undefined ? {} : { memory: limits.memory })
})

/** What a fingerprint takes of them: a file that was over a limit is read again when that limit changes. */
export const limitsSignature = ({ import: { limits = {}, textRecognition } }: Pick<Definition, "import">): string =>
  [["recognised", textRecognition], ["bytes", limits.maxBytes], ["pages", limits.maxPages], ["characters", limits.maxCharacters]]
    .map(([name, value]) => value === undefined ? "" : `, ${name} ${value}`)
    .join("")
