import type { Marker } from "../../domain/RagFile.ts"

/**
 * Sluice's marker on a remote file. It is the last line of its description:
 *
 *     description by a person
 *     [sluice:v1:{source}:{pathHash}:{fingerprint}]
 *
 * The source is percent-encoded, so that the parts split at `:` and the marker ends at the first `]`. Where both together
 * would be longer than {@link longestDescription}, the person's text is cut, never the marker.
 */
const mark = /(?:^|\n)\[sluice:v1:([^:\]\s]*):([^:\]\s]*):([^:\]\s]*)\]$/

/** Most characters of a description. The service documents no limit; this is well below known limits of other services. */
export const longestDescription = 2000

/** The description to send: a person's text with the marker. */
export const describe = (description: string | undefined, marker: Marker | undefined): string | undefined => {
  if (marker === undefined) return description === "" ? undefined : description
  const { fingerprint, pathHash, source } = marker
  const text = `[sluice:v1:${[source, pathHash, fingerprint].map(escape).join(":")}]`
  if (description === undefined || description === "") return text
  return `${cut(description, longestDescription - text.length - 1)}\n${text}`
}

/** Splits a received description into a person's text and the marker. */
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
  // A surrogate pair is not cut in half.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}
