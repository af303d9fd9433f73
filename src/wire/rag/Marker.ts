import type { Marker } from "../../domain/RagFile.ts"

/**
 * Our mark on a remote file, at the end of its description, on a line of its own:
 *
 *     what a person wrote
 *     [sluice:v1:{source}:{pathHash}:{fingerprint}]
 *
 * The source is percent-encoded, so that the parts split at `:` and the mark ends at the first `]`. The mark is never
 * cut; a person's text is, when both together would be longer than {@link longestDescription}.
 */
const mark = /(?:^|\n)\[sluice:v1:([^:\]\s]*):([^:\]\s]*):([^:\]\s]*)\]$/

/** Characters. The service states no limit; this is well below every one that is known of descriptions elsewhere. */
export const longestDescription = 2000

/** The description that goes over the wire. */
export const describe = (description: string | undefined, marker: Marker | undefined): string | undefined => {
  if (marker === undefined) return description === "" ? undefined : description
  const { fingerprint, pathHash, source } = marker
  const text = `[sluice:v1:${[source, pathHash, fingerprint].map(escape).join(":")}]`
  if (description === undefined || description === "") return text
  return `${cut(description, longestDescription - text.length - 1)}\n${text}`
}

/** The two parts of a description that came over the wire. */
export const undescribe = (
  text: string | undefined
): { readonly description?: string; readonly marker?: Marker } => {
  if (text === undefined || text === "") return {}
  const found = mark.exec(text)
  const parts = found?.slice(1).map(unescape)
  if (found === null || parts === undefined || parts.includes(undefined)) return { description: text }
  const [source = "", pathHash = "", fingerprint = ""] = parts
  const description = text.slice(0, found.index)
  return { description: description === "" ? undefined : description, marker: { source, pathHash, fingerprint } }
}

const escape = (part: string): string => part.toWellFormed().replaceAll(/[%:[\]\s\p{Cc}]/gu, (character) => encodeURIComponent(character))

const unescape = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const cut = (text: string, length: number): string => {
  if (text.length <= length) return text
  const kept = text.slice(0, Math.max(0, length - 1))
  // Not between the halves of a character.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}
