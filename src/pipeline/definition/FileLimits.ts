import type { Definition } from "./Definition.ts"
import { defaultLimits, type Limits } from "../../text/Prepared.ts"

/** Limits of one file that a pipeline sets; the others have their defaults. */
export const fileLimits = ({ import: { limits = {}, textRecognition } }: Pick<Definition, "import">): Partial<Limits> => ({
  // A scanned page takes seconds.
  ...(textRecognition === undefined ? {} : { recognise: [textRecognition], timeMs: 10 * defaultLimits.timeMs }),
  bytes: limits.maxBytes,
  pages: limits.maxPages,
  characters: limits.maxCharacters,
  timeMs: limits.maxSeconds === undefined ? undefined : limits.maxSeconds * 1_000,
  parts: limits.maxParts,
  unpackedBytes: limits.maxUnpackedBytes,
  memory: limits.memory
})

/** The limits' part of a fingerprint: a file that was over a limit is read again when that limit changes. */
export const limitsSignature = ({ import: { limits = {}, textRecognition } }: Pick<Definition, "import">): string =>
  [["recognised", textRecognition], ["bytes", limits.maxBytes], ["pages", limits.maxPages], ["characters", limits.maxCharacters]]
    .map(([name, value]) => value === undefined ? "" : `, ${name} ${value}`)
    .join("")
